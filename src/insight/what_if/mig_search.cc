#include "insight/what_if/mig_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/gpu/mig_profile.h"
#include "core/try.h"

namespace pennyweight::what_if {
namespace {

using Layout = std::vector<std::uint32_t>;  // how many instances of each size

bool holds(const MigInstanceSize& instance, const MigInstanceSize& wanted) {
  return instance.compute_slices >= wanted.compute_slices &&
         instance.memory_slices >= wanted.memory_slices;
}

// Layouts to which no instance can be added.
std::vector<Layout> full_mig_layouts(const MigLayouts& all) {
  std::vector<Layout> full;
  for (const Layout& one : all.legal) {
    const bool is_within_another = std::ranges::any_of(all.legal, [&](const Layout& other) {
      return one != other && std::ranges::equal(other, one, std::ranges::greater_equal());
    });
    if (!is_within_another) full.push_back(one);
  }
  return full;
}

// The plain profile of a size: "3g.20gb", without media engines.
std::string profile_of(const GpuModel& model, const MigInstanceSize& size) {
  for (const std::string& geometry : model.mig_geometries) {
    for (const MigProfile& profile : mig_profiles(geometry)) {
      if (profile.compute_slices == size.compute_slices &&
          profile.memory_slices == size.memory_slices &&
          profile.name.find('+') == std::string::npos) {
        return profile.name;
      }
    }
  }
  return fmt::format("{}g", size.compute_slices);
}

class MigSearch {
 public:
  MigSearch(const ReplayWorld& world, const std::vector<MovedJob>& moved, const MigNodes& nodes,
            const MigGoal& goal, std::uint64_t never_start_max, const MigReplay& replay)
      : nodes_(nodes),
        goal_(goal),
        never_start_max_(never_start_max),
        replay_(replay),
        all_(legal_mig_layouts(*nodes.model)),
        machines_(world.machines),
        node_of_machine_(world.node_of_machine),
        on_instances_(world.period),
        on_whole_(world.period) {
    for (std::size_t i = 0; i < all_.sizes.size(); ++i) by_size_.push_back(i);
    std::ranges::sort(by_size_, {}, [&](std::size_t i) {
      return std::tuple(all_.sizes[i].memory_slices, all_.sizes[i].compute_slices);
    });
    std::map<std::uint32_t, MigInstanceSize> size_of;
    for (const MovedJob& each : moved) size_of.emplace(each.job, each.size);
    for (std::uint32_t job = 0; job < world.jobs.size(); ++job) {
      const auto size = size_of.find(job);
      ReplayWorld& of = size == size_of.end() ? on_whole_ : on_instances_;
      of.jobs.push_back(world.jobs[job]);
      of.origins.push_back(world.origins[job]);
      if (size == size_of.end()) continue;
      replay::Request& request = of.jobs.back().request;
      request = {.gpus = 1, .gpu_milli = 0, .cpu_milli = 0, .memory_mib = 0, .models = 0};
      for (std::size_t i = 0; i < all_.sizes.size(); ++i) {
        if (holds(all_.sizes[i], size->second)) request.models |= replay::ModelSet{1} << i;
      }
      wanted_.insert(size->second);
    }
  }

  Result<MigSearchResult> run() {
    MigSearchResult result;
    std::vector<Layout> layouts = full_mig_layouts(all_);
    std::erase_if(layouts, [&](const Layout& layout) { return !holds_every_job(layout); });
    // Those with the most instances for these jobs first: the bound that they set saves tries.
    std::ranges::sort(layouts, {}, [&](const Layout& layout) {
      return std::tuple(~useful_instances(layout), name_of(layout));
    });
    result.layouts = layouts.size();
    for (const Layout& layout : layouts) {
      if (tries_ >= goal_.tries_max) break;
      ++result.layouts_tried;
      TRY(fewest_nodes(layout, result.points));
    }
    std::ranges::stable_sort(result.points, {}, [](const MigPoint& point) {
      return std::tuple(point.cost, point.nodes, point.all_p95_us, point.moved_p95_us,
                        point.layout);
    });
    std::optional<std::int64_t> least;
    for (MigPoint& point : result.points) {
      if (point.never_start > never_start_max_) continue;
      const std::int64_t wait = std::max(point.all_p95_us, point.moved_p95_us);
      point.is_on_frontier = !least || wait < *least;
      if (point.is_on_frontier) least = wait;
    }
    return result;
  }

 private:
  bool holds_every_job(const Layout& layout) const {
    return std::ranges::all_of(wanted_, [&](const MigInstanceSize& size) {
      for (std::size_t i = 0; i < layout.size(); ++i) {
        if (layout[i] > 0 && holds(all_.sizes[i], size)) return true;
      }
      return false;
    });
  }

  std::uint64_t useful_instances(const Layout& layout) const {
    std::uint64_t instances = 0;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const bool is_useful = std::ranges::any_of(
          wanted_, [&](const MigInstanceSize& size) { return holds(all_.sizes[i], size); });
      if (is_useful) instances += layout[i];
    }
    return instances;
  }

  std::string name_of(const Layout& layout) const {
    std::vector<std::string> parts;
    for (auto at = by_size_.rbegin(); at != by_size_.rend(); ++at) {
      if (layout[*at] == 0) continue;
      const std::string profile = profile_of(*nodes_.model, all_.sizes[*at]);
      parts.push_back(layout[*at] == 1 ? profile : fmt::format("{} x {}", layout[*at], profile));
    }
    return fmt::format("{}", fmt::join(parts, " + "));
  }

