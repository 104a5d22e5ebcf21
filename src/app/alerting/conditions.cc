#include "app/alerting/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/int128.h"
#include "insight/queries/price_incident.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr int kProbablePercent = 80;
constexpr std::size_t kRecentOwnerDays = 7;
constexpr std::size_t kEarlierOwnerDays = 28;
constexpr std::size_t kMissedOfDays = 7;
constexpr int kMissedDaysMin = 3;
constexpr std::string_view kCheckpoints = "checkpoints";
constexpr std::string_view kUseRules[] = {"gpu_idle", "high_utilisation", "inference_idle",
                                          "low_utilisation"};
constexpr std::string_view kOutageRules[] = {"gpu_ecc", "gpu_xid", "node_missing"};
constexpr milliseconds kReconcileWait = std::chrono::hours(1);
constexpr std::size_t kShownNodes = 8;
constexpr milliseconds kWeek = std::chrono::hours(24 * 7);

std::string figure(const Money& amount) {
  const bool is_time = amount.currency() == kGpuHourUnit;
  return fmt::format("{} {}", format_rounded(amount.amount(), 2, Thousands::kSeparated),
                     is_time ? "GPU-hours" : amount.currency().text());
}

// "60 minutes"
std::string wait_text(milliseconds wait) {
  const auto seconds = static_cast<std::uint64_t>(wait.count() / 1000);
  return seconds % 60 == 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}

std::string owner_of(const LiveRow& row) {
  return std::string(row.share().dimensions.find("team").value_or(""));
}

std::string workload_subject(const LiveRow& row) {
  return fmt::format("{}/{}", row.cluster.text(), row.share().workload.text());
}

// Whether one of "namespace=serving" is true of a workload.
bool is_for_inference(const LiveRow& row, const std::vector<std::string>& inference) {
  return std::ranges::any_of(inference, [&](const std::string& one) {
    const std::size_t equals = one.find('=');
    const std::string_view name = std::string_view(one).substr(0, equals);
    const std::string_view value = std::string_view(one).substr(equals + 1);
    const LiveShare& share = row.share();
    return share.dimensions.find(name) == value || share.labels.find(name) == value;
  });
}

// For how long the use of a workload is known to be what it is now: the window of the view, where
// it held its GPUs and nearly all of that was observed.
milliseconds proven_time(const LiveRow& row, const Interval& window) {
  const LiveShare& share = row.share();
  const bool is_whole = share.held_ms.value_or(0) >= window.length_ms();
  const bool is_observed = share.observed_time.count() * 20 >= share.gpu_time.count() * 19;
  return is_whole && is_observed ? window.end() - window.begin() : milliseconds(0);
}

// What is to be said of how much of its GPUs a workload uses.
void add_use(const LiveRow& row, const Ratio& busy, const AlertConfig& config,
             std::vector<AlertCondition>& out) {
  const AlertThresholds& thresholds = config.thresholds;
  const std::string subject = workload_subject(row);
  const bool is_one = row.gpu_milli == 1000;
  const auto add = [&](std::string rule, AlertSeverity severity, milliseconds wait,
                       const std::string& said) -> AlertCondition& {
    // The sentence says how long it is waited for, also where the rule has a `for` of its own.
    const auto settings = std::ranges::find(config.rules, rule, &AlertRuleConfig::rule);
    if (settings != config.rules.end() && settings->for_ms) wait = milliseconds(*settings->for_ms);
    const std::string time = wait.count() > 0 ? " for " + wait_text(wait) : "";
    return out.emplace_back(AlertCondition{
        .rule = std::move(rule),
        .scope = subject,
        .subject = subject,
        .severity = severity,
        .owner = owner_of(row),
        .summary = fmt::format(
            "Workload {} of cluster {} holds {} {} and {}{}{}", row.share().workload.text(),
            row.cluster.text(), gpus_text(row.gpu_milli), is_one ? "GPU" : "GPUs", said, time,
            row.hour ? fmt::format("; it costs {} an hour", figure(*row.hour)) : ""),
        .wait = wait});
  };
  const milliseconds idle_for{config.idle_for_ms};
  if (busy.part == 0) {
    const bool is_inference = is_for_inference(row, config.inference);
    if (is_inference) {
      add("inference_idle", AlertSeverity::kCritical,
          milliseconds(thresholds.inference_idle_for_ms),
          is_one ? "has not used it, although it answers requests,"
                 : "has used none of them, although it answers requests,");
    }
    add("gpu_idle", AlertSeverity::kWarning, idle_for,
        is_one ? "has not used it" : "has not used them")
        .is_inhibited = is_inference;
  } else if (busy.part * 100 < busy.whole * thresholds.low_percent) {
    add("low_utilisation", AlertSeverity::kWarning, idle_for,
        fmt::format("has used less than {} % of {}", thresholds.low_percent,
                    is_one ? "it" : "them"));
  } else if (busy.part * 100 > busy.whole * thresholds.high_percent) {
    add("high_utilisation", AlertSeverity::kWarning, milliseconds(thresholds.high_for_ms),
        fmt::format("has used more than {} % of {}", thresholds.high_percent,
                    is_one ? "it" : "them"));
  }
}

