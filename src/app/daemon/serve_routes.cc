#include "app/daemon/serve_routes.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "app/context/version.h"
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
// Teams of a cluster and a currency in /metrics; further ones are summed.
constexpr std::size_t kTeamsShownMax = 50;
constexpr std::string_view kOthers = "(others)";
constexpr std::string_view kUnallocatedTeam = "(unallocated)";

// Counters of the engine that go up and down; all others only grow.
const std::set<std::string> kGauges = {
    "journal_bytes", "journal_segments",  "journal_refuses", "series",        "accumulators",
    "devices",       "lanes_of_the_past", "pending_rows",    "pending_bytes", "snapshot_bytes",
    "pieces",        "recent_bytes",      "scraped_targets", "scraped_series"};

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

void add_engine(const ServeRouteContext& context, MetricsText& metrics) {
  const auto counters = context.engine.counters();
  static constexpr std::string_view kUnusable = "unusable: ";
  for (const auto& [name, value] : counters) {
    if (name.starts_with(kUnusable)) continue;
    const bool is_gauge = kGauges.contains(name);
    metrics.family(metric_name(name) + (is_gauge ? "" : "_total"), is_gauge ? "gauge" : "counter",
                   "Samples received: " + name);
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

void add_sources(const ServeRouteContext& context, MetricsText& metrics) {
  metrics.family("pennyweight_source", "gauge", "Counts of the sources of nodes and holdings.");
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

// The cost of an hour now, by team: the most expensive teams, and the sum of the others, so that
// the number of series is bounded whatever the label rules give.
void add_teams(std::span<const LiveRow> lines, MetricsText& metrics) {
  using Key = std::pair<std::string, std::string>;  // cluster, currency
  std::map<Key, std::map<std::string, Money>> sums;
  for (const LiveRow& line : lines) {
    if (!line.hour) continue;
    std::string team(kUnallocatedTeam);
    if (!line.is_unallocated) team = line.share().dimensions.find("team").value_or("");
    auto& teams = sums[{line.cluster.text(), line.hour->currency().text()}];
    const auto [at, is_new] = teams.try_emplace(team, *line.hour);
    if (!is_new) at->second += *line.hour;
  }
  metrics.family("pennyweight_team_cost_per_hour", "gauge",
                 "Cost of an hour now, by team; (unallocated): capacity that no workload held.");
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
    for (const auto& [team, hour] : order) {
      metrics.sample({{"cluster", key.first}, {"team", team}, {"currency", key.second}},
                     to_text(hour.amount()));
    }
  }
}

void add_ledger(const ServeRouteContext& context, MetricsText& metrics) {
  metrics.family("pennyweight_ledger_total", "counter", "What was written into the ledger.");
  for (const auto& [name, value] : context.ledger.counts()) {
    metrics.sample({{"what", name}}, value);
  }
  const auto view = context.ledger.view();
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

void add_server(const ServeRouteContext& context, MetricsText& metrics) {
  metrics.family("pennyweight_http_requests_total", "counter", "Requests by route and status.");
  const auto routes = context.route_counts();
  for (const server::RouteCounts& route : routes) {
    for (const auto& [status, count] : route.answers) {
      const std::string text = std::to_string(status);
      metrics.sample({{"path", route.path}, {"status", text}}, count);
    }
  }
  metrics.family("pennyweight_http_received_bytes_total", "counter", "Bodies, by route.");
  for (const server::RouteCounts& route : routes) {
    metrics.sample({{"path", route.path}}, route.body_bytes);
  }
}

void add_door(const ServeRouteContext& context, MetricsText& metrics) {
  const server::DoorCounts door = context.door_counts();
  metrics.family("pennyweight_http_connections", "gauge", "Connections that are open.");
  metrics.sample({}, door.open);
  metrics.family("pennyweight_http_connections_accepted_total", "counter",
                 "Connections since the start.");
  metrics.sample({}, door.accepted);
  metrics.family("pennyweight_http_door_ended_total", "counter",
                 "Connections that were ended, or requests refused, before any handler ran.");
  for (std::size_t i = 0; i < door.ended.size(); ++i) {
    metrics.sample({{"why", server::kDoorEndNames[i]}}, door.ended[i]);
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

Response make_metrics(const ServeRouteContext& context) {
  MetricsText metrics;
  metrics.family("pennyweight_build_info", "gauge", "The version that runs.");
  metrics.sample({{"version", kProgramVersion}}, 1);
  add_engine(context, metrics);
  add_sources(context, metrics);
  add_ledger(context, metrics);
  add_work(context, metrics);
  add_server(context, metrics);
  add_door(context, metrics);
  add_process(metrics);
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics.text()};
}

Response ready(const ServeRouteContext& context) {
  std::string missing;
  if (!context.ledger.view()) missing += "the first live view is being made\n";
  if (!context.ledger.is_writing()) missing += "the ledger can't be written; see the log\n";
  if (context.engine.refuses_writes()) {
    missing += "the disk of the journal refuses writes; see the log\n";
  }
  for (const LiveSource* source : context.sources) {
    if (!source->is_ready()) {
      missing += fmt::format("{} {} has not reported everything yet\n", source->kind(),
                             source->cluster().text());
    }
  }
  if (missing.empty()) return {.body = "ready\n"};
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
           .handler = [context](const Request&) { return make_metrics(context); },
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
