// resolve(): what each holding asks for, and where, in the fleet's own terms.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "allocate/occupancy.h"
#include "core/check.h"
#include "fleet/gpu_model.h"

namespace pennyweight {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return lower;
}

// A model as requested ("a100") is met by a model as installed ("A100-SXM4-80GB").
bool meets(const std::string& installed, const std::string& requested) {
  if (requested.empty()) return true;
  const GpuModel* model = find_gpu_model(requested);
  if (model != nullptr) return model->name == installed;
  return lower_case(installed).find(lower_case(requested)) != std::string::npos;
}

class Resolver {
 public:
  Resolver(std::span<const Holding* const> holdings, const Fleet& fleet)
      : holdings_(holdings), fleet_(fleet) {}

  Demands run() {
    for (std::uint32_t i = 0; i < holdings_.size(); ++i) {
      const Holding& holding = *holdings_[i];
      std::visit(Overloaded{[&](const OnGpus& on) { on_gpus(i, holding, on); },
                            [&](const OnNodes& on) { on_nodes(i, holding, on); },
                            [&](const InPool& in) { in_pool(i, holding, in); }},
                 holding.placement);
    }
    sort_selectors();
    return std::move(out_);
  }

 private:
  void problem(std::string what) { out_.problems[std::move(what)] += 1; }

  // What part of a card one device of the holding is; nothing (and a problem noted) if unknown.
  std::optional<CardFraction> share_of(const Device& device, const std::string& gpu_model,
                                       const NodeShape& shape, const Node* node) {
    return std::visit(
        Overloaded{
            [](WholeGpu) -> std::optional<CardFraction> {
              return CardFraction{CardShare::whole(), CardShare::whole()};
            },
            [](const CardFraction& part) -> std::optional<CardFraction> { return part; },
            [&](const MigSlice& slice) -> std::optional<CardFraction> {
              const std::string& name = gpu_model.empty() ? shape.gpu_model : gpu_model;
              const GpuModel* model = find_gpu_model(name);
              if (model == nullptr) {
                problem(fmt::format("MIG profile {} on GPU model '{}', which no table has",
                                    slice.profile, name));
                return std::nullopt;
              }
              const auto share = find_mig_share(*model, slice.profile);
              if (!share) {
                problem(share.error().message);
                return std::nullopt;
              }
              return CardFraction{share->compute, share->memory};
            },
            [&](Shard) -> std::optional<CardFraction> {
              if (node == nullptr || node->shard_count == 0 || node->gpu_count == 0) {
                problem(fmt::format("shards on {}, whose inventory does not say how many it has",
                                    node == nullptr ? std::string("a pool of nodes")
                                                    : "node " + node->name.text()));
                return std::nullopt;
              }
              const auto share = CardShare::nearest_below(node->gpu_count, node->shard_count);
              return CardFraction{share, share};
            },
            [&](MpsUnit) -> std::optional<CardFraction> {
              if (node == nullptr || node->mps_count == 0 || node->gpu_count == 0) {
                problem(fmt::format("MPS units on {}, whose inventory does not say how many it has",
                                    node == nullptr ? std::string("a pool of nodes")
                                                    : "node " + node->name.text()));
                return std::nullopt;
              }
              const auto share = CardShare::nearest_below(node->gpu_count, node->mps_count);
              return CardFraction{share, share};
            },
            [&](Replica) -> std::optional<CardFraction> {
              if (node == nullptr || node->gpu_replicas == 0) {
                problem(
                    fmt::format("replicas on {}, whose inventory does not say how many a GPU has",
                                node == nullptr ? std::string("a pool of nodes")
                                                : "node " + node->name.text()));
                return std::nullopt;
              }
              const auto share = CardShare::nearest_below(1, node->gpu_replicas);
              return CardFraction{share, share};
            },
            [&](const VirtualGpu& part) -> std::optional<CardFraction> {
              return virtual_share(part, shape.gpu_model.empty() ? gpu_model : shape.gpu_model);
            }},
        device);
  }

  // HAMi and Volcano: memory as stated, else all of it; cores as stated, else the memory's part.
  std::optional<CardFraction> virtual_share(const VirtualGpu& part, const std::string& gpu_model) {
    CardFraction share{CardShare::whole(), CardShare::whole()};
    if (part.memory_percent) share.memory = CardShare::nearest_below(*part.memory_percent, 100);
    if (part.memory_bytes) {
      const GpuModel* model = find_gpu_model(gpu_model);
      if (model == nullptr || model->memory_bytes == 0) {
        problem(fmt::format("a vGPU with {} bytes on GPU model '{}', whose memory no table has",
                            *part.memory_bytes, gpu_model));
        return std::nullopt;
      }
      share.memory = CardShare::nearest_below(*part.memory_bytes, model->memory_bytes);
    }
    share.compute =
        part.cores_percent ? CardShare::nearest_below(*part.cores_percent, 100) : share.memory;
    return share;
  }

