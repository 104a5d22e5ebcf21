// resolve_demands(): finds what each holding requests, and where.
#include "allocation/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "allocation/device_share.h"
#include "allocation/missing_times.h"
#include "allocation/parallel.h"
#include "allocation/shared_holdings.h"
#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
#include "core/overloaded.h"

namespace pennyweight {
namespace {

// A model as requested ("a100") is met by a model as installed ("A100-SXM4-80GB").
bool meets(const std::string& installed, const std::string& requested) {
  if (requested.empty()) return true;
  const GpuModel* model = find_gpu_model(requested);
  if (model != nullptr) return model->name == installed;
  return ascii::lower_case(installed).find(ascii::lower_case(requested)) != std::string::npos;
}

class Resolver {
 public:
  Resolver(std::span<const Holding* const> holdings, const SharedHoldings& shared,
           const Fleet& fleet)
      : holdings_(holdings), shared_(shared), fleet_(fleet) {}

  // Resolves holdings [first, last). Selectors are in the order of their first use.
  Demands run(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i < last; ++i) {
      if (shared_.is_reservation(i)) continue;
      for (const SharingInterval& sharing : shared_.sharing_intervals(i))
        place({i, holdings_[i], sharing});
    }
    return std::move(out_);
  }

 private:
  // A holding over an interval in which it shares with the same others.
  struct RequestedHolding {
    std::uint32_t index;
    const Holding* holding;
    SharingInterval sharing;
    const Interval& during() const { return sharing.during; }
  };

  void problem(std::string what) { out_.problems[std::move(what)] += 1; }

  void place(const RequestedHolding& requested) {
    if (requested.sharing.reserved != nullptr) return on_reserved(requested);
    std::visit(Overloaded{[&](const OnGpus& on) { on_gpus(requested, on); },
                          [&](const OnNodes& on) { on_nodes(requested, on); },
                          [&](const InPool& in) { in_pool(requested, in); }},
               requested.holding->placement);
  }

  std::optional<CardFraction> share_of(const Device& device, const CardAt& at) {
    auto share = device_share(device, at);
    if (share) return *share;
    problem(share.error().message);
    return std::nullopt;
  }

  static void set_gpu(Demand& demand, const CardFraction& each, std::uint64_t devices,
                      std::uint64_t card_units, const SharingInterval& sharing) {
    demand.units[kCompute] = sharing.own_units(scale_units(card_units, each.compute) * devices);
    demand.units[kMemory] = sharing.own_units(scale_units(card_units, each.memory) * devices);
  }

  // Host CPU and memory: as requested, else the same part of the host as of its GPUs.
  static void set_host(Demand& demand, const NodeShape& shape, std::uint64_t gpu_units_of_shape,
                       std::optional<std::uint64_t> cpu_milli,
                       std::optional<std::uint64_t> memory_bytes) {
    const auto part = [&](std::uint64_t capacity) -> std::uint64_t {
      if (gpu_units_of_shape == 0) return 0;
      return static_cast<std::uint64_t>(
          multiply_divide(capacity, demand.units[kCompute], gpu_units_of_shape).quotient);
    };
    demand.units[kCpu] = cpu_milli ? *cpu_milli : part(shape.cpu_milli.value_or(0));
    demand.units[kHostMemory] = memory_bytes ? *memory_bytes : part(shape.memory_bytes.value_or(0));
  }

  void add(Demand demand, const std::optional<Interval>& present) {
    if (!present) return;
    const auto during = demand.during.overlap(*present);
    if (!during) return;
    demand.during = *during;
    out_.all.push_back(demand);
  }

  void on_gpus(const RequestedHolding& requested, const OnGpus& on) {
    bool first = true;  // the host's CPU and memory are requested for the holding as a whole
    for (const GpuId& id : on.gpus) {
      bool found = false;
      for (const std::uint32_t card_index : fleet_.cards_named(id)) {
        const Fleet::InstalledGpu& card = fleet_.cards()[card_index];
        if (!card.present || !requested.during().overlap(*card.present)) continue;
        found |= on_card(requested, id, card_index, first);
      }
      for (const MissingTime& missing : missing_times(fleet_, id, requested.holding->held)) {
        found |= while_missing(requested, id, missing, first);
      }
      if (!found) problem(fmt::format("GPU {}, which no inventory has at that time", id.text()));
      first = false;
    }
  }

  // Places a fraction of a reserved GPU on the GPUs of the reservation.
  void on_reserved(const RequestedHolding& requested) {
    const Placement& where = requested.sharing.reserved->placement;
    if (const auto* on = std::get_if<OnGpus>(&where)) return on_gpus(requested, *on);
    if (const auto* on = std::get_if<OnNodes>(&where)) return on_nodes(requested, *on);
    in_pool(requested, std::get<InPool>(where));
  }

