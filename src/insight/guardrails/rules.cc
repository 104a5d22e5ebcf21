#include "insight/guardrails/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "allocation/pricing/rate_card.h"
#include "core/card_share.h"
#include "core/int128.h"
#include "core/plain_text.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::size_t kRisksToldMax = 6;
constexpr std::uint64_t kMsOfHour = 3'600'000;
constexpr std::string_view kDockerPrefixes[] = {"docker.io/library/", "docker.io/"};

bool fits_any(const std::vector<std::string>& patterns, std::string_view text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return fits_pattern(pattern, text);
         });
}

constexpr Currency kGpuHoursOfBudgets{"\x58XX"};  // as budgets have them

std::string amount_and_code(Money amount) {
  return fmt::format("{} {}", format_minor(amount), amount.currency().text());
}

// The figures of a workload that rules ask for.
struct JudgedWorkload {
  const WorkloadEstimate& workload;
  EstimateTotals totals;
  std::uint64_t gpus = 0;
  bool knows_gpus = true;               // false: it may ask for more than that
  std::optional<std::uint64_t> run_ms;  // of the longest replica; absent: not limited
  bool is_priced = true;
  std::optional<Money> month_max;  // of services and schedules; absent: not known
  bool is_run = false;
};

// The GPUs of the machines that a group takes as a whole.
std::uint64_t machine_gpus(const GroupEstimate& group) {
  const UInt128 units = std::max(group.gpu_units, group.gpu_units_max);
  return static_cast<std::uint64_t>((units + CardShare::kUnitsPerCard - 1) /
                                    CardShare::kUnitsPerCard);
}

JudgedWorkload measure_workload(const WorkloadEstimate& workload, Currency currency) {
  JudgedWorkload judged{.workload = workload,
                        .totals = totals_of(workload, currency),
                        .gpus = 0,
                        .knows_gpus = true,
                        .run_ms = 0,
                        .is_priced = true,
                        .month_max = totals_of(workload, currency).per_month_max,
                        .is_run = workload.workload.lifetime != manifests::Lifetime::kService};
  judged.is_priced = judged.totals.not_priced == 0;
  if (workload.workload.lifetime != manifests::Lifetime::kRun) {
    judged.month_max = month_max_of(workload, currency);
  }
  for (const GroupEstimate& group : workload.groups) {
    const std::uint64_t replicas = group.group.replicas_max.value_or(group.group.replicas);
    std::uint64_t gpus = 0;
    for (const RequestedDevice& device : group.group.gpus) gpus += replicas * device.count;
    if (group.group.takes_whole_machines) gpus = std::max(gpus, machine_gpus(group));
    judged.gpus += gpus;
    // A claim that can't be read, or a whole machine of an unknown kind, may hold any number.
    const bool is_unknown_machine = group.group.takes_whole_machines && !group.problem.empty();
    if (!group.group.problem.empty() || is_unknown_machine ||
        !group.group.unknown_resources.empty()) {
      judged.knows_gpus = false;
    }
    const auto& all_ms = group.group.replica_ms_max;
    if (!all_ms) {
      judged.run_ms.reset();
    } else if (judged.run_ms && group.group.replicas > 0) {
      judged.run_ms = std::max(*judged.run_ms, *all_ms / group.group.replicas);
    }
  }
  return judged;
}

// Whose a workload is: of each of its groups, or of itself where it has none. All rules ask the
// same, so it is worked out once, when the first budget asks.
class PlannedOwners {
 public:
  // `policy`: null where nobody asks.
  PlannedOwners(const WorkloadEstimate& workload, const Policy* policy)
      : workload_(workload), policy_(policy) {}

  // REQUIRES: there is a policy.
  const std::vector<PlannedDimensions>& dimensions() {
    if (!dimensions_.empty()) return dimensions_;
    const manifests::WorkloadRequest& request = workload_.workload;
    for (const GroupEstimate& group : workload_.groups) {
      const auto& own = group.group.pod_labels;
      add(request, own ? *own : request.labels);
    }
    if (dimensions_.empty()) add(request, request.labels);
    return dimensions_;
  }

 private:
  void add(const manifests::WorkloadRequest& request, const LabelMap& labels) {
    dimensions_.push_back(planned_dimensions({.is_slurm_job = request.kind == "Slurm job",
                                              .name_space = request.name_space,
                                              .name = request.name,
                                              .user = request.user,
                                              .labels = labels},
                                             *policy_));
  }

  const WorkloadEstimate& workload_;
  const Policy* const policy_;
  std::vector<PlannedDimensions> dimensions_;
};

