#include "compare/places.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compare/fleet_view.h"
#include "core/check.h"
#include "core/split.h"

namespace pennyweight {
namespace {

using Nodes = std::vector<std::uint32_t>;
using std::chrono::milliseconds;

// How finely a product cuts time: AWS by the hour of its report, Koku by the day, OpenCost not at
// all, since its cost is linear in time.
std::optional<milliseconds> grain_of(Preset preset) {
  switch (preset) {
    case Preset::kOpenCost:
      return std::nullopt;
    case Preset::kAwsScad:
      return std::chrono::hours(1);
    case Preset::kKoku:
      return std::chrono::hours(24);
  }
  return std::nullopt;
}

// The parts of a period, each within one grain.
std::vector<Interval> cut(const Interval& period, std::optional<milliseconds> grain) {
  if (!grain) return {period};
  std::vector<Interval> pieces;
  Instant begin = period.begin();
  while (begin < period.end()) {
    const Instant next = begin + *grain - begin.time_since_epoch() % *grain;
    pieces.emplace_back(begin, std::min(next, period.end()));
    begin = next;
  }
  return pieces;
}

// A slot while its lines come in.
struct Drafted {
  Interval during;
  ComponentCosts costs;
  std::map<std::uint32_t, Interval> nodes;  // each with how long it is paid for
};

struct Draft {
  Nodes nodes;
  std::map<Interval, Drafted> slots;  // by grain, or by the line's period
};

ResourceTime times_of(const Capacity& capacity, std::uint64_t ms) {
  return {UInt128{capacity.gpus} * CardShare::kUnitsPerCard * ms, UInt128{capacity.cpu_milli} * ms,
          UInt128{capacity.memory_bytes} * ms};
}

void add(ResourceTime& sum, const ResourceTime& more) {
  sum.gpu += more.gpu;
  sum.cpu += more.cpu;
  sum.memory += more.memory;
}

UInt128 scaled(UInt128 amount, UInt128 part, UInt128 whole) {
  return whole == 0 ? 0 : multiply_divide(amount, part, whole).quotient;
}

// What a holding asks for, on which nodes.
struct Asked {
  bool in_pool = false;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> on;  // node, devices there
  Nodes pool;
  std::uint32_t pool_number = 0;  // the same for the same nodes
  std::uint64_t devices = 0;
};

Asked asked_of(const Holding& holding, const FleetView& fleet) {
  Asked asked{.on = {}, .pool = {}, .devices = device_count(holding)};
  std::map<std::uint32_t, std::uint64_t> on;
  if (const auto* gpus = std::get_if<OnGpus>(&holding.placement)) {
    for (const GpuId& gpu : gpus->gpus) {
      if (const auto node = fleet.node_of_gpu(gpu)) on[*node] += 1;
    }
  } else if (const auto* nodes = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::Part& part : nodes->parts) {
      if (const auto node = fleet.node_of(part.node)) on[*node] += part.devices;
    }
  } else {
    asked.in_pool = true;
    asked.pool = fleet.pool(std::get<InPool>(holding.placement), holding.gpu_model);
  }
  asked.on = {on.begin(), on.end()};
  return asked;
}

std::optional<std::uint32_t> first_node(const Asked& asked) {
  if (!asked.on.empty()) return asked.on.front().first;
  if (!asked.pool.empty()) return asked.pool.front();
  return std::nullopt;
}

class PlaceMaker {
 public:
  PlaceMaker(Preset preset, const ClusterMonth& month, Currency currency, Money Costs::* cost)
      : preset_(preset),
        month_(month),
        currency_(currency),
        cost_(cost),
        fleet_(month.nodes, month.gpus, month.catalog, month.join_rules) {}

  SlotPlaces run() {
    std::map<Nodes, std::uint32_t> pools;
    for (const Holding& holding : month_.holdings) {
      Asked& asked = asked_.emplace_back(asked_of(holding, fleet_));
      const auto number = static_cast<std::uint32_t>(pools.size());
      asked.pool_number = pools.try_emplace(asked.pool, number).first->second;
    }
    group_nodes();
    SlotPlaces places{{}, std::vector<bool>(month_.charges.size(), false)};
    for (std::size_t c = 0; c < month_.charges.size(); ++c) {
      if (month_.charges[c].costs.currency() == currency_) places.covered[c] = add_charge(c);
    }
    for (const auto& [nodes, draft] : drafts_) {
      const bool one = nodes.size() == 1;
      places.all.push_back({one ? fleet_.any_fact(nodes[0]).name : NodeId(""), {}});
      add_slots(draft, places.all.back());
    }
    return places;
  }

