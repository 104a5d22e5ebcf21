// The section `invoice:` of the configuration: who sends chargeback invoices to whom, and their
// form.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"
#include "core/date.h"
#include "core/decimal.h"
#include "core/money.h"

namespace pennyweight {

struct PartyConfig {
  std::string name;
  std::vector<std::string> address;
  std::string tax_id;
  std::string contact;
  std::string email;  // where invoices, and answers to them, are sent
  bool operator==(const PartyConfig&) const = default;
};

// What a client is charged in place of the cost; reporting/invoice/rates.h says how it is applied.
struct InternalRateConfig {
  std::optional<Date> from, to;  // both inclusive
  std::string client, gpu_model, tier;
  std::optional<Currency> currency;
  std::optional<Decimal> rate, markup, discount, floor;
  bool operator==(const InternalRateConfig&) const = default;
};

struct InvoiceConfig {
  std::string prefix = "INV";
  std::string by = "team";
  std::string cost = "effective";  // or billed
  std::vector<std::string> detail;
  bool showback = false;
  bool letter_paper = false;
  std::optional<std::int64_t> terms_days;
  std::string note;
  std::string logo;  // a data URI of an image
  std::string font;  // a TrueType file for PDF; empty: the program's choice
  std::string tax_name;
  std::optional<Decimal> tax_percent;
  PartyConfig issuer;
  std::map<std::string, PartyConfig> customers;  // by dimension value
  std::vector<std::string> not_customers;
  std::string tier;  // the dimension whose value is the tier of a rate; empty: no rate has one
  std::vector<InternalRateConfig> rates;
  bool operator==(const InvoiceConfig&) const = default;
};

InvoiceConfig read_invoice_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path);

ConfigKeys invoice_config_keys();

}  // namespace pennyweight
