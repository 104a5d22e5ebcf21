#include "ingest/bills/oci/oci_bill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"

namespace pennyweight::oci {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Cells = std::map<std::string, std::string>;

Cells row_of(const Cells& changed) {
  Cells cells = {
      {"lineItem/referenceNo", "ref-1"},
      {"lineItem/tenantId", "ocid1.tenancy.oc1..t"},
      {"lineItem/intervalUsageStart", "2026-03-31T23:00Z"},
      {"lineItem/intervalUsageEnd", "2026-04-01T00:00Z"},
      {"product/service", "COMPUTE"},
      {"product/compartmentId", "ocid1.compartment.oc1..c"},
      {"product/compartmentName", "ml"},
      {"product/region", "us-ashburn-1"},
      {"product/availabilityDomain", "iad-ad-1"},
      {"product/resourceId", "ocid1.instance.oc1.iad.abc"},
      {"usage/billedQuantity", "8.000000000000000000"},
      {"usage/billedQuantityOverage", ""},
      {"cost/subscriptionId", "123"},
      {"cost/productSku", "B98415"},
      {"product/Description", "Compute - GPU - H100"},
      {"cost/unitPrice", "10.000000000000000000"},
      {"cost/myCost", "80.000000000000000000"},
      {"cost/currencyCode", "USD"},
      {"cost/billingUnitReadable", "ONE HOURS GPU"},
      {"cost/skuUnitDescription", "GPU Per Hour"},
      {"cost/overageFlag", "N"},
      {"lineItem/isCorrection", "false"},
      {"lineItem/backreferenceNo", ""},
      {"tags/Oracle-Tags.CreatedBy", "someone"},
      {"tags/team", ""},
  };
  for (const auto& [name, text] : changed) cells[name] = text;
  return cells;
}

std::string csv_of(const std::vector<Cells>& rows) {
  std::string text;
  for (const auto& [name, ignored] : rows.front()) text += (text.empty() ? "" : ",") + name;
  text += '\n';
  for (const Cells& row : rows) {
    std::string line;
    for (const auto& [name, cell] : row) line += (line.empty() ? "\"" : ",\"") + cell + '"';
    text += line + '\n';
  }
  return text;
}

struct Imported {
  bill::CollectingSink seen;
  bill::ImportSummary summary;
  std::string error;
};

Imported import(const std::string& csv) {
  Imported imported;
  auto summary = bill::import_csv(csv, "report.csv", oci_bill(), imported.seen);
  if (summary) {
    imported.summary = std::move(*summary);
  } else {
    imported.error = summary.error().message;
  }
  return imported;
}

Charge only_line(const Cells& changed) {
  Imported imported = import(csv_of({row_of(changed)}));
  EXPECT_EQ(imported.error, "");
  EXPECT_THAT(imported.seen.bad, IsEmpty())
      << (imported.seen.bad.empty() ? "" : imported.seen.bad[0].reason);
  const Interval any(Instant{}, Instant{std::chrono::milliseconds{1}});
  return imported.seen.lines.size() == 1 ? imported.seen.lines[0]
                                         : Charge(any, any, Costs::zero(kEur));
}

std::string fault_of(const Cells& changed) {
  const Imported imported = import(csv_of({row_of(changed)}));
  EXPECT_THAT(imported.seen.lines, IsEmpty());
  return imported.seen.bad.empty() ? imported.error : imported.seen.bad[0].reason;
}

TEST(OciBill, ARowColumnByColumn) {
  const Charge line = only_line({});
  EXPECT_EQ(line.billing_account_id, "123");
  EXPECT_EQ(line.sub_account_id, "ocid1.tenancy.oc1..t");
  EXPECT_EQ(to_text(line.billing_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(to_text(line.charge_period), "2026-03-31T23:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(line.invoice_issuer_name, "Oracle");
  EXPECT_EQ(line.service_provider_name, "Oracle");
  EXPECT_EQ(line.charge_category, ChargeCategory::kUsage);
  EXPECT_FALSE(line.is_correction);
  EXPECT_EQ(line.charge_frequency, ChargeFrequency::kUsageBased);
  EXPECT_EQ(line.charge_description, "Compute - GPU - H100");
  EXPECT_EQ(line.service_name, "COMPUTE");
  EXPECT_EQ(line.service_category, "Compute");
  EXPECT_EQ(line.service_subcategory, "Virtual Machines");
  EXPECT_EQ(line.region_id, "us-ashburn-1");
  EXPECT_EQ(line.availability_zone, "iad-ad-1");
  EXPECT_EQ(line.resource_id, "ocid1.instance.oc1.iad.abc");
  EXPECT_EQ(line.resource_type, "instance");
  EXPECT_EQ(line.sku_id, "B98415");
  EXPECT_EQ(line.sku_price_id, "B98415");
  EXPECT_EQ(line.sku_meter, "Compute - GPU - H100");
  for (const Money amount :
       {line.costs.billed, line.costs.effective, line.costs.list, line.costs.contracted}) {
    EXPECT_EQ(to_text(amount.amount()), "80");
  }
  EXPECT_EQ(line.pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(to_text(*line.pricing_quantity), "8");
  EXPECT_EQ(line.pricing_unit, "GPU Per Hour");
  EXPECT_EQ(to_text(*line.consumed_quantity), "8");
  EXPECT_EQ(line.consumed_unit, "GPU Per Hour");
  EXPECT_EQ(to_text(*line.contracted_unit_price), "10");
  EXPECT_FALSE(line.list_unit_price);
  EXPECT_THAT(line.tags.entries(), ElementsAre(std::pair("Oracle-Tags.CreatedBy", "someone")));
  EXPECT_EQ(line.other_columns,
            R"({"x_BillingUnitReadable":"ONE HOURS GPU",)"
            R"("x_CompartmentId":"ocid1.compartment.oc1..c","x_CompartmentName":"ml",)"
            R"("x_OverageFlag":"N","x_ReferenceNumber":"ref-1"})");
}

TEST(OciBill, ACorrectionIsUsageThatPointsBack) {
  const Charge line = only_line({{"lineItem/isCorrection", "true"},
                                 {"lineItem/backreferenceNo", "ref-0"},
                                 {"usage/billedQuantity", "-8"},
                                 {"cost/myCost", "-80"}});
  EXPECT_TRUE(line.is_correction);
  EXPECT_EQ(line.charge_category, ChargeCategory::kUsage);
  EXPECT_EQ(to_text(line.costs.billed.amount()), "-80");
  EXPECT_EQ(to_text(*line.pricing_quantity), "-8");
  EXPECT_THAT(line.other_columns, HasSubstr(R"("x_BackReferenceNumber":"ref-0")"));
}

TEST(OciBill, OverageIsAPriceOfItsOwnWithinTheCost) {
  const Charge line = only_line({{"cost/overageFlag", "Y"},
                                 {"cost/myCostOverage", "30"},
                                 {"cost/unitPriceOverage", "12"},
                                 {"usage/billedQuantityOverage", "2.5"}});
  EXPECT_EQ(line.sku_price_id, "B98415/overage");
  EXPECT_EQ(to_text(line.costs.billed.amount()), "80");
  for (const char* const kept : {R"("x_CostOverage":"30")", R"("x_UnitPriceOverage":"12")",
                                 R"("x_BilledQuantityOverage":"2.5")"}) {
    EXPECT_THAT(line.other_columns, HasSubstr(kept));
  }
}

TEST(OciBill, WhatIsLeftOutAndWhatIsUnusual) {
  EXPECT_EQ(only_line({{"cost/subscriptionId", ""}}).billing_account_id, "ocid1.tenancy.oc1..t");
  EXPECT_EQ(only_line({{"cost/skuUnitDescription", ""}}).pricing_unit, "ONE HOURS GPU");
  EXPECT_EQ(only_line({{"product/Description", "GPU - H100 - Preemptible"}}).pricing_category,
            PricingCategory::kDynamic);
  const Charge bucket =
      only_line({{"product/resourceId", "namespace/bucket"}, {"product/service", "OBJECTSTORE"}});
  EXPECT_EQ(bucket.resource_type, "OBJECTSTORE");
  EXPECT_EQ(bucket.service_category, "Storage");
  EXPECT_EQ(only_line({{"product/service", "NEW_ONE"}}).service_category, "Other");
  const Charge none = only_line({{"product/resourceId", ""}});
  EXPECT_EQ(none.resource_id + none.resource_type, "");
  const Charge no_unit =
      only_line({{"cost/skuUnitDescription", ""}, {"cost/billingUnitReadable", ""}});
  EXPECT_FALSE(no_unit.pricing_quantity);
  EXPECT_THAT(no_unit.other_columns, HasSubstr(R"("x_BilledQuantity":"8.000000000000000000")"));
  const Charge negative = only_line({{"cost/unitPrice", "-1"}});
  EXPECT_FALSE(negative.contracted_unit_price);
  EXPECT_THAT(negative.other_columns, HasSubstr(R"("x_UnitPrice":"-1")"));
  EXPECT_THAT(
      only_line({{"cost/attributedCost", "7"}, {"my/column", "v"}}).other_columns,
      testing::AllOf(HasSubstr(R"("my/column":"v")"), HasSubstr(R"("x_AttributedCost":"7")")));
}

TEST(OciBill, ATagPastTheLimitsIsKeptAsText) {
  Imported imported = import(csv_of({row_of({{"tags/team", std::string(5000, 'x')}})}));
  ASSERT_THAT(imported.seen.lines, SizeIs(1));
  EXPECT_FALSE(imported.seen.lines[0].tags.find("team"));
  EXPECT_THAT(imported.seen.lines[0].other_columns, HasSubstr(R"("tags/team":"xxx)"));
  EXPECT_EQ(imported.summary.unread_json, 1u);
}

TEST(OciBill, WhatIsWrongWithARowIsSaid) {
  struct Case {
    Cells changed;
    std::string reason;
  };
  const Case cases[] = {
      {{{"cost/myCost", ""}}, "cost/myCost is empty"},
      {{{"cost/myCost", "1,5"}}, "write digits with a point"},
      {{{"cost/myCost", "1e99"}}, "cost/myCost"},
      {{{"usage/billedQuantity", "x"}}, "usage/billedQuantity"},
      {{{"cost/unitPrice", "x"}}, "cost/unitPrice"},
      {{{"cost/currencyCode", ""}}, "cost/currencyCode ''"},
      {{{"cost/currencyCode", "ABC"}}, "ISO 4217"},
      {{{"lineItem/isCorrection", "perhaps"}}, "neither true nor false"},
      {{{"lineItem/intervalUsageStart", ""}}, "lineItem/intervalUsageStart"},
      {{{"lineItem/intervalUsageEnd", "later"}}, "lineItem/intervalUsageEnd"},
      {{{"lineItem/intervalUsageEnd", "2026-03-31T23:00Z"}}, "not after the start"},
  };
  for (const Case& c : cases) EXPECT_THAT(fault_of(c.changed), HasSubstr(c.reason));
}

TEST(OciBill, HeadersInAnyCaseAndHeadersOfOtherTables) {
  std::vector<std::string> names;
  std::string csv = csv_of({row_of({})});
  for (const auto& [name, cell] : row_of({})) names.push_back(name);
  EXPECT_TRUE(is_oci_header(names));
  for (std::string& name : names) {
    if (name == "lineItem/tenantId") name = "lineItem/TenantId";
  }
  EXPECT_TRUE(is_oci_header(names));
  csv.replace(csv.find("lineItem/tenantId"), 17, "lineItem/TenantId");
  EXPECT_THAT(import(csv).seen.lines, SizeIs(1));
  EXPECT_FALSE(is_oci_header(std::vector<std::string>{"BilledCost", "lineItem/tenantId"}));
  Cells usage_report = row_of({});
  usage_report.erase("cost/myCost");
  EXPECT_THAT(import(csv_of({usage_report})).error, HasSubstr("cost/mycost; a usage report"));
  EXPECT_THAT(import(csv_of({row_of({{"cost/MyCost", "1"}})})).error,
              HasSubstr("one and the same"));
}

// The sums were computed apart from this program, with Python's decimal module.
TEST(Samples, TheHeadOfACostReport) {
  std::ifstream in(std::string(TEST_DATA) + "/oci/oci_cost_report_head.csv", std::ios::binary);
  ASSERT_TRUE(in);
  std::ostringstream text;
  text << in.rdbuf();
  const Imported imported = import(text.str());
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.summary.rows, 11u);
  EXPECT_EQ(imported.summary.imported, 11u);
  EXPECT_EQ(imported.summary.charges, 11u);
  EXPECT_EQ(imported.summary.rounded_numbers, 0u);
  EXPECT_THAT(imported.seen.totals(), Each("0.111348822042098408"));
  Int128 quantity = 0;
  for (const Charge& line : imported.seen.lines) quantity += line.pricing_quantity->ticks();
  EXPECT_EQ(to_text(Decimal::from_ticks(quantity)), "4.61248819776");
  const Charge& memory = imported.seen.lines[6];
  EXPECT_EQ(memory.charge_description, "Standard - E4 - Memory");
  EXPECT_EQ(memory.resource_type, "instance");
  EXPECT_EQ(to_text(memory.costs.billed.amount()), "0.00136084");
  EXPECT_EQ(to_text(memory.charge_period), "2023-11-13T08:00:00Z/2023-11-13T09:00:00Z");
  EXPECT_FALSE(memory.is_correction);  // although the report fills the back reference
  EXPECT_THAT(memory.other_columns, HasSubstr(R"("x_BackReferenceNumber":"17043")"));
}

RC_GTEST_PROP(OciBillProperty, WhatIsBilledIsMyCost, ()) {
  Money paid = Money::zero(kUsd);
  std::vector<Cells> rows;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    const auto ticks =
        *rc::gen::inRange<std::int64_t>(-900'000'000'000'000'000, 900'000'000'000'000'000);
    const Money cost = Money::from_ticks(Int128{ticks} * *rc::gen::inRange(1, 1000), kUsd);
    paid += cost;
    rows.push_back(row_of({{"cost/myCost", to_text(cost.amount())},
                           {"lineItem/isCorrection", *rc::gen::element<std::string>("true", "")},
                           {"cost/overageFlag", *rc::gen::element<std::string>("Y", "N", "")}}));
  }
  const Imported imported = import(csv_of(rows));
  RC_ASSERT(imported.summary.imported == rows.size());
  Costs sum = Costs::zero(kUsd);
  for (const Charge& line : imported.seen.lines) sum += line.costs;
  RC_ASSERT(sum.billed == paid);
  RC_ASSERT(sum.effective == paid);
}

}  // namespace
}  // namespace pennyweight::oci
