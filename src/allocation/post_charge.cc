#include "allocation/post_charge.h"

#include <algorithm>
#include <compare>

#include "allocation/split_costs.h"
#include "core/check.h"

namespace pennyweight {
namespace {

struct ComponentAmount {
  Component component;
  Costs costs;
};

std::vector<ComponentAmount> component_amounts(const ResolvedCharge& resolved) {
  if (resolved.split.empty()) return {{Component::kWhole, resolved.charge->costs}};
  std::vector<Component> components;
  std::vector<Weight> weights;
  const auto take = [&](Component component, Weight weight) {
    if (weight == 0) return;
    components.push_back(component);
    weights.push_back(weight);
  };
  take(Component::kGpu, resolved.split.gpu);
  take(Component::kCpu, resolved.split.cpu);
  take(Component::kMemory, resolved.split.memory);
  const auto costs = split_costs(resolved.charge->costs, weights);
  std::vector<ComponentAmount> amounts;
  for (std::size_t i = 0; i < components.size(); ++i) amounts.push_back({components[i], costs[i]});
  return amounts;
}

class Poster {
 public:
  Poster(const ResolvedCharge& resolved, const ResolvedCharges& charges,
         std::span<const std::chrono::sys_days> days, const Fleet& fleet,
         std::span<const Holding* const> holdings, std::span<std::atomic<bool>> held)
      : resolved_(resolved),
        charges_(charges),
        days_(days),
        fleet_(fleet),
        holdings_(holdings),
        held_(held) {}

  std::vector<Posting> run(std::vector<WeightedShare> shares) {
    merge(shares);
    std::vector<Posting> postings;
    postings.reserve(shares.size() + 3);
    for (const auto& [component, costs] : component_amounts(resolved_)) {
      const auto [first, last] =
          std::equal_range(shares.begin(), shares.end(), component, ByComponent{});
      const bool nobody =
          std::all_of(first, last, [](const WeightedShare& s) { return s.weight == 0; });
      if (nobody) {
        post_parts(never_there(component), costs, postings);
      } else {
        post_parts({first, last}, costs, postings);
      }
    }
    Costs sum = Costs::zero(resolved_.charge->costs.currency());
    for (const Posting& posted : postings) sum += posted.costs;
    CHECK(sum == resolved_.charge->costs, "the postings must add up to the line");
    return postings;
  }

 private:
  struct ByComponent {
    bool operator()(const WeightedShare& share, Component c) const { return share.component < c; }
    bool operator()(Component c, const WeightedShare& share) const { return c < share.component; }
  };

  void post_parts(std::span<const WeightedShare> parts, const Costs& costs,
                  std::vector<Posting>& postings) const {
    std::vector<Weight> weights;
    weights.reserve(parts.size());
    for (const WeightedShare& part : parts) weights.push_back(part.weight);
    const auto amounts = split_costs(costs, weights);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // A bucket without weight and time carries no information.
      const bool is_bucket = parts[i].holding == kNoIndex;
      if (is_bucket && parts[i].weight == 0 && parts[i].gpu_time == GpuTime()) continue;
      postings.push_back(posting(parts[i], amounts[i]));
    }
  }

  const NodeId& node_of(std::uint32_t machine) const {
    return machine == kNoIndex ? resolved_.node : fleet_.machines()[machine].node->name;
  }
  GpuId gpu_of(std::uint32_t card) const {
    return card == kNoIndex ? GpuId("") : fleet_.cards()[card].gpu->uuid;
  }

  // Machines and cards are sorted by name, but several neighbours may be facts about one.
  std::strong_ordering by_node(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return std::strong_ordering::equal;
    return node_of(a) <=> node_of(b);
  }
  std::strong_ordering by_gpu(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return std::strong_ordering::equal;
    if (a == kNoIndex || b == kNoIndex) return b <=> a;  // no GPU comes first
    if (fleet_.cards()[a].gpu->uuid == fleet_.cards()[b].gpu->uuid) {
      return std::strong_ordering::equal;
    }
    return a <=> b;
  }

  // The order of a charge's postings: by their content, never by where they came from.
  std::strong_ordering compare(const WeightedShare& a, const WeightedShare& b) const {
    if (const auto order = a.component <=> b.component; order != 0) return order;
    // By day: a day may have several segments, where another charge carries a part of the time.
    if (const auto order = days_[a.segment] <=> days_[b.segment]; order != 0) return order;
    if (const auto order = by_node(a.machine, b.machine); order != 0) return order;
    if (const auto order = by_gpu(a.card, b.card); order != 0) return order;
    if (const auto order = a.kind <=> b.kind; order != 0) return order;
    // A bucket comes first: kNoIndex + 1 is 0.
    return a.holding + 1 <=> b.holding + 1;
  }

  // Sorts the shares, and adds up those with the same key.
  void merge(std::vector<WeightedShare>& shares) const {
    std::sort(shares.begin(), shares.end(),
              [&](const WeightedShare& a, const WeightedShare& b) { return compare(a, b) < 0; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (kept > 0 && compare(shares[kept - 1], shares[i]) == 0) {
        WeightedShare& into = shares[kept - 1];
        into.weight += shares[i].weight;
        into.gpu_time += shares[i].gpu_time;
        into.memory_time += shares[i].memory_time;
        into.observed_time += shares[i].observed_time;
        into.during = {std::min(into.during.begin(), shares[i].during.begin()),
                       std::max(into.during.end(), shares[i].during.end())};
        continue;
      }
      if (kept != i) shares[kept] = shares[i];
      ++kept;
    }
    shares.erase(shares.begin() + static_cast<std::ptrdiff_t>(kept), shares.end());
  }

  std::vector<WeightedShare> never_there(Component component) const {
    std::vector<WeightedShare> parts;
    for (const std::uint32_t segment : resolved_.segments) {
      const Interval& during = charges_.segments[segment];
      parts.push_back({.charge = 0,
                       .component = component,
                       .segment = segment,
                       .kind = PostingKind::kUnallocated,
                       .during = during,
                       .weight = during.length_ms(),
                       .gpu_time = {},
                       .memory_time = {},
                       .observed_time = {}});
    }
    return parts;
  }

  Posting posting(const WeightedShare& share, const Costs& costs) const {
    const bool held = share.holding != kNoIndex;
    if (held) held_[share.holding].store(true, std::memory_order_relaxed);
    return {.charge = resolved_.charge->id,
            .kind = share.kind,
            .component = share.component,
            .interval = share.during,
            .day = days_[share.segment],
            .node = node_of(share.machine),
            .gpu = gpu_of(share.card),
            .workload = held ? holdings_[share.holding]->workload : WorkloadId(""),
            .holding = held ? std::optional(holdings_[share.holding]->id) : std::nullopt,
            .weight = share.weight,
            .costs = costs,
            .gpu_time = share.gpu_time,
            .memory_time = share.memory_time,
            .observed_time = share.observed_time};
  }

  const ResolvedCharge& resolved_;
  const ResolvedCharges& charges_;
  std::span<const std::chrono::sys_days> days_;
  const Fleet& fleet_;
  std::span<const Holding* const> holdings_;
  std::span<std::atomic<bool>> held_;
};

}  // namespace

std::vector<Posting> post_charge(const ResolvedCharge& resolved, std::vector<WeightedShare> shares,
                                 const ResolvedCharges& charges,
                                 std::span<const std::chrono::sys_days> days, const Fleet& fleet,
                                 std::span<const Holding* const> holdings,
                                 std::span<std::atomic<bool>> held) {
  return Poster(resolved, charges, days, fleet, holdings, held).run(std::move(shares));
}

}  // namespace pennyweight
