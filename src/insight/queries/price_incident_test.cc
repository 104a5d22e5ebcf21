#include "insight/queries/price_incident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/card_share.h"

namespace pennyweight {
namespace {

constexpr int kTeams = 30;
constexpr int kBilledDays = 90;
const Date kBegin = *parse_date("2026-01-01");

// What an account holds each day: eight hours of p5 for each number, and an hour of p4d. The price
// of p5 rises on the 80th day, by three tenths.
struct HeldCell {
  std::string account;
  std::string type;
  int hours = 0;
};

const std::string& text_of(const HeldCell& cell, std::string_view dimension) {
  static const std::string kUsed = "used";
  if (dimension == "kind") return kUsed;
  return dimension == "account" ? cell.account : cell.type;
}

bool passes(const HeldCell& cell, const SummaryQuery& query) {
  return std::ranges::all_of(query.filters, [&](const SummaryFilter& filter) {
    const std::string& text = text_of(cell, filter.dimension);
    return (std::ranges::find(filter.values, text) != filter.values.end()) != filter.negate;
  });
}

std::vector<HeldCell> held_cells() {
  std::vector<HeldCell> cells;
  for (int team = 0; team < kTeams; ++team) {
    const std::string account = "team-" + std::to_string(team);
    cells.push_back({account, "p5", 8 * (team + 1)});
    cells.push_back({account, "p4d", 1});
  }
  return cells;
}

Result<std::vector<SummaryRow>> rising_price(const SummaryQuery& query) {
  const Date first = std::max(kBegin, *query.first_day);
  const Date last = std::min(kBegin + std::chrono::days(kBilledDays - 1), *query.last_day);
  std::map<std::pair<Date, std::vector<std::string>>, SummaryRow> sums;
  for (const HeldCell& cell : held_cells()) {
    if (!passes(cell, query)) continue;
    std::vector<std::string> keys;
    for (const std::string& name : query.group_by) keys.push_back(text_of(cell, name));
    for (Date date = first; date <= last; date += std::chrono::days(1)) {
      const bool is_dear = cell.type == "p5" && date >= kBegin + std::chrono::days(80);
      const Date bucket = query.bucket == TimeBucket::kDay ? date : kBegin;
      SummaryRow& sum = sums.try_emplace({bucket, keys}, SummaryRow{.bucket = bucket,
                                                                    .keys = keys,
                                                                    .costs = Costs::zero(kUsd),
                                                                    .gpu_time = {},
                                                                    .idle_time = {},
                                                                    .memory_time = {},
                                                                    .observed_time = {}})
                            .first->second;
      const Money cost = Money::from_units(cell.hours * (is_dear ? 13 : 10), kUsd);
      sum.costs.effective += cost;
      sum.costs.list += cost;
      sum.gpu_time += GpuTime::of(UInt128{CardShare::kUnitsPerCard} * 3'600'000 *
                                  static_cast<std::uint64_t>(cell.hours));
    }
  }
  std::vector<SummaryRow> rows;
  for (auto& [key, row] : sums) rows.push_back(std::move(row));
  return rows;
}

AnomalyQuery by_account(std::string cause) {
  return {.costs = {.by = "account", .today = kBegin + std::chrono::days(kBilledDays)},
          .cause = std::move(cause)};
}

// 20 teams have a row of their own, and the others are one.
TEST(PriceIncident, OnePriceExplainsWhatAllTeamsCost) {
  const auto found = query_anomalies(by_account("instance_type"), Policy{}, rising_price);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 21u);
  Money whole = Money::zero(kUsd);
  for (const FoundAnomaly& one : *found) {
    EXPECT_EQ(one.price_of, "p5") << one.sentence;
    EXPECT_EQ(one.split.price, one.incident.impact()) << one.sentence;
    whole += one.incident.impact();
  }
  const auto incidents = find_price_incidents(*found);
  ASSERT_EQ(incidents.size(), 1u);
  const PriceIncident& incident = incidents[0];
  EXPECT_EQ(to_text(incident.first), "2026-03-22");
  EXPECT_TRUE(incident.is_open);
  EXPECT_EQ(incident.impact, whole);
  // 3 USD more for each of 8 × (1 + … + 30) hours, on ten days.
  EXPECT_EQ(incident.impact, Money::from_units(3 * 8 * 465 * 10, kUsd));
  EXPECT_EQ(incident.impact_per_day, Money::from_units(3 * 8 * 465, kUsd));
  const std::string text = describe_price_incident(incident, *found, "account");
  EXPECT_THAT(text,
              testing::StartsWith("Price of p5: +111,600.00 USD since 2026-03-22, by account: "
                                  "(others) +13,200.00 USD, team-29 +7,200.00 USD, "));
  const Table table = anomaly_table(*found, by_account("instance_type"));
  EXPECT_THAT(table.notes, testing::Contains(text));
}

TEST(PriceIncident, NoTeamHasAPrice) {
  const auto found = query_anomalies(by_account("account"), Policy{}, rising_price);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 21u);
  for (const PriceIncident& one : find_price_incidents(*found)) EXPECT_EQ(one.parts.size(), 1u);
}

}  // namespace
}  // namespace pennyweight