 private:
  // Nodes that a holding names stand alone, the others of a pool together.
  void group_nodes() {
    std::set<std::uint32_t> named;
    for (const Asked& asked : asked_) {
      for (const auto& [node, devices] : asked.on) named.insert(node);
    }
    std::map<std::pair<PoolId, const GpuModel*>, Nodes> together;
    for (std::uint32_t n = 0; n < fleet_.nodes().size(); ++n) {
      if (named.contains(n)) continue;
      together[{fleet_.any_fact(n).pool, fleet_.nodes()[n].model}].push_back(n);
    }
    group_.resize(fleet_.nodes().size());
    for (std::uint32_t n = 0; n < group_.size(); ++n) group_[n] = {n};
    for (const auto& [key, nodes] : together) {
      for (const std::uint32_t n : nodes) group_[n] = nodes;
    }
  }

  bool add_charge(std::size_t index) {
    const Charge& charge = month_.charges[index];
    const Nodes nodes = fleet_.nodes_of(charge);
    if (nodes.empty()) return false;
    Capacity capacity;
    for (const std::uint32_t n : nodes) {
      const Capacity& one = fleet_.nodes()[n].capacity;
      capacity.gpus += one.gpus;
      capacity.cpu_milli += one.cpu_milli;
      capacity.memory_bytes += one.memory_bytes;
    }
    // A node without GPUs is outside of Koku's GPU cost model.
    if (preset_ == Preset::kKoku && capacity.gpus == 0) return false;
    const Nodes& group = nodes.size() == 1 ? group_[nodes[0]] : nodes;
    Draft& draft = drafts_.try_emplace(group, Draft{group, {}}).first->second;
    const auto grain = grain_of(preset_);
    const std::vector<Interval> pieces = cut(charge.charge_period, grain);
    std::vector<Weight> lengths;
    for (const Interval& piece : pieces) lengths.push_back(piece.length_ms());
    const std::vector<Money> costs = split(charge.costs.*cost_, lengths);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Interval& piece = pieces[i];
      const Instant floor =
          grain ? piece.begin() - piece.begin().time_since_epoch() % *grain : piece.begin();
      const Interval key(floor, grain ? floor + *grain : piece.end());
      Drafted& slot =
          draft.slots.try_emplace(key, Drafted{piece, ComponentCosts::zero(currency_), {}})
              .first->second;
      slot.costs += ratio_split(costs[i], capacity, weights_of(preset_, capacity));
      slot.during = span(slot.during, piece);
      for (const std::uint32_t n : nodes) {
        auto& paid = slot.nodes.try_emplace(n, piece).first->second;
        paid = span(paid, piece);
      }
    }
    return true;
  }

  static Interval span(const Interval& a, const Interval& b) {
    return {std::min(a.begin(), b.begin()), std::max(a.end(), b.end())};
  }

  void add_slots(const Draft& draft, Place& place) {
    std::vector<const Drafted*> order;
    milliseconds longest{0};
    for (const auto& [key, slot] : draft.slots) {
      order.push_back(&slot);
      longest = std::max(longest, slot.during.end() - slot.during.begin());
      Slot& out = place.slots.emplace_back(Slot{slot.nodes.size(), slot.costs, {}, {}});
      for (const auto& [node, paid] : slot.nodes) {
        add(out.capacity, times_of(fleet_.nodes()[node].capacity, paid.length_ms()));
      }
    }
    const std::set<std::uint32_t> members(draft.nodes.begin(), draft.nodes.end());
    for (std::uint32_t h = 0; h < month_.holdings.size(); ++h) {
      const Interval& held = month_.holdings[h].held;
      auto slot =
          std::lower_bound(order.begin(), order.end(), held.begin() - longest,
                           [](const Drafted* s, Instant at) { return s->during.begin() < at; });
      for (; slot != order.end() && (*slot)->during.begin() < held.end(); ++slot) {
        const auto overlap = held.overlap((*slot)->during);
        if (!overlap) continue;
        const auto claim = claim_of(h, **slot, members, overlap->length_ms());
        if (claim)
          place.slots[static_cast<std::size_t>(slot - order.begin())].claims.push_back(*claim);
      }
    }
  }

