#include "app/daemon/serve_routes.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "app/context/version.h"
#include "app/daemon/place_metrics.h"
#include "core/ascii.h"
#include "core/json_text.h"
#include "server/metrics.h"

namespace pennyweight {
namespace {

using server::MetricsText;
using server::problem;
using server::Request;
using server::Response;

// How long a sender waits before it tries again: until the next flush has made room, and until an
// operator has looked at the disk.
constexpr std::chrono::seconds kRetryWhenFull{10};
constexpr std::chrono::seconds kRetryAfterTrouble{30};
constexpr std::size_t kBadLinesShown = 5;
// A source that was not heard for longer is away: its readings are not trusted any more.
constexpr std::chrono::seconds kSourceSilentMax{120};
// A scrape of /metrics is content with a view of this age, so that frequent scrapes cost little.
constexpr std::chrono::seconds kMeasuredViewAge{50};
// Teams of a cluster and a currency in /metrics; further ones are summed.
constexpr std::size_t kTeamsShownMax = 50;
constexpr std::size_t kNodesShownMax = 1000;
constexpr std::size_t kBudgetsShownMax = 1000;
constexpr std::size_t kWorkloadsShownMax = 5000;
constexpr std::size_t kGpusShownMax = 20'000;
constexpr std::string_view kOthers = "(others)";
constexpr std::string_view kUnallocatedTeam = "(unallocated)";

// Counters of the engine that go up and down; all others only grow.
const std::set<std::string> kGauges = {
    "journal_bytes", "journal_segments",  "journal_refuses", "series",          "accumulators",
    "devices",       "lanes_of_the_past", "pending_rows",    "pending_bytes",   "snapshot_bytes",
    "pieces",        "waiting_samples",   "recent_bytes",    "scraped_targets", "scraped_series"};

std::string out_of_order_text(std::uint64_t samples) {
  return fmt::format(
      "{} of a time that is in the ledger already {} refused; the others were taken. Use "
      "'pennyweight backfill' for the past",
      samples == 1 ? "1 sample" : fmt::format("{} samples", samples),
      samples == 1 ? "was" : "were");
}

Response refusal(const Error& error, bool is_senders) {
  if (is_senders) {
    switch (error.code) {
      case ErrorCode::kUnsupported:
        return problem(415, "Unsupported media type", error.message);
      case ErrorCode::kLimit:
        return problem(413, "Content too large", error.message);
      default:
        return problem(400, "Bad request", error.message);
    }
  }
  // Never 429: by default Prometheus drops samples that are answered with it.
  Response later = problem(503, "Service unavailable", error.message);
  later.retry_after = error.code == ErrorCode::kLimit ? kRetryWhenFull : kRetryAfterTrouble;
  return later;
}

live::IngestRequest make_ingest_request(const Request& request, live::IngestRequest::Kind kind,
                                        Instant now) {
  return {.kind = kind,
          .content_type = request.content_type,
          .content_encoding = request.content_encoding,
          .body = request.body,
          .cluster = ClusterId(request.parameter("cluster")),
          .scraped_at = now,
          .target = {},
          .stream = {}};
}

// Prometheus remote_write, 1.0 and 2.0.
// https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
Response write(const ServeRouteContext& context, const Request& request) {
  bool is_senders = false;
  const auto result = context.engine.ingest(
      make_ingest_request(request, live::IngestRequest::Kind::kRemoteWrite, context.clock.now()),
      &is_senders);
  if (!result) return refusal(result.error(), is_senders);
  Response done{.status = 204, .content_type = "text/plain"};
  if (result->refused > 0) {
    // As Prometheus does it: the others were taken, and sending these again would not help.
    done = problem(400, "Out of order", out_of_order_text(result->refused));
  }
  done.headers = {{"X-Prometheus-Remote-Write-Samples-Written",
                   std::to_string(result->samples - result->refused)},
                  {"X-Prometheus-Remote-Write-Histograms-Written", "0"},
                  {"X-Prometheus-Remote-Write-Exemplars-Written", "0"}};
  return done;
}

// An exposition that is pushed.
Response push(const ServeRouteContext& context, const Request& request) {
  bool is_senders = false;
  const auto result = context.engine.ingest(
      make_ingest_request(request, live::IngestRequest::Kind::kExposition, context.clock.now()),
      &is_senders);
  if (!result) return refusal(result.error(), is_senders);
  std::string body = fmt::format("{{\"samples\": {}, \"bad\": {}, \"first_bad\": [",
                                 result->samples - result->refused, result->bad + result->refused);

  if (result->refused > 0) append_json_string(body, out_of_order_text(result->refused));
  for (std::size_t i = 0; i < std::min(result->first_bad.size(), kBadLinesShown); ++i) {
    body += body.ends_with('[') ? "" : ", ";
    append_json_string(
        body, fmt::format("line {}: {}", result->first_bad[i].line, result->first_bad[i].reason));
  }
  body += "]}\n";
  return {.content_type = "application/json", .body = std::move(body)};
}

std::string metric_name(std::string_view name) {
  std::string text = "pennyweight_";
  for (const char c : name) text += ascii::is_letter_or_digit(c) ? c : '_';
  return text;
}

// What each counter of the engine means, and what to do where it should not grow.
std::string help_of(const std::string& name) {
  static const std::map<std::string, std::string, std::less<>> kHelp = {
      {"samples", "Samples that were taken."},
      {"duplicates", "Samples that were taken before and came again: nothing to do."},
      {"out_of_order", "Samples of a time that is in the ledger already, refused: backfill them."},
      {"other_source", "Samples of a measurement that another exporter or Prometheus reports."},
      {"stale_markers", "Ends of series."},
      {"blank_values", "Samples without a value, such as NVML's blanks and NaN."},
      {"clamped_shares", "Shares above 100 %, taken as 100 %."},
      {"out_of_range", "Samples beyond what their metric can be, dropped."},
      {"counter_resets", "Counters that began again, such as after a driver was loaded."},
      {"counter_gaps",
       "Counters silent for so long that nobody knows what they did meanwhile: backfill it."},
      {"too_old", "Samples older than live data may be, dropped: backfill them."},
      {"in_future", "Samples ahead of this machine's clock, dropped: set one of the clocks."},
      {"ignored", "Samples of series that cost does not need."},
      {"unusable", "Samples that lack labels; pennyweight_unusable_samples_total says which."},
      {"state_samples", "Samples of kube-state-metrics."},
      {"series_over_limit", "Samples of series beyond serve.limits.series, dropped."},
      {"bad_labels", "Samples whose labels can't be decoded, dropped."},
      {"late_components", "Parts of a sum that was written before they came, dropped."},
      {"series_forgotten", "Series without samples for two hours, forgotten."},
      {"series", "Series that are known."},
      {"accumulators", "Measurements that are summed up."},
      {"devices", "GPUs, MIG instances and workloads on them that are known."},
      {"lanes_of_the_past", "Backfills under way."},
      {"pending_rows", "Rows that wait for the ledger."},
      {"pending_bytes", "Bytes of rows that wait for the ledger."},
      {"pieces", "Sums of a minute that wait for the next flush."},
      {"waiting_samples", "Samples that wait for older ones, while a sender drains its queue."},
      {"recent_bytes", "Memory of the last minutes' rows."},
      {"snapshot_bytes", "Size of the last snapshot."},
      {"imported_rows", "Rows that were imported into the ledger."},
      {"failed_flushes", "Flushes that failed and are tried again; the log says why."},
      {"flushes", "Flushes since the folder was made."},
      {"replay_refused", "Journaled requests that could not be applied after a restart."},
      {"scraped_targets", "Targets whose series are compared from scrape to scrape."},
      {"scraped_series", "Series of scraped targets."},
      {"journal_records", "Requests that were journaled."},
      {"journal_syncs", "Times the journal was made durable."},
      {"journal_bytes", "Size of the journal."},
      {"journal_segments", "Files of the journal."},
      {"journal_torn_tails", "Ends of the journal that a crash had cut off."},
      {"journal_torn_bytes", "Bytes of them."},
      {"journal_refuses", "1 while the journal's disk refuses writes; /readyz says so."}};
  const auto found = kHelp.find(name);
  return found == kHelp.end() ? "Counts " + name + "." : found->second;
}

void add_engine(const ServeRouteContext& context, MetricsText& metrics) {
  const auto counters = context.engine.counters();
  static constexpr std::string_view kUnusable = "unusable: ";
  for (const auto& [name, value] : counters) {
    if (name.starts_with(kUnusable)) continue;
    const bool is_gauge = kGauges.contains(name);
    metrics.family(metric_name(name) + (is_gauge ? "" : "_total"), is_gauge ? "gauge" : "counter",
                   help_of(name));
    metrics.sample({}, value);
  }
  metrics.family("pennyweight_unusable_samples_total", "counter",
                 "Samples of devices and outcomes with too few labels, by what is missing.");
  for (const auto& [name, value] : counters) {
    if (name.starts_with(kUnusable)) {
      metrics.sample({{"why", std::string_view(name).substr(kUnusable.size())}}, value);
    }
  }
}

std::string seconds_text(std::chrono::milliseconds length) {
  const auto ms = std::max<std::int64_t>(0, length.count());
  return fmt::format("{}.{:03}", ms / 1000, ms % 1000);
}

void add_sources(const ServeRouteContext& context, MetricsText& metrics) {
  metrics.family(
      "pennyweight_source", "gauge",
      "What the sources of nodes and holdings have, such as pods, and did, such as lists.");
  for (const LiveSource* source : context.sources) {
    const std::string kind = source->kind();
    for (const auto& [name, value] : source->counts()) {
      metrics.sample({{"kind", kind}, {"cluster", source->cluster().text()}, {"count", name}},
                     value);
    }
  }
  for (const auto& [name, value] : context.state_metrics.counts()) {
    metrics.sample({{"kind", "kube-state-metrics"}, {"count", name}}, value);
  }
  metrics.family("pennyweight_source_age_seconds", "gauge",
                 "Time since a source of nodes and holdings was last heard; beyond 120 s /readyz "
                 "says so.");
  for (const LiveSource* source : context.sources) {
    const SourceStatus status = source->status();
    if (!status.heard_at) continue;
    metrics.sample({{"kind", source->kind()}, {"cluster", source->cluster().text()}},
                   seconds_text(context.clock.now() - *status.heard_at));
  }
  metrics.family("pennyweight_source_last_error_timestamp_seconds", "gauge",
                 "When a source last failed, in Unix time; /readyz and the log say why.");
  for (const LiveSource* source : context.sources) {
    const SourceStatus status = source->status();
    if (!status.failed_at) continue;
    metrics.sample({{"kind", source->kind()}, {"cluster", source->cluster().text()}},
                   static_cast<std::uint64_t>(unix_ms(*status.failed_at) / 1000));
  }
  if (context.pool == nullptr) return;
  const collect::PoolCounts counts = context.pool->counts();
  metrics.family("pennyweight_scrape_targets", "gauge", "Targets that are scraped.");
  metrics.sample({}, counts.targets);
  metrics.family("pennyweight_scrape_targets_refused", "gauge",
                 "Targets with an invalid address, or over the limit.");
  metrics.sample({}, counts.targets_refused);
  metrics.family("pennyweight_scrapes_total", "counter", "Scrapes by outcome.");
  metrics.sample({{"outcome", "up"}}, counts.scrapes - counts.scrapes_failed);
  metrics.sample({{"outcome", "failed"}}, counts.scrapes_failed);
  metrics.sample({{"outcome", "missed"}}, counts.scrapes_missed);
}

// By cluster and currency, then team.
using TeamSums = std::map<std::pair<std::string, std::string>, std::map<std::string, Money>>;

void add_to_team(TeamSums& sums, const LiveRow& line, const Money& cost) {
  std::string team(kUnallocatedTeam);
  if (!line.is_unallocated) team = line.share().dimensions.find("team").value_or("");
  auto& teams = sums[{line.cluster.text(), cost.currency().text()}];
  const auto [at, is_new] = teams.try_emplace(team, cost);
  if (!is_new) at->second += cost;
}

// The most expensive teams, and the sum of the others, so that the number of series is bounded
// whatever the label rules give.
void write_team_sums(TeamSums& sums, MetricsText& metrics) {
  for (auto& [key, teams] : sums) {
    std::vector<std::pair<std::string, Money>> order(teams.begin(), teams.end());
    std::ranges::stable_sort(
        order, [](const auto& a, const auto& b) { return a.second.ticks() > b.second.ticks(); });
    if (order.size() > kTeamsShownMax) {
      Money rest = Money::zero(order.front().second.currency());
      for (std::size_t i = kTeamsShownMax - 1; i < order.size(); ++i) rest += order[i].second;
      order.resize(kTeamsShownMax - 1, order.front());
      order.emplace_back(kOthers, rest);
    }
    for (const auto& [team, cost] : order) {
      metrics.sample({{"cluster", key.first}, {"team", team}, {"currency", key.second}},
                     to_text(cost.amount()));
    }
  }
}

// The cost of an hour now, by team.
void add_teams(std::span<const LiveRow> lines, MetricsText& metrics) {
  TeamSums sums;
  for (const LiveRow& line : lines) {
    if (line.hour) add_to_team(sums, line, *line.hour);
  }
  metrics.family("pennyweight_team_cost_per_hour", "gauge",
                 "Cost of an hour now, by team; (unallocated): capacity that no workload held.");
  write_team_sums(sums, metrics);
}

// This month's cost up to now, by team, bounded as add_teams().
void add_months(std::span<const LiveRow> lines, MetricsText& metrics) {
  TeamSums sums;
  for (const LiveRow& line : lines) {
    if (line.cost_month) add_to_team(sums, line, *line.cost_month);
  }
  metrics.family("pennyweight_team_cost_month_to_date", "gauge",
                 "Cost since the month began, by team, of workloads that have ended, too.");
  write_team_sums(sums, metrics);
}

// What runs, the most expensive workloads first, and the sum of the others of each cluster.
void add_workloads(std::span<const LiveRow> lines, std::size_t shown_max, MetricsText& metrics) {
  if (shown_max == 0) return;
  std::vector<const LiveRow*> order;
  for (const LiveRow& line : lines) {
    if (line.runs && line.hour && !line.is_unallocated) order.push_back(&line);
  }
  std::ranges::stable_sort(order, [](const LiveRow* a, const LiveRow* b) {
    return a->hour->ticks() > b->hour->ticks();
  });
  metrics.family("pennyweight_workload_cost_per_hour", "gauge",
                 "Cost of an hour now of each workload that runs, as many as were asked for.");
  TeamSums others;  // by the one name that they share
  for (std::size_t i = 0; i < order.size(); ++i) {
    const LiveRow& line = *order[i];
    const std::string cluster = line.cluster.text(), currency = line.hour->currency().text();
    if (i < shown_max) {
      const LiveShare& share = line.share();
      metrics.sample({{"cluster", cluster},
                      {"workload", share.workload.text()},
                      {"team", share.dimensions.find("team").value_or("")},
                      {"currency", currency}},
                     to_text(line.hour->amount()));
      continue;
    }
    auto& sums = others[{cluster, currency}];
    const auto [at, is_new] = sums.try_emplace(std::string(kOthers), *line.hour);
    if (!is_new) at->second += *line.hour;
  }
  for (const auto& [key, sums] : others) {
    for (const auto& [name, cost] : sums) {
      metrics.sample({{"cluster", key.first}, {"workload", name}, {"currency", key.second}},
                     to_text(cost.amount()));
    }
  }
}

void add_unpriced(const LiveView& view, MetricsText& metrics) {
  metrics.family("pennyweight_nodes_unpriced", "gauge",
                 "Nodes without a price: what runs there is shown without cost.");
  for (const auto& [id, cluster] : view.clusters) {
    metrics.sample({{"cluster", id.text()}}, cluster.recent.nodes_unpriced);
  }
  metrics.family("pennyweight_node_price_per_hour", "gauge",
                 "Price of an hour of each node, of the first 1000 by name.");
  for (const auto& [id, cluster] : view.clusters) {
    std::size_t shown = 0;
    for (const auto& [node, price] : cluster.recent.node_prices) {
      if (++shown > kNodesShownMax) break;
      metrics.sample(
          {{"cluster", id.text()}, {"node", node.text()}, {"currency", price.currency().text()}},
          to_text(price.amount()));
    }
  }
}

// How many workloads, nodes and GPUs get series of their own; none unless they are asked for, since
// their names come and go, and are many.
struct WantedSeries {
  std::size_t workloads = 0, nodes = 0, gpus = 0;
};

void add_ledger(const ServeRouteContext& context, const WantedSeries& wanted,
                MetricsText& metrics) {
  metrics.family(
      "pennyweight_ledger_total", "counter",
      "Facts, imports and runs that serve wrote into the ledger, and what failed, by name.");
  for (const auto& [name, value] : context.ledger.counts()) {
    metrics.sample({{"what", name}}, value);
  }
  const auto view = context.ledger.fresh_view(kMeasuredViewAge);
  if (!view) return;
  metrics.family("pennyweight_view_age_seconds", "gauge", "Age of the live view.");
  const auto age = std::max(std::chrono::milliseconds(0), context.clock.now() - view->at);
  metrics.sample({}, fmt::format("{}.{:03}", age.count() / 1000, age.count() % 1000));
  metrics.family("pennyweight_cost_per_hour", "gauge",
                 "Cost of an hour now, by cluster, kind and currency.");
  std::map<std::tuple<std::string, std::string, std::string>, Money> sums;
  const auto lines = live_rows(*view);
  for (const LiveRow& line : lines) {
    const auto add = [&](const char* kind, const std::optional<Money>& hour) {
      if (!hour) return;
      const auto [at, is_new] =
          sums.try_emplace({line.cluster.text(), kind, hour->currency().text()}, *hour);
      if (!is_new) at->second += *hour;
    };
    add(line.is_unallocated ? "unallocated" : "held", line.hour);
    add("held_idle", line.idle_hour);
  }
  for (const auto& [key, sum] : sums) {
    const auto& [cluster, kind, currency] = key;
    metrics.sample({{"cluster", cluster}, {"kind", kind}, {"currency", currency}},
                   to_text(sum.amount()));
  }
  add_teams(lines, metrics);
  add_months(lines, metrics);
  add_workloads(lines, wanted.workloads, metrics);
  add_unpriced(*view, metrics);
  add_node_costs(*view, wanted.nodes, metrics);
  add_gpu_costs(*view, wanted.gpus, metrics);
}

// "1.250", and "-0.005" where credits outweigh the costs.
std::string thousandths_text(int permille) {
  const int size = std::abs(permille);
  return fmt::format("{}{}.{:03}", permille < 0 ? "-" : "", size / 1000, size % 1000);
}

std::string budget_unit(const Money& amount) {
  return amount.currency() == kGpuHourUnit ? "gpu_hours" : amount.currency().text();
}

// How far budgets have come, the fullest first, and how many alerts go on.
void add_plan(const ServeRouteContext& context, MetricsText& metrics) {
  const auto all = context.budgets();
  std::vector<const BudgetStatus*> budgets;
  for (std::size_t i = 0; all && i < all->size(); ++i) {
    if ((*all)[i].problem.empty()) budgets.push_back(&(*all)[i]);
  }
  std::ranges::stable_sort(budgets, std::greater(), [](const BudgetStatus* one) {
    return one->actual_permille.value_or(0);
  });
  budgets.resize(std::min(budgets.size(), kBudgetsShownMax));
  metrics.family("pennyweight_budget_ratio", "gauge",
                 "What is spent of each budget in its period; 1 is all of it.");
  for (const BudgetStatus* one : budgets) {
    if (!one->actual_permille) continue;
    metrics.sample({{"budget", one->budget.name}, {"owner", one->budget.owner}},
                   thousandths_text(*one->actual_permille));
  }
  metrics.family("pennyweight_budget_amount", "gauge", "What each budget allows in its period.");
  for (const BudgetStatus* one : budgets) {
    metrics.sample({{"budget", one->budget.name}, {"currency", budget_unit(one->amount)}},
                   to_text(one->amount.amount()));
  }
  metrics.family("pennyweight_budget_forecast", "gauge",
                 "What the whole period of each budget is forecast to cost.");
  for (const BudgetStatus* one : budgets) {
    if (!one->forecast) continue;
    metrics.sample({{"budget", one->budget.name}, {"currency", budget_unit(*one->forecast)}},
                   to_text(one->forecast->amount()));
  }
  metrics.family("pennyweight_budget_exceed_probability", "gauge",
                 "How probable it is that the period of each budget costs more than it allows.");
  for (const BudgetStatus* one : budgets) {
    if (!one->percent_above) continue;
    metrics.sample({{"budget", one->budget.name}, {"owner", one->budget.owner}},
                   thousandths_text(*one->percent_above * 10));
  }
  const auto month = context.month_forecast();
  metrics.family("pennyweight_forecast_month", "gauge",
                 "The forecast total cost of the current month; low and high: the range "
                 "that holds 80 %.");
  const auto add_month = [&](std::string_view bound, const Money& amount) {
    metrics.sample(
        {{"month", month->month}, {"bound", bound}, {"currency", amount.currency().text()}},
        to_text(amount.amount()));
  };
  if (month) add_month("expected", month->amount);
  if (month && month->range80) {
    add_month("low", month->range80->low);
    add_month("high", month->range80->high);
  }
  metrics.family("pennyweight_alerts_firing", "gauge",
                 "Alerts that go on and that receivers were notified of, by rule and severity.");
  std::map<std::pair<std::string, std::string>, std::uint64_t> firing;
  for (const Alert& alert : context.alerts()) {
    if (!alert.notified || alert.is_silent || alert.condition.is_in_incident()) continue;
    ++firing[{alert.condition.rule, std::string(to_text(alert.condition.severity))}];
  }
  for (const auto& [key, count] : firing) {
    metrics.sample({{"rule", key.first}, {"severity", key.second}}, count);
  }
}

// The progress of workers, as of the last change of the ledger.
void add_work(const ServeRouteContext& context, MetricsText& metrics) {
  const auto work = context.ledger.work();
  if (!work) return;
  metrics.family("pennyweight_work_items", "gauge",
                 "Clusters and months that workers allocate, by state; unplanned: months.");
  for (const WorkState state : {WorkState::kDone, WorkState::kDue, WorkState::kWaiting,
                                WorkState::kClaimed, WorkState::kUnplanned}) {
    const auto count = work->items.find(state);
    metrics.sample({{"state", to_text(state)}},
                   count == work->items.end() ? std::uint64_t{0} : count->second);
  }
  metrics.family("pennyweight_work_lag_seconds", "gauge",
                 "Time since the first import that a run lacks.");
  const auto lag = work->behind_since ? std::max(std::chrono::milliseconds(0),
                                                 context.clock.now() - *work->behind_since)
                                      : std::chrono::milliseconds(0);
  metrics.sample({}, fmt::format("{}.{:03}", lag.count() / 1000, lag.count() % 1000));
}

// What advice of the newest month saves together, once a page or a program has asked for it.
void add_advice(const ServeRouteContext& context, MetricsText& metrics) {
  if (!context.advice_savings) return;
  const SavingsByTeam savings = context.advice_savings();
  if (savings.empty()) return;
  metrics.family("pennyweight_advice_monthly_savings", "gauge",
                 "What advice would save a month, by kind and team, as last worked out.");
  for (const auto& [key, money] : savings) {
    metrics.sample({{"kind", key.kind}, {"team", key.team}, {"currency", key.currency.text()}},
                   to_text(money.amount()));
  }
}

// The files of the pages have names with a hash, which each version changes.
std::string measured_path(const std::string& path) {
  return path.starts_with("/assets/") ? "/assets/*" : path;
}

void add_server(const ServeRouteContext& context, MetricsText& metrics) {
  metrics.family("pennyweight_http_requests_total", "counter", "Requests by route and status.");
  const auto routes = context.route_counts();
  std::map<std::pair<std::string, int>, std::uint64_t> answers;
  std::map<std::string, std::uint64_t> bodies;
  for (const server::RouteCounts& route : routes) {
    const std::string path = measured_path(route.path);
    for (const auto& [status, count] : route.answers) answers[{path, status}] += count;
    bodies[path] += route.body_bytes;
  }
  for (const auto& [key, count] : answers) {
    metrics.sample({{"path", key.first}, {"status", std::to_string(key.second)}}, count);
  }
  metrics.family("pennyweight_http_received_bytes_total", "counter", "Bodies, by route.");
  for (const auto& [path, bytes] : bodies) metrics.sample({{"path", path}}, bytes);
}

void add_connections(const ServeRouteContext& context, MetricsText& metrics) {
  const server::ConnectionCounts connections = context.connection_counts();
  metrics.family("pennyweight_http_connections", "gauge", "Connections that are open.");
  metrics.sample({}, connections.open);
  metrics.family("pennyweight_http_connections_accepted_total", "counter",
                 "Connections since the start.");
  metrics.sample({}, connections.accepted);
  metrics.family("pennyweight_http_door_ended_total", "counter",
                 "Connections that were ended, or requests refused, before any handler ran.");
  for (std::size_t i = 0; i < connections.ended.size(); ++i) {
    metrics.sample({{"why", server::kConnectionEndNames[i]}}, connections.ended[i]);
  }
}

void add_process(MetricsText& metrics) {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto micros = [](const timeval& time) {
      return std::uint64_t{1'000'000} * static_cast<std::uint64_t>(time.tv_sec) +
             static_cast<std::uint64_t>(time.tv_usec);
    };
    const std::uint64_t all = micros(usage.ru_utime) + micros(usage.ru_stime);
    metrics.family("process_cpu_seconds_total", "counter", "User and system time.");
    metrics.sample({}, fmt::format("{}.{:06}", all / 1'000'000, all % 1'000'000));
  }
  std::ifstream status("/proc/self/statm");
  std::uint64_t pages = 0, resident = 0;
  if (status >> pages >> resident) {
    metrics.family("process_resident_memory_bytes", "gauge", "Memory that is in use.");
    metrics.sample({}, resident * 4096);
  }
}

struct WantedCount {
  const char* parameter;  // "?workloads=N"
  std::size_t most;
  std::size_t WantedSeries::* count;
};
constexpr WantedCount kWantedCounts[] = {
    {"workloads", kWorkloadsShownMax, &WantedSeries::workloads},
    {"nodes", kNodesShownMax, &WantedSeries::nodes},
    {"gpus", kGpusShownMax, &WantedSeries::gpus},
};

// Sets `problem` where a parameter is no such number.
WantedSeries wanted_series(const Request& request, std::string& problem) {
  WantedSeries wanted;
  for (const WantedCount& one : kWantedCounts) {
    const std::string text = request.parameter(one.parameter);
    if (text.empty()) continue;
    std::size_t& count = wanted.*one.count;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (!is_number || count > one.most) {
      problem = fmt::format("{} is a number from 0 to {}\n", one.parameter, one.most);
    }
  }
  return wanted;
}

Response make_metrics(const ServeRouteContext& context, const Request& request) {
  std::string wrong;
  const WantedSeries wanted = wanted_series(request, wrong);
  if (!wrong.empty()) return {.status = 400, .body = wrong};
  MetricsText metrics;
  metrics.family("pennyweight_build_info", "gauge", "The version that runs.");
  metrics.sample({{"version", kProgramVersion}}, 1);
  add_engine(context, metrics);
  add_sources(context, metrics);
  add_ledger(context, wanted, metrics);
  context.ledger.device_signals().add_metrics(metrics);
  add_kills(context.ledger.signals().kills(), metrics);
  add_latencies(context.latencies(), metrics);
  add_work(context, metrics);
  add_plan(context, metrics);
  add_advice(context, metrics);
  add_server(context, metrics);
  add_connections(context, metrics);
  if (context.admission != nullptr) context.admission->add_metrics(metrics);
  if (context.slurm_gate != nullptr) context.slurm_gate->add_metrics(metrics);
  add_process(metrics);
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics.text()};
}