  // Halves the distance between nodes that are too few for the jobs on instances and nodes that are
  // enough for them. Once some layout is enough, another one is looked at further only where as
  // many nodes of it are enough too.
  Result<void> fewest_nodes(const Layout& layout, std::vector<MigPoint>& points) {
    std::uint32_t too_few = 0;
    auto enough = fewest_ ? *fewest_ : static_cast<std::uint32_t>(nodes_.machines.size());
    const auto is_enough = [&](std::uint32_t nodes) -> Result<bool> {
      points.push_back(TRY(try_layout(layout, nodes)));
      if (points.back().is_enough) fewest_ = fewest_ ? std::min(*fewest_, nodes) : nodes;
      return points.back().moved_p95_us <= goal_.wait_p95_max_us;
    };
    if (!TRY(is_enough(enough))) return {};
    while (enough - too_few > 1 && tries_ < goal_.tries_max) {
      const std::uint32_t middle = too_few + (enough - too_few) / 2;
      const bool is_so = TRY(is_enough(middle));
      (is_so ? enough : too_few) = middle;
    }
    return {};
  }

  Result<MigPoint> try_layout(const Layout& layout, std::uint32_t nodes) {
    ++tries_;
    MigPoint point;
    point.layout = name_of(layout);
    point.nodes = nodes;
    cut(layout, nodes, point);
    const replay::Replay on_instances = TRY(replay_(on_instances_, true));
    std::vector<std::int64_t> waits = waits_of(on_instances_, on_instances);
    point.never_start = on_instances_.jobs.size() - waits.size();
    const WholeWaits& whole = TRY(on_whole(nodes));
    std::vector<std::int64_t> all = waits;
    all.insert(all.end(), whole.waits.begin(), whole.waits.end());
    point.never_start += whole.never_start;
    point.moved_p95_us = time_figures(waits).p95;
    point.all_p95_us = time_figures(all).p95;
    point.is_enough = point.moved_p95_us <= goal_.wait_p95_max_us &&
                      point.all_p95_us <= goal_.wait_p95_max_us &&
                      point.never_start <= never_start_max_;
    return point;
  }

  // The instances of the last nodes as machines, the smallest sizes first; a machine has instances
  // of one size, which is its model.
  void cut(const Layout& layout, std::uint32_t nodes, MigPoint& point) {
    on_instances_.machines.clear();
    on_instances_.node_of_machine.clear();
    for (const std::size_t size : by_size_) {
      for (std::size_t i = nodes_.machines.size() - nodes; i < nodes_.machines.size(); ++i) {
        const replay::Machine& whole = machines_[nodes_.machines[i]];
        std::uint32_t left = layout[size] * whole.gpus;
        point.instances += left;
        while (left > 0) {
          const std::uint32_t here = std::min(left, replay::kGpusPerMachineMax);
          on_instances_.machines.push_back({.name = whole.name,
                                            .model = static_cast<std::uint32_t>(size),
                                            .gpus = here,
                                            .cpu_milli = 0,
                                            .memory_mib = 0});
          on_instances_.node_of_machine.push_back(node_of_machine_[nodes_.machines[i]]);
          left -= here;
        }
      }
    }
    for (std::size_t i = nodes_.machines.size() - nodes; i < nodes_.machines.size(); ++i) {
      point.cost += nodes_.prices[i];
    }
  }

  struct WholeWaits {
    std::vector<std::int64_t> waits;
    std::uint64_t never_start = 0;
  };
  // How long the other jobs wait on what is left: the same for every layout.
  Result<std::reference_wrapper<const WholeWaits>> on_whole(std::uint32_t nodes) {
    const auto known = whole_.find(nodes);
    if (known != whole_.end()) return std::cref(known->second);
    const std::set<std::uint32_t> gone(nodes_.machines.end() - nodes, nodes_.machines.end());
    on_whole_.machines.clear();
    on_whole_.node_of_machine.clear();
    for (std::uint32_t machine = 0; machine < machines_.size(); ++machine) {
      if (gone.contains(machine)) continue;
      on_whole_.machines.push_back(machines_[machine]);
      on_whole_.node_of_machine.push_back(node_of_machine_[machine]);
    }
    const replay::Replay replay = TRY(replay_(on_whole_, false));
    WholeWaits waits{.waits = waits_of(on_whole_, replay), .never_start = 0};
    waits.never_start = on_whole_.jobs.size() - waits.waits.size();
    return std::cref(whole_.emplace(nodes, std::move(waits)).first->second);
  }

  const MigNodes& nodes_;
  const MigGoal& goal_;
  std::uint64_t never_start_max_;
  const MigReplay& replay_;
  const MigLayouts& all_;
  const std::vector<replay::Machine>& machines_;  // of the world
  const std::vector<std::uint32_t>& node_of_machine_;
  ReplayWorld on_instances_;
  ReplayWorld on_whole_;
  std::set<MigInstanceSize> wanted_;
  std::vector<std::size_t> by_size_;  // sizes, the smallest first
  std::map<std::uint32_t, WholeWaits> whole_;
  std::uint32_t tries_ = 0;
  std::optional<std::uint32_t> fewest_;  // nodes of a layout that is enough, so far
};

}  // namespace

Result<MigSearchResult> search_mig_layouts(const ReplayWorld& world,
                                           const std::vector<MovedJob>& moved,
                                           const MigNodes& nodes, const MigGoal& goal,
                                           std::uint64_t never_start_max, const MigReplay& replay) {
  return MigSearch(world, moved, nodes, goal, never_start_max, replay).run();
}

}  // namespace pennyweight::what_if
