#include "allocation/fleet_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/gpu_layouts.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/mig_layout.h"

namespace pennyweight {
namespace {

// The end of what is still there; no bill reaches that far.
const Instant kFarFuture = from_unix_seconds(253'402'300'799);  // 9999-12-31

// A fact holds until the next fact about the same thing, or until its own end if that is earlier.
std::optional<Interval> presence(Instant from, const std::optional<Instant>& to,
                                 std::optional<Instant> next_from) {
  Instant end = to.value_or(kFarFuture);
  if (next_from && *next_from < end) end = *next_from;
  return Interval::of(from, end);
}

}  // namespace

std::uint64_t scale_units(std::uint64_t units, CardShare share) {
  return static_cast<std::uint64_t>(
      multiply_divide(units, share.units(), CardShare::kUnitsPerCard).quotient);
}

AxisUnits Fleet::Machine::capacity() const {
  return {card_units() * gpu_count, card_units() * gpu_count, shape.cpu_milli.value_or(0),
          shape.memory_bytes.value_or(0)};
}

Fleet::Fleet(std::span<const Node> nodes, std::span<const Gpu> gpus,
             std::span<const Outage> outages, const Catalog& catalog)
    : gpu_memory_(gpus) {
  add_machines(nodes, catalog);
  add_cards(gpus);
  for (Machine& machine : machines_) count_cards(machine);
  add_outages(outages);
}

void Fleet::add_machines(std::span<const Node> nodes, const Catalog& catalog) {
  std::vector<const Node*> by_name;
  for (const Node& node : nodes) by_name.push_back(&node);
  std::sort(by_name.begin(), by_name.end(), [](const Node* a, const Node* b) {
    return std::tie(a->name, a->from) < std::tie(b->name, b->from);
  });
  std::map<std::pair<PoolId, std::string>, std::uint32_t> group_index;
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    const Node& node = *by_name[i];
    const bool has_next = i + 1 < by_name.size() && by_name[i + 1]->name == node.name;
    Machine machine{.node = &node,
                    .shape = find_node_shape(node, catalog),
                    .gpu_count = node.gpu_count,
                    .present = {},
                    .cards = {},
                    .outages = {}};
    machine.present =
        presence(node.from, node.to, has_next ? std::optional(by_name[i + 1]->from) : std::nullopt);
    const GpuModel* model = find_gpu_model(machine.shape.gpu_model);
    if (model != nullptr) machine.gpu_memory_bytes = model->memory_bytes;
    const auto [node_group, is_new] = group_index.try_emplace(
        {node.pool, model != nullptr ? model->name : machine.shape.gpu_model},
        static_cast<std::uint32_t>(group_index.size()));
    if (is_new) {
      node_groups_.push_back(
          {.pool = node_group->first.first, .gpu_model = node_group->first.second, .nodes = {}});
    }
    machine.node_group = node_group->second;
    const auto index = static_cast<std::uint32_t>(machines_.size());
    node_groups_[machine.node_group].nodes.push_back(index);
    machines_by_name_[node.name.text()].push_back(index);
    machines_.push_back(std::move(machine));
  }
}

void Fleet::add_cards(std::span<const Gpu> gpus) {
  const auto is_known = [&](const NodeId& node) { return !machines_named(node).empty(); };
  for (const GpuInForce& in_force : layouts_in_force(gpus, is_known)) {
    const Gpu& gpu = *in_force.gpu;
    const auto index = static_cast<std::uint32_t>(cards_.size());
    cards_.push_back(
        {.gpu = &gpu, .present = in_force.during, .aliases = in_force.aliases, .outages = {}});
    CardShare part = CardShare::whole();
    for (const std::uint32_t machine : machines_named(gpu.node)) {
      machines_[machine].cards.push_back(index);
      part = machines_[machine].shape.card_share;
    }
    cards_.back().units = {part.units(), part.units()};
    cards_by_id_[gpu.uuid.text()].push_back(index);
    for (const MigInstance& instance : gpu.mig_instances) {
      cards_by_id_[instance.id.text()].push_back(index);
    }
    for (const auto& [name, instance] : in_force.aliases) {
      cards_by_id_[name.text()].push_back(index);
    }
    for (const std::string& profile : in_force.unknown_profiles) {
      problems_[fmt::format(
          "telemetry of GPU {} names a MIG instance {}, which its layout does not "
          "have; the layout of the inventory stays",
          gpu.uuid.text(), profile)] += 1;
    }
    add_seats(index);
  }
}

void Fleet::add_seats(std::uint32_t index) {
  InstalledGpu& card = cards_[index];
  card.first_seat = static_cast<std::uint32_t>(seats_.size());
  card.seats = 1;
  const auto whole_card = [&] {
    seats_.push_back({.card = index, .id = card.gpu->uuid, .units = card.units});
  };
  if (card.gpu->mig_instances.empty()) return whole_card();
  std::string reported = card.gpu->model;
  for (const std::uint32_t machine : machines_named(card.gpu->node)) {
    if (reported.empty()) reported = machines_[machine].shape.gpu_model;
  }
  const GpuModel* model = find_gpu_model(reported);
  if (model == nullptr) {
    problems_[fmt::format("MIG instances on GPU model '{}', which no table has", reported)] += 1;
    return whole_card();
  }
  std::vector<std::string> profiles;
  for (const MigInstance& instance : card.gpu->mig_instances) profiles.push_back(instance.profile);
  const auto layout = mig_layout(*model, profiles);
  if (!layout) {
    problems_[layout.error().message] += 1;
    return whole_card();
  }
  card.is_cut = true;
  GpuUnits rest = card.units;
  const auto units_of = [&](const MigShare& share) -> GpuUnits {
    return {scale_units(card.units[kCompute], share.compute),
            scale_units(card.units[kMemory], share.memory)};
  };
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const GpuUnits units = units_of(layout->instances[i]);
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) rest[axis] -= units[axis];
    seats_.push_back({.card = index, .id = card.gpu->mig_instances[i].id, .units = units});
  }
  card.stranded = units_of(layout->stranded);
  for (std::size_t axis = 0; axis < kGpuAxes; ++axis) rest[axis] -= card.stranded[axis];
  seats_.push_back({.card = index, .id = card.gpu->uuid, .units = rest, .is_rest = true});
  card.seats = static_cast<std::uint32_t>(profiles.size()) + 1;
}

