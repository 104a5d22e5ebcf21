#include "insight/advice/idle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "allocation/policy/label_match.h"
#include "allocation/rules.h"
#include "core/split.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/gpu_use.h"

namespace pennyweight::advising {
namespace {

constexpr std::uint64_t kHourLengthMs = 3'600'000;
constexpr std::size_t kStretchesShownMax = 5;
constexpr std::uint64_t kServedNothingMs = 72 * kHourLengthMs;
// The last sample may be older than the last that the scheduler said.
constexpr std::chrono::hours kUnseenAtEnd{2};

// "12.3", cut off.
std::string hours_text(std::uint64_t ms) {
  const std::uint64_t tenths = ms / (kHourLengthMs / 10);
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

class IdleSearch {
 public:
  IdleSearch(const ClusterMonth& month, const FleetView& fleet, const FleetHours& hours,
             const NodeBill& bill, const ActivityProfiles& profiles,
             std::span<const Outage> outages, const Policy& policy, const Interval& period,
             WorkManager configured)
      : month_(month),
        period_(period),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        profiles_(profiles),
        outages_(outages),
        policy_(policy),
        configured_(configured) {}

  IdleAdvice run() {
    for (const IdleStretch& stretch : profiles_.idle()) {
      stretches_[stretch.holding].push_back(&stretch);
      nodes_.insert(stretch.node);
    }
    for (const auto& [holding, stretches] : stretches_) {
      idle_hours_.emplace(holding, whole_hours(holding, stretches));
    }
    find_holders();
    for (const std::uint32_t node : nodes_) save_on(node);
    find_serving();
    group();
    std::vector<Proposal> proposals;
    for (const auto& [key, of] : groups_) {
      if (of.idle_ms < kIdleGpuHoursMin * kHourLengthMs || of.held_ms == 0) continue;
      // Half of the time unseen, nobody knows what happened in it.
      if (of.observed_ms * 2 < of.held_ms) continue;
      std::set<Currency> currencies;
      for (const auto& [currency, money] : of.value) currencies.insert(currency);
      for (const Currency& currency : currencies) proposals.push_back(proposal(of, currency));
    }
    return {std::move(proposals), std::move(released_)};
  }

 private:
  struct OwnerIdle {
    AdviceKind kind = AdviceKind::kIdle;
    Labels owner;
    std::string subject;
    std::string work;
    std::set<WorkloadId> workloads;
    std::set<WorkloadId> running;  // and idle when they were last seen
    WorkManager manager = WorkManager::kUnknown;
    std::vector<const IdleStretch*> stretches;
    std::uint64_t idle_ms = 0;
    std::uint64_t held_ms = 0;
    std::uint64_t observed_ms = 0;
    std::map<Currency, Money> saved;
    std::map<Currency, Money> value;  // of the idle time, by GPUs of the node
  };

  // The hours in which every GPU of the holding was idle from the first to the last millisecond.
  HourFlags whole_hours(std::uint32_t holding, const std::vector<const IdleStretch*>& stretches) {
    std::vector<std::uint64_t> gpus(hours_.hours());
    for (const IdleStretch* stretch : stretches) {
      const auto [first, end] = hours_around(stretch->idle);
      for (std::size_t hour = first; hour < end; ++hour) {
        const Interval each = hours_.hour(hour);
        if (stretch->idle.begin() <= each.begin() && each.end() <= stretch->idle.end()) {
          ++gpus[hour];
        }
      }
    }
    HourFlags whole(gpus.size());
    const std::uint64_t devices = device_count(month_.holdings[holding]);
    for (std::size_t hour = 0; hour < gpus.size(); ++hour) whole[hour] = gpus[hour] == devices;
    return whole;
  }

  std::uint64_t devices_on(const Holding& holding, std::uint32_t node) const {
    std::uint64_t devices = 0;
    if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : on_nodes->parts) {
        if (fleet_.node_of(part.node) == node) devices += part.devices;
      }
    } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& gpu : on_gpus->gpus) devices += fleet_.node_of_gpu(gpu) == node ? 1 : 0;
    }
    return devices;
  }

  // The hours that may overlap, from the first to before the second.
  std::pair<std::size_t, std::size_t> hours_around(const Interval& during) const {
    const Instant begin = hours_.hour(0).begin();
    const auto hours_to = [&](Instant at) -> std::size_t {
      if (at <= begin) return 0;
      return static_cast<std::size_t>(Interval(begin, at).length_ms() / kHourLengthMs);
    };
    return {std::min(hours_to(during.begin()), hours_.hours()),
            std::min(hours_to(during.end()) + 1, hours_.hours())};
  }

  // Who held each node that has an idle stretch, in order; what the policy calls overhead did not.
  void find_holders() {
    for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) {
      const Holding& holding = month_.holdings[i];
      std::set<std::uint32_t> there;
      const auto add_node = [&](std::optional<std::uint32_t> node) {
        if (node && nodes_.contains(*node)) there.insert(*node);
      };
      if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
        for (const OnNodes::NodeDevices& part : on_nodes->parts) {
          add_node(fleet_.node_of(part.node));
        }
      } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
        for (const GpuId& gpu : on_gpus->gpus) add_node(fleet_.node_of_gpu(gpu));
      }
      if (there.empty() || matches_any(policy_.overhead, [&](std::string_view key) {
            return policy_label(holding, key);
          })) {
        continue;
      }
      for (const std::uint32_t node : there) holders_[node].push_back(i);
    }
  }

  // Hours of the node in which somebody held it and all of them were idle.
  void save_on(std::uint32_t node) {
    if (hours_.has_pooled(node)) return;  // a job that names its pool may be there
    std::vector<std::uint32_t> idle_hours(hours_.hours());
    std::vector<std::uint32_t> busy(hours_.hours());
    std::vector<std::uint32_t> holders;
    for (const std::uint32_t i : holders_[node]) {
      const Holding& holding = month_.holdings[i];
      const auto idle = idle_hours_.find(i);
      if (idle != idle_hours_.end()) holders.push_back(i);
      const auto [first, end] = hours_around(holding.held);
      for (std::size_t hour = first; hour < end; ++hour) {
        if (!holding.held.overlap(hours_.hour(hour))) continue;
        const bool is_idle_hour = idle != idle_hours_.end() && idle->second[hour];
        ++(is_idle_hour ? idle_hours : busy)[hour];
      }
    }
    std::vector<Interval> out;
    for (const Outage& outage : outages_) {
      if (fleet_.node_of(outage.node) == node) out.push_back(outage.during);
    }
    HourFlags saved(hours_.hours());
    for (std::size_t hour = 0; hour < saved.size(); ++hour) {
      saved[hour] = idle_hours[hour] > 0 && busy[hour] == 0 && hours_.is_there(node, hour) &&
                    std::ranges::none_of(out, [&](const Interval& during) {
                      return during.overlap(hours_.hour(hour)).has_value();
                    });
    }
    std::vector<Weight> weights;
    Weight sum = 0;
    for (const std::uint32_t holding : holders) {
      Weight hours = 0;
      for (std::size_t hour = 0; hour < saved.size(); ++hour) {
        hours += saved[hour] && idle_hours_.at(holding)[hour] ? 1 : 0;
      }
      weights.push_back(hours * devices_on(month_.holdings[holding], node));
      sum += weights.back();
    }
    if (sum == 0) return;
    released_[node] = saved;
    for (const auto& [currency, money] : bill_.cost_of(node, hours_, saved)) {
      const std::vector<Money> parts = split(money, weights);
      for (std::size_t i = 0; i < parts.size(); ++i) add(saved_[holders[i]], parts[i]);
    }
  }

  static void add(std::map<Currency, Money>& sums, const Money& money) {
    sums.try_emplace(money.currency(), Money::zero(money.currency())).first->second += money;
  }

  // All whose user is not known are not one user.
  bool is_somebody(std::string_view user) const {
    const auto rule = std::ranges::find(policy_.dimensions, "user", &DimensionRule::dimension);
    return rule == policy_.dimensions.end() || user != rule->fallback;
  }

  // It still runs, and when it was last seen, all of its GPUs had been idle for so long.
  bool rests(std::uint32_t holding, std::uint64_t whole_ms) const {
    const Holding& one = month_.holdings[holding];
    const auto stretches = stretches_.find(holding);
    if (one.ended || stretches == stretches_.end()) return false;
    const Instant end = std::min(one.held.end(), period_.end());
    std::set<std::string_view> gpus;
    for (const IdleStretch* stretch : stretches->second) {
      if (stretch->whole_ms < whole_ms || stretch->idle.end() + kUnseenAtEnd < end) continue;
      gpus.insert(stretch->gpu.text());
    }
    return gpus.size() == device_count(one);
  }

  // Work is stopped as a whole, so one replica that may serve something keeps all of them. Known to
  // have ended only after the period, it may have served until then.
  void find_serving() {
    for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) {
      const Holding& one = month_.holdings[i];
      const bool is_over = one.ended && one.held.end() <= period_.end();
      if (!is_over && !rests(i, kServedNothingMs)) serving_.insert(work_of(one));
    }
  }

  // None of its work has done anything for days. A session is its user's to end.
  bool serves_nothing(std::uint32_t holding, const std::string& work) const {
    return type_of_work(work) != "interactive" && !serving_.contains(work) &&
           rests(holding, kServedNothingMs);
  }

  void group() {
    for (const auto& [holding, stretches] : stretches_) {
      const Holding& one = month_.holdings[holding];
      const Labels& owner = profiles_.owner_of(holding);
      const auto user = owner.find("user");
      const std::string work = work_of(one);
      const AdviceKind kind =
          serves_nothing(holding, work) ? AdviceKind::kZombie : AdviceKind::kIdle;
      const std::string subject = user && is_somebody(*user) && kind == AdviceKind::kIdle
                                      ? fmt::format("user {}", *user)
                                      : fmt::format("work {}", work);
      OwnerIdle& of = groups_[{kind, owner, subject}];
      of.kind = kind;
      of.owner = owner;
      of.subject = subject;
      of.work = work;
      if (of.workloads.empty()) of.manager = work_manager_of(one, configured_);
      of.workloads.insert(one.workload);
      if (rests(holding, kIdleAfterMs)) of.running.insert(one.workload);
      of.held_ms += profiles_.held_ms(holding);
      of.observed_ms += profiles_.observed_ms(holding);
      for (const IdleStretch* stretch : stretches) {
        of.stretches.push_back(stretch);
        of.idle_ms += stretch->idle.length_ms();
        const std::uint64_t gpus = fleet_.nodes()[stretch->node].capacity.gpus;
        for (const Charge* charge : bill_.lines(stretch->node)) {
          const auto both = charge->charge_period.overlap(stretch->idle);
          if (!both || gpus == 0) continue;
          add(of.value, scaled(charge->costs.*bill_.cost(), both->length_ms(),
                               UInt128{charge->charge_period.length_ms()} * gpus));
        }
      }
      for (const auto& [currency, money] : saved_[holding]) add(of.saved, money);
    }
  }

  Proposal proposal(const OwnerIdle& of, Currency currency) const {
    const bool is_zombie = of.kind == AdviceKind::kZombie;
    const Money none = Money::zero(currency);
    const auto at = of.saved.find(currency);
    const Money saved = at == of.saved.end() ? none : at->second;
    const Money value = std::max(of.value.at(currency), saved, [](const Money& a, const Money& b) {
      return a.ticks() < b.ticks();
    });
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    Proposal advice{
        .id = proposal_id(of.kind, month_.cluster,
                          fmt::format("{}\n{}", of.subject, currency.text())),
        .kind = of.kind,
        .cluster = month_.cluster,
        .subject = of.subject,
        .change = is_zombie ? fmt::format("Stop it: it still runs, and its GPUs have done nothing "
                                          "for days: {} idle GPU-hours",
                                          hours_text(of.idle_ms))
                            : fmt::format("End what holds GPUs without using them: {} idle "
                                          "GPU-hours",
                                          hours_text(of.idle_ms)),
        .monthly = {monthly(saved), monthly(saved), monthly(value)},
        .observed = saved,
        .moved = value - saved};
    std::vector<const IdleStretch*> longest = of.stretches;
    std::sort(longest.begin(), longest.end(), [](const IdleStretch* a, const IdleStretch* b) {
      return std::tuple(b->whole_ms, a->idle, std::string_view(a->gpu.text())) <
             std::tuple(a->whole_ms, b->idle, std::string_view(b->gpu.text()));
    });
    advice.evidence.push_back(
        fmt::format("{} {} in {} {} of over an hour; the first hour of each is not counted",
                    of.workloads.size(), of.workloads.size() == 1 ? "workload" : "workloads",
                    of.stretches.size(), of.stretches.size() == 1 ? "stretch" : "stretches"));
    for (std::size_t i = 0; i < std::min(longest.size(), kStretchesShownMax); ++i) {
      const IdleStretch& stretch = *longest[i];
      advice.evidence.push_back(
          fmt::format("{} on {} of {}: no activity for {} h until {}",
                      month_.holdings[stretch.holding].workload.text(), stretch.gpu.text(),
                      fleet_.any_fact(stretch.node).name.text(), hours_text(stretch.whole_ms),
                      pennyweight::to_text(stretch.idle.end())));
    }
    advice.evidence.push_back(
        "idle: SM or engine activity under 1 %; where only GPU_UTIL is measured, 0 beside a "
        "reading "
        "of memory or power");
    advice.evidence.push_back(
        saved.is_zero()
            ? "the nodes stay busy or are paid anyway, so nothing falls off the bill at once"
            : "expected: hours of on-demand nodes on which every holder was idle");
    if (of.observed_ms * 100 >= of.held_ms * 95) {
      advice.confidence = Confidence::kHigh;
    } else if (of.observed_ms * 100 >= of.held_ms * 80) {
      advice.confidence = Confidence::kMedium;
    }
    advice.confidence_reason = fmt::format(
        "telemetry saw {} % of the GPU time that they held",
        UInt128{of.observed_ms} * 100 / of.held_ms > 100 ? 100 : of.observed_ms * 100 / of.held_ms);
    advice.risk =
        is_zombie
            ? "It may be a standby, or wait for a rare request: ask its owner. Started again, it "
              "takes minutes to load."
            : "A session with unsaved state is lost if it is ended; ask its owner, or save it "
              "first.";
    const std::vector<WorkloadId> running(of.running.begin(), of.running.end());
    advice.apply = is_zombie ? stop_work_text(of.manager, of.work, running)
                             : end_idle_text(of.manager, running);
    advice.owner = of.owner;
    advice.looked_for = of.subject;
    std::set<std::string> gpus;
    for (const IdleStretch* stretch : of.stretches) gpus.insert(stretch->gpu.text());
    advice.gpus.assign(gpus.begin(), gpus.end());
    advice.workload = of.workloads.size() == 1 ? *of.workloads.begin() : WorkloadId("(several)");
    return advice;
  }

  const ClusterMonth& month_;
  const Interval period_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  const ActivityProfiles& profiles_;
  std::span<const Outage> outages_;
  const Policy& policy_;
  WorkManager configured_;
  std::map<std::uint32_t, std::vector<const IdleStretch*>> stretches_;  // by holding
  std::set<std::string> serving_;  // works of which something may serve
  std::set<std::uint32_t> nodes_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> holders_;  // by node
  std::map<std::uint32_t, HourFlags> released_;                  // by node
  std::map<std::uint32_t, HourFlags> idle_hours_;                // by holding
  std::map<std::uint32_t, std::map<Currency, Money>> saved_;     // by holding
  std::map<std::tuple<AdviceKind, Labels, std::string>, OwnerIdle> groups_;
};

}  // namespace

IdleAdvice propose_idle(const ClusterMonth& month, const FleetView& fleet, const FleetHours& hours,
                        const NodeBill& bill, const ActivityProfiles& profiles,
                        std::span<const Outage> outages, const Policy& policy,
                        const Interval& period, WorkManager configured) {
  return IdleSearch(month, fleet, hours, bill, profiles, outages, policy, period, configured).run();
}

}  // namespace pennyweight::advising