  static void set_gpu(Demand& demand, const CardFraction& each, std::uint64_t devices) {
    demand.units[kCompute] = (each.compute * devices).units();
    demand.units[kMemory] = (each.memory * devices).units();
  }

  // The host's parts: as requested, or else the same part of the host as of its GPUs.
  static void set_host(Demand& demand, const NodeShape& shape, std::uint64_t gpu_units_of_shape,
                       std::optional<std::uint64_t> cpu_milli,
                       std::optional<std::uint64_t> memory_bytes) {
    const auto part_of = [&](std::uint64_t capacity) -> std::uint64_t {
      if (gpu_units_of_shape == 0) return 0;
      return static_cast<std::uint64_t>(
          multiply_divide(capacity, demand.units[kCompute], gpu_units_of_shape).quotient);
    };
    demand.units[kCpu] = cpu_milli ? *cpu_milli : part_of(shape.cpu_milli.value_or(0));
    demand.units[kHostMemory] =
        memory_bytes ? *memory_bytes : part_of(shape.memory_bytes.value_or(0));
  }

  void add(Demand demand, const std::optional<Interval>& present) {
    if (!present) return;
    const auto during = demand.during.overlap(*present);
    if (!during) return;
    demand.during = *during;
    out_.all.push_back(demand);
  }

  void on_gpus(std::uint32_t index, const Holding& holding, const OnGpus& on) {
    bool first = true;  // the host's parts are stated for the holding as a whole
    for (const GpuId& id : on.gpus) {
      bool found = false;
      for (const std::uint32_t card_index : fleet_.cards_named(id)) {
        const Fleet::Card& card = fleet_.cards()[card_index];
        if (!card.present || !holding.held.overlap(*card.present)) continue;
        found |= on_card(index, holding, id, card_index, first);
      }
      if (!found) problem(fmt::format("GPU {}, which no inventory has at that time", id.text()));
      first = false;
    }
  }

  bool on_card(std::uint32_t index, const Holding& holding, const GpuId& id,
               std::uint32_t card_index, bool first) {
    const Fleet::Card& card = fleet_.cards()[card_index];
    Device device = holding.device;
    for (const MigInstance& instance : card.gpu->mig_instances) {
      if (instance.id == id) device = MigSlice{instance.profile};
    }
    bool placed = false;
    for (const std::uint32_t machine_index : fleet_.machines_named(card.gpu->node)) {
      const Fleet::Machine& machine = fleet_.machines()[machine_index];
      const auto both = machine.present ? machine.present->overlap(*card.present) : std::nullopt;
      if (!both) continue;
      const auto each = share_of(device, card.gpu->model, machine.shape, machine.node);
      if (!each) return true;  // already noted
      Demand demand{.holding = index,
                    .level = Demand::Level::kCard,
                    .target = card_index,
                    .during = holding.held,
                    .gpu_memory_bytes = machine.gpu_memory_bytes};
      set_gpu(demand, *each, 1);
      const auto host = [&](const std::optional<std::uint64_t>& whole) {
        return whole && !first ? std::optional<std::uint64_t>(0) : whole;
      };
      set_host(demand, machine.shape, CardShare::kUnitsPerCard * machine.shape.gpu_count,
               host(holding.cpu_milli), host(holding.memory_bytes));
      add(demand, both);
      placed = true;
    }
    return placed;
  }

  void on_nodes(std::uint32_t index, const Holding& holding, const OnNodes& on) {
    // What the holding states for its host is spread over its nodes evenly, the rest to the first.
    const std::uint64_t parts = on.parts.size();
    for (std::uint64_t i = 0; i < parts; ++i) {
      const auto part_of = [&](const std::optional<std::uint64_t>& whole) {
        return whole ? std::optional(*whole / parts + (i < *whole % parts ? 1 : 0)) : whole;
      };
      bool found = false;
      for (const std::uint32_t machine_index : fleet_.machines_named(on.parts[i].node)) {
        const Fleet::Machine& machine = fleet_.machines()[machine_index];
        if (!machine.present || !holding.held.overlap(*machine.present)) continue;
        found = true;
        const auto each =
            share_of(holding.device, machine.shape.gpu_model, machine.shape, machine.node);
        if (!each) continue;
        Demand demand{.holding = index,
                      .level = Demand::Level::kMachine,
                      .target = machine_index,
                      .during = holding.held,
                      .gpu_memory_bytes = machine.gpu_memory_bytes};
        set_gpu(demand, *each, on.parts[i].devices);
        set_host(demand, machine.shape, CardShare::kUnitsPerCard * machine.shape.gpu_count,
                 part_of(holding.cpu_milli), part_of(holding.memory_bytes));
        add(demand, machine.present);
      }
      if (!found) {
        problem(
            fmt::format("node {}, which no inventory has at that time", on.parts[i].node.text()));
      }
    }
  }

