#include "insight/guardrails/usage_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "core/card_share.h"
#include "core/int128.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;

std::string limit_amount(Money amount) {
  return fmt::format("{} {}", format_minor(amount), amount.currency().text());
}

bool is_used_up(const std::optional<Money>& limit, const std::optional<Money>& used) {
  return limit && used && used->ticks() >= limit->ticks();
}

// Whether 80 % and more of it are used; 5 x used >= 4 x limit.
bool is_nearly_used_up(const std::optional<Money>& limit, const std::optional<Money>& used) {
  return limit && used && used->ticks() * 5 >= limit->ticks() * 4;
}

// What of a workload counts against a limit, and how long each group of it goes on.
struct LimitedGroup {
  const GroupEstimate* estimate;
  GroupTerm term;
};

// The most that a group of new work costs until the month ends; nothing: not known.
std::optional<Money> cost_this_month(const LimitedGroup& limited, std::uint64_t left_ms) {
  const GroupEstimate& group = *limited.estimate;
  if (!group.problem.empty()) return std::nullopt;
  const auto known = [](const Result<Money>& amount) {
    return amount ? std::optional(*amount) : std::nullopt;
  };
  switch (limited.term.lifetime) {
    case manifests::Lifetime::kRun: {
      const Money per_hour = group.per_hour_max.value_or(group.per_hour());
      const auto until_end = known(scale_amount(per_hour, left_ms, kHourMs));
      const bool is_shorter =
          until_end && group.per_run_max && group.per_run_max->ticks() < until_end->ticks();
      return is_shorter ? group.per_run_max : until_end;
    }
    case manifests::Lifetime::kScheduled:
      return group.per_month;
    case manifests::Lifetime::kService: {
      if (!group.per_month) return std::nullopt;
      const Money month = group.per_month_max.value_or(*group.per_month);
      return known(scale_amount(month, left_ms, kHoursPerMonth * kHourMs));
    }
  }
  return std::nullopt;
}

std::optional<Money> cost_this_month(std::span<const LimitedGroup> groups, Currency currency,
                                     std::uint64_t left_ms) {
  Money sum = Money::zero(currency);
  for (const LimitedGroup& group : groups) {
    const auto cost = cost_this_month(group, left_ms);
    if (!cost) return std::nullopt;
    sum += *cost;
  }
  return sum;
}

bool takes_gpus(std::span<const LimitedGroup> groups) {
  return std::ranges::any_of(groups, [](const LimitedGroup& limited) {
    const GroupEstimate& group = *limited.estimate;
    const bool is_gpu_machine = !group.machine || !group.machine->gpu_model.empty();
    // What can't be read may be GPUs.
    if (!group.group.problem.empty() || !group.group.unknown_resources.empty()) return true;
    return !group.group.gpus.empty() || (group.group.takes_whole_machines && is_gpu_machine);
  });
}

// So many GPUs for so long, in GPU-hours; nothing: more than can be counted. Rounded up.
std::optional<Money> gpu_hours_of(UInt128 gpu_units, UInt128 ms, Currency unit) {
  constexpr UInt128 kUnitMsPerHour = UInt128{CardShare::kUnitsPerCard} * kHourMs;
  constexpr UInt128 kUnitMsMax = kUnitMsPerHour * 1'000'000'000'000;
  if (gpu_units > 0 && ms > kUnitMsMax / gpu_units) return std::nullopt;
  const UInt128 unit_ms = gpu_units * ms;
  // A millionth of a GPU-hour is exact enough, and keeps the product in range.
  constexpr UInt128 kParts = 1'000'000;
  const UInt128 parts = unit_ms / kUnitMsPerHour * kParts +
                        (unit_ms % kUnitMsPerHour * kParts + kUnitMsPerHour - 1) / kUnitMsPerHour;
  return Money::from_ticks(static_cast<Int128>(parts) * (Money::kTicksPerUnit / Int128{kParts}),
                           unit);
}

// What a replica holds of GPUs, in CardShare units, and all of them at most.
struct HeldUnits {
  UInt128 one = 0, most = 0;
};

// Whole GPUs are known without a price, and so is that there are none; nothing: not known.
std::optional<HeldUnits> held_units(const GroupEstimate& group) {
  const manifests::ReplicaGroup& asked = group.group;
  if (!asked.unknown_resources.empty()) return std::nullopt;
  if (group.problem.empty()) {
    if (asked.replicas == 0) return HeldUnits{0, group.gpu_units_max};
    return HeldUnits{group.gpu_units / asked.replicas, group.gpu_units_max};
  }
  if (!asked.problem.empty() || asked.takes_whole_machines) return std::nullopt;
  HeldUnits held;
  for (const RequestedDevice& device : asked.gpus) {
    if (device.kind != RequestedDevice::Kind::kGpu) return std::nullopt;
    held.one += UInt128{device.count} * CardShare::kUnitsPerCard;
  }
  held.most = held.one * std::max(asked.replicas, asked.replicas_max.value_or(0));
  return held;
}

