#include "insight/queries/reserved_capacity.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "allocation/node_index.h"
#include "core/billing_period.h"
#include "core/decimal.h"
#include "core/instant.h"
#include "core/int128.h"
#include "core/try.h"
#include "insight/queries/commitment_use.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kWhole = 1000;
constexpr std::int64_t kLineHourMs = 3'600'000;
constexpr std::int64_t kRecentMs = kLineHourMs * 24 * 7;
constexpr std::int64_t kUsageLineMsMax = kLineHourMs * 24;

// A line says that a node was covered for a part of a time, in thousandths.
struct CoveredTime {
  std::int64_t begin_ms;
  std::int64_t end_ms;
  std::int64_t milli;
  auto operator<=>(const CoveredTime&) const = default;
};

struct Coverage {
  std::int64_t first_ms;  // its first line
  std::string provider;
  std::optional<Date> ends;
  std::map<const Node*, std::vector<CoveredTime>> times;  // by the node's place, for look-up only
};

// The part of its time for which a line charges: a plan may cover some minutes of an hour.
std::int64_t charged_milli(const Charge& charge) {
  const std::int64_t ms =
      unix_ms(charge.charge_period.end()) - unix_ms(charge.charge_period.begin());
  const auto part = [&](const std::optional<Decimal>& quantity, const std::string& unit) {
    if (!quantity || unit != "Hours" || quantity->ticks() <= Int128{0}) return kWhole;
    const Int128 charged_ms = quantity->ticks() / Int128{Decimal::kTicksPerUnit / kLineHourMs};
    if (charged_ms >= Int128{ms}) return kWhole;
    return static_cast<std::int64_t>(charged_ms * Int128{kWhole} / Int128{ms});
  };
  return std::min(part(charge.consumed_quantity, charge.consumed_unit),
                  part(charge.pricing_quantity, charge.pricing_unit));
}

// The share of the time from `from_ms` to `until_ms`. Lines of the same time are parts of one price
// (a processor's, a GPU's), so the largest counts.
std::int64_t share_milli(std::vector<CoveredTime> times, std::int64_t from_ms,
                         std::int64_t until_ms) {
  if (until_ms <= from_ms) return 0;
  std::ranges::sort(times);
  Int128 sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const CoveredTime& one = times[i];
    const bool is_same_again = i + 1 < times.size() && times[i + 1].begin_ms == one.begin_ms &&
                               times[i + 1].end_ms == one.end_ms;
    const std::int64_t begin = std::max(one.begin_ms, from_ms);
    const std::int64_t end = std::min(one.end_ms, until_ms);
    if (!is_same_again && begin < end) sum += Int128{end - begin} * Int128{one.milli};
  }
  const Int128 span = until_ms - from_ms;
  return std::min(kWhole, static_cast<std::int64_t>((sum + span / 2) / span));
}

class CoverageReader {
 public:
  CoverageReader(const NodeIndex& index, Instant now) : index_(index), now_(now) {}

  void add(const Charge& charge) {
    const std::string& commitment = charge.commitment_discount_id;
    const std::string& reservation = charge.capacity_reservation_id;
    if (commitment.empty() && reservation.empty()) return;
    const auto ends = commitment_end_of(charge);
    const std::optional<std::uint32_t> position = find(charge);
    add(charge, commitment, charge.commitment_discount_status, ends, position);
    // Where a line names both, the end is the commitment's.
    add(charge, reservation, charge.capacity_reservation_status,
        commitment.empty() ? ends : std::nullopt, position);
  }

  // Until when the bill of a provider is known. A fee of a month ends long after that, so a line of
  // more than a day tells it only where there is no other, and then not of a time to come.
  std::int64_t last_ms(const std::string& provider) const {
    const auto found = last_.find(provider);
    if (found == last_.end()) return 0;
    const Last& last = found->second;
    return last.usage_ms > 0 ? last.usage_ms : std::min(last.any_ms, unix_ms(now_));
  }

  std::map<std::string, Coverage> by_id;

 private:
  struct Last {
    std::int64_t usage_ms = 0;  // of lines of at most a day
    std::int64_t any_ms = 0;
  };

  std::optional<std::uint32_t> find(const Charge& charge) const {
    const NodeMatch match = find_node(index_, charge, [&](std::uint32_t at) {
      const Node& node = index_.node(at);
      return node.from <= now_ && (!node.to || *node.to > now_);
    });
    if (match.is_ambiguous || match.positions.empty()) return std::nullopt;
    return match.positions.front();
  }