class ConditionCheck {
 public:
  // `owners`: of the same workload, by the policy of the context.
  // `unknown_meets`: whether what is not known of budgets and of the time meets conditions, as it
  // must where they stop a workload, and must not where they let one through.
  // `exempted`: the conditions of the rule from which it would be exempted; null: it is no
  // exemption.
  ConditionCheck(const JudgedWorkload& judged, PlannedOwners& owners, const RuleContext& context,
                 bool unknown_meets, const RuleConditions* exempted)
      : judged_(judged),
        owners_(owners),
        context_(context),
        unknown_meets_(unknown_meets),
        exempted_(exempted) {}

  // Whether all conditions hold; because() then says what met them.
  bool holds(const RuleConditions& when) {
    const manifests::WorkloadRequest& request = judged_.workload.workload;
    if (!fits_any(when.kinds, request.kind) || !fits_any(when.namespaces, request.name_space) ||
        !fits_any(when.names, request.name)) {
      return false;
    }
    for (const auto& [key, pattern] : when.labels) {
      const auto label = request.labels.find(key);
      if (label == request.labels.end() || !fits_pattern(pattern, label->second)) return false;
    }
    for (const auto& [key, pattern] : when.annotations) {
      const auto annotation = request.annotations.find(key);
      if (annotation == request.annotations.end() || !fits_pattern(pattern, annotation->second)) {
        return false;
      }
    }
    return misses_label(when) && misses_annotation(when) && has_risk(when) && has_image(when) &&
           leaves_images(when) && leaves_runtimes(when) && leaves_storage(when) &&
           has_unlimited_traffic(when) && has_machines(when) && leaves_regions(when) &&
           is_above(when) && is_priced_as(when) && is_in_hours(when) && has_used_budget(when) &&
           goes_beyond_budget(when);
  }
  const std::string& because() const { return because_; }

 private:
  void add(std::string_view text) {
    if (!because_.empty()) because_ += "; ";
    because_ += text;
  }

  using Texts = std::map<std::string, std::string, std::less<>>;

  bool misses_label(const RuleConditions& when) {
    return misses("label", when.labels_missing, judged_.workload.workload.labels,
                  &manifests::WorkloadPart::labels);
  }

  bool misses_annotation(const RuleConditions& when) {
    // Jobs of Slurm have none, and none is missing.
    const bool has_none = judged_.workload.workload.kind == "Slurm job";
    if (has_none && !when.annotations_missing.empty()) return false;
    return misses("annotation", when.annotations_missing, judged_.workload.workload.annotations,
                  &manifests::WorkloadPart::annotations);
  }

  bool misses(std::string_view what, const std::vector<std::string>& keys, const Texts& of_whole,
              Texts manifests::WorkloadPart::* of_part) {
    if (keys.empty()) return true;
    const auto& parts = judged_.workload.workload.parts;
    const auto states = [](const Texts& texts, const std::string& key) {
      const auto text = texts.find(key);
      return text != texts.end() && !text->second.empty();
    };
    bool misses_one = false;
    for (const std::string& key : keys) {
      // Components may state different values.
      const bool is_of_all_parts =
          !parts.empty() && std::ranges::all_of(parts, [&](const manifests::WorkloadPart& part) {
            return states(part.*of_part, key);
          });
      if (states(of_whole, key) || is_of_all_parts) continue;
      add(fmt::format("the {} '{}' is missing", what, key));
      misses_one = true;
    }
    return misses_one;
  }

  // All that are found are told, so that they can be mended at once.
  bool has_risk(const RuleConditions& when) {
    if (when.risks.empty()) return true;
    const auto is_among = [](const std::vector<manifests::RiskKind>& kinds,
                             manifests::RiskKind kind) {
      return std::ranges::find(kinds, kind) != kinds.end();
    };
    std::size_t found = 0;
    for (const GroupEstimate& group : judged_.workload.groups) {
      for (const manifests::PodRisk& risk : group.group.risks) {
        if (!is_among(when.risks, risk.kind)) {
          // An exemption from one risk exempts from no other.
          if (exempted_ != nullptr && is_among(exempted_->risks, risk.kind)) return false;
          continue;
        }
        if (++found <= kRisksToldMax) add(risk.what);
      }
    }
    if (found > kRisksToldMax) add(fmt::format("and {} more", found - kRisksToldMax));
    return found > 0;
  }

  // An image and a pattern may each be written without Docker's registry.
  static bool fits_image(const std::vector<std::string>& patterns, const std::string& image) {
    const std::string full = manifests::full_image_name(image);
    if (fits_any(patterns, image) || fits_any(patterns, full)) return true;
    return std::ranges::any_of(kDockerPrefixes, [&](std::string_view prefix) {
      return full.starts_with(prefix) && fits_any(patterns, full.substr(prefix.size()));
    });
  }

  static bool leaves_image(const std::vector<std::string>& patterns, const std::string& image) {
    return !fits_any(patterns, manifests::full_image_name(image));
  }

  bool has_image(const RuleConditions& when) {
    return when.images.empty() ||
           meets_images([&](const std::string& image) { return fits_image(when.images, image); });
  }