// Whether the month has a week of a commitment: of one that is bought in mid-month it begins then.
// A fee of the whole month, which is billed on its first day, is no bill of the days to come.
bool is_week_billed(const CommitmentUse& use, Date today) {
  return std::min(use.until, Instant(today)) - use.from >= kWeek;
}

// How much of the costs of some days has an owner.
struct OwnedShare {
  Int128 owned = 0;
  Int128 whole = 0;
  std::int64_t permille() const { return static_cast<std::int64_t>(owned * 1000 / whole); }
};

// One alert for each period: a new period is a new scope.
std::string period_scope(const BudgetStatus& status) {
  return fmt::format("{} {}", status.budget.name, to_text(status.days.first));
}

// Of several thresholds that were reached the highest one speaks.
void add_spent(const BudgetStatus& status, std::vector<AlertCondition>& out) {
  std::vector<BudgetThreshold> all = reached_thresholds(status);
  std::erase_if(all, [](const BudgetThreshold& reached) { return reached.is_forecast; });
  for (const BudgetThreshold& reached : all) {
    const bool is_all = reached.percent >= 100;
    out.push_back({.rule = is_all ? "budget_exhausted" : "budget_spent",
                   .scope = is_all ? period_scope(status)
                                   : fmt::format("{}: {} %", period_scope(status), reached.percent),
                   .subject = status.budget.name,
                   .severity = is_all ? AlertSeverity::kCritical : AlertSeverity::kWarning,
                   .owner = status.budget.owner,
                   .summary = fmt::format(
                       "Budget {}: {} of {} are spent ({} % and more) in the period from {} to {}",
                       status.budget.name, figure(status.actual), figure(status.amount),
                       reached.percent, to_text(status.days.first), to_text(status.days.last)),
                   .is_repeated = is_all,
                   .is_inhibited = reached.percent < all.back().percent});
  }
}

}  // namespace

std::vector<AlertCondition> budget_conditions(const std::vector<BudgetStatus>& statuses) {
  std::vector<AlertCondition> out;
  for (const BudgetStatus& status : statuses) {
    if (!status.problem.empty()) continue;
    add_spent(status, out);
    if (status.left.is_negative()) continue;
    const bool is_forecast_above =
        status.forecast && status.forecast->ticks() > status.amount.ticks();
    if (is_forecast_above) {
      out.push_back(
          {.rule = "budget_forecast",
           .scope = period_scope(status),
           .subject = status.budget.name,
           .owner = status.budget.owner,
           .summary = fmt::format(
               "Budget {}: {} are forecast until {}, {} more than its {}{}", status.budget.name,
               figure(*status.forecast), to_text(status.days.last),
               figure(*status.forecast - status.amount), figure(status.amount),
               status.exhausts_on ? ", which are used up on " + to_text(*status.exhausts_on) : ""),
           .is_repeated = false});
    }
    if (status.percent_above && *status.percent_above >= kProbablePercent) {
      out.push_back(
          {.rule = "budget_probable",
           .scope = period_scope(status),
           .subject = status.budget.name,
           .owner = status.budget.owner,
           .summary = fmt::format("Budget {}: with a probability of {} % the period "
                                  "costs more than its {}",
                                  status.budget.name, *status.percent_above, figure(status.amount)),
           .is_repeated = false,
           // The forecast itself exceeds it, which says more.
           .is_inhibited = is_forecast_above});
    }
  }
  return out;
}