  void add(const Charge& charge, const std::string& id, std::optional<UsedOrUnused> status,
           const std::optional<Date>& ends, std::optional<std::uint32_t> position) {
    if (id.empty()) return;
    const std::int64_t begin = unix_ms(charge.charge_period.begin());
    const std::int64_t end = unix_ms(charge.charge_period.end());
    Coverage& by =
        by_id.try_emplace(id, Coverage{begin, charge.service_provider_name, {}, {}}).first->second;
    by.first_ms = std::min(by.first_ms, begin);
    Last& last = last_[by.provider];
    last.any_ms = std::max(last.any_ms, end);
    if (end - begin <= kUsageLineMsMax) last.usage_ms = std::max(last.usage_ms, end);
    if (ends) by.ends = std::max(by.ends, ends);
    if (status == UsedOrUnused::kUnused || !position || begin >= end) return;
    by.times[&index_.node(*position)].push_back({begin, end, charged_milli(charge)});
  }

  const NodeIndex& index_;
  const Instant now_;
  std::map<std::string, Last> last_;  // by provider
};

}  // namespace

Result<ReservedCapacity> ReservedCapacity::read(Store& store, std::span<const Node> nodes,
                                                std::span<const JoinRule> join_rules,
                                                std::span<const ReservationEnd> ends, Instant now) {
  std::vector<const Node*> all;
  for (const Node& node : nodes) all.push_back(&node);
  const NodeIndex index(std::move(all), join_rules);
  CoverageReader reader(index, now);
  const Instant before = start_of_month(now, TimeZone::utc()) - std::chrono::milliseconds(1);
  const std::array months{local_date(now, TimeZone::utc()).substr(0, 7),
                          local_date(before, TimeZone::utc()).substr(0, 7)};
  for (const std::string& month : months) {
    TRY(store.scan_charges(month, [&](std::span<const Charge> batch) {
      for (const Charge& charge : batch) reader.add(charge);
      return true;
    }));
    // What a newer month says stands for both; a fee alone says of no node that it was covered.
    if (std::ranges::any_of(reader.by_id,
                            [](const auto& one) { return !one.second.times.empty(); })) {
      break;
    }
  }
  for (const ReservationEnd& end : ends) {
    if (const auto known = reader.by_id.find(end.id); known != reader.by_id.end()) {
      known->second.ends = end.ends;
    }
  }
  ReservedCapacity out;
  std::map<std::pair<ClusterId, NodeId>, std::pair<GpuModelAndRegion, CoveredNode>> by_node;
  for (const auto& [id, by] : reader.by_id) {
    const std::int64_t last_ms = reader.last_ms(by.provider);
    const std::int64_t from_ms = std::max(by.first_ms, last_ms - kRecentMs);
    std::map<GpuModelAndRegion, std::int64_t> gpus_milli;
    for (const auto& [node, times] : by.times) {
      const std::int64_t share = share_milli(times, from_ms, last_ms);
      if (share == 0 || node->gpu_count == 0) continue;
      const GpuModelAndRegion key{node->gpu_model, node->region};
      gpus_milli[key] += share * static_cast<std::int64_t>(node->gpu_count);
      auto& [of, covered] = by_node[{node->cluster, node->name}];
      of = key;
      covered.gpus = static_cast<std::int64_t>(node->gpu_count);
      covered.shares.push_back({share, by.ends});
    }
    for (const auto& [key, milli] : gpus_milli) {
      out.reserved_.push_back({id, key.first, key.second, milli, by.ends});
    }
  }
  for (auto& [name, one] : by_node) out.nodes_[one.first].push_back(std::move(one.second));
  std::ranges::stable_sort(out.reserved_, [](const ReservedGpus& a, const ReservedGpus& b) {
    // One without an end comes last.
    return std::tuple(!a.ends, a.ends) < std::tuple(!b.ends, b.ends);
  });
  return out;
}

std::int64_t ReservedCapacity::ended_milli(const GpuModelAndRegion& key, Date today,
                                           Date day) const {
  const auto nodes = nodes_.find(key);
  if (nodes == nodes_.end()) return 0;
  std::int64_t ended = 0;
  for (const CoveredNode& node : nodes->second) {
    std::int64_t covered = 0, left = 0;
    for (const Share& share : node.shares) {
      if (share.ends && *share.ends <= today) continue;
      covered += share.milli;
      if (!share.ends || *share.ends > day) left += share.milli;
    }
    ended += (std::min(covered, kWhole) - std::min(left, kWhole)) * node.gpus;
  }
  return ended;
}

}  // namespace pennyweight
