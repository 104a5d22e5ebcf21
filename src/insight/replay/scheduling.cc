#include "insight/replay/scheduling.h"

#include "core/enum_names.h"

namespace pennyweight::replay {
namespace {

constexpr auto kQueueOrders = enum_names<QueueOrder>({
    {QueueOrder::kFirstComeFirstServed, "fcfs"},
    {QueueOrder::kPriority, "priority"},
    {QueueOrder::kShortestJob, "sjf"},
    {QueueOrder::kShortestRemaining, "srtf"},
    {QueueOrder::kShortestRemainingWork, "srsf"},
    {QueueOrder::kMaxMinFair, "max-min"},
    {QueueOrder::kDecayedFairShare, "fair-share"},
    {QueueOrder::kDominantResourceFair, "drf"},
    {QueueOrder::kProportion, "proportion"},
});

constexpr auto kBlockedRules = enum_names<WhenBlocked>({
    {WhenBlocked::kWait, "wait"},
    {WhenBlocked::kBackfill, "backfill"},
    {WhenBlocked::kSkip, "skip"},
});

template <class Names>
std::string names_of_all(const Names& names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

}  // namespace

bool is_fair(QueueOrder order) {
  return order == QueueOrder::kMaxMinFair || order == QueueOrder::kDecayedFairShare ||
         order == QueueOrder::kDominantResourceFair || order == QueueOrder::kProportion;
}

std::string_view to_text(QueueOrder order) { return kQueueOrders.name(order); }
std::optional<QueueOrder> parse_queue_order(std::string_view text) {
  return kQueueOrders.parse(text);
}
std::string queue_order_names() { return names_of_all(kQueueOrders.names()); }

std::string_view to_text(WhenBlocked rule) { return kBlockedRules.name(rule); }
std::optional<WhenBlocked> parse_when_blocked(std::string_view text) {
  return kBlockedRules.parse(text);
}
std::string when_blocked_names() { return names_of_all(kBlockedRules.names()); }

}  // namespace pennyweight::replay
