#include "insight/queries/gpu_catalog.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

constexpr const char* kHead =
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,"
    "memory_gib\n";

Catalog with(const std::string& rows) {
  return Catalog::built_in().overridden_by(kHead + rows, "own.csv").value();
}

std::vector<Table> tables(const Catalog& catalog, GpuCatalogQuery query = {}) {
  query.provider = "own";
  query.at = parse_instant("2026-07-31").value();
  return gpu_catalog_tables(catalog, query).value();
}

// The cell of the row that has this instance; empty: there is none.
std::string cell(const Table& table, const std::string& instance, std::string_view column) {
  std::size_t at = 0;
  while (at + 1 < table.columns.size() && table.columns[at].name != column) ++at;
  for (const Row& row : table.rows) {
    if (row[8] != Cell(instance)) continue;
    if (const auto* money = std::get_if<Money>(&row[at])) return to_text(money->amount());
    if (const auto* text = std::get_if<std::string>(&row[at])) return *text;
  }
  return {};
}

// 2 EUR are no less than 3 USD, whatever the figures say.
TEST(GpuCatalog, AmountsOfTwoCurrenciesAreNotCompared) {
  const Catalog catalog = with(
      "own,eu,a.eur,on_demand,2026-01-01,2,EUR,L40S,1,8,64\n"
      "own,us,a.usd,on_demand,2026-01-01,3,USD,L40S,1,8,64\n"
      "own,us,b.usd,on_demand,2026-01-01,4,USD,L40S,1,8,64\n");
  const auto both = tables(catalog, {.model = "L40S", .at = {}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].currency, Currency::parse("EUR").value());
  EXPECT_EQ(cell(both[0], "a.eur", "on_demand"), "2");
  EXPECT_EQ(both[1].currency, kUsd);
  EXPECT_EQ(cell(both[1], "a.usd", "on_demand"), "3");
  EXPECT_EQ(both[0].rows.size() + both[1].rows.size(), 2u);  // b.usd is dearer in its currency
}

// An instance whose regions are priced in two currencies stands in both tables.
TEST(GpuCatalog, AnInstanceWithTwoCurrenciesIsNotLost) {
  const Catalog catalog = with(
      "own,eu,one,on_demand,2026-01-01,2,EUR,L40S,1,8,64\n"
      "own,us,one,on_demand,2026-01-01,3,USD,L40S,1,8,64\n"
      "own,us-2,one,on_demand,2026-01-01,2.5,USD,L40S,1,8,64\n");
  const auto both = tables(catalog, {.model = "L40S", .at = {}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(cell(both[0], "one", "on_demand"), "2");
  EXPECT_EQ(cell(both[1], "one", "on_demand"), "2.5");
  EXPECT_EQ(cell(both[1], "one", "region"), "us-2");
}

// Work on a card that is priced in dollars isn't said to be cheaper on one that is priced in euros.
TEST(GpuCatalog, AFitIsPricedInOneCurrency) {
  const Catalog catalog = with(
      "own,us,big,on_demand,2026-01-01,4,USD,A100-SXM4-80GB,1,8,64\n"
      "own,eu,small,on_demand,2026-01-01,1.9,EUR,L40S,1,8,64\n"
      "own,us,other,on_demand,2026-01-01,1.9,USD,L40S,1,8,64\n");
  const CatalogLoad load{.model = "A100-SXM4-80GB",
                         .load = {.mean_activity_ppm = 350'000,
                                  .p95_activity_ppm = 450'000,
                                  .mean_dram_ppm = 250'000,
                                  .p99_memory_bytes = std::uint64_t{18} << 30}};
  const auto both = tables(catalog, {.model = "L40S", .at = {}, .load = load});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(cell(both[0], "small", "fits"), "");
  EXPECT_EQ(cell(both[1], "other", "fits"), "yes");
}

}  // namespace
}  // namespace pennyweight