// The GPU-hours of one run of the group; nothing: its length is not known.
std::optional<Money> gpu_hours_of_run(const GroupEstimate& group, UInt128 units_of_one,
                                      Currency unit) {
  const auto ms = group.replica_ms_max ? group.replica_ms_max : group.group.replica_ms_max;
  if (!ms) return std::nullopt;
  return gpu_hours_of(units_of_one, *ms, unit);
}

// The most that a group of new work holds until the month ends; nothing: not known.
std::optional<Money> gpu_hours_this_month(const LimitedGroup& limited, std::uint64_t left_ms,
                                          Currency unit) {
  const GroupEstimate& group = *limited.estimate;
  const auto held = held_units(group);
  if (!held) return std::nullopt;
  if (held->most == 0) return Money::zero(unit);
  const auto until_end = gpu_hours_of(held->most, left_ms, unit);
  const auto run = gpu_hours_of_run(group, held->one, unit);
  switch (limited.term.lifetime) {
    case manifests::Lifetime::kRun:
      return run && until_end && run->ticks() < until_end->ticks() ? run : until_end;
    case manifests::Lifetime::kScheduled: {
      if (!run || !limited.term.runs_per_month) return std::nullopt;
      const auto month = scale_amount(*run, *limited.term.runs_per_month, 1);
      if (!month) return std::nullopt;
      return *month;
    }
    case manifests::Lifetime::kService:
      return until_end;
  }
  return std::nullopt;
}

std::optional<Money> gpu_hours_this_month(std::span<const LimitedGroup> groups,
                                          std::uint64_t left_ms, Currency unit) {
  Money sum = Money::zero(unit);
  for (const LimitedGroup& group : groups) {
    const auto hours = gpu_hours_this_month(group, left_ms, unit);
    if (!hours) return std::nullopt;
    sum += *hours;
  }
  return sum;
}

// Why new work that may still begin exceeds the money that is left; empty: it does not.
std::string exceeds_money(std::span<const LimitedGroup> groups, const LimitUse& use,
                          Currency currency, std::uint64_t left_ms) {
  const Money& limit = *use.limit.per_month;
  const auto cost = cost_this_month(groups, currency, left_ms);
  if (!cost) {
    return fmt::format("its cost is not known, and {} are left this month",
                       limit_amount(limit - *use.spent));
  }
  if ((*use.spent + *cost).ticks() <= limit.ticks()) return "";
  return fmt::format("it may cost {} this month, and {} of {} are left", limit_amount(*cost),
                     limit_amount(limit - *use.spent), limit_amount(limit));
}

// The same of GPU-hours.
std::string exceeds_gpu_hours(std::span<const LimitedGroup> groups, const LimitUse& use,
                              std::uint64_t left_ms) {
  const Money& limit = *use.limit.gpu_hours;
  const Money left = limit - *use.gpu_hours;
  const auto hours = gpu_hours_this_month(groups, left_ms, limit.currency());
  if (!hours) {
    return fmt::format("how long it holds GPUs is not known, and {} GPU-hours are left this month",
                       format_minor(left));
  }
  if (hours->ticks() <= left.ticks()) return "";
  return fmt::format("it may hold {} GPU-hours this month, and {} of {} are left",
                     format_minor(*hours), format_minor(left), format_minor(limit));
}

// Why new work exceeds the limit; empty: it does not.
std::string exceeds(std::span<const LimitedGroup> groups, const LimitUse& use, Currency currency,
                    std::uint64_t left_ms) {
  const UsageLimit& limit = use.limit;
  const bool counts_hours = limit.gpu_hours && takes_gpus(groups);
  const bool measured = (!limit.per_month || use.spent) && (!counts_hours || use.gpu_hours);
  if (!measured) return "what is used of it can't be measured: " + use.problem;
  if (is_used_up(limit.per_month, use.spent)) {
    return fmt::format("{} of {} are spent this month", limit_amount(*use.spent),
                       limit_amount(*limit.per_month));
  }
  if (counts_hours && is_used_up(limit.gpu_hours, use.gpu_hours)) {
    return fmt::format("{} of {} GPU-hours are used this month", format_minor(*use.gpu_hours),
                       format_minor(*limit.gpu_hours));
  }
  if (limit.per_month) {
    std::string why = exceeds_money(groups, use, currency, left_ms);
    if (!why.empty()) return why;
  }
  return counts_hours ? exceeds_gpu_hours(groups, use, left_ms) : "";
}

// Whose a group of replicas is, or a workload.
struct ChargedWork {
  PlannedWork work;
  std::optional<PlannedDimensions> dimensions;  // where there is a policy
};

ChargedWork charged_work(const PlannedWork& work, const Policy* policy) {
  ChargedWork charged{.work = work, .dimensions = std::nullopt};
  if (policy != nullptr) charged.dimensions = planned_dimensions(work, *policy);
  return charged;
}

