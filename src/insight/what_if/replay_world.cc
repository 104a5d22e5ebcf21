#include "insight/what_if/replay_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "core/check.h"
#include "core/instant.h"
#include "core/overloaded.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "insight/replay/cluster_state.h"
#include "ledger/eligible_time.h"

namespace pennyweight::what_if {
namespace {

constexpr std::uint64_t kMibBytes = 1ull << 20;
// A node without a known capacity limits nobody.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 60;

constexpr std::string_view kTimeLimitLabel = "time_limit_minutes";
constexpr std::uint64_t kLimitMinutesMax = 10'000'000;

std::uint64_t or_unlimited(std::uint64_t capacity) { return capacity == 0 ? kUnlimited : capacity; }

std::uint32_t milli_of(CardShare share) {
  return static_cast<std::uint32_t>(
      (UInt128{share.units()} * replay::kMilliPerGpu + CardShare::kUnitsPerCard - 1) /
      CardShare::kUnitsPerCard);
}

// Thousandths of a GPU that one device of the holding is, on a node like this; rounded up.
std::uint32_t milli_of_device(const Device& device, const NodeView* node) {
  const auto divided = [](std::uint64_t gpus, std::uint64_t parts) {
    if (parts == 0) return replay::kMilliPerGpu;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(
        replay::kMilliPerGpu, (replay::kMilliPerGpu * gpus + parts - 1) / parts));
  };
  const Node* fact = node == nullptr ? nullptr : node->facts.front();
  return std::visit(
      Overloaded{
          [](const WholeGpu&) { return replay::kMilliPerGpu; },
          [](const CardFraction& fraction) {
            return milli_of(std::max(fraction.compute, fraction.memory));
          },
          [&](const MigSlice& slice) {
            if (node == nullptr || node->model == nullptr) return replay::kMilliPerGpu;
            const auto share = find_mig_share(*node->model, slice.profile);
            return share ? milli_of(std::max(share->compute, share->memory)) : replay::kMilliPerGpu;
          },
          [&](const Shard&) {
            return fact == nullptr ? replay::kMilliPerGpu
                                   : divided(fact->gpu_count, fact->shard_count);
          },
          [&](const MpsUnit&) {
            return fact == nullptr ? replay::kMilliPerGpu
                                   : divided(fact->gpu_count, fact->mps_count);
          },
          [&](const Replica&) {
            return fact == nullptr ? replay::kMilliPerGpu : divided(1, fact->gpu_replicas);
          },
          [](const VirtualGpu& virtual_gpu) {
            const std::uint32_t percent = std::max(virtual_gpu.cores_percent.value_or(0),
                                                   virtual_gpu.memory_percent.value_or(0));
            return percent == 0 ? replay::kMilliPerGpu
                                : std::min(replay::kMilliPerGpu, percent * 10);
          },
      },
      device);
}

// The nodes that a holding ran on, or may have run on. A pool is one of its cluster.
std::vector<std::uint32_t> nodes_of(const Holding& holding, const FleetView& fleet) {
  std::vector<std::uint32_t> found =
      std::visit(Overloaded{
                     [&](const OnGpus& on) {
                       std::vector<std::uint32_t> nodes;
                       for (const GpuId& gpu : on.gpus) {
                         if (const auto node = fleet.node_of_gpu(gpu)) nodes.push_back(*node);
                       }
                       return nodes;
                     },
                     [&](const OnNodes& on) {
                       std::vector<std::uint32_t> nodes;
                       for (const OnNodes::NodeDevices& devices : on.parts) {
                         if (const auto node = fleet.node_of(devices.node)) nodes.push_back(*node);
                       }
                       return nodes;
                     },
                     [&](const InPool& in) { return fleet.pool(in, holding.gpu_model); },
                 },
                 holding.placement);
  std::erase_if(
      found, [&](std::uint32_t node) { return fleet.any_fact(node).cluster != holding.cluster; });
  return found;
}

class WorldMaker {
 public:
  WorldMaker(const ClusterMonth& month, const FleetView& fleet, const FleetView& ran_on,
             const Interval& period, const TeamOf& team_of, const JobRules& rules)
      : month_(month),
        fleet_(fleet),
        ran_on_(ran_on),
        team_of_(team_of),
        rules_(rules),
        world_(period) {}

  Result<ReplayWorld> make() {
    for (const NodeView& view : ran_on_.nodes()) std::ignore = number_of_target(view);
    for (std::uint32_t i = 0; i < fleet_.nodes().size(); ++i) {
      TRY(add_machine(i));
    }
    for (const Holding& holding : month_.holdings) {
      const auto first = first_begin_.try_emplace(holding.workload.text(), holding.held.begin());
      first.first->second = std::min(first.first->second, holding.held.begin());
    }
    std::set<std::string> places;
    for (const auto& [key, number] : models_) places.insert(key.second);
    world_.place_count = places.size();
    for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) add_job(i);
    world_.speeds = rules_.speeds.uses();
    return std::move(world_);
  }