std::optional<Money> least_anomaly(const DailyCostHistory& whole, std::uint32_t permille) {
  Int128 sum = 0;
  std::int64_t days = 0;
  const std::size_t all = whole.missing.size();
  for (std::size_t t = all - std::min(all, kEarlierOwnerDays); t < all; ++t) {
    if (whole.missing[t]) continue;
    ++days;
    for (const forecasting::DailyCosts& part : whole.parts) sum += part.days[t].ticks();
  }
  if (days == 0 || sum <= 0) return std::nullopt;
  return Money::from_ticks(sum / days / 1000 * permille,
                           whole.parts.front().days.front().currency());
}

namespace {

// The alerts of unusual days that go on, by their scopes.
std::map<std::string, const AlertCondition*, std::less<>> standing_anomalies(
    const AlertBook& book) {
  std::map<std::string, const AlertCondition*, std::less<>> standing;
  for (const auto& [key, alert] : book) {
    if (key.first == "cost_anomaly" && !alert.ended) standing.emplace(key.second, &alert.condition);
  }
  return standing;
}

// "higher price of p5 "; a day follows.
std::string kind_of(const PriceIncident& incident) {
  return fmt::format("{} price of {} ", incident.is_higher ? "higher" : "lower", incident.price_of);
}

// Whether a condition tells of incidents of this kind, whatever their day: p5 is not "p5 spot".
bool is_of_kind(const AlertCondition& condition, const std::string& kind) {
  return condition.is_incident() && condition.scope.starts_with(kind) &&
         parse_date(std::string_view(condition.scope).substr(kind.size())).has_value();
}

}  // namespace

std::vector<AlertCondition> anomaly_conditions(std::span<const FoundAnomaly> anomalies,
                                               const AnomalyLimits& limits, const AlertBook& book) {
  const auto is_large = [&](Money impact) {
    if (!limits.least || impact.currency() != limits.least->currency()) return true;
    return (impact.is_negative() ? -impact : impact).ticks() >= limits.least->ticks();
  };
  const auto standing = standing_anomalies(book);
  const std::vector<PriceIncident> incidents = find_price_incidents(anomalies);
  std::set<std::string> names;  // of these incidents, and of those that go on under another day
  for (const PriceIncident& one : incidents) names.insert(kind_of(one) + to_text(one.first));
  std::vector<AlertCondition> out;
  std::vector<std::string> begins_with(anomalies.size());
  for (const PriceIncident& incident : incidents) {
    if (incident.last < limits.since) continue;
    const std::string kind = kind_of(incident);
    std::string scope = kind + to_text(incident.first);
    auto stands = standing.find(scope);
    if (stands == standing.end()) {
      stands = std::ranges::find_if(standing, [&](const auto& each) {
        return is_of_kind(*each.second, kind) && !names.contains(each.first);
      });
    }
    const bool goes_on = stands != standing.end();
    if (!goes_on && (incident.parts.size() < 2 || !is_large(incident.impact_per_day))) continue;
    if (goes_on) names.insert(scope = stands->first);
    out.push_back({.rule = "cost_anomaly",
                   .scope = scope,
                   .subject = "price of " + incident.price_of,
                   .summary = describe_price_incident(incident, anomalies, limits.by),
                   .is_repeated = false,
                   .incident = scope});
    if (goes_on) continue;
    for (const std::size_t part : incident.parts) begins_with[part] = scope;
  }
  for (std::size_t i = 0; i < anomalies.size(); ++i) {
    const FoundAnomaly& found = anomalies[i];
    if (found.last < limits.since || !is_large(found.incident.impact_per_day())) continue;
    const std::string scope = fmt::format("{} {}", found.key, to_text(found.first));
    const auto stands = standing.find(scope);
    out.push_back(
        {.rule = "cost_anomaly",
         .scope = scope,
         .subject = found.key,
         .owner = found.key,
         .summary = found.sentence,
         .is_repeated = false,
         .incident = stands == standing.end() ? begins_with[i] : stands->second->incident});
  }
  // It also goes on while a part of it does, whatever is behind that by now.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string incident = out[i].incident;
    if (incident.empty() || std::ranges::count(out, incident, &AlertCondition::scope) > 0) continue;
    if (const auto stands = standing.find(incident); stands != standing.end()) {
      out.push_back(*stands->second);
    }
  }
  return out;
}

