#include "allocate/post.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// The four costs of a part, each split by the same weights.
std::vector<Costs> split_costs(const Costs& costs, std::span<const Weight> weights) {
  const auto billed = split(costs.billed, weights);
  const auto effective = split(costs.effective, weights);
  const auto list = split(costs.list, weights);
  const auto contracted = split(costs.contracted, weights);
  std::vector<Costs> parts;
  parts.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back({billed[i], effective[i], list[i], contracted[i]});
  }
  return parts;
}

struct ComponentAmount {
  Component component;
  Costs costs;
};

std::vector<ComponentAmount> component_amounts(const Line& line) {
  if (line.split.empty()) return {{Component::kWhole, line.charge->costs}};
  std::vector<Component> components;
  std::vector<Weight> weights;
  const auto take = [&](Component component, Weight weight) {
    if (weight == 0) return;
    components.push_back(component);
    weights.push_back(weight);
  };
  take(Component::kGpu, line.split.gpu);
  take(Component::kCpu, line.split.cpu);
  take(Component::kMemory, line.split.memory);
  const auto costs = split_costs(line.charge->costs, weights);
  std::vector<ComponentAmount> amounts;
  for (std::size_t i = 0; i < components.size(); ++i) amounts.push_back({components[i], costs[i]});
  return amounts;
}

class Poster {
 public:
  Poster(const Line& line, const Lines& lines, const Fleet& fleet,
         std::span<const Holding* const> holdings, const TimeZone& zone)
      : line_(line), lines_(lines), fleet_(fleet), holdings_(holdings), zone_(zone) {}

  std::vector<Posting> run(std::vector<Share> shares) {
    merge(shares);
    std::vector<Posting> postings;
    postings.reserve(shares.size() + 3);
    for (const auto& [component, costs] : component_amounts(line_)) {
      const auto [first, last] =
          std::equal_range(shares.begin(), shares.end(), component, ByComponent{});
      std::vector<Share> parts(first, last);
      const bool nobody =
          std::all_of(parts.begin(), parts.end(), [](const Share& s) { return s.weight == 0; });
      if (nobody) parts = never_there(component);
      // A bucket without any weight says nothing.
      std::erase_if(parts, [](const Share& s) { return s.weight == 0 && s.holding == kNone; });
      std::vector<Weight> weights;
      for (const Share& part : parts) weights.push_back(part.weight);
      const auto amounts = split_costs(costs, weights);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        postings.push_back(posting(parts[i], amounts[i]));
      }
    }
    Costs sum = Costs::zero(line_.charge->costs.currency());
    for (const Posting& posted : postings) sum += posted.costs;
    CHECK(sum == line_.charge->costs, "the postings must add up to the line");
    return postings;
  }

 private:
  struct ByComponent {
    bool operator()(const Share& share, Component c) const { return share.component < c; }
    bool operator()(Component c, const Share& share) const { return c < share.component; }
  };

  NodeId node_of(const Share& share) const {
    return share.machine == kNone ? line_.node : fleet_.machines()[share.machine].node->name;
  }
  GpuId gpu_of(const Share& share) const {
    return share.card == kNone ? GpuId("") : fleet_.cards()[share.card].gpu->uuid;
  }

  // The order of a line's postings, by what they are and never by where they came from.
  auto key(const Share& share) const {
    return std::tuple(share.component, lines_.stretches[share.stretch], node_of(share),
                      gpu_of(share), share.kind,
                      share.holding == kNone ? std::int64_t{-1} : std::int64_t{share.holding});
  }

  // In order, and one share for each key.
  void merge(std::vector<Share>& shares) const {
    std::sort(shares.begin(), shares.end(),
              [&](const Share& a, const Share& b) { return key(a) < key(b); });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (kept > 0 && key(shares[kept - 1]) == key(shares[i])) {
        Share& into = shares[kept - 1];
        into.weight += shares[i].weight;
        into.gpu_time += shares[i].gpu_time;
        into.memory_time += shares[i].memory_time;
        into.during = {std::min(into.during.begin(), shares[i].during.begin()),
                       std::max(into.during.end(), shares[i].during.end())};
        continue;
      }
      if (kept != i) shares[kept] = shares[i];
      ++kept;
    }
    shares.erase(shares.begin() + static_cast<std::ptrdiff_t>(kept), shares.end());
  }

  std::vector<Share> never_there(Component component) const {
    std::vector<Share> parts;
    for (const std::uint32_t stretch : line_.stretches) {
      const Interval& during = lines_.stretches[stretch];
      parts.push_back({.line = 0,
                       .component = component,
                       .stretch = stretch,
                       .kind = PostingKind::kUnallocated,
                       .during = during,
                       .weight = during.length_ms(),
                       .gpu_time = {},
                       .memory_time = {},
                       .observed_time = {}});
    }
    return parts;
  }

  Posting posting(const Share& share, const Costs& costs) const {
    const bool held = share.holding != kNone;
    return {.charge = line_.charge->id,
            .kind = share.kind,
            .component = share.component,
            .interval = share.during,
            .day = local_day(share.during.begin()),
            .node = node_of(share),
            .gpu = gpu_of(share),
            .workload = held ? holdings_[share.holding]->workload : WorkloadId(""),
            .holding = held ? std::optional(holdings_[share.holding]->id) : std::nullopt,
            .weight = share.weight,
            .costs = costs,
            .gpu_time = share.gpu_time,
            .memory_time = share.memory_time,
            .observed_time = share.observed_time};
  }

  // Stretches lie within one day, so a line needs few of these.
  std::chrono::sys_days local_day(Instant at) const {
    const auto date = parse_instant(local_date(at, zone_));
    CHECK(date.has_value(), "a local date reads back");
    return std::chrono::floor<std::chrono::days>(*date);
  }

  const Line& line_;
  const Lines& lines_;
  const Fleet& fleet_;
  std::span<const Holding* const> holdings_;
  const TimeZone& zone_;
};

}  // namespace

std::vector<Posting> post(const Line& line, std::vector<Share> shares, const Lines& lines,
                          const Fleet& fleet, std::span<const Holding* const> holdings,
                          const TimeZone& zone) {
  return Poster(line, lines, fleet, holdings, zone).run(std::move(shares));
}

}  // namespace pennyweight