  bool leaves_images(const RuleConditions& when) {
    return when.images_except.empty() || meets_images([&](const std::string& image) {
             // What is not stated may be any image, and lets nothing through.
             if (image.empty() && lets_through()) return false;
             return leaves_image(when.images_except, image);
           });
  }

  // One container suffices to stop a workload. What lets it through has to hold of each container
  // that would be stopped, or one that is exempt would take all others along.
  template <class Meets>
  bool meets_images(const Meets& meets) {
    const std::string* met = nullptr;
    for (const GroupEstimate& group : judged_.workload.groups) {
      for (const std::string& image : group.group.images) {
        if (lets_through() && !may_be_stopped(image, group.group)) continue;
        if (meets(image)) {
          if (met == nullptr) met = &image;
        } else if (lets_through()) {
          return false;
        }
      }
    }
    if (met == nullptr) return false;
    add(met->empty() ? "a container does not state its image"
                     : fmt::format("it runs the image '{}'", printable_text(*met, 200)));
    return true;
  }

  // Whether a container with this image may be why the rule applies that is exempted from: for its
  // image or its risks, where the rule asks for such; for any other condition each of them may.
  bool may_be_stopped(const std::string& image, const manifests::ReplicaGroup& group) const {
    if (exempted_ == nullptr) return true;
    const RuleConditions& rule = *exempted_;
    if (rule.images.empty() && rule.images_except.empty() && rule.risks.empty()) return true;
    if (!rule.images.empty() && fits_image(rule.images, image)) return true;
    if (!rule.images_except.empty() && leaves_image(rule.images_except, image)) return true;
    return std::ranges::any_of(group.risks, [&](const manifests::PodRisk& risk) {
      const bool is_of_rule = std::ranges::find(rule.risks, risk.kind) != rule.risks.end();
      return is_of_rule && (risk.is_of_pod || risk.image == image);
    });
  }

  bool lets_through() const { return !unknown_meets_; }

  bool leaves_runtimes(const RuleConditions& when) {
    if (when.runtime_classes_except.empty()) return true;
    const manifests::PodIsolation* met = nullptr;
    for (const GroupEstimate& group : judged_.workload.groups) {
      if (!group.group.isolation) continue;  // no pods
      const manifests::PodIsolation& pods = *group.group.isolation;
      const bool is_listed =
          !pods.runtime_class.empty() && fits_any(when.runtime_classes_except, pods.runtime_class);
      if (lets_through() && (is_listed || pods.runtime_class.empty())) return false;
      if (!is_listed && met == nullptr) met = &pods;
    }
    if (met == nullptr) return false;
    add(met->runtime_class.empty() ? "its pods state no runtime class"
                                   : fmt::format("its pods run in the runtime class '{}'",
                                                 printable_text(met->runtime_class, 120)));
    return true;
  }

  struct VolumeClass {
    std::string_view storage_class;  // empty: not known
    std::string problem;             // why
  };
  VolumeClass class_of(const manifests::PodVolume& volume, std::string_view name_space) const {
    const std::string who = fmt::format("its volume '{}'", printable_text(volume.name, 120));
    if (!volume.source.empty()) {
      return {"",
              fmt::format("{} ({}) has no storage class", who, printable_text(volume.source, 60))};
    }
    if (volume.claim.empty()) {
      return {volume.storage_class, who + " does not state its storage class"};
    }
    const std::string* const known =
        context_.cluster == nullptr ? nullptr
                                    : context_.cluster->storage_class_of(name_space, volume.claim);
    return {known == nullptr ? std::string_view() : *known,
            fmt::format("the storage class of its claim '{}' is not known",
                        printable_text(volume.claim, 120))};
  }

  // One volume suffices to stop a workload; what lets it through has to hold of each.
  bool leaves_storage(const RuleConditions& when) {
    if (when.storage_classes_except.empty()) return true;
    std::string met;
    for (const GroupEstimate& group : judged_.workload.groups) {
      if (!group.group.isolation) continue;
      const manifests::PodIsolation& pods = *group.group.isolation;
      if (pods.is_partial) {
        if (lets_through()) return false;
        if (met.empty()) met = "which volumes its pods have is not in the files";
      }
      for (const manifests::PodVolume& volume : pods.volumes) {
        const VolumeClass of = class_of(volume, judged_.workload.workload.name_space);
        const bool is_known = !of.storage_class.empty();
        const bool is_listed = is_known && fits_any(when.storage_classes_except, of.storage_class);
        if (lets_through() && (is_listed || !is_known)) return false;
        if (is_listed || !met.empty()) continue;
        met = is_known ? fmt::format("its volume '{}' is of the storage class '{}'",
                                     printable_text(volume.name, 120),
                                     printable_text(of.storage_class, 120))
                       : of.problem;
      }
    }
    if (met.empty()) return false;
    add(met);
    return true;
  }