std::vector<AlertCondition> live_conditions(std::span<const LiveRow> rows,
                                            const AlertConfig& config) {
  std::vector<AlertCondition> out;
  for (const LiveRow& row : rows) {
    if (row.is_unallocated || !row.runs || row.gpu_milli == 0) continue;
    const auto busy = busy_ratio(row);
    if (!busy || busy->whole <= 0) continue;  // not observed: nothing is known
    add_use(row, *busy, config, out);
  }
  return out;
}

void shorten_proven_waits(const ViewRows& view, std::vector<AlertCondition>& conditions) {
  std::map<std::string, milliseconds> proven;
  for (const LiveRow& row : view.rows) {
    if (row.is_unallocated || !row.runs) continue;
    const LiveCluster& cluster = view.view->clusters.at(row.cluster);
    proven[workload_subject(row)] = proven_time(row, cluster.recent.window);
  }
  for (AlertCondition& one : conditions) {
    if (std::ranges::find(kUseRules, one.rule) == std::end(kUseRules)) continue;
    const auto found = proven.find(one.subject);
    if (found != proven.end() && one.wait <= found->second) one.wait = milliseconds(0);
  }
}

void add_node_prices(const LiveView& view, std::vector<AlertCondition>& conditions) {
  for (AlertCondition& one : conditions) {
    if (std::ranges::find(kOutageRules, one.rule) == std::end(kOutageRules)) continue;
    for (const auto& [name, cluster] : view.clusters) {
      const std::string prefix = name.text() + "/";
      if (!one.subject.starts_with(prefix)) continue;
      const auto price = cluster.recent.node_prices.find(NodeId(one.subject.substr(prefix.size())));
      if (price == cluster.recent.node_prices.end()) continue;
      one.summary += fmt::format("; an hour of the node costs {}", figure(price->second));
      break;
    }
  }
}

std::vector<AlertCondition> owner_conditions(const DailyCostHistory& history,
                                             const std::string& dimension,
                                             std::uint32_t points_max) {
  const std::size_t days = history.missing.size();
  if (days < kRecentOwnerDays + kEarlierOwnerDays) return {};
  const auto share = [&](std::size_t begin, std::size_t end) -> std::optional<OwnedShare> {
    OwnedShare sum;
    for (const forecasting::DailyCosts& part : history.parts) {
      // What nobody owns has a name in brackets: "(unowned)", "(unallocated)", "(shared)". The
      // smaller owners together are "(others)".
      const bool has_owner = !part.key.starts_with('(') || part.key == kOtherKeys;
      for (std::size_t t = begin; t < end; ++t) {
        // Credits would make shares of more than the whole.
        if (part.days[t].is_negative()) continue;
        sum.whole += part.days[t].ticks();
        if (has_owner) sum.owned += part.days[t].ticks();
      }
    }
    if (sum.whole <= 0) return std::nullopt;
    return sum;
  };
  const auto now = share(days - kRecentOwnerDays, days);
  const auto before = share(days - kRecentOwnerDays - kEarlierOwnerDays, days - kRecentOwnerDays);
  if (!now || !before || now->permille() + std::int64_t{points_max} * 10 > before->permille()) {
    return {};
  }
  const auto percent = [](std::int64_t permille) {
    return fmt::format("{}.{}", permille / 10, permille % 10);
  };
  return {
      {.rule = "coverage_fell",
       .scope = dimension,
       .subject = dimension,
       .summary = fmt::format("{} % of the costs of the last 7 days belong to a {}; in the 28 "
                              "days before it was {} %. Which labels are missing?",
                              percent(now->permille()), dimension, percent(before->permille()))}};
}