  // It has as much of the machine as it has of the GPU at other times; which part is unknown.
  bool while_missing(const RequestedHolding& requested, const GpuId& held,
                     const MissingTime& missing, bool first) {
    const auto during = requested.during().overlap(missing.during);
    if (!during) return false;
    const Fleet::InstalledGpu& card = fleet_.cards()[missing.card];
    const GpuId& id = Fleet::seat_name(card, held);
    const bool is_gpu = id == card.gpu->uuid;
    // Where telemetry sees a workload of several devices may be another one of these.
    const auto* const named = std::get_if<OnGpus>(&requested.holding->placement);
    const bool is_only = named != nullptr && named->gpus.size() == 1;
    bool placed = false;
    for (const std::uint32_t machine_index : fleet_.machines_named(card.gpu->node)) {
      const Fleet::Machine& machine = fleet_.machines()[machine_index];
      const auto both = machine.present ? machine.present->overlap(*during) : std::nullopt;
      if (!both) continue;
      placed = true;
      const Device device = instance_device(*card.gpu, id, requested.holding->device);
      const auto each = is_gpu || !card.is_cut
                            ? share_of(device, at_card(*requested.holding, card, machine))
                            : share_in_seat(requested, card, machine);
      if (!each) return true;  // already noted
      GpuUnits whole = card.units;
      for (const Fleet::Seat& seat : fleet_.seats_of(card)) {
        if (card.is_cut && !is_gpu && seat.id == id) whole = seat.units;
      }
      Demand demand{.holding = requested.index,
                    .level = Demand::Level::kMachine,
                    .target = machine_index,
                    .machine = machine_index,
                    .during = *both,
                    .devices = is_only ? 1u : 0u,
                    .gpu_memory_bytes = machine.gpu_memory_bytes};
      set_part(demand, *each, whole, machine, requested, first);
      out_.all.push_back(demand);
      count_missing(is_gpu ? out_.missing_gpus : out_.missing_instances, held, demand);
    }
    return placed;
  }

  void count_missing(MissingGpus& missing, const GpuId& held, const Demand& demand) {
    if (counted_.insert({demand.holding, &missing}).second) missing.holdings += 1;
    missing.time +=
        CardShare::from_units(demand.units[kCompute]).over_ms(demand.during.length_ms());
    const std::string example =
        fmt::format("{} of '{}', {}", held.text(), holdings_[demand.holding]->workload.text(),
                    to_text(demand.during));
    if (missing.example.empty() || example < missing.example) missing.example = example;
  }

  bool on_card(const RequestedHolding& requested, const GpuId& held, std::uint32_t card_index,
               bool first) {
    const Fleet::InstalledGpu& card = fleet_.cards()[card_index];
    const GpuId& id = Fleet::seat_name(card, held);
    bool placed = false;
    for (const std::uint32_t machine_index : fleet_.machines_named(card.gpu->node)) {
      const Fleet::Machine& machine = fleet_.machines()[machine_index];
      const auto both = machine.present ? machine.present->overlap(*card.present) : std::nullopt;
      if (!both) continue;
      placed = true;
      bool first_seat = first;
      if (!card.is_cut) {
        const Device device = instance_device(*card.gpu, id, requested.holding->device);
        const auto each = share_of(device, at_card(*requested.holding, card, machine));
        if (!each) return true;  // already noted
        on_seat(requested, card.first_seat, machine_index, *both, *each, first_seat);
        continue;
      }
      if (is_profile(requested.holding->device) && id == card.gpu->uuid) {
        // Some instance of that profile on this GPU; which one is unknown.
        some_instance(requested, machine_index, *both, first_seat);
        continue;
      }
      const std::span<const Fleet::Seat> seats = fleet_.seats_of(card);
      for (std::uint32_t s = 0; s < seats.size(); ++s) {
        if (id != card.gpu->uuid && seats[s].id != id) continue;
        const auto each = share_in_seat(requested, card, machine);
        if (!each) return true;
        on_seat(requested, card.first_seat + s, machine_index, *both, *each, first_seat);
        first_seat = false;
      }
    }
    return placed;
  }

  static bool is_profile(const Device& device) { return std::holds_alternative<MigSlice>(device); }

  std::string model_of(const Fleet::InstalledGpu& card, const Fleet::Machine& machine) const {
    return card.gpu->model.empty() ? machine.shape.gpu_model : card.gpu->model;
  }