// By the dimension where that is known; else by the label or the namespace of that name, which say
// no more than that it may be the limit's.
Charged charge_of_limit(const UsageLimit& limit, const ChargedWork& charged) {
  if (charged.dimensions) {
    const auto value = charged.dimensions->known.find(limit.dimension);
    if (value) return *value == limit.selected() ? Charged::kYes : Charged::kNo;
    if (std::ranges::find(charged.dimensions->unset, limit.dimension) !=
        charged.dimensions->unset.end()) {
      return Charged::kNo;
    }
  }
  const PlannedWork& work = charged.work;
  const bool is_open =
      charged.dimensions && std::ranges::find(charged.dimensions->unknown, limit.dimension) !=
                                charged.dimensions->unknown.end();
  const Charged otherwise = is_open ? Charged::kUnknown : Charged::kNo;
  if (limit.dimension == "namespace") {
    return work.name_space == limit.selected() ? Charged::kYes : otherwise;
  }
  const auto label = work.labels.find(limit.dimension);
  const bool is_its_own = label != work.labels.end() && label->second == limit.selected();
  return is_its_own ? Charged::kYes : otherwise;
}

// Which groups of a workload count against which limit. Whose each of them is is worked out once.
class LimitedWork {
 public:
  LimitedWork(const WorkloadEstimate& workload, const Policy* policy)
      : workload_(workload), terms_(group_terms(workload)) {
    // Estimates of tests and replays have groups that their request does not have.
    request_ = workload.workload;
    request_.groups.clear();
    for (const GroupEstimate& group : workload.groups) request_.groups.push_back(group.group);
    for (const PlannedGroup& group : planned_groups(request_)) {
      works_.emplace_back(group.group, charged_work(group.work, policy));
    }
    if (works_.empty()) works_.emplace_back(0, charged_work(planned_whole(request_), policy));
  }

  struct Found {
    Charged charged = Charged::kNo;
    std::vector<LimitedGroup> groups = {};  // that are the limit's, or may be
  };
  Found find(const UsageLimit& limit) const {
    Found found;
    std::vector<bool> counts(workload_.groups.size(), false);
    for (const auto& [index, work] : works_) {
      const Charged own = charge_of_limit(limit, work);
      if (own == Charged::kNo) continue;
      if (found.charged != Charged::kYes) found.charged = own;
      if (index < counts.size()) counts[index] = true;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i]) found.groups.push_back({.estimate = &workload_.groups[i], .term = terms_[i]});
    }
    return found;
  }

 private:
  const WorkloadEstimate& workload_;
  const std::vector<GroupTerm> terms_;
  manifests::WorkloadRequest request_;
  std::vector<std::pair<std::size_t, ChargedWork>> works_;  // by the group
};

}  // namespace

bool LimitUse::is_exhausted() const {
  return is_used_up(limit.per_month, spent) || is_used_up(limit.gpu_hours, gpu_hours);
}

std::string_view LimitUse::state() const {
  if (is_exhausted()) return "exhausted";
  if ((limit.per_month && !spent) || (limit.gpu_hours && !gpu_hours)) return "unknown";
  const bool is_near =
      is_nearly_used_up(limit.per_month, spent) || is_nearly_used_up(limit.gpu_hours, gpu_hours);
  return is_near ? "near" : "within";
}

bool is_limited_by(const UsageLimit& limit, const manifests::WorkloadRequest& workload,
                   const Policy* policy) {
  return charge_of_limit(limit, charged_work(planned_whole(workload), policy)) == Charged::kYes;
}

std::vector<RuleHit> limit_hits(const WorkloadEstimate& workload, std::span<const LimitUse> uses,
                                Currency currency, std::uint64_t left_ms, const Policy* policy) {
  std::vector<RuleHit> hits;
  if (uses.empty()) return hits;
  const LimitedWork work(workload, policy);
  for (const LimitUse& use : uses) {
    const LimitedWork::Found found = work.find(use.limit);
    if (found.charged == Charged::kNo) continue;
    std::string because = exceeds(found.groups, use, currency, left_ms);
    if (because.empty()) continue;
    const bool is_certain = found.charged == Charged::kYes;
    if (!is_certain) {
      because = fmt::format("whether it counts is not known, since its {} is not; if it does, {}",
                            use.limit.dimension, because);
    }
    hits.push_back(
        {.rule = "limit " + use.limit.name,
         .effect = use.limit.is_hard && is_certain ? RuleEffect::kDeny : RuleEffect::kWarn,
         .mode = RuleMode::kEnforce,
         .because = std::move(because),
         .reason = fmt::format("{} {} has a limit", use.limit.dimension, use.limit.selected()),
         .way_out = "wait for the next month, ask for less, or have the limit raised",
         .exempted_for = ""});
  }
  return hits;
}

void add_hits(std::vector<RuleHit> hits, Verdict& verdict) {
  for (const RuleHit& hit : hits) {
    verdict.decision = std::max(
        verdict.decision, hit.effect == RuleEffect::kDeny ? Decision::kDenied : Decision::kWarned);
  }
  verdict.hits.insert(verdict.hits.end(), std::make_move_iterator(hits.begin()),
                      std::make_move_iterator(hits.end()));
}

}  // namespace pennyweight::guardrails