std::vector<AlertCondition> missed_forecast_conditions(
    const DailyCostHistory& history, std::span<const forecasting::KeptForecast> kept) {
  std::vector<AlertCondition> out;
  for (const forecasting::DailyCosts& part : history.parts) {
    int missed = 0;
    std::string last;
    const std::size_t days = part.days.size();
    for (std::size_t t = days - std::min<std::size_t>(days, kMissedOfDays); t < days; ++t) {
      const Date day = history.first_day + std::chrono::days(t);
      const auto made = std::ranges::find_if(kept, [&](const forecasting::KeptForecast& one) {
        return one.first == day && (one.key == part.key || one.by.empty());
      });
      if (made == kept.end() || !made->days.front().range95 || history.missing[t]) continue;
      const forecasting::MoneyRange& range = *made->days.front().range95;
      const Money& actual = part.days[t];
      if (range.low.currency() != actual.currency()) continue;
      if (range.low.ticks() <= actual.ticks() && actual.ticks() <= range.high.ticks()) continue;
      ++missed;
      last = fmt::format("on {} it was {}, and {} to {} were forecast the day before", to_text(day),
                         figure(actual), figure(range.low), figure(range.high));
    }
    if (missed < kMissedDaysMin) continue;
    out.push_back({.rule = "forecast_missed",
                   .scope = part.key,
                   .subject = part.key,
                   .owner = part.key,
                   .summary = fmt::format("The cost of {} was outside the 95 % range of its "
                                          "forecast on {} of the last 7 days: {}",
                                          part.key, missed, last),
                   .is_repeated = false});
  }
  return out;
}

void note_checkpoints(std::span<const Outcome> outcomes, CheckpointTimes& times) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.measure != kCheckpoints || outcome.count == 0) continue;
    const auto [place, is_new] =
        times.try_emplace({outcome.cluster, outcome.workload}, outcome.during.end());
    if (!is_new) place->second = std::max(place->second, outcome.during.end());
  }
}

std::vector<AlertCondition> checkpoint_conditions(std::span<const LiveRow> rows,
                                                  const CheckpointTimes& checkpoints, Instant now,
                                                  milliseconds wait) {
  std::vector<AlertCondition> out;
  for (const LiveRow& row : rows) {
    if (row.is_unallocated || !row.runs) continue;
    const auto last = checkpoints.find({row.cluster, row.share().workload});
    if (last == checkpoints.end() || now - last->second < wait) continue;
    // An earlier run of the same name wrote it.
    if (row.share().since && last->second < *row.share().since) continue;
    const std::string subject = workload_subject(row);
    out.push_back({.rule = "no_checkpoint",
                   .scope = subject,
                   .subject = subject,
                   .owner = owner_of(row),
                   .summary = fmt::format("Workload {} of cluster {} has written no checkpoint "
                                          "since {}: an interruption would lose what it has done",
                                          row.share().workload.text(), row.cluster.text(),
                                          to_text(last->second))});
  }
  return out;
}

std::vector<AlertCondition> reconcile_conditions(const ReconcileResult& result) {
  std::vector<AlertCondition> out;
  for (const ReconciledMonth& month : result.months) {
    std::uint64_t off = 0;
    for (const ReconcileTotals& totals : month.totals) {
      off += totals.lines_off + totals.transfers_off + totals.lines_gone;
    }
    if (off == 0) continue;
    out.push_back({.rule = "reconcile_off",
                   .scope = month.month,
                   .subject = month.month,
                   .severity = AlertSeverity::kCritical,
                   .summary = fmt::format("{} of {} {} not allocated to the last digit: run "
                                          "'pennyweight reconcile --month {}', and allocate again",
                                          counted(off, "bill line"), month.month,
                                          off == 1 ? "is" : "are", month.month),
                   // A bill that has just come is allocated soon.
                   .wait = kReconcileWait});
  }
  return out;
}