 private:
  std::uint32_t number_of_model(const NodeView& view) { return number_of(view, view.model); }

  // That of what the node's model is replaced by.
  std::uint32_t number_of_target(const NodeView& view) {
    return number_of(view, rules_.speeds.target(view.model));
  }

  std::uint32_t number_of(const NodeView& view, const GpuModel* model) {
    const std::string& name = model == nullptr ? view.facts.front()->gpu_model : model->name;
    return models_.try_emplace({name, place_of(view)}, static_cast<std::uint32_t>(models_.size()))
        .first->second;
  }

  // Where a node is, as far as the scenario tells places apart.
  std::string place_of(const NodeView& view) const {
    if (!rules_.home) return {};
    const Node* const last = last_fact(view, world_.period);
    const Node& fact = last == nullptr ? *view.facts.back() : *last;
    switch (*rules_.home) {
      case HomeScope::kPool:
        return fact.pool.text();
      case HomeScope::kRegion:
        return fact.region;
      case HomeScope::kCluster:
        return fact.cluster.text();
    }
    CHECK(false, "every scope is listed");
  }

  // Where the job may run: at home with the models that it may have there, and then elsewhere.
  void set_places(replay::Job& job, const std::vector<std::uint32_t>& nodes) {
    std::set<std::string> names;
    std::set<std::string> homes;
    for (const std::uint32_t at : nodes) {
      const std::uint32_t number = number_of_target(ran_on_.nodes()[at]);
      for (const auto& [key, other] : models_) {
        if (other == number) names.insert(key.first);
      }
      homes.insert(place_of(ran_on_.nodes()[at]));
    }
    const bool any_model = rules_.any_model || job.request.milli_gpus() == 0;
    std::map<std::string, replay::ModelSet> elsewhere;
    job.request.models = 0;
    for (const auto& [key, number] : models_) {
      if (!any_model && !names.contains(key.first)) continue;
      const replay::ModelSet model = replay::ModelSet{1} << number;
      if (homes.empty() || homes.contains(key.second)) {
        job.request.models |= model;
      } else {
        elsewhere[key.second] |= model;
      }
    }
    if (elsewhere.empty() || !rules_.may_leave) return;
    std::vector<replay::ModelSet> places;
    for (const auto& [name, models] : elsewhere) places.push_back(models);
    const auto [at, is_new] =
        place_numbers_.try_emplace(places, static_cast<std::uint32_t>(world_.places.size() + 1));
    if (is_new) world_.places.push_back(std::move(places));
    job.elsewhere = at->second;
  }

