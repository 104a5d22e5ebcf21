#include "insight/what_if/model_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "allocation/pricing/rate_card.h"
#include "core/check.h"
#include "core/gpu/card_fraction.h"
#include "core/gpu/gpu_speed.h"
#include "core/try.h"

namespace pennyweight::what_if {
namespace {

// The time on `to` of the time on `from`, by a figure of both; nothing where one is not known.
std::optional<TimeRatio> time_by(std::uint64_t from, std::uint64_t to) {
  if (from == 0 || to == 0) return std::nullopt;
  return TimeRatio{.numerator = from, .denominator = to};
}

std::optional<TimeRatio> time_by_compute(const GpuSpeed& from, const GpuSpeed& to) {
  const auto bf16 = time_by(from.bf16_dense_gflops, to.bf16_dense_gflops);
  return bf16 ? bf16 : time_by(from.fp16_dense_gflops, to.fp16_dense_gflops);
}

// Whether a bound of the catalogue decides the time of some jobs.
bool needs(const std::vector<BoundChange>& rules, Bound bound) {
  return std::ranges::any_of(rules, [&](const BoundChange& rule) {
    return !rule.time_percent && (rule.bound == bound || rule.bound == Bound::kUnknown);
  });
}

Error no_figure(const ModelChange& change, std::string_view what) {
  return Error{ErrorCode::kConfig,
               fmt::format("the GPU catalogue has no {} of {} or of {}, so how long jobs take on "
                           "the other is not known; say it in percent of their time, such as "
                           "bound=80%",
                           what, change.from, change.to)};
}

bool is_of_period(Instant from, const std::optional<Instant>& to, const Interval& period) {
  return from < period.end() && (!to || *to > period.begin());
}

}  // namespace

Result<ModelSpeeds> ModelSpeeds::of(const Scenario& scenario, std::optional<Bound> assumed) {
  ModelSpeeds speeds;
  if (scenario.replaced_models.empty()) return speeds;
  speeds.assumed_ = assumed;
  speeds.rules_ = scenario.bounds;
  std::ranges::stable_sort(speeds.rules_, {}, [](const BoundChange& rule) {
    return !rule.workload.empty() ? 0 : !rule.team.empty() ? 1 : 2;
  });
  const bool is_for_all = !speeds.rules_.empty() && speeds.rules_.back().workload.empty() &&
                          speeds.rules_.back().team.empty();
  if (!is_for_all) speeds.rules_.emplace_back();
  for (const ModelChange& change : scenario.replaced_models) {
    const GpuModel* const from = find_gpu_model(change.from);
    const GpuModel* const to = find_gpu_model(change.to);
    const GpuSpeed was = gpu_speed(*from);
    const GpuSpeed is = gpu_speed(*to);
    const auto compute = time_by_compute(was, is);
    const auto memory = time_by(was.memory_gb_per_second, is.memory_gb_per_second);
    if (!compute && needs(speeds.rules_, Bound::kCompute)) {
      return std::unexpected(no_figure(change, "dense BF16 or FP16 throughput"));
    }
    if (!memory && needs(speeds.rules_, Bound::kMemory)) {
      return std::unexpected(no_figure(change, "memory bandwidth"));
    }
    speeds.targets_.emplace(from, to);
    speeds.ratios_.emplace(from, Ratios{.compute = compute.value_or(TimeRatio()),
                                        .memory = memory.value_or(TimeRatio())});
  }
  return speeds;
}

const GpuModel* ModelSpeeds::target(const GpuModel* model) const {
  const auto found = targets_.find(model);
  return found == targets_.end() ? model : found->second;
}

const BoundChange& ModelSpeeds::rule_of(const std::string& team,
                                        const std::string& workload) const {
  const auto found = std::ranges::find_if(rules_, [&](const BoundChange& rule) {
    if (!rule.workload.empty()) return fits_pattern(rule.workload, workload);
    return rule.team.empty() || rule.team == team;
  });
  CHECK(found != rules_.end(), "the last rule is for all others");
  return *found;
}

SpeedUse ModelSpeeds::speed_of(const GpuModel* model, const BoundChange& rule) const {
  SpeedUse use{.from = model,
               .to = targets_.at(model),
               .bound = rule.bound,
               .stated_percent = rule.time_percent};
  if (rule.time_percent) {
    use.ratio = {.numerator = *rule.time_percent, .denominator = 100};
    return use;
  }
  const Ratios& ratios = ratios_.at(model);
  const Bound bound =
      rule.bound == Bound::kUnknown ? assumed_.value_or(Bound::kUnknown) : rule.bound;
  switch (bound) {
    case Bound::kCompute:
      use.ratio = ratios.compute;
      return use;
    case Bound::kMemory:
      use.ratio = ratios.memory;
      return use;
    case Bound::kUnknown:
      use.ratio = ratios.compute.is_longer_than(ratios.memory) ? ratios.compute : ratios.memory;
      return use;
  }
  CHECK(false, "every bound is listed");
}

TimeRatio ModelSpeeds::use(const std::vector<const GpuModel*>& models, const std::string& team,
                           const std::string& workload) {
  std::optional<SpeedUse> longest;
  bool stays = false;  // it may have run on a model that is not replaced
  for (const GpuModel* const model : models) {
    if (!targets_.contains(model)) {
      stays = true;
      continue;
    }
    SpeedUse use = speed_of(model, rule_of(team, workload));
    if (!longest || use.ratio.is_longer_than(longest->ratio)) longest = use;
  }
  if (!longest) return {};
  if (stays && TimeRatio().is_longer_than(longest->ratio)) return {};
  UseKey key(longest->from->name, longest->bound, longest->stated_percent.value_or(0));
  ++uses_.try_emplace(std::move(key), *longest).first->second.jobs;
  return longest->ratio;
}

std::vector<SpeedUse> ModelSpeeds::uses() const {
  std::vector<SpeedUse> all;
  for (const auto& [key, use] : uses_) all.push_back(use);
  return all;
}

Result<ReplacedFacts> replace_models(const ClusterMonth& month, const Interval& period,
                                     const Scenario& scenario) {
  ReplacedFacts facts{.nodes = {month.nodes.begin(), month.nodes.end()},
                      .gpus = {month.gpus.begin(), month.gpus.end()}};
  if (scenario.replaced_models.empty()) return facts;
  const ModelSpeeds speeds = TRY(ModelSpeeds::of(scenario));
  std::set<const GpuModel*> found;
  std::set<NodeId> replaced;
  for (Node& node : facts.nodes) {
    const GpuModel* const model = find_gpu_model(node.gpu_model);
    const GpuModel* const target = speeds.target(model);
    if (model == nullptr || target == model) continue;
    if (!is_of_period(node.from, node.to, period)) continue;
    const InstanceType* const type = month.catalog.find_instance_type(node.instance_type);
    const auto sold = type == nullptr ? std::nullopt : find_sold_card(type->gpu_model);
    if (sold && sold->part != CardShare::whole()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} has parts of GPUs ({}), which no other model replaces; "
                              "replace models of whole GPUs",
                              node.name.text(), type->gpu_model));
    }
    node.gpu_model = target->name;
    found.insert(model);
    replaced.insert(node.name);
  }
  for (const ModelChange& change : scenario.replaced_models) {
    if (found.contains(find_gpu_model(change.from))) continue;
    return fail(ErrorCode::kConfig,
                fmt::format("cluster {} has no node with {}, so replacing it changes nothing",
                            month.cluster.text(), change.from));
  }
  for (Gpu& gpu : facts.gpus) {
    if (!replaced.contains(gpu.node)) continue;
    const GpuModel* const model = find_gpu_model(gpu.model);
    const GpuModel* const target = speeds.target(model);
    if (model == nullptr || target == model) continue;
    if (!gpu.mig_instances.empty() && is_of_period(gpu.from, gpu.to, period)) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("GPU {} of node {} is cut into MIG instances of {}, and {} may have "
                              "no such layout; replace models of whole GPUs",
                              gpu.uuid.text(), gpu.node.text(), model->name, target->name));
    }
    gpu.model = target->name;
    if (gpu.memory_bytes) gpu.memory_bytes = target->memory_bytes;
  }
  return facts;
}

}  // namespace pennyweight::what_if