  bool has_unlimited_traffic(const RuleConditions& when) {
    if (when.unlimited_traffic.empty()) return true;
    // A policy that is not known may be there: nothing is let through for the lack of one.
    if (lets_through()) return false;
    for (const GroupEstimate& group : judged_.workload.groups) {
      if (!group.group.isolation) continue;
      if (group.group.isolation->is_on_host_network) {
        add("its pods use the network of the node, where no NetworkPolicy holds");
        return true;
      }
      for (const manifests::TrafficDirection direction : when.unlimited_traffic) {
        if (is_limited(group.group, direction)) continue;
        add(fmt::format("no NetworkPolicy that is known limits the {} of its pods",
                        manifests::kTrafficDirectionWords[static_cast<std::size_t>(direction)]));
        return true;
      }
    }
    return false;
  }

  bool is_limited(const manifests::ReplicaGroup& group,
                  manifests::TrafficDirection direction) const {
    const manifests::WorkloadRequest& request = judged_.workload.workload;
    return context_.cluster != nullptr &&
           context_.cluster->limits(direction, request.name_space,
                                    group.pod_labels ? *group.pod_labels : request.labels);
  }

  bool has_machines(const RuleConditions& when) {
    const bool asks = !when.gpu_models.empty() || !when.regions.empty() ||
                      !when.providers.empty() || when.spot.has_value();
    if (!asks) return true;
    // One group suffices to stop a workload, and all of them have to meet what lets it through.
    const PricedMachine* met = nullptr;
    for (const GroupEstimate& group : judged_.workload.groups) {
      if (!group.machine) {
        if (lets_through() && !may_run_anywhere(when, group)) return false;
        continue;
      }
      const PricedMachine& machine = *group.machine;
      const bool is_without_gpus = !when.gpu_models.empty() && machine.gpu_model.empty();
      if (is_without_gpus && !lets_through()) continue;
      const bool meets = (is_without_gpus || fits_any(when.gpu_models, machine.gpu_model)) &&
                         fits_any(when.regions, machine.region) &&
                         fits_any(when.providers, machine.provider) &&
                         (!when.spot || *when.spot == (machine.option == PurchaseOption::kSpot));
      if (!meets && lets_through()) return false;
      if (meets && met == nullptr) met = &machine;
    }
    if (met == nullptr) return false;
    add(fmt::format("it runs on {} {}{}{}", met->provider, met->instance_type,
                    met->region.empty() ? "" : " in ", met->region));
    return true;
  }

  // Whether a group that is priced on no machine is let through: one without GPUs, where nothing
  // else is asked for, or where it says itself where it runs.
  static bool may_run_anywhere(const RuleConditions& when, const GroupEstimate& group) {
    const manifests::RequestedPlace& place = group.group.place;
    const auto is_stated = [](const std::vector<std::string>& patterns, const std::string& text) {
      return patterns.empty() || (!text.empty() && fits_any(patterns, text));
    };
    return group.problem.empty() && is_stated(when.regions, place.region) &&
           is_stated(when.providers, place.provider) && (!when.spot || *when.spot == place.is_spot);
  }

  bool leaves_regions(const RuleConditions& when) {
    if (when.regions_except.empty()) return true;
    std::string because_region;
    for (const GroupEstimate& group : judged_.workload.groups) {
      const std::string region = group.machine ? group.machine->region : group.group.place.region;
      const bool is_listed = !region.empty() && fits_any(when.regions_except, region);
      if (lets_through() && (is_listed || region.empty())) return false;
      if (is_listed || !because_region.empty()) continue;
      because_region = region.empty() ? "the files do not decide its region"
                                      : fmt::format("it runs in {}", region);
    }
    if (because_region.empty()) return false;
    add(because_region);
    return true;
  }

  bool is_amount_above(std::string_view what, Money amount, const std::optional<Money>& limit,
                       bool is_limited) {
    if (!limit) return true;
    if (!judged_.is_priced) {
      add(fmt::format("its cost is not known, and {} is the limit", amount_and_code(*limit)));
      return unknown_meets_;
    }
    if (!is_limited) {
      add(fmt::format("nothing limits its time, and a run may cost {}", amount_and_code(*limit)));
      return unknown_meets_;
    }
    if (amount.ticks() <= limit->ticks()) return false;
    add(fmt::format("{} {} is more than {}", amount_and_code(amount), what,
                    amount_and_code(*limit)));
    return true;
  }

