#include "oracle.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "allocation/pricing/node_split.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "oracle_machine.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCardUnits = CardShare::kUnitsPerCard;

// A posting before its costs are known.
struct Piece {
  Component component;
  Interval segment;
  NodeId node;
  GpuId gpu;
  PostingKind kind;
  std::optional<std::size_t> holding;  // a place in holder_order
  Interval during;
  Weight weight = 0;
  UInt128 gpu_time = 0, memory_time = 0, observed_time = 0;
  auto key() const { return std::tie(component, segment, node, gpu, kind, holding); }
};

struct Split {
  Component component;
  Weight weight;
};

std::vector<Split> split_of(const World& world, const Charge& charge, const Node& node) {
  const auto three = [](Weight gpu, Weight cpu, Weight memory) {
    return std::vector<Split>{
        {Component::kGpu, gpu}, {Component::kCpu, cpu}, {Component::kMemory, memory}};
  };
  const bool has_host = node.cpu_milli && node.memory_bytes;
  const auto ratio = [&] {  // 9 a GPU, 0.9 a vCPU, 0.1 a GiB; times 10 x 1000 x 2^30
    const Weight kGib = Weight{1} << 30;
    return three(Weight{90} * node.gpu_count * 1000 * kGib, Weight{9} * *node.cpu_milli * kGib,
                 Weight{1} * *node.memory_bytes * 1000);
  };
  if (node.gpu_count == 0) {
    if (!has_host) return {};
    if (node.instance_type == "sim.ratio") return ratio();
    const auto market = residual_split(Decimal::from_ticks(Decimal::kTicksMax), *node.cpu_milli,
                                       *node.memory_bytes, world.catalog().host_unit_rates());
    return three(0, market.cpu, market.memory);
  }
  if (node.instance_type == "sim.explicit.8x") return three(7, 2, 1);
  if (has_host && node.instance_type == "sim.ratio") return ratio();
  const bool by_price = has_host && charge.list_unit_price && node.instance_type != "sim.ratio" &&
                        world.policy.node_split == NodeSplit::kResidual;
  if (!by_price) return three(1, 0, 0);
  const auto parts = residual_split(*charge.list_unit_price, *node.cpu_milli, *node.memory_bytes,
                                    world.catalog().host_unit_rates());
  return three(parts.gpu, parts.cpu, parts.memory);
}

bool is_plain(const BillLine& line) {
  return line.target == Target::kNode && !line.charge.is_correction &&
         line.charge.charge_category == ChargeCategory::kUsage &&
         !line.charge.costs.list.is_negative();
}

template <class Amounts>
Weight weigh(const Amounts& amounts, Component component, const Rules& rules) {
  if constexpr (std::tuple_size_v<Amounts> == kAxisCount) {
    if (component == Component::kCpu) return amounts[2];
    if (component == Component::kMemory) return amounts[3];
  }
  return amounts[0] * rules.compute + amounts[1] * rules.memory;
}

