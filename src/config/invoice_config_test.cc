// The `invoice:` section of the configuration: every key, and the errors.
#include "config/invoice_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

TEST(InvoiceConfig, ReadsEveryKey) {
  const auto config = parse_config(R"(
invoice:
  prefix: NW
  by: client
  cost: billed
  detail: [project, team]
  showback: true
  paper: letter
  terms_days: 30
  note: Thank you.
  logo: data:image/png;base64,iVBORw0=
  tax: {name: VAT, percent: 19}
  issuer: {name: Northwind Compute, address: [1 Quay, Bergen], tax_id: NO1, contact: a@b.example}
  customers:
    acme: {name: Acme GmbH, address: [Hauptstr. 1]}
    "odd, name": {contact: who}
  not_customers: [internal]
)",
                                   "p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const InvoiceConfig& invoice = config->invoice;
  EXPECT_EQ(invoice.prefix, "NW");
  EXPECT_EQ(invoice.by, "client");
  EXPECT_EQ(invoice.cost, "billed");
  EXPECT_EQ(invoice.detail, (std::vector<std::string>{"project", "team"}));
  EXPECT_TRUE(invoice.showback);
  EXPECT_TRUE(invoice.letter_paper);
  EXPECT_EQ(invoice.terms_days, 30);
  EXPECT_EQ(invoice.tax_percent, Decimal::from_units(19));
  EXPECT_EQ(invoice.issuer.address, (std::vector<std::string>{"1 Quay", "Bergen"}));
  EXPECT_EQ(invoice.customers.at("acme").name, "Acme GmbH");
  EXPECT_EQ(invoice.customers.at("odd, name").contact, "who");
  EXPECT_EQ(invoice.not_customers, std::vector<std::string>{"internal"});
}

TEST(InvoiceConfig, Refuses) {
  const auto refusal = [](const std::string& yaml) {
    const auto config = parse_config("invoice: {" + yaml + "}\n", "p.yaml");
    return config ? std::string("read") : config.error().message;
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("prefx: A"), HasSubstr("did you mean 'prefix'"));
  EXPECT_THAT(refusal("cost: list"), HasSubstr("effective or billed"));
  EXPECT_THAT(refusal("paper: a5"), HasSubstr("a4 or letter"));
  EXPECT_THAT(refusal("terms_days: -1"), HasSubstr("invoice.terms_days"));
  EXPECT_THAT(refusal("tax: {name: VAT}"), HasSubstr("needs a name and a percent"));
  EXPECT_THAT(refusal("tax: {name: VAT, percent: 1.123456789}"), HasSubstr("8 digits"));
  EXPECT_THAT(refusal("logo: 'https://x.example/a.png'"), HasSubstr("data URI"));
  EXPECT_THAT(refusal("logo: 'data:image/png;base64,\"onerror'"), HasSubstr("data URI"));
  EXPECT_THAT(refusal("logo: 'data:text/html;base64,AAAA'"), HasSubstr("data URI"));
  EXPECT_THAT(refusal("customers: [acme]"), HasSubstr("invoice.customers"));
}

}  // namespace
}  // namespace pennyweight