  // As it was when the holding began.
  CardAt at_card(const Holding& holding, const Fleet::InstalledGpu& card,
                 const Fleet::Machine& machine) const {
    return {.gpu_model = model_of(card, machine),
            .node = machine.node,
            .memory_bytes = fleet_.gpu_memory().of_gpu(card.gpu->cluster, card.gpu->uuid,
                                                       holding.held.begin())};
  }
  CardAt at_machine(const Holding& holding, const Fleet::Machine& machine) const {
    return {.gpu_model = machine.shape.gpu_model,
            .node = machine.node,
            .memory_bytes = fleet_.gpu_memory().of_node(machine.node->cluster, machine.node->name,
                                                        holding.held.begin())};
  }

  // On a GPU whose layout is not understood an instance counts by its profile, if known.
  static Device instance_device(const Gpu& gpu, const GpuId& id, const Device& requested) {
    for (const MigInstance& instance : gpu.mig_instances) {
      if (instance.id == id) return MigSlice{instance.profile};
    }
    return requested;
  }

  // Of an instance: all of it, unless the instance itself is shared.
  std::optional<CardFraction> share_in_seat(const RequestedHolding& requested,
                                            const Fleet::InstalledGpu& card,
                                            const Fleet::Machine& machine) {
    const Device& device = requested.holding->device;
    if (is_profile(device)) return CardFraction{CardShare::whole(), CardShare::whole()};
    return share_of(device, at_card(*requested.holding, card, machine));
  }

  void on_seat(const RequestedHolding& requested, std::uint32_t seat_index,
               std::uint32_t machine_index, const Interval& present, const CardFraction& each,
               bool first) {
    const Fleet::Seat& seat = fleet_.seats()[seat_index];
    const Fleet::Machine& machine = fleet_.machines()[machine_index];
    Demand demand{.holding = requested.index,
                  .level = Demand::Level::kSeat,
                  .target = seat_index,
                  .machine = machine_index,
                  .during = requested.during(),
                  .gpu_memory_bytes = machine.gpu_memory_bytes};
    set_part(demand, each, seat.units, machine, requested, first);
    add(demand, present);
  }

  // Requests a part of a GPU or instance that has `whole`, and what the holding states of the host
  // if this is the first of its devices.
  static void set_part(Demand& demand, const CardFraction& each, const GpuUnits& whole,
                       const Fleet::Machine& machine, const RequestedHolding& requested,
                       bool first) {
    // Nobody can hold more than all of a seat.
    const auto part_of = [&](std::size_t axis, CardShare share) {
      const CardShare part = std::min(share, CardShare::whole());
      return requested.sharing.own_units(scale_units(whole[axis], part));
    };
    demand.units[kCompute] = part_of(kCompute, each.compute);
    demand.units[kMemory] = part_of(kMemory, each.memory);
    const auto host = [&](const std::optional<std::uint64_t>& stated) {
      return stated && !first ? std::optional<std::uint64_t>(0) : stated;
    };
    set_host(demand, machine.shape, machine.capacity()[kCompute],
             host(requested.holding->cpu_milli), host(requested.holding->memory_bytes));
  }

  void some_instance(const RequestedHolding& requested, std::uint32_t machine_index,
                     const Interval& present, bool first) {
    const Fleet::Machine& machine = fleet_.machines()[machine_index];
    const auto each = share_of(requested.holding->device, at_machine(*requested.holding, machine));
    if (!each) return;
    on_machine(requested, machine_index, *each, 1, first ? requested.holding->cpu_milli : 0,
               first ? requested.holding->memory_bytes : 0, present);
  }

  void on_machine(const RequestedHolding& requested, std::uint32_t machine_index,
                  const CardFraction& each, std::uint32_t devices,
                  std::optional<std::uint64_t> cpu_milli, std::optional<std::uint64_t> memory_bytes,
                  const Interval& present) {
    const Fleet::Machine& machine = fleet_.machines()[machine_index];
    Demand demand{.holding = requested.index,
                  .level = Demand::Level::kMachine,
                  .target = machine_index,
                  .machine = machine_index,
                  .during = requested.during(),
                  .devices = devices,
                  .gpu_memory_bytes = machine.gpu_memory_bytes};
    set_gpu(demand, each, devices, machine.card_units(), requested.sharing);
    set_host(demand, machine.shape, machine.capacity()[kCompute], cpu_milli, memory_bytes);
    add(demand, present);
  }

