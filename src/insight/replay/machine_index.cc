#include "insight/replay/machine_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/check.h"

namespace pennyweight::replay {

MachineIndex::MachineIndex(const ClusterState& cluster, MachineOrder order)
    : cluster_(cluster), order_(order), is_changed_(cluster.machines().size(), false) {
  for (const Machine& machine : cluster.machines()) {
    cpu_max_ = std::max(cpu_max_, static_cast<Int128>(machine.cpu_milli));
    gpu_max_ = std::max(gpu_max_, static_cast<Int128>(machine.gpus) * kMilliPerGpu);
    if (machine.model >= models_.size()) models_.resize(machine.model + 1);
  }
  const auto count = static_cast<std::uint32_t>(cluster.machines().size());
  positions_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Position position = position_of(i);
    Model& model = models_[model_of(i)];
    model.machines[position.at_class].insert(position.key);
    model.classes |= std::uint64_t{1} << position.at_class;
    if (position.is_idle) idle_gpus_ += cluster.machines()[i].gpus;
    positions_.push_back(position);
  }
}

MachineIndex::Position MachineIndex::position_of(std::uint32_t machine) const {
  const FreeMachine& free = cluster_.free_on(machine);
  const Machine& whole = cluster_.machines()[machine];
  Position position{{0, machine}, 0, free.whole_gpus == whole.gpus};
  if (order_ != MachineOrder::kAsGiven) {
    position.key.free = static_cast<Int128>(free.cpu_milli) * gpu_max_ +
                        static_cast<Int128>(free.gpu_milli) * cpu_max_;
    if (order_ == MachineOrder::kMostFree) position.key.free = -position.key.free;
  }
  if (free.whole_gpus > 0) {
    position.at_class = kPartClasses - 1 + free.whole_gpus;
  } else if (free.gpu_milli > 0) {
    const std::uint16_t largest = *std::max_element(free.by_gpu, free.by_gpu + whole.gpus);
    position.at_class = largest * kPartClasses / kMilliPerGpu;
  }
  return position;
}

void MachineIndex::update(std::uint32_t machine) {
  const Position position = position_of(machine);
  Position& before = positions_[machine];
  if (!is_changed_[machine]) {
    is_changed_[machine] = true;
    changed_.push_back(machine);
  }
  if (position.is_idle != before.is_idle) {
    const std::uint32_t gpus = cluster_.machines()[machine].gpus;
    idle_gpus_ = position.is_idle ? idle_gpus_ + gpus : idle_gpus_ - gpus;
    before.is_idle = position.is_idle;
  }
  if (position.at_class == before.at_class && position.key == before.key) return;
  Model& model = models_[model_of(machine)];
  std::set<Key>& left = model.machines[before.at_class];
  auto node = left.extract(before.key);
  CHECK(!node.empty(), "a machine lies where it was put");
  if (left.empty()) model.classes &= ~(std::uint64_t{1} << before.at_class);
  node.value() = position.key;
  model.machines[position.at_class].insert(std::move(node));
  model.classes |= std::uint64_t{1} << position.at_class;
  before = position;
}

void MachineIndex::update_changed() {
  const std::vector<std::uint32_t> changed = std::exchange(changed_, {});
  for (const std::uint32_t machine : changed) {
    is_changed_[machine] = true;
    update(machine);
    is_changed_[machine] = false;
  }
}

std::size_t MachineIndex::least_class(const Request& request) {
  if (request.gpus > 0) return kPartClasses - 1 + request.gpus;
  return request.gpu_milli * kPartClasses / kMilliPerGpu;
}

bool MachineIndex::may_fit(const Request& request) const {
  const std::size_t least = least_class(request);
  if (least >= kClasses) return false;
  for (std::size_t model = 0; model < models_.size(); ++model) {
    if (request.models != 0 && ((request.models >> model) & 1) == 0) continue;
    if ((models_[model].classes >> least) != 0) return true;
  }
  return false;
}

std::optional<std::uint32_t> MachineIndex::first(const Request& request) const {
  const std::size_t least = least_class(request);
  if (least >= kClasses) return std::nullopt;
  const Key* best = nullptr;
  for (std::size_t model = 0; model < models_.size(); ++model) {
    if (request.models != 0 && ((request.models >> model) & 1) == 0) continue;
    std::uint64_t classes = (models_[model].classes >> least) << least;
    for (; classes != 0; classes &= classes - 1) {
      for (const Key& key :
           models_[model].machines[static_cast<std::size_t>(std::countr_zero(classes))]) {
        if (best != nullptr && *best < key) break;
        if (!cluster_.fits(key.machine, request)) continue;
        best = &key;
        break;
      }
    }
  }
  if (best == nullptr) return std::nullopt;
  return best->machine;
}

}  // namespace pennyweight::replay