  bool is_above(const RuleConditions& when) {
    if (when.gpus_above) {
      if (judged_.gpus > *when.gpus_above) {
        add(fmt::format("{} GPUs are more than {}", judged_.gpus, *when.gpus_above));
      } else if (judged_.knows_gpus) {
        return false;
      } else {
        add(fmt::format("how many GPUs it asks for is not known, and {} is the limit",
                        *when.gpus_above));
        if (!unknown_meets_) return false;
      }
    }
    if (when.run_ms_above || when.per_run_above) {
      if (!judged_.is_run) return false;
    }
    if (when.run_ms_above) {
      if (judged_.run_ms && *judged_.run_ms <= *when.run_ms_above) return false;
      add(judged_.run_ms ? fmt::format("it may run for {} minutes", *judged_.run_ms / 60'000)
                         : "nothing limits its time");
    }
    const EstimateTotals& totals = judged_.totals;
    return is_amount_above("an hour", totals.per_hour, when.per_hour_above, true) &&
           is_amount_above("a run", totals.per_run_max, when.per_run_above,
                           totals.without_length == 0) &&
           is_month_above(when);
  }

  bool is_month_above(const RuleConditions& when) {
    if (!when.per_month_above || !judged_.is_priced || judged_.month_max) {
      const Money month = judged_.month_max.value_or(judged_.totals.per_month_max);
      return is_amount_above("a month", month, when.per_month_above, true);
    }
    add(fmt::format("what it costs a month is not known, and {} is the limit",
                    amount_and_code(*when.per_month_above)));
    return unknown_meets_;
  }

  bool is_priced_as(const RuleConditions& when) {
    if (!when.priced) return true;
    if (*when.priced != judged_.is_priced) return false;
    if (!judged_.is_priced) add("something of it can't be priced");
    return true;
  }

  bool is_in_hours(const RuleConditions& when) {
    if (when.hours.empty() && when.hours_except.empty()) return true;
    if (!context_.now) {
      add("when it runs is not known");
      return unknown_meets_;
    }
    const auto is_in = [&](const WeekHours& window) { return is_within(window, *context_.now); };
    if (!when.hours.empty() && !std::ranges::any_of(when.hours, is_in)) return false;
    if (std::ranges::any_of(when.hours_except, is_in)) return false;
    constexpr std::string_view kDays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                          "Friday", "Saturday", "Sunday"};
    add(fmt::format("it is {} {:02}:{:02}", kDays[context_.now->weekday], context_.now->minute / 60,
                    context_.now->minute % 60));
    return true;
  }

  bool add_unknown_budgets() {
    add(fmt::format("how much of its budgets is spent is not known: {}", context_.budgets_problem));
    return unknown_meets_;
  }

  // Whose budget it is may hang on what nobody knows before it runs. It is charged to one as soon
  // as some of it is.
  Charged charged_to(const BudgetUse& budget) {
    if (budget.scope.empty()) return Charged::kYes;
    if (context_.policy == nullptr) return Charged::kUnknown;
    return is_charged(owners_.dimensions(), budget.scope);
  }

  // What of a budget's filter is not known of the workload: "its team".
  std::string unknown_owner(const BudgetUse& budget) const {
    std::string names;
    for (const BudgetScopeTerm& term : budget.scope) {
      const auto knows_term = [&](const PlannedDimensions& one) {
        return one.known.find(term.dimension).has_value();
      };
      const bool is_known =
          context_.policy != nullptr && std::ranges::all_of(owners_.dimensions(), knows_term);
      if (is_known) continue;
      names += fmt::format("{}its {}", names.empty() ? "" : " and ", term.dimension);
    }
    return fmt::format("whether it is charged to the budget {} is not known, since {} is not",
                       budget.name, names);
  }

  bool has_used_budget(const RuleConditions& when) {
    if (!when.budget_used_permille_above) return true;
    const std::uint32_t limit = *when.budget_used_permille_above;
    if (!context_.budgets_problem.empty()) return add_unknown_budgets();
    for (const BudgetUse& budget : context_.budgets) {
      const Charged charged = charged_to(budget);
      if (charged == Charged::kNo) continue;
      if (!budget.left) {
        if (!unknown_meets_) continue;
        add(unmeasured(budget));
      } else if (charged == Charged::kUnknown) {
        if (!unknown_meets_ || !budget.is_used_above(limit)) continue;
        add(unknown_owner(budget));
      } else if (budget.is_used_above(limit)) {
        // No amounts: whoever can write a label is told this.
        add(fmt::format("more than {} % of the budget {} are spent", shown_percent(limit),
                        budget.name));
      } else {
        continue;
      }
      return true;
    }
    return false;
  }