  void on_nodes(const RequestedHolding& requested, const OnNodes& on) {
    // What the holding requests of its host is spread over its nodes evenly; the first gets the
    // rest.
    const std::uint64_t parts = on.parts.size();
    for (std::uint64_t i = 0; i < parts; ++i) {
      const auto part = [&](const std::optional<std::uint64_t>& whole) {
        return whole ? std::optional(*whole / parts + (i < *whole % parts ? 1 : 0)) : whole;
      };
      bool found = false;
      for (const std::uint32_t machine_index : fleet_.machines_named(on.parts[i].node)) {
        const Fleet::Machine& machine = fleet_.machines()[machine_index];
        if (!machine.present || !requested.during().overlap(*machine.present)) continue;
        found = true;
        const auto each =
            share_of(requested.holding->device, at_machine(*requested.holding, machine));
        if (!each) continue;
        on_machine(requested, machine_index, *each, on.parts[i].devices,
                   part(requested.holding->cpu_milli), part(requested.holding->memory_bytes),
                   *machine.present);
      }
      if (!found) {
        problem(
            fmt::format("node {}, which no inventory has at that time", on.parts[i].node.text()));
      }
    }
  }

  void in_pool(const RequestedHolding& requested, const InPool& in) {
    const Holding& holding = *requested.holding;
    Selector selector = matching_groups(in.pools, in.devices == 0 ? "" : holding.gpu_model);
    if (selector.empty()) selector = matching_groups(in.pools, "");
    if (selector.empty()) {
      problem(in.pools.empty()
                  ? std::string("a pool of nodes, and the cluster has no inventory")
                  : fmt::format("pool {}, which no inventory has", in.pools.front().text()));
      return;
    }
    const std::uint32_t target = selector_index(selector);
    const auto each = share_in(target, holding);
    if (!each) return;  // already noted
    const PoolTotals& totals = totals_[target];
    Demand demand{.holding = requested.index,
                  .level = Demand::Level::kPool,
                  .target = target,
                  .machine = kNoIndex,
                  .during = requested.during(),
                  .devices = in.devices,
                  .gpu_memory_bytes = totals.gpu_memory_bytes};
    set_gpu(demand, *each, in.devices, totals.card_units, requested.sharing);
    set_host(demand, totals.host, totals.gpu_units, holding.cpu_milli, holding.memory_bytes);
    out_.all.push_back(demand);
  }

  // What all machines of these node groups register; 0, as the model has, where they don't agree.
  std::uint64_t registered_memory(std::uint32_t target, const Holding& holding) const {
    std::optional<std::uint64_t> all;
    for (const std::uint32_t node_group : out_.selectors[target]) {
      for (const std::uint32_t machine_index : fleet_.node_groups()[node_group].nodes) {
        const std::uint64_t here =
            at_machine(holding, fleet_.machines()[machine_index]).memory_bytes;
        if (here != all.value_or(here)) return 0;
        all = here;
      }
    }
    return all.value_or(0);
  }

  // What part of a GPU a device of the holding is in these node groups. They may differ in model,
  // but a profile must mean the same on all of them.
  std::optional<CardFraction> share_in(std::uint32_t target, const Holding& holding) {
    if (std::holds_alternative<WholeGpu>(holding.device) ||
        std::holds_alternative<CardFraction>(holding.device)) {
      return share_of(holding.device, {holding.gpu_model, nullptr});
    }
    const std::uint64_t registered = registered_memory(target, holding);
    std::optional<CardFraction> each;
    for (const std::uint32_t node_group : out_.selectors[target]) {
      for (const std::uint32_t machine_index : fleet_.node_groups()[node_group].nodes) {
        CardAt at = at_machine(holding, fleet_.machines()[machine_index]);
        at.memory_bytes = registered;
        const auto here = share_of(holding.device, at);
        if (!here) return std::nullopt;
        if (each && *each != *here) {
          problem(
              fmt::format("{} in a pool whose GPUs differ, so that it is not one share of a GPU",
                          to_text(holding.device)));
          return std::nullopt;
        }
        each = here;
      }
    }
    return each;
  }

  // What all machines of a selector have together.
  struct PoolTotals {
    NodeShape host;  // its CPU and memory
    std::uint64_t gpu_units = 0;
    std::uint64_t card_units = CardShare::kUnitsPerCard;  // of its smallest GPU
    std::uint64_t gpu_memory_bytes = 0;  // of one GPU; 0: models differ, or are unknown
  };

