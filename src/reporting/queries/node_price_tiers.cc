#include "reporting/queries/node_price_tiers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/date.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr const char* kPriceTier = "price_tier";

}  // namespace

bool needs_price_tiers(const std::vector<std::string>& by,
                       const std::vector<SummaryFilter>& filters) {
  return std::ranges::find(by, kPriceTier) != by.end() ||
         std::ranges::find(filters, kPriceTier, &SummaryFilter::dimension) != filters.end();
}

Result<NodePriceTiers> billed_price_tiers(Store& store, const std::optional<Instant>& from,
                                          const std::optional<Instant>& to, const TimeZone& zone) {
  SummaryQuery query{.group_by = {"cluster", "node", kPriceTier},
                     .filters = {{"node", {""}, true}, {kPriceTier, {""}, true}}};
  if (from) {
    const auto first = TRY(parse_date(local_date(*from, zone)));
    query.first_day = first;
  }
  if (to) {
    const auto last = TRY(parse_date(local_date(*to - std::chrono::milliseconds(1), zone)));
    query.last_day = last;
  }
  const auto rows = TRY(store.summarise(query));
  NodePriceTiers tiers;
  for (const SummaryRow& row : rows) {
    const auto [at, is_new] = tiers.try_emplace({row.keys[0], row.keys[1]}, row.keys[2]);
    if (!is_new && at->second != row.keys[2]) at->second = kMixedTiers;
  }
  return tiers;
}

}  // namespace pennyweight