  bool goes_beyond_budget(const RuleConditions& when) {
    if (!when.exceeds_budget) return true;
    if (!context_.budgets_problem.empty()) return *when.exceeds_budget && add_unknown_budgets();
    for (const BudgetUse& budget : context_.budgets) {
      // Hours of GPUs are no money.
      const bool counts_money = budget.amount.currency() != kGpuHoursOfBudgets;
      const Charged charged = counts_money ? charged_to(budget) : Charged::kNo;
      if (charged == Charged::kNo) continue;
      Beyond beyond = find_beyond(budget);
      if (beyond.why.empty()) continue;
      if (charged == Charged::kUnknown) beyond = {unknown_owner(budget), false};
      if (!*when.exceeds_budget) return false;
      if (!beyond.is_known && !unknown_meets_) continue;
      add(beyond.why);
      return true;
    }
    return !*when.exceeds_budget;
  }

  struct Beyond {
    std::string why;  // empty: it does not go beyond it
    bool is_known;
  };

  // Why it may cost more than a budget has left.
  Beyond find_beyond(const BudgetUse& budget) const {
    if (!budget.left) return {unmeasured(budget), false};
    const EstimateTotals& totals = judged_.totals;
    const bool is_run = judged_.workload.workload.lifetime == manifests::Lifetime::kRun;
    const Money cost =
        is_run ? totals.per_run_max : judged_.month_max.value_or(totals.per_month_max);
    // What another currency costs is not known here.
    const bool is_known = judged_.is_priced &&
                          (is_run ? totals.without_length == 0 : judged_.month_max.has_value()) &&
                          cost.currency() == budget.amount.currency();
    if (!is_known) {
      return {fmt::format("its cost is not known, and the budget {} limits it", budget.name),
              false};
    }
    if (cost.ticks() <= budget.left->ticks()) return {"", true};
    return {fmt::format("it may cost {} a {}, more than the budget {} has left",
                        amount_and_code(cost), is_run ? "run" : "month", budget.name),
            true};
  }

  static std::string shown_percent(std::uint32_t permille) {
    return permille % 10 == 0 ? fmt::format("{}", permille / 10)
                              : fmt::format("{}.{}", permille / 10, permille % 10);
  }

  static std::string unmeasured(const BudgetUse& budget) {
    return fmt::format("how much of the budget {} is spent is not known: {}", budget.name,
                       budget.problem);
  }

  const JudgedWorkload& judged_;
  PlannedOwners& owners_;
  const RuleContext& context_;
  const bool unknown_meets_;
  const RuleConditions* const exempted_;
  std::string because_;
};

Decision decision_of(const RuleHit& hit) {
  if (!hit.exempted_for.empty() || hit.mode == RuleMode::kAudit) return Decision::kAllowed;
  Decision decision = Decision::kAllowed;
  switch (hit.effect) {
    case RuleEffect::kAllow:
    case RuleEffect::kMutate:
      return Decision::kAllowed;
    case RuleEffect::kWarn:
      decision = Decision::kWarned;
      break;
    case RuleEffect::kRequireApproval:
      decision = Decision::kNeedsApproval;
      break;
    case RuleEffect::kDeny:
      decision = Decision::kDenied;
      break;
  }
  return hit.mode == RuleMode::kWarn ? std::min(decision, Decision::kWarned) : decision;
}

// The reason of the exemption that holds today; empty where none does.
std::string exemption_reason(const GuardrailRule& rule, const JudgedWorkload& judged,
                             PlannedOwners& owners, const RuleContext& context) {
  for (const RuleExemption& exemption : rule.exemptions) {
    if (context.today > exemption.until) continue;
    ConditionCheck check(judged, owners, context, false, &rule.when);
    if (!check.holds(exemption.when)) continue;
    return fmt::format("{} (until {})", exemption.reason, pennyweight::to_text(exemption.until));
  }
  return "";
}

// Of a group that is priced as a service, the most that a run of it costs; absent: not known.
std::optional<Money> cost_of_run(GroupEstimate& group) {
  if (!group.replica_ms_max) group.replica_ms_max = group.group.replica_ms_max;
  if (!group.replica_ms_max) return std::nullopt;
  const Money per_hour = group.per_hour_max.value_or(group.per_hour());
  if (group.group.replicas == 0) return Money::zero(per_hour.currency());
  const auto run = scale_amount(per_hour, *group.replica_ms_max, kMsOfHour * group.group.replicas);
  if (!run) return std::nullopt;
  return *run;
}

// What a component asks for, as a workload of its own.
WorkloadEstimate estimate_of_part(const WorkloadEstimate& whole, std::size_t number) {
  const manifests::WorkloadPart& part = whole.workload.parts[number];
  WorkloadEstimate own{.workload = {.file = whole.workload.file,
                                    .line = whole.workload.line,
                                    .kind = part.kind,
                                    .api_group = part.api_group,
                                    .name_space = part.name_space,
                                    .name = part.name,
                                    .labels = part.labels,
                                    .annotations = part.annotations,
                                    .lifetime = part.lifetime,
                                    .schedule = part.schedule}};
  if (number < whole.runs_of_parts.size()) own.runs_per_month = whole.runs_of_parts[number];
  for (const std::size_t index : part.groups) own.groups.push_back(whole.groups[index]);
  if (part.lifetime == manifests::Lifetime::kService) return own;
  // What it shares with a service is priced as one, and as its own here.
  for (GroupEstimate& group : own.groups) {
    group.per_month.reset();
    group.per_month_max.reset();
    if (!group.per_run_max) group.per_run_max = cost_of_run(group);
    if (!group.per_run_max || !own.runs_per_month) continue;
    const auto month = scale_amount(*group.per_run_max, *own.runs_per_month, 1);
    if (month) group.per_month = *month;
  }
  return own;
}