  Result<void> add_machine(std::uint32_t index) {
    const NodeView& view = fleet_.nodes()[index];
    if (!was_there(view, world_.period)) return {};
    const Node& node = *view.facts.front();
    if (view.capacity.gpus > replay::kGpusPerMachineMax) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} has {} GPUs; a replay takes nodes of up to {}",
                              node.name.text(), view.capacity.gpus, replay::kGpusPerMachineMax));
    }
    const std::uint32_t model = number_of_model(view);
    if (models_.size() > 64)
      return fail(ErrorCode::kUnsupported,
                  rules_.home
                      ? "the fleet has over 64 GPU models, counted in each pool or region; a "
                        "replay takes 64. Leave spill-over out"
                      : "the fleet has over 64 GPU models; a replay takes 64");
    world_.machines.push_back({.name = node.name.text(),
                               .model = model,
                               .gpus = static_cast<std::uint32_t>(view.capacity.gpus),
                               .cpu_milli = or_unlimited(view.capacity.cpu_milli),
                               .memory_mib = or_unlimited(view.capacity.memory_bytes / kMibBytes)});
    world_.node_of_machine.push_back(index);
    world_.cluster_of_machine.push_back(node.cluster);
    const Node& last = *view.facts.back();
    if (node.from > world_.period.begin() || (last.to && *last.to < world_.period.end())) {
      ++world_.partly_there;
    }
    return {};
  }

  // Since when the job could run, or else when it was submitted, if it says so and this is its
  // first attempt in the period.
  std::optional<Instant> submit_time(const Holding& holding) const {
    const Instant begin = holding.held.begin();
    if (begin < world_.period.begin()) return std::nullopt;
    if (begin != first_begin_.at(holding.workload.text())) return std::nullopt;
    for (const std::string_view key : {kEligibleTimeLabel, kSubmitTimeLabel}) {
      const auto label = holding.labels.find(key);
      if (!label) continue;
      const auto at = parse_instant(*label);
      if (at && *at <= begin) return *at;
    }
    return std::nullopt;
  }

  // Its time limit; 0: none is known.
  static std::int64_t limit_us(const Holding& holding) {
    const auto label = holding.labels.find(kTimeLimitLabel);
    if (!label) return 0;
    const auto minutes = parse_count(*label, kLimitMinutesMax);
    return minutes ? static_cast<std::int64_t>(*minutes) * 60 * 1'000'000 : 0;
  }

  void add_job(std::uint32_t index) {
    const Holding& holding = month_.holdings[index];
    if (!holding.claim.empty() || !holding.gpu_group.empty() || holding.is_reservation) {
      world_.left_as_they_were.push_back(index);
      for (const std::uint32_t at : nodes_of(holding, ran_on_)) {
        world_.needed_nodes.insert(ran_on_.any_fact(at).name.text());
      }
      return;
    }
    const auto held = holding.held.overlap(world_.period);
    if (!held) return;
    const std::vector<std::uint32_t> nodes = nodes_of(holding, ran_on_);
    const NodeView* node = nodes.empty() ? nullptr : &ran_on_.nodes()[nodes.front()];
    replay::Job job;
    job.name = holding.workload.text();
    job.team = team_of_(holding);
    JobOrigin origin{.holding = index};
    Instant submitted = held->begin();
    if (const auto label = submit_time(holding)) {
      origin.waited_us = (held->begin() - *label).count() * 1000;
      submitted = std::max(*label, world_.period.begin());
      origin.before_us = (submitted - *label).count() * 1000;
    }
    job.submit_us = (submitted - world_.period.begin()).count() * 1000;
    if (rules_.uses_limits) job.estimate_us = limit_us(holding);
    job.work_us = static_cast<std::int64_t>(held->length_ms()) * 1000;
    const std::uint64_t milli = device_count(holding) * milli_of_device(holding.device, node);
    if (milli > replay::kMilliPerGpu && !std::holds_alternative<WholeGpu>(holding.device)) {
      ++world_.rounded_up;
    }
    if (milli < replay::kMilliPerGpu) {
      job.request.gpu_milli = static_cast<std::uint32_t>(milli);
    } else {
      job.request.gpus =
          static_cast<std::uint32_t>((milli + replay::kMilliPerGpu - 1) / replay::kMilliPerGpu);
    }
    job.request.cpu_milli = holding.cpu_milli.value_or(0);
    job.request.memory_mib = holding.memory_bytes.value_or(0) / kMibBytes;
    if (rules_.home) {
      set_places(job, nodes);
    } else if (!rules_.any_model && milli > 0) {
      for (const std::uint32_t at : nodes) {
        job.request.models |= replay::ModelSet{1} << number_of_target(ran_on_.nodes()[at]);
      }
    }
    if (milli > 0) change_speed(job, origin, nodes);
    world_.jobs.push_back(std::move(job));
    world_.origins.push_back(origin);
  }

  // A job takes another time where its GPUs are replaced; never none.
  void change_speed(replay::Job& job, JobOrigin& origin, const std::vector<std::uint32_t>& nodes) {
    if (rules_.speeds.is_empty()) return;
    std::vector<const GpuModel*> models;
    for (const std::uint32_t at : nodes) models.push_back(ran_on_.nodes()[at].model);
    const TimeRatio ratio = rules_.speeds.use(models, job.team, job.name);
    if (ratio.numerator == ratio.denominator) return;
    origin.is_as_held = false;
    const Int128 work = Int128{job.work_us} * ratio.numerator + (ratio.denominator - 1);
    job.work_us = static_cast<std::int64_t>(work / ratio.denominator);
  }

  const ClusterMonth& month_;
  const FleetView& fleet_;
  const FleetView& ran_on_;
  const TeamOf& team_of_;
  JobRules rules_;
  std::map<std::string, Instant> first_begin_;                           // of each workload
  std::map<std::pair<std::string, std::string>, std::uint32_t> models_;  // by name and place
  std::map<std::vector<replay::ModelSet>, std::uint32_t> place_numbers_;
  ReplayWorld world_;
};

}  // namespace

const Node* last_fact(const NodeView& view, const Interval& period) {
  const auto is_of_period = [&](const Node* fact) {
    return fact->from < period.end() && (!fact->to || *fact->to > period.begin());
  };
  const auto last = std::find_if(view.facts.rbegin(), view.facts.rend(), is_of_period);
  return last == view.facts.rend() ? nullptr : *last;
}

Result<ReplayWorld> make_replay_world(const ClusterMonth& month, const FleetView& fleet,
                                      const FleetView& ran_on, const Interval& period,
                                      const TeamOf& team_of, const JobRules& rules) {
  return WorldMaker(month, fleet, ran_on, period, team_of, rules).make();
}

}  // namespace pennyweight::what_if
