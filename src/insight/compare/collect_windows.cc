#include "insight/compare/collect_windows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/check.h"
#include "core/split.h"
#include "insight/compare/fleet_view.h"

namespace pennyweight {
namespace {

using Nodes = std::vector<std::uint32_t>;
using std::chrono::milliseconds;

// The window by which a product cuts time: AWS the hour of its report, Koku the day. OpenCost does
// not cut, since its cost is linear in time.
std::optional<milliseconds> time_grain(Preset preset) {
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

// A period cut at the borders of the grain.
std::vector<Interval> cut_by_grain(const Interval& period, std::optional<milliseconds> grain) {
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

// A window to which charges are still being added.
struct WindowDraft {
  Interval during;
  ComponentCosts costs;
  std::map<std::uint32_t, Interval> nodes;  // each with the time it is paid for
};

struct NodeDraft {
  Nodes nodes;
  std::map<Interval, WindowDraft> windows;  // by grain, or by the charge's period
};

ResourceTime capacity_time(const Capacity& capacity, std::uint64_t ms) {
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

// What a holding requests, and on which nodes.
struct RequestedDevices {
  bool in_pool = false;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> on;  // node, devices on it
  Nodes pool;
  std::uint32_t pool_number = 0;  // equal for equal pools
  std::uint64_t devices = 0;
};

RequestedDevices requested_devices(const Holding& holding, const FleetView& fleet) {
  RequestedDevices requested{.on = {}, .pool = {}, .devices = device_count(holding)};
  std::map<std::uint32_t, std::uint64_t> on;
  if (const auto* gpus = std::get_if<OnGpus>(&holding.placement)) {
    for (const GpuId& gpu : gpus->gpus) {
      if (const auto node = fleet.node_of_gpu(gpu)) on[*node] += 1;
    }
  } else if (const auto* nodes = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::NodeDevices& part : nodes->parts) {
      if (const auto node = fleet.node_of(part.node)) on[*node] += part.devices;
    }
  } else {
    requested.in_pool = true;
    requested.pool = fleet.pool(std::get<InPool>(holding.placement), holding.gpu_model);
  }
  requested.on = {on.begin(), on.end()};
  return requested;
}

std::optional<std::uint32_t> first_node(const RequestedDevices& requested) {
  if (!requested.on.empty()) return requested.on.front().first;
  if (!requested.pool.empty()) return requested.pool.front();
  return std::nullopt;
}

class WindowCollector {
 public:
  WindowCollector(Preset preset, const ClusterMonth& month, Currency currency, Money Costs::* cost)
      : preset_(preset),
        month_(month),
        currency_(currency),
        cost_(cost),
        fleet_(month.nodes, month.gpus, month.catalog, month.join_rules) {}

  ComparedNodes run() {
    std::map<Nodes, std::uint32_t> pools;
    for (const Holding& holding : month_.holdings) {
      RequestedDevices& requested = requested_.emplace_back(requested_devices(holding, fleet_));
      const auto number = static_cast<std::uint32_t>(pools.size());
      requested.pool_number = pools.try_emplace(requested.pool, number).first->second;
    }
    group_nodes();
    ComparedNodes places{{}, std::vector<bool>(month_.charges.size(), false)};
    for (std::size_t c = 0; c < month_.charges.size(); ++c) {
      if (month_.charges[c].costs.currency() == currency_) places.covered[c] = add_charge(c);
    }
    for (const auto& [nodes, draft] : drafts_) {
      const bool one = nodes.size() == 1;
      places.all.push_back({one ? fleet_.any_fact(nodes[0]).name : NodeId(""), {}});
      add_windows(draft, places.all.back());
    }
    return places;
  }

 private:
  // Nodes that a holding names stand alone; the others are grouped by pool and model.
  void group_nodes() {
    std::set<std::uint32_t> named;
    for (const RequestedDevices& requested : requested_) {
      for (const auto& [node, devices] : requested.on) named.insert(node);
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
    // Koku's GPU cost model leaves out nodes without GPUs.
    if (preset_ == Preset::kKoku && capacity.gpus == 0) return false;
    const Nodes& group = nodes.size() == 1 ? group_[nodes[0]] : nodes;
    NodeDraft& draft = drafts_.try_emplace(group, NodeDraft{group, {}}).first->second;
    const auto grain = time_grain(preset_);
    const std::vector<Interval> pieces = cut_by_grain(charge.charge_period, grain);
    std::vector<Weight> lengths;
    for (const Interval& piece : pieces) lengths.push_back(piece.length_ms());
    const std::vector<Money> costs = split(charge.costs.*cost_, lengths);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Interval& piece = pieces[i];
      const Instant floor =
          grain ? piece.begin() - piece.begin().time_since_epoch() % *grain : piece.begin();
      const Interval key(floor, grain ? floor + *grain : piece.end());
      WindowDraft& window =
          draft.windows.try_emplace(key, WindowDraft{piece, ComponentCosts::zero(currency_), {}})
              .first->second;
      window.costs += ratio_split(costs[i], capacity, weights_of(preset_, capacity));
      window.during = span(window.during, piece);
      for (const std::uint32_t n : nodes) {
        auto& paid = window.nodes.try_emplace(n, piece).first->second;
        paid = span(paid, piece);
      }
    }
    return true;
  }

  static Interval span(const Interval& a, const Interval& b) {
    return {std::min(a.begin(), b.begin()), std::max(a.end(), b.end())};
  }

  void add_windows(const NodeDraft& draft, NodeWindows& place) {
    std::vector<const WindowDraft*> order;
    milliseconds longest{0};
    for (const auto& [key, window] : draft.windows) {
      order.push_back(&window);
      longest = std::max(longest, window.during.end() - window.during.begin());
      NodeWindow& out =
          place.windows.emplace_back(NodeWindow{window.nodes.size(), window.costs, {}, {}});
      for (const auto& [node, paid] : window.nodes) {
        add(out.capacity, capacity_time(fleet_.nodes()[node].capacity, paid.length_ms()));
      }
    }
    const std::set<std::uint32_t> members(draft.nodes.begin(), draft.nodes.end());
    for (std::uint32_t h = 0; h < month_.holdings.size(); ++h) {
      const Interval& held = month_.holdings[h].held;
      auto window =
          std::lower_bound(order.begin(), order.end(), held.begin() - longest,
                           [](const WindowDraft* s, Instant at) { return s->during.begin() < at; });
      for (; window != order.end() && (*window)->during.begin() < held.end(); ++window) {
        const auto overlap = held.overlap((*window)->during);
        if (!overlap) continue;
        const auto claim = claim_of(h, **window, members, overlap->length_ms());
        if (claim)
          place.windows[static_cast<std::size_t>(window - order.begin())].claims.push_back(*claim);
      }
    }
  }

  // What a holding is allocated in a window; absent where it holds nothing in it.
  std::optional<WindowClaim> claim_of(std::uint32_t h, const WindowDraft& window,
                                      const std::set<std::uint32_t>& members, std::uint64_t ms) {
    const Holding& holding = month_.holdings[h];
    const RequestedDevices& requested = requested_[h];
    UInt128 part = 0;  // the part of the holding's devices, CPU and memory that is here
    UInt128 whole = 1;
    UInt128 devices_ms = 0;
    if (requested.in_pool) {
      const UInt128 here = in_pool(requested, window);
      if (here == 0) return std::nullopt;
      part = here;
      whole = in_pool_everywhere(requested, window.during);
      if (whole < part) whole = part;  // the node outlived its inventory
      devices_ms = UInt128{requested.devices} * ms;
    } else {
      std::uint64_t here = 0;
      std::uint64_t nodes_here = 0;
      for (const auto& [node, devices] : requested.on) {
        if (!members.contains(node)) continue;
        here += devices;
        nodes_here += 1;
      }
      if (nodes_here == 0) return std::nullopt;
      part = requested.devices > 0 ? here : nodes_here;
      whole = requested.devices > 0 ? requested.devices : requested.on.size();
      devices_ms = UInt128{requested.devices} * ms;
    }
    const auto node = first_node(requested);
    const HoldingType how = holding_type(holding, node ? &fleet_.any_fact(*node) : nullptr);
    const GpuModel* model = node ? fleet_.nodes()[*node].model : nullptr;
    const auto share = counted_share(preset_, how, holding.device, model);
    WindowClaim claim{.holding = h, .gpu = std::nullopt};
    if (how == HoldingType::kMig && model != nullptr) {
      claim.slices = std::max<std::uint64_t>(model->mig_compute_slices, 1);
    }
    if (share) claim.gpu = scaled(devices_ms * share->units(), part, whole);
    claim.cpu = scaled(UInt128{holding.cpu_milli.value_or(0)} * ms, part, whole);
    claim.memory = scaled(UInt128{holding.memory_bytes.value_or(0)} * ms, part, whole);
    return claim;
  }

  // The capacity of the pool that a holding requests: GPUs, or CPUs where it requests no GPU.
  UInt128 size_of(const RequestedDevices& requested, std::uint32_t node) const {
    const Capacity& capacity = fleet_.nodes()[node].capacity;
    return requested.devices > 0 ? capacity.gpus : capacity.cpu_milli;
  }

  // The capacity of the nodes that a window pays for, over the paid time.
  UInt128 in_pool(const RequestedDevices& requested, const WindowDraft& window) {
    const auto key = std::make_tuple(requested.pool_number, &window, requested.devices > 0);
    const auto known = window_sizes_.find(key);
    if (known != window_sizes_.end()) return known->second;
    UInt128 sum = 0;
    for (const auto& [node, paid] : window.nodes) {
      if (!std::binary_search(requested.pool.begin(), requested.pool.end(), node)) continue;
      sum += size_of(requested, node) * paid.length_ms();
    }
    window_sizes_.emplace(key, sum);
    return sum;
  }

  // The same over all nodes of the pool, for as long as each is there.
  UInt128 in_pool_everywhere(const RequestedDevices& requested, const Interval& during) {
    const auto key = std::make_tuple(requested.pool_number, during, requested.devices > 0);
    const auto known = pool_sizes_.find(key);
    if (known != pool_sizes_.end()) return known->second;
    UInt128 sum = 0;
    for (const std::uint32_t node : requested.pool) {
      for (const Node* fact : fleet_.nodes()[node].facts) {
        const Instant end = fact->to ? std::min(*fact->to, during.end()) : during.end();
        const auto there = Interval::of(std::max(fact->from, during.begin()), end);
        if (there) sum += size_of(requested, node) * there->length_ms();
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
  std::vector<RequestedDevices> requested_;
  std::vector<Nodes> group_;  // of each node
  std::map<Nodes, NodeDraft> drafts_;
  // Of each requested pool, by GPUs (true) or by CPUs. For lookup only, never iterated.
  std::map<std::tuple<std::uint32_t, const WindowDraft*, bool>, UInt128> window_sizes_;
  std::map<std::tuple<std::uint32_t, Interval, bool>, UInt128> pool_sizes_;
};

}  // namespace

ComparedNodes collect_windows(Preset preset, const ClusterMonth& month, Currency currency,
                              Money Costs::* cost) {
  return WindowCollector(preset, month, currency, cost).run();
}

std::vector<HoldingType> holding_types(const ClusterMonth& month) {
  const FleetView fleet(month.nodes, month.gpus, month.catalog, month.join_rules);
  std::vector<HoldingType> ways;
  for (const Holding& holding : month.holdings) {
    const auto node = first_node(requested_devices(holding, fleet));
    ways.push_back(holding_type(holding, node ? &fleet.any_fact(*node) : nullptr));
  }
  return ways;
}

}  // namespace pennyweight