// One machine's part of a component of a charge over a time segment.
std::vector<Piece> pieces_of_machine(const World& world, const Machine& machine, const Node& node,
                                     Component component, const Interval& segment, bool times,
                                     const std::vector<std::size_t>& order) {
  std::vector<Piece> pieces;
  const bool gpu = component == Component::kGpu;
  const Rules plain = rules_for(world, node, nullptr);
  const UInt128 capacity = weigh(machine.capacity, component, plain);
  std::vector<Weight> weights;
  UInt128 all = 0;
  for (const Claimant& c : machine.claimants) {
    weights.push_back(weigh(c.given, component, c.rules) - (gpu ? c.weight_cut : 0));
    all += weights.back();
  }
  // Under rules of their own, holders of MIG instances, and of the node as a whole, may together
  // weigh more than the machine.
  if (all > capacity) weights = split_units(capacity, weights);
  UInt128 taken = 0;
  const GpuModel* model = find_gpu_model(node.gpu_model);
  for (std::size_t i = 0; i < machine.claimants.size(); ++i) {
    const Claimant& c = machine.claimants[i];
    const auto place = std::find(order.begin(), order.end(), c.ask->holding) - order.begin();
    const bool overhead = c.holder->labels.find("namespace") == "kube-system";
    const std::uint64_t length = c.during.length_ms();
    const UInt128 time = UInt128{c.ask->units[0]} * length;
    const UInt128 memory_time =
        UInt128{c.ask->units[1]} * (model ? model->memory_bytes : 0) / kCardUnits * length;
    const Weight given = weigh(c.given, component, c.rules);
    UInt128 used = weights[i];
    if (gpu && !overhead && given > 0) {
      used = multiply_divide(weights[i], weigh(c.used, component, c.rules), given).quotient;
    }
    Piece first{component,
                segment,
                node.name,
                c.ask->card == kAnywhere ? GpuId("") : world.gpus[c.ask->card].uuid,
                overhead ? PostingKind::kOverhead : PostingKind::kUsed,
                static_cast<std::size_t>(place),
                c.during,
                used};
    Piece idle = first;
    idle.kind = PostingKind::kHeldIdle;
    idle.weight = weights[i] - used;
    if (times) {
      idle.gpu_time = idle.observed_time = overhead ? 0 : c.idle;
      first.gpu_time = time - idle.gpu_time;
      first.observed_time = c.observed - idle.observed_time;
    }
    const bool any_idle = idle.weight > 0 || idle.gpu_time > 0;
    const bool only_idle = any_idle && first.weight == 0 && first.gpu_time == 0;
    if (times) (only_idle ? idle : first).memory_time = memory_time;
    if (!only_idle) pieces.push_back(first);
    if (any_idle) pieces.push_back(idle);
    taken += weights[i];
  }
  // Idle capacity, by its reason.
  UInt128 rest = capacity - taken;
  const IdleCompute time = times ? machine.idle : IdleCompute{};
  const auto idle_for = [&](PostingKind kind, UInt128 weight, UInt128 compute) {
    const UInt128 part = std::min(rest, weight);
    rest -= part;
    if (part == 0 && compute == 0) return;
    pieces.push_back(
        {component, segment, node.name, GpuId(""), kind, std::nullopt, segment, part, compute});
  };
  idle_for(PostingKind::kUnavailable, weigh(machine.unavailable, component, plain),
           time.unavailable);
  if (gpu) {
    idle_for(PostingKind::kStranded, weigh(machine.stranded, component, plain), time.stranded);
    idle_for(PostingKind::kHeldIdle, weigh(machine.unbilled, component, plain), 0);
  }
  idle_for(PostingKind::kUnallocated, rest, time.free);
  return pieces;
}

std::vector<Piece> pieces_of(const World& world, const BillLine& line, Component component,
                             const std::vector<std::size_t>& order) {
  const bool times = component == Component::kGpu && reports_time(world, line);
  std::vector<Piece> pieces;
  for (const Interval& segment : cut_by_day(line.charge.charge_period, world.policy.time_zone)) {
    for (std::size_t m = 0; m < world.nodes.size(); ++m) {
      const Node& node = world.nodes[m];
      if (node.name != line.node || node.cluster != line.cluster) continue;
      const auto more = pieces_of_machine(world, share_machine(world, m, segment), node, component,
                                          segment, times, order);
      pieces.insert(pieces.end(), more.begin(), more.end());
    }
  }
  return pieces;
}

// Pieces about the same thing become one posting.
std::vector<Piece> merged(std::vector<Piece> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.key() < b.key(); });
  std::vector<Piece> out;
  for (const Piece& piece : pieces) {
    if (out.empty() || out.back().key() != piece.key()) {
      out.push_back(piece);
      continue;
    }
    Piece& into = out.back();
    into.weight += piece.weight;
    into.gpu_time += piece.gpu_time;
    into.memory_time += piece.memory_time;
    into.observed_time += piece.observed_time;
    into.during = {std::min(into.during.begin(), piece.during.begin()),
                   std::max(into.during.end(), piece.during.end())};
  }
  std::erase_if(out, [](const Piece& p) { return p.weight == 0 && p.gpu_time == 0 && !p.holding; });
  return out;
}

// The charge's days by their length: for charges of no node, or where no machine was there.
std::vector<Piece> by_length(const World& world, const BillLine& line, Component component,
                             PostingKind kind) {
  std::vector<Piece> pieces;
  for (const Interval& segment : cut_by_day(line.charge.charge_period, world.policy.time_zone)) {
    pieces.push_back({component, segment, line.node, GpuId(""), kind, std::nullopt, segment,
                      segment.length_ms()});
  }
  return pieces;
}