void Fleet::count_cards(Machine& machine) const {
  if (!machine.present) return;
  std::vector<std::pair<Instant, int>> changes;
  for (const std::uint32_t card : machine.cards) {
    const auto& present = cards_[card].present;
    const auto both = present ? present->overlap(*machine.present) : std::nullopt;
    if (!both) continue;
    changes.emplace_back(both->begin(), 1);
    changes.emplace_back(both->end(), -1);
  }
  std::sort(changes.begin(), changes.end());  // an end comes before a begin at the same instant
  std::uint32_t at_once = 0;
  for (const auto& [at, change] : changes) {
    at_once = change > 0 ? at_once + 1 : at_once - 1;
    machine.gpu_count = std::max(machine.gpu_count, at_once);
  }
}

void Fleet::add_outages(std::span<const Outage> outages) {
  for (const Outage& outage : outages) {
    if (outage.gpu.empty()) {
      for (const std::uint32_t machine : machines_named(outage.node)) {
        machines_[machine].outages.push_back(outage.during);
      }
      continue;
    }
    for (const std::uint32_t card : cards_named(outage.gpu)) {
      cards_[card].outages.push_back(outage.during);
    }
  }
}

std::span<const Fleet::Seat> Fleet::seats_of(const InstalledGpu& card) const {
  return std::span(seats_).subspan(card.first_seat, card.seats);
}

std::span<const std::uint32_t> Fleet::machines_named(const NodeId& name) const {
  const auto found = machines_by_name_.find(name.text());
  if (found == machines_by_name_.end()) return {};
  return found->second;
}

std::span<const std::uint32_t> Fleet::cards_named(const GpuId& id) const {
  const auto found = cards_by_id_.find(id.text());
  if (found == cards_by_id_.end()) return {};
  return found->second;
}

const GpuId& Fleet::seat_name(const InstalledGpu& card, const GpuId& id) {
  for (const auto& [name, instance] : card.aliases) {
    if (name == id) return instance;
  }
  // Callers pass a name that outlives the answer.
  return id;  // NOLINT(bugprone-return-const-ref-from-parameter)
}

}  // namespace pennyweight