  void in_pool(std::uint32_t index, const Holding& holding, const InPool& in) {
    Selector selector = leaves_of(in.pools, in.devices == 0 ? "" : holding.gpu_model);
    if (selector.empty()) selector = leaves_of(in.pools, "");
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
    Demand demand{.holding = index,
                  .level = Demand::Level::kPool,
                  .target = target,
                  .during = holding.held,
                  .gpu_memory_bytes = totals.gpu_memory_bytes};
    set_gpu(demand, *each, in.devices);
    set_host(demand, totals.host, CardShare::kUnitsPerCard * totals.gpu_count, holding.cpu_milli,
             holding.memory_bytes);
    out_.all.push_back(demand);
  }

  // What a device of the holding is in these leaves. They may differ in model; a profile must mean
  // the same on all of them.
  std::optional<CardFraction> share_in(std::uint32_t target, const Holding& holding) {
    if (std::holds_alternative<WholeGpu>(holding.device) ||
        std::holds_alternative<CardFraction>(holding.device)) {
      return share_of(holding.device, holding.gpu_model, NodeShape{}, nullptr);
    }
    std::optional<CardFraction> each;
    for (const std::uint32_t leaf : out_.selectors[target]) {
      for (const std::uint32_t machine_index : fleet_.leaves()[leaf].nodes) {
        const Fleet::Machine& machine = fleet_.machines()[machine_index];
        const auto here =
            share_of(holding.device, machine.shape.gpu_model, machine.shape, machine.node);
        if (!here) return std::nullopt;
        if (each && *each != *here) {
          problem(fmt::format("{} in a pool where it is a different part of each card",
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
    std::uint64_t gpu_count = 0;
    std::uint64_t gpu_memory_bytes = 0;  // of one GPU; 0: models differ, or are not known
  };

  PoolTotals totals_of(const Selector& selector) const {
    PoolTotals totals;
    std::uint64_t cpu = 0, memory = 0;
    std::set<std::uint64_t> gpu_memory;
    for (const std::uint32_t leaf : selector) {
      for (const std::uint32_t machine_index : fleet_.leaves()[leaf].nodes) {
        const Fleet::Machine& machine = fleet_.machines()[machine_index];
        cpu += machine.shape.cpu_milli.value_or(0);
        memory += machine.shape.memory_bytes.value_or(0);
        totals.gpu_count += machine.shape.gpu_count;
        if (machine.shape.gpu_count > 0) gpu_memory.insert(machine.gpu_memory_bytes);
      }
    }
    totals.host.cpu_milli = cpu;
    totals.host.memory_bytes = memory;
    if (gpu_memory.size() == 1) totals.gpu_memory_bytes = *gpu_memory.begin();
    return totals;
  }

  Selector leaves_of(const std::vector<PoolId>& pools, const std::string& gpu_model) const {
    Selector selector;
    for (std::uint32_t i = 0; i < fleet_.leaves().size(); ++i) {
      const Leaf& leaf = fleet_.leaves()[i];
      const bool in_pools =
          pools.empty() || std::find(pools.begin(), pools.end(), leaf.pool) != pools.end();
      if (in_pools && meets(leaf.gpu_model, gpu_model)) selector.push_back(i);
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

  // Narrower first; among equals by their leaves, so that the order is the same each time.
  void sort_selectors() {
    std::vector<std::uint32_t> order(out_.selectors.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Selector& x = out_.selectors[a];
      const Selector& y = out_.selectors[b];
      return std::pair(x.size(), x) < std::pair(y.size(), y);
    });
    std::vector<std::uint32_t> place(order.size());
    std::vector<Selector> sorted;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(out_.selectors[order[i]]);
    }
    out_.selectors = std::move(sorted);
    for (Demand& demand : out_.all) {
      if (demand.level == Demand::Level::kPool) demand.target = place[demand.target];
    }
  }

  std::span<const Holding* const> holdings_;
  const Fleet& fleet_;
  Demands out_;
  std::map<Selector, std::uint32_t> selector_of_;
  std::vector<PoolTotals> totals_;  // by selector, in the order in which they were met
};

}  // namespace

Demands resolve(std::span<const Holding* const> holdings, const Fleet& fleet) {
  return Resolver(holdings, fleet).run();
}

}  // namespace pennyweight