Response ready(const ServeRouteContext& context) {
  const Instant now = context.clock.now();
  std::string missing;
  if (!context.ledger.view()) missing += "the first live view is being made\n";
  if (!context.ledger.is_writing()) missing += "the ledger can't be written; see the log\n";
  if (context.engine.refuses_writes()) {
    missing += "the disk of the journal refuses writes; see the log\n";
  }
  for (const LiveSource* source : context.sources) {
    const SourceStatus status = source->status();
    const std::string name = fmt::format("{} {}", source->kind(), source->cluster().text());
    const std::string why = status.last_error.empty() ? "" : fmt::format(": {}", status.last_error);
    if (!source->is_ready()) {
      missing += fmt::format("{} has not reported everything yet{}\n", name, why);
    } else if (status.heard_at && now - *status.heard_at > kSourceSilentMax) {
      missing +=
          fmt::format("{} was last heard from at {}{}\n", name, to_text(*status.heard_at), why);
    }
  }
  // Answers are then right but slow, from the ledger: no reason to send people or telemetry away.
  std::string slow;
  if (const auto trouble = context.ledger.rollup_trouble()) {
    slow = fmt::format(
        "pages wait for the ledger: their sums could not be brought up to date at {}{}, and will "
        "be "
        "tried again at {}; see the log\n",
        to_text(trouble->failed_at),
        trouble->why == ErrorCode::kLimit ? ", for want of memory or disk" : "",
        to_text(trouble->tries_again_at));
  }
  missing += slow;
  if (missing == slow) return {.body = "ready\n" + slow};
  return {.status = 503, .body = std::move(missing)};
}

}  // namespace

std::vector<server::Route> serve_routes(const ServeRouteContext& context) {
  return {{.method = "POST",
           .path = "/api/v1/write",
           .handler = [context](const Request& request) { return write(context, request); },
           .permission = "send_telemetry",
           .takes_encoded_body = true},
          {.method = "POST",
           .path = "/api/v1/import/prometheus",
           .handler = [context](const Request& request) { return push(context, request); },
           .permission = "send_telemetry",
           .takes_encoded_body = true},
          {.method = "GET",
           .path = "/metrics",
           .handler = [context](const Request& request) { return make_metrics(context, request); },
           .permission = "read_metrics"},
          {.method = "GET",
           .path = "/healthz",
           .open = true,
           .handler = [](const Request&) { return Response{.body = "ok\n"}; },
           .is_health = true},
          {.method = "GET",
           .path = "/readyz",
           .open = true,
           .handler = [context](const Request&) { return ready(context); },
           .is_health = true}};
}

}  // namespace pennyweight
