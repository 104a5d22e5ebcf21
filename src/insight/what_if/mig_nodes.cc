#include "insight/what_if/mig_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/try.h"
#include "insight/replay/cluster_state.h"

namespace pennyweight::what_if {
namespace {

bool is_same(const MigShare& a, const MigShare& b) {
  return a.compute == b.compute && a.memory == b.memory;
}

class NodeCutter {
 public:
  NodeCutter(ReplayWorld& world, const FleetView& fleet,
             const std::vector<std::optional<MigShare>>& slices)
      : world_(world), fleet_(fleet), slices_(slices), whole_machines_(world.machines.size()) {
    for (const replay::Machine& machine : world.machines) {
      whole_models_ |= replay::ModelSet{1} << machine.model;
      next_model_ = std::max(next_model_, machine.model + 1);
    }
  }

  Result<void> cut(const MigNodesChange& change) {
    const GpuModel* const wanted =
        change.gpu_model.empty() ? nullptr : find_gpu_model(change.gpu_model);
    std::uint32_t missing = change.nodes;
    for (std::size_t i = whole_machines_; i-- > 0 && missing > 0;) {
      const auto machine = static_cast<std::uint32_t>(i);
      if (!is_selected(machine, change, wanted)) continue;
      TRY(cut_machine(machine, change));
      --missing;
    }
    if (missing == 0) return {};
    return fail(ErrorCode::kConfig,
                fmt::format("{} {} can't be cut into {}: there are {} whose GPUs can be, and "
                            "which no reservation or other cut has",
                            change.nodes, change.nodes == 1 ? "node" : "nodes", change.profile,
                            change.nodes - missing));
  }

  // The jobs of the instances go to nodes that are cut so, and the others to whole ones.
  Result<void> move_jobs(const std::vector<MigNodesChange>& changes) {
    std::set<std::string> used;
    for (std::size_t i = 0; i < world_.jobs.size(); ++i) {
      replay::Request& request = world_.jobs[i].request;
      replay::ModelSet models = 0;
      for (const auto& [key, cut] : cuts_) {
        const bool is_allowed = request.models == 0 || ((request.models >> key.first) & 1) != 0;
        if (!is_allowed || !slices_[i] || !is_same(*slices_[i], cut.share)) continue;
        models |= replay::ModelSet{1} << cut.model;
        used.insert(key.second);
      }
      if (models != 0) {
        request.models = models;
      } else if (request.models == 0 && request.milli_gpus() > 0) {
        request.models = whole_models_;
      }
    }
    for (const MigNodesChange& change : changes) {
      if (used.contains(change.profile)) continue;
      return fail(ErrorCode::kConfig,
                  fmt::format("no job has a slice {0} on these nodes, so nobody would run on the "
                              "{1} that are cut so; say with slice who does, such as slice={0}",
                              change.profile, change.nodes));
    }
    return {};
  }

 private:
  struct Cut {
    std::uint32_t model;  // of machines that are cut so
    MigShare share;
  };

  bool is_selected(std::uint32_t machine, const MigNodesChange& change,
                   const GpuModel* wanted) const {
    const NodeView& node = fleet_.nodes()[world_.node_of_machine[machine]];
    if (world_.machines[machine].gpus == 0 || node.model == nullptr || taken_.contains(machine)) {
      return false;
    }
    if (wanted != nullptr && node.model != wanted) return false;
    const Node* const last = last_fact(node, world_.period);
    if (last == nullptr || (!change.pool.empty() && last->pool.text() != change.pool)) return false;
    if (world_.needed_nodes.contains(last->name.text())) return false;
    return find_mig_share(*node.model, change.profile).has_value();
  }

  Result<void> cut_machine(std::uint32_t machine, const MigNodesChange& change) {
    taken_.insert(machine);
    const GpuModel& model = *fleet_.nodes()[world_.node_of_machine[machine]].model;
    const std::uint32_t whole_model = world_.machines[machine].model;
    const auto [cut, is_new] = cuts_.try_emplace(
        {whole_model, change.profile}, Cut{next_model_, *find_mig_share(model, change.profile)});
    if (is_new && ++next_model_ > 64) {
      return fail(ErrorCode::kUnsupported,
                  "the fleet has over 64 GPU models, those that are cut included; a replay takes "
                  "64");
    }
    if (!change.window) {
      world_.machines[machine].model = cut->second.model;
      return {};
    }
    replay::Machine copy = world_.machines[machine];
    copy.model = cut->second.model;
    world_.layouts.push_back({.whole = machine,
                              .cut = static_cast<std::uint32_t>(world_.machines.size()),
                              .window = *change.window});
    world_.machines.push_back(std::move(copy));
    world_.node_of_machine.push_back(world_.node_of_machine[machine]);
    world_.cluster_of_machine.push_back(world_.cluster_of_machine[machine]);
    return {};
  }

  ReplayWorld& world_;
  const FleetView& fleet_;
  const std::vector<std::optional<MigShare>>& slices_;
  std::size_t whole_machines_;
  replay::ModelSet whole_models_ = 0;
  std::uint32_t next_model_ = 0;
  std::set<std::uint32_t> taken_;
  std::map<std::pair<std::uint32_t, std::string>, Cut> cuts_;  // by whole model and profile
};

}  // namespace

Result<void> cut_nodes(ReplayWorld& world, const FleetView& fleet, const Scenario& scenario,
                       const std::vector<std::optional<MigShare>>& slices) {
  if (scenario.mig_nodes.empty()) return {};
  NodeCutter cutter(world, fleet, slices);
  for (const MigNodesChange& change : scenario.mig_nodes) TRY(cutter.cut(change));
  return cutter.move_jobs(scenario.mig_nodes);
}

}  // namespace pennyweight::what_if