  PoolTotals totals_of(const Selector& selector) const {
    PoolTotals totals;
    std::uint64_t cpu = 0, memory = 0;
    std::set<std::uint64_t> gpu_memory;
    for (const std::uint32_t node_group : selector) {
      for (const std::uint32_t machine_index : fleet_.node_groups()[node_group].nodes) {
        const Fleet::Machine& machine = fleet_.machines()[machine_index];
        cpu += machine.shape.cpu_milli.value_or(0);
        memory += machine.shape.memory_bytes.value_or(0);
        totals.gpu_units += machine.capacity()[kCompute];
        if (machine.gpu_count == 0) continue;
        gpu_memory.insert(machine.gpu_memory_bytes);
        totals.card_units = std::min(totals.card_units, machine.card_units());
      }
    }
    totals.host.cpu_milli = cpu;
    totals.host.memory_bytes = memory;
    if (gpu_memory.size() == 1) totals.gpu_memory_bytes = *gpu_memory.begin();
    return totals;
  }

  Selector matching_groups(const std::vector<PoolId>& pools, const std::string& gpu_model) const {
    Selector selector;
    for (std::uint32_t i = 0; i < fleet_.node_groups().size(); ++i) {
      const NodeGroup& node_group = fleet_.node_groups()[i];
      const bool in_pools =
          pools.empty() || std::find(pools.begin(), pools.end(), node_group.pool) != pools.end();
      if (in_pools && meets(node_group.gpu_model, gpu_model)) selector.push_back(i);
    }
    return selector;
  }

  std::uint32_t selector_index(const Selector& selector) {
    const auto [at, is_new] =
        selector_of_.try_emplace(selector, static_cast<std::uint32_t>(out_.selectors.size()));
    if (is_new) {
      out_.selectors.push_back(selector);
      totals_.push_back(totals_of(selector));
    }
    return at->second;
  }

  std::span<const Holding* const> holdings_;
  const SharedHoldings& shared_;
  const Fleet& fleet_;
  Demands out_;
  std::set<std::pair<std::uint32_t, const MissingGpus*>> counted_;  // holdings in `missing_*`
  std::map<Selector, std::uint32_t> selector_of_;
  std::vector<PoolTotals> totals_;  // by selector, in the order of their first use
};

void append(MissingGpus& all, const MissingGpus& part) {
  all.holdings += part.holdings;
  all.time += part.time;
  if (all.example.empty() || (!part.example.empty() && part.example < all.example)) {
    all.example = part.example;
  }
}

// Appends the demands of a block of holdings to those of the blocks before it.
void append(Demands& all, std::map<Selector, std::uint32_t>& selector_of, Demands& part) {
  std::vector<std::uint32_t> place;
  for (const Selector& selector : part.selectors) {
    const auto [at, is_new] =
        selector_of.try_emplace(selector, static_cast<std::uint32_t>(all.selectors.size()));
    if (is_new) all.selectors.push_back(selector);
    place.push_back(at->second);
  }
  for (Demand& demand : part.all) {
    if (demand.level == Demand::Level::kPool) demand.target = place[demand.target];
    all.all.push_back(demand);
  }
  for (const auto& [what, count] : part.problems) all.problems[what] += count;
  append(all.missing_gpus, part.missing_gpus);
  append(all.missing_instances, part.missing_instances);
}

// Fewer node groups first; among equals by the groups, so that the order is always the same.
void sort_selectors(Demands& demands) {
  std::vector<std::uint32_t> order(demands.selectors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Selector& x = demands.selectors[a];
    const Selector& y = demands.selectors[b];
    return std::pair(x.size(), x) < std::pair(y.size(), y);
  });
  std::vector<std::uint32_t> place(order.size());
  std::vector<Selector> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(demands.selectors[order[i]]);
  }
  demands.selectors = std::move(sorted);
  for (Demand& demand : demands.all) {
    if (demand.level == Demand::Level::kPool) demand.target = place[demand.target];
  }
}

}  // namespace

Demands resolve_demands(std::span<const Holding* const> holdings, const Fleet& fleet,
                        unsigned threads) {
  constexpr std::size_t kAtOnce = 1024;
  const SharedHoldings shared(holdings);
  std::vector<Demands> parts((holdings.size() + kAtOnce - 1) / kAtOnce);
  for_each_index(parts.size(), threads, [&](std::size_t i) {
    const std::size_t first = i * kAtOnce, last = std::min(first + kAtOnce, holdings.size());
    parts[i] = Resolver(holdings, shared, fleet)
                   .run(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last));
  });
  Demands demands;
  demands.problems = fleet.problems();
  std::map<Selector, std::uint32_t> selector_of;
  for (Demands& part : parts) {
    append(demands, selector_of, part);
    part = {};
  }
  sort_selectors(demands);
  return demands;
}

}  // namespace pennyweight