std::vector<AlertCondition> commitment_conditions(std::span<const CommitmentUse> uses, Date today,
                                                  const AlertConfig& config) {
  const AlertThresholds& thresholds = config.thresholds;
  std::map<std::pair<std::string, Currency>, const CommitmentUse*> newest;
  std::map<std::string, Date> ends;
  for (const CommitmentUse& use : uses) {
    if (use.ends) {
      const auto [place, is_new] = ends.try_emplace(use.id, *use.ends);
      if (!is_new) place->second = std::max(place->second, *use.ends);
    }
    if ((use.used + use.unused).ticks() <= 0 || !is_week_billed(use, today)) continue;
    const CommitmentUse*& known = newest[{use.id, use.used.currency()}];
    if (known == nullptr || use.month > known->month) known = &use;
  }
  for (const CommitmentEnd& one : config.commitments) ends.insert_or_assign(one.id, one.ends);
  std::vector<AlertCondition> out;
  for (const auto& [key, use] : newest) {
    const Money whole = use->used + use->unused;
    const Int128 permille = use->used.ticks() * 1000 / whole.ticks();
    if (permille >= Int128{thresholds.commitment_percent} * 10) continue;
    const auto shown = static_cast<std::int64_t>(std::max<Int128>(permille, 0));
    out.push_back(
        {.rule = "commitment_underused",
         .scope = fmt::format("{} {}", use->id, key.second.text()),
         .subject = use->id,
         .summary = fmt::format(
             "{}.{} % of commitment {} was used in {}: {} of {} paid for nothing", shown / 10,
             shown % 10, use->id, use->month, figure(use->unused), figure(whole)),
         .is_repeated = false});
  }
  for (const auto& [id, day] : ends) {
    const auto days = (day - today).count();
    if (days < 0 || days > std::int64_t{thresholds.commitment_days}) continue;
    out.push_back(
        {.rule = "commitment_expires",
         .scope = fmt::format("{} {}", id, to_text(day)),
         .subject = id,
         .summary = fmt::format(
             "Commitment {} ends on {}, {}: after that, what it covers costs "
             "the price on demand",
             id, to_text(day),
             days == 0 ? "today" : "in " + counted(static_cast<std::uint64_t>(days), "day")),
         .is_repeated = false});
  }
  return out;
}

std::vector<AlertCondition> spot_conditions(std::span<const SpotUse> uses,
                                            std::uint32_t percent_max) {
  std::vector<AlertCondition> out;
  for (const SpotUse& use : uses) {
    if (use.interrupted.size() * 100 <= use.nodes * percent_max) continue;
    std::string names;
    for (std::size_t i = 0; i < std::min(use.interrupted.size(), kShownNodes); ++i) {
      names += (i == 0 ? "" : ", ") + use.interrupted[i].text();
    }
    if (use.interrupted.size() > kShownNodes) names += ", …";
    out.push_back(
        {.rule = "spot_interrupted",
         .scope = use.cluster.text(),
         .subject = use.cluster.text(),
         .summary = fmt::format(
             "{} of {} of cluster {} were taken back while work ran on them in the last "
             "24 hours: {}",
             use.interrupted.size(), counted(use.nodes, "spot node"), use.cluster.text(), names),
         .is_repeated = false});
  }
  return out;
}

std::vector<AlertCondition> coverage_conditions(const DailyCostHistory& history, Date today,
                                                std::uint32_t days_max) {
  const auto age = (today - history.last_day()).count() - 1;
  if (age <= std::int64_t{days_max}) return {};
  return {{.rule = "costs_missing",
           .scope = "ledger",
           .subject = "ledger",
           .severity = AlertSeverity::kCritical,
           .summary = fmt::format("The ledger has no costs after {}: {} are missing; has a bill "
                                  "not come?",
                                  to_text(history.last_day()),
                                  counted(static_cast<std::uint64_t>(age), "day"))}};
}

}  // namespace pennyweight