Verdict judge_whole(const WorkloadEstimate& workload, std::span<const GuardrailRule> rules,
                    Currency currency, const RuleContext& context) {
  Verdict verdict;
  const JudgedWorkload judged = measure_workload(workload, currency);
  PlannedOwners owners(workload, context.policy);
  for (const GuardrailRule& rule : rules) {
    ConditionCheck check(judged, owners, context, rule.effect != RuleEffect::kAllow, nullptr);
    if (!check.holds(rule.when)) continue;
    RuleHit hit{.rule = rule.name,
                .effect = rule.effect,
                .mode = rule.mode,
                .because = printable_text(check.because(), 1000),
                .reason = rule.reason,
                .way_out = rule.way_out,
                .exempted_for = exemption_reason(rule, judged, owners, context)};
    const bool ends = rule.effect == RuleEffect::kAllow && rule.mode == RuleMode::kEnforce &&
                      hit.exempted_for.empty();
    verdict.decision = std::max(verdict.decision, decision_of(hit));
    verdict.hits.push_back(std::move(hit));
    if (ends) break;
  }
  return verdict;
}

template <class Action>
void for_each_amount(const RuleConditions& when, const Action& action) {
  for (const auto* amount : {&when.per_hour_above, &when.per_run_above, &when.per_month_above}) {
    if (*amount) action(**amount);
  }
}

}  // namespace

LooksAtPods looks_at_pods(std::span<const GuardrailRule> rules) {
  LooksAtPods looks;
  const auto add = [&](const RuleConditions& when) {
    looks.images = looks.images || !when.images.empty() || !when.images_except.empty();
    looks.isolation = looks.isolation || !when.runtime_classes_except.empty() ||
                      !when.storage_classes_except.empty() || !when.unlimited_traffic.empty();
    looks.risks.insert(looks.risks.end(), when.risks.begin(), when.risks.end());
    for (const auto& [key, pattern] : when.annotations) looks.annotations.push_back(key);
    looks.annotations.insert(looks.annotations.end(), when.annotations_missing.begin(),
                             when.annotations_missing.end());
  };
  for (const GuardrailRule& rule : rules) {
    add(rule.when);
    for (const RuleExemption& exemption : rule.exemptions) add(exemption.when);
  }
  return looks;
}

namespace {

template <class Asks>
bool any_condition(std::span<const GuardrailRule> rules, const Asks& asks) {
  return std::ranges::any_of(rules, [&](const GuardrailRule& rule) {
    return asks(rule.when) || std::ranges::any_of(rule.exemptions, asks, &RuleExemption::when);
  });
}

}  // namespace

bool looks_at_hours(std::span<const GuardrailRule> rules) {
  return any_condition(rules, [](const RuleConditions& when) {
    return !when.hours.empty() || !when.hours_except.empty();
  });
}

bool looks_at_budgets(std::span<const GuardrailRule> rules) {
  return any_condition(rules, [](const RuleConditions& when) {
    return when.budget_used_permille_above || when.exceeds_budget;
  });
}

bool changes_workloads(std::span<const GuardrailRule> rules) {
  return std::ranges::find(rules, RuleEffect::kMutate, &GuardrailRule::effect) != rules.end();
}

Verdict judge_workload(const WorkloadEstimate& workload, std::span<const GuardrailRule> rules,
                       Currency currency, const RuleContext& context) {
  Verdict verdict = judge_whole(workload, rules, currency, context);
  for (std::size_t number = 0; number < workload.workload.parts.size(); ++number) {
    const manifests::WorkloadPart& part = workload.workload.parts[number];
    const WorkloadEstimate own = estimate_of_part(workload, number);
    for (RuleHit& hit : judge_whole(own, rules, currency, context).hits) {
      verdict.decision = std::max(verdict.decision, decision_of(hit));
      // One hit of a rule is told: the one that decides.
      const auto same = std::ranges::find(verdict.hits, hit.rule, &RuleHit::rule);
      if (same != verdict.hits.end() && decision_of(*same) >= decision_of(hit)) continue;
      hit.because =
          fmt::format("{} {}{}{}", printable_text(part.kind, 80), printable_text(part.name, 120),
                      hit.because.empty() ? "" : ": ", hit.because);
      if (same == verdict.hits.end()) {
        verdict.hits.push_back(std::move(hit));
      } else {
        *same = std::move(hit);
      }
    }
  }
  std::ranges::stable_sort(verdict.hits, {}, [&](const RuleHit& hit) {
    return std::ranges::find(rules, hit.rule, &GuardrailRule::name) - rules.begin();
  });
  return verdict;
}