std::vector<Costs> divide_costs(const Costs& costs, const std::vector<Weight>& weights) {
  std::vector<Costs> parts;
  const auto billed = split(costs.billed, weights), effective = split(costs.effective, weights);
  const auto list = split(costs.list, weights), contracted = split(costs.contracted, weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back({billed[i], effective[i], list[i], contracted[i]});
  }
  return parts;
}

}  // namespace

bool reports_time(const World& world, const BillLine& line) {
  if (!is_plain(line)) return false;
  const auto rank = [](const BillLine& l) {
    return std::pair(-l.charge.costs.list.ticks(), l.charge.id);
  };
  return std::none_of(world.bill.begin(), world.bill.end(), [&](const BillLine& other) {
    return is_plain(other) && other.node == line.node && other.cluster == line.cluster &&
           rank(other) < rank(line) &&
           other.charge.charge_period.overlap(line.charge.charge_period);
  });
}

std::vector<std::size_t> holder_order(const World& world, const ClusterId& cluster) {
  std::vector<std::size_t> order;
  for (std::size_t h = 0; h < world.holdings.size(); ++h) {
    if (world.holdings[h].cluster == cluster) order.push_back(h);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Holding &x = world.holdings[a], &y = world.holdings[b];
    return std::tie(x.held, x.workload, x.attempt, x.id) <
           std::tie(y.held, y.workload, y.attempt, y.id);
  });
  return order;
}

std::vector<Posting> expected_postings(const World& world, const BillLine& line) {
  CHECK(line.target != Target::kPool, "pools are not laid out here");
  const auto order = holder_order(world, line.cluster);
  std::vector<Split> split;
  if (line.target == Target::kNode) {
    for (std::size_t m = 0; m < world.nodes.size(); ++m) {  // by the first of its facts
      const auto present = world.presence_of_node(m);
      if (world.nodes[m].name != line.node || world.nodes[m].cluster != line.cluster) continue;
      if (!present || !present->overlap(line.charge.charge_period)) continue;
      split = split_of(world, line.charge, world.nodes[m]);
      break;
    }
    std::erase_if(split, [](const Split& s) { return s.weight == 0; });
  }
  std::vector<Posting> postings;
  const auto post = [&](const std::vector<Piece>& pieces, const Costs& costs) {
    std::vector<Weight> weights;
    for (const Piece& piece : pieces) weights.push_back(piece.weight);
    const auto parts = divide_costs(costs, weights);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& p = pieces[i];
      const auto day = parse_instant(local_date(p.segment.begin(), world.policy.time_zone));
      const Holding* h = p.holding ? &world.holdings[order[*p.holding]] : nullptr;
      postings.push_back({.charge = line.charge.id,
                          .kind = p.kind,
                          .component = p.component,
                          .interval = p.during,
                          .day = std::chrono::floor<std::chrono::days>(day.value()),
                          .node = p.node,
                          .gpu = p.gpu,
                          .workload = h ? h->workload : WorkloadId(""),
                          .holding = h ? std::optional(h->id) : std::nullopt,
                          .weight = p.weight,
                          .costs = parts[i],
                          .gpu_time = GpuTime::of(p.gpu_time),
                          .memory_time = MemoryTime::of(p.memory_time),
                          .observed_time = GpuTime::of(p.observed_time)});
    }
  };
  if (split.empty()) {
    const auto kind =
        line.target == Target::kShared ? PostingKind::kShared : PostingKind::kUnallocated;
    post(by_length(world, line, Component::kWhole, kind), line.charge.costs);
    return postings;
  }
  std::vector<Weight> component_weights;
  for (const Split& s : split) component_weights.push_back(s.weight);
  const auto costs = divide_costs(line.charge.costs, component_weights);
  for (std::size_t c = 0; c < split.size(); ++c) {
    auto pieces = merged(pieces_of(world, line, split[c].component, order));
    const bool nobody =
        std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.weight == 0; });
    if (nobody) {
      pieces = by_length(world, line, split[c].component, PostingKind::kUnallocated);
    }
    post(pieces, costs[c]);
  }
  return postings;
}

}  // namespace pennyweight::sim