  // What a holding is allocated of a slot; nothing where it has nothing there.
  std::optional<SlotClaim> claim_of(std::uint32_t h, const Drafted& slot,
                                    const std::set<std::uint32_t>& members, std::uint64_t ms) {
    const Holding& holding = month_.holdings[h];
    const Asked& asked = asked_[h];
    UInt128 part = 0;  // of the holding's devices, CPU and memory, those that are here
    UInt128 whole = 1;
    UInt128 devices_ms = 0;
    if (asked.in_pool) {
      const UInt128 here = in_pool(asked, slot);
      if (here == 0) return std::nullopt;
      part = here;
      whole = in_pool_everywhere(asked, slot.during);
      if (whole < part) whole = part;  // a node outlived what its inventory says
      devices_ms = UInt128{asked.devices} * ms;
    } else {
      std::uint64_t here = 0;
      std::uint64_t nodes_here = 0;
      for (const auto& [node, devices] : asked.on) {
        if (!members.contains(node)) continue;
        here += devices;
        nodes_here += 1;
      }
      if (nodes_here == 0) return std::nullopt;
      part = asked.devices > 0 ? here : nodes_here;
      whole = asked.devices > 0 ? asked.devices : asked.on.size();
      devices_ms = UInt128{asked.devices} * ms;
    }
    const auto node = first_node(asked);
    const HeldAs how = held_as(holding, node ? &fleet_.any_fact(*node) : nullptr);
    const GpuModel* model = node ? fleet_.nodes()[*node].model : nullptr;
    const auto share = counted_share(preset_, how, holding.device, model);
    SlotClaim claim{h, std::nullopt, 0, 0};
    if (share) claim.gpu = scaled(devices_ms * share->units(), part, whole);
    claim.cpu = scaled(UInt128{holding.cpu_milli.value_or(0)} * ms, part, whole);
    claim.memory = scaled(UInt128{holding.memory_bytes.value_or(0)} * ms, part, whole);
    return claim;
  }

  // How much of the pool that a holding asks for there is: GPUs, or where it asks for none CPUs.
  UInt128 size_of(const Asked& asked, std::uint32_t node) const {
    const Capacity& capacity = fleet_.nodes()[node].capacity;
    return asked.devices > 0 ? capacity.gpus : capacity.cpu_milli;
  }

  // That of the nodes that a slot is paid for, for as long as they are.
  UInt128 in_pool(const Asked& asked, const Drafted& slot) {
    const auto key = std::make_tuple(asked.pool_number, &slot, asked.devices > 0);
    const auto known = slot_sizes_.find(key);
    if (known != slot_sizes_.end()) return known->second;
    UInt128 sum = 0;
    for (const auto& [node, paid] : slot.nodes) {
      if (!std::binary_search(asked.pool.begin(), asked.pool.end(), node)) continue;
      sum += size_of(asked, node) * paid.length_ms();
    }
    slot_sizes_.emplace(key, sum);
    return sum;
  }

  // The same of all its nodes, for as long as each is there.
  UInt128 in_pool_everywhere(const Asked& asked, const Interval& during) {
    const auto key = std::make_tuple(asked.pool_number, during, asked.devices > 0);
    const auto known = pool_sizes_.find(key);
    if (known != pool_sizes_.end()) return known->second;
    UInt128 sum = 0;
    for (const std::uint32_t node : asked.pool) {
      for (const Node* fact : fleet_.nodes()[node].facts) {
        const Instant end = fact->to ? std::min(*fact->to, during.end()) : during.end();
        const auto there = Interval::of(std::max(fact->from, during.begin()), end);
        if (there) sum += size_of(asked, node) * there->length_ms();
      }
    }
    pool_sizes_.emplace(key, sum);
    return sum;
  }

  const Preset preset_;
  const ClusterMonth& month_;
  const Currency currency_;
  Money Costs::* const cost_;
  const FleetView fleet_;
  std::vector<Asked> asked_;
  std::vector<Nodes> group_;  // of each node
  std::map<Nodes, Draft> drafts_;
  // Of each pool that is asked for, by GPUs (true) or by CPUs; looked up, never gone through.
  std::map<std::tuple<std::uint32_t, const Drafted*, bool>, UInt128> slot_sizes_;
  std::map<std::tuple<std::uint32_t, Interval, bool>, UInt128> pool_sizes_;
};

}  // namespace

SlotPlaces places_of(Preset preset, const ClusterMonth& month, Currency currency,
                     Money Costs::* cost) {
  return PlaceMaker(preset, month, currency, cost).run();
}

std::vector<HeldAs> ways_of_holding(const ClusterMonth& month) {
  const FleetView fleet(month.nodes, month.gpus, month.catalog, month.join_rules);
  std::vector<HeldAs> ways;
  for (const Holding& holding : month.holdings) {
    const auto node = first_node(asked_of(holding, fleet));
    ways.push_back(held_as(holding, node ? &fleet.any_fact(*node) : nullptr));
  }
  return ways;
}

}  // namespace pennyweight