std::vector<WorkloadChange> changes_of(const WorkloadEstimate& workload,
                                       std::span<const GuardrailRule> rules, Currency currency,
                                       const RuleContext& context) {
  std::vector<WorkloadChange> changes;
  if (!changes_workloads(rules)) return changes;
  for (const RuleHit& hit : judge_whole(workload, rules, currency, context).hits) {
    const bool counts = hit.effect == RuleEffect::kMutate && hit.mode == RuleMode::kEnforce &&
                        hit.exempted_for.empty();
    if (!counts) continue;
    changes.push_back(std::ranges::find(rules, hit.rule, &GuardrailRule::name)->change);
  }
  return changes;
}

void apply_changes(std::span<const WorkloadChange> changes, manifests::WorkloadRequest& request) {
  for (const WorkloadChange& change : changes) {
    for (const auto& [key, value] : change.labels) {
      std::string& label = request.labels[key];
      if (label.empty()) label = value;
      for (manifests::WorkloadPart& part : request.parts) part.labels.emplace(key, value);
      // The pods of a component have the labels of its own template.
      if (!request.parts.empty()) continue;
      for (manifests::ReplicaGroup& group : request.groups) {
        if (!group.pod_labels) continue;
        std::string& pods = (*group.pod_labels)[key];
        if (pods.empty()) pods = value;
      }
    }
    if (!change.run_ms || !takes_time_limit(request)) continue;
    for (manifests::ReplicaGroup& group : request.groups) {
      if (!group.replica_ms_max) group.replica_ms_max = *change.run_ms * group.replicas;
    }
  }
}

bool takes_time_limit(const manifests::WorkloadRequest& request) {
  if (request.kind == "Slurm job") return true;
  // Volcano has Jobs too, and they have no such field.
  if (request.kind == "Job" || request.kind == "CronJob") return request.api_group == "batch";
  return request.kind == "Pod" && request.lifetime == manifests::Lifetime::kRun;
}

std::string hit_text(const RuleHit& hit) {
  std::string text = fmt::format("rule '{}'", hit.rule);
  if (!hit.because.empty()) text += ": " + hit.because;
  for (const std::string* more : {&hit.reason, &hit.way_out}) {
    if (!more->empty()) text += "; " + *more;
  }
  return text;
}

VerdictText verdict_text(const Verdict& verdict) {
  VerdictText text;
  for (const RuleHit& hit : verdict.hits) {
    const bool counts = hit.exempted_for.empty() && hit.mode != RuleMode::kAudit;
    if (!counts || hit.effect == RuleEffect::kAllow || hit.effect == RuleEffect::kMutate) continue;
    const bool stops = hit.effect != RuleEffect::kWarn && hit.mode == RuleMode::kEnforce;
    if (!stops) {
      text.warnings.push_back(hit_text(hit));
      continue;
    }
    if (!text.refusal.empty()) text.refusal += " | ";
    text.refusal += hit_text(hit);
    if (hit.effect == RuleEffect::kRequireApproval) text.refusal += "; it needs an approval";
  }
  return text;
}

Result<std::optional<Currency>> rules_currency(std::span<const GuardrailRule> rules) {
  std::optional<Currency> currency;
  std::optional<Currency> other;
  const auto add = [&](Money amount) {
    if (!currency) currency = amount.currency();
    if (*currency != amount.currency()) other = amount.currency();
  };
  for (const GuardrailRule& rule : rules) {
    for_each_amount(rule.when, add);
    for (const RuleExemption& exemption : rule.exemptions) for_each_amount(exemption.when, add);
  }
  if (!other) return currency;
  return fail(ErrorCode::kConfig, fmt::format("guardrails have amounts in {} and {}; state them in "
                                              "one currency",
                                              currency->text(), other->text()));
}

std::string_view to_text(RuleEffect effect) {
  return kRuleEffectWords[static_cast<std::size_t>(effect)];
}
std::string_view to_text(RuleMode mode) { return kRuleModeWords[static_cast<std::size_t>(mode)]; }
std::string_view to_text(Decision decision) {
  return kDecisionWords[static_cast<std::size_t>(decision)];
}

std::optional<Decision> parse_decision(std::string_view text) {
  const auto* const at = std::ranges::find(kDecisionWords, text);
  if (at == std::end(kDecisionWords)) return std::nullopt;
  return static_cast<Decision>(at - std::begin(kDecisionWords));
}

}  // namespace pennyweight::guardrails
