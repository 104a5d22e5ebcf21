#include "app/serve_routes.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "app/version.h"
#include "report/json_text.h"
#include "server/metrics.h"

namespace pennyweight {
namespace {

using server::MetricsText;
using server::problem;
using server::Request;
using server::Response;

// How long a sender waits before it tries again: until the next flush has made room, and until
// somebody has looked at the disk.
constexpr std::chrono::seconds kRetryWhenFull{10};
constexpr std::chrono::seconds kRetryAfterTrouble{30};
constexpr std::size_t kBadLinesTold = 5;
// Of a cluster and a currency, in /metrics; what is beyond is told as one.
constexpr std::size_t kTeamsToldMax = 50;
constexpr std::string_view kOthers = "(others)";
constexpr std::string_view kNobody = "(unallocated)";

// Names of the engine that go up and down; all others only grow.
const std::set<std::string> kGauges = {
    "journal_bytes", "journal_segments",  "journal_refuses", "series",        "accumulators",
    "devices",       "lanes_of_the_past", "pending_rows",    "pending_bytes", "snapshot_bytes",
    "pieces",        "recent_bytes",      "scraped_targets", "scraped_series"};

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
  // Never 429: Prometheus throws away what it is answered so, unless it is told not to.
  Response later = problem(503, "Service unavailable", error.message);
  later.retry_after = error.code == ErrorCode::kLimit ? kRetryWhenFull : kRetryAfterTrouble;
  return later;
}

live::Delivery delivery_of(const Request& request, live::Delivery::Kind kind, Instant now) {
  return {.kind = kind,
          .content_type = request.content_type,
          .content_encoding = request.content_encoding,
          .body = request.body,
          .cluster = ClusterId(request.parameter("cluster")),
          .scraped_at = now,
          .target = {},
          .lane = {}};
}

// Prometheus remote_write, 1.0 and 2.0.
// https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
Response write(const Served& served, const Request& request) {
  bool is_senders = false;
  const auto taken = served.engine.take(
      delivery_of(request, live::Delivery::Kind::kRemoteWrite, served.clock.now()), &is_senders);
  if (!taken) return refusal(taken.error(), is_senders);
  Response done{.status = 204, .content_type = "text/plain"};
  done.headers = {{"X-Prometheus-Remote-Write-Samples-Written", std::to_string(taken->samples)},
                  {"X-Prometheus-Remote-Write-Histograms-Written", "0"},
                  {"X-Prometheus-Remote-Write-Exemplars-Written", "0"}};
  return done;
}

// An exposition that somebody pushes.
Response push(const Served& served, const Request& request) {
  bool is_senders = false;
  const auto taken = served.engine.take(
      delivery_of(request, live::Delivery::Kind::kExposition, served.clock.now()), &is_senders);
  if (!taken) return refusal(taken.error(), is_senders);
  std::string body =
      fmt::format("{{\"samples\": {}, \"bad\": {}, \"first_bad\": [", taken->samples, taken->bad);
  for (std::size_t i = 0; i < std::min(taken->first_bad.size(), kBadLinesTold); ++i) {
    body += i > 0 ? ", " : "";
    append_json_string(
        body, fmt::format("line {}: {}", taken->first_bad[i].line, taken->first_bad[i].reason));
  }
  body += "]}\n";
  return {.content_type = "application/json", .body = std::move(body)};
}

std::string metric_name(std::string_view name) {
  std::string text = "pennyweight_";
  for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return text;
}

void add_engine(const Served& served, MetricsText& metrics) {
  const auto counters = served.engine.counters();
  static constexpr std::string_view kUnusable = "unusable: ";
  for (const auto& [name, value] : counters) {
    if (name.starts_with(kUnusable)) continue;
    const bool is_gauge = kGauges.contains(name);
    metrics.family(metric_name(name) + (is_gauge ? "" : "_total"), is_gauge ? "gauge" : "counter",
                   "Of what came in: " + name);
    metrics.sample({}, value);
  }
  metrics.family("pennyweight_unusable_samples_total", "counter",
                 "Samples meant for us that say too little, by what is missing.");
  for (const auto& [name, value] : counters) {
    if (name.starts_with(kUnusable)) {
      metrics.sample({{"why", std::string_view(name).substr(kUnusable.size())}}, value);
    }
  }
}

void add_sources(const Served& served, MetricsText& metrics) {
  metrics.family("pennyweight_source", "gauge", "What sources of nodes and holdings count.");
  for (const LiveSource* source : served.sources) {
    const std::string kind = source->kind();
    for (const auto& [name, value] : source->counts()) {
      metrics.sample({{"kind", kind}, {"cluster", source->cluster().text()}, {"count", name}},
                     value);
    }
  }
  for (const auto& [name, value] : served.state_metrics.counts()) {
    metrics.sample({{"kind", "kube-state-metrics"}, {"count", name}}, value);
  }
  if (served.pool == nullptr) return;
  const collect::PoolCounts counts = served.pool->counts();
  metrics.family("pennyweight_scrape_targets", "gauge", "Targets that are scraped.");
  metrics.sample({}, counts.targets);
  metrics.family("pennyweight_scrape_targets_refused", "gauge", "Targets that are none.");
  metrics.sample({}, counts.targets_refused);
  metrics.family("pennyweight_scrapes_total", "counter", "Scrapes by outcome.");
  metrics.sample({{"outcome", "up"}}, counts.scrapes - counts.scrapes_failed);
  metrics.sample({{"outcome", "failed"}}, counts.scrapes_failed);
  metrics.sample({{"outcome", "missed"}}, counts.scrapes_missed);
}

// What an hour costs now, by team: the teams that cost the most, and the others together, so that
// the series are bounded whatever label rules give.
void add_teams(std::span<const LiveLine> lines, MetricsText& metrics) {
  using Key = std::pair<std::string, std::string>;  // cluster, currency
  std::map<Key, std::map<std::string, Money>> sums;
  for (const LiveLine& line : lines) {
    if (!line.hour) continue;
    std::string team(kNobody);
    if (!line.is_nobody) team = line.share().dimensions.find("team").value_or("");
    auto& teams = sums[{line.cluster.text(), line.hour->currency().text()}];
    const auto [at, is_new] = teams.try_emplace(team, *line.hour);
    if (!is_new) at->second += *line.hour;
  }
  metrics.family("pennyweight_team_cost_per_hour", "gauge",
                 "What an hour costs now, by team; (unallocated): what nobody holds.");
  for (auto& [key, teams] : sums) {
    std::vector<std::pair<std::string, Money>> order(teams.begin(), teams.end());
    std::ranges::stable_sort(
        order, [](const auto& a, const auto& b) { return a.second.ticks() > b.second.ticks(); });
    if (order.size() > kTeamsToldMax) {
      Money rest = Money::zero(order.front().second.currency());
      for (std::size_t i = kTeamsToldMax - 1; i < order.size(); ++i) rest += order[i].second;
      order.resize(kTeamsToldMax - 1, order.front());
      order.emplace_back(kOthers, rest);
    }
    for (const auto& [team, hour] : order) {
      metrics.sample({{"cluster", key.first}, {"team", team}, {"currency", key.second}},
                     to_text(hour.amount()));
    }
  }
}

void add_ledger(const Served& served, MetricsText& metrics) {
  metrics.family("pennyweight_ledger_total", "counter", "What was written into the ledger.");
  for (const auto& [name, value] : served.ledger.counts()) {
    metrics.sample({{"what", name}}, value);
  }
  const auto view = served.ledger.view();
  if (!view) return;
  metrics.family("pennyweight_view_age_seconds", "gauge", "How old what is shown as now is.");
  const auto age = std::max(std::chrono::milliseconds(0), served.clock.now() - view->at);
  metrics.sample({}, fmt::format("{}.{:03}", age.count() / 1000, age.count() % 1000));
  metrics.family("pennyweight_cost_per_hour", "gauge",
                 "What an hour costs now, by cluster, kind and currency.");
  std::map<std::tuple<std::string, std::string, std::string>, Money> sums;
  const auto lines = live_lines(*view);
  for (const LiveLine& line : lines) {
    const auto add = [&](const char* kind, const std::optional<Money>& hour) {
      if (!hour) return;
      const auto [at, is_new] =
          sums.try_emplace({line.cluster.text(), kind, hour->currency().text()}, *hour);
      if (!is_new) at->second += *hour;
    };
    add(line.is_nobody ? "unallocated" : "held", line.hour);
    add("held_idle", line.idle_hour);
  }
  for (const auto& [key, sum] : sums) {
    const auto& [cluster, kind, currency] = key;
    metrics.sample({{"cluster", cluster}, {"kind", kind}, {"currency", currency}},
                   to_text(sum.amount()));
  }
  add_teams(lines, metrics);
}

// How far workers are. Told from when the ledger was changed last.
void add_work(const Served& served, MetricsText& metrics) {
  const auto work = served.ledger.work();
  if (!work) return;
  metrics.family("pennyweight_work_items", "gauge",
                 "Clusters and months that workers divide, by state; unplanned: months.");
  for (const WorkState state : {WorkState::kDone, WorkState::kDue, WorkState::kWaiting,
                                WorkState::kClaimed, WorkState::kUnplanned}) {
    const auto count = work->items.find(state);
    metrics.sample({{"state", to_text(state)}},
                   count == work->items.end() ? std::uint64_t{0} : count->second);
  }
  metrics.family("pennyweight_work_lag_seconds", "gauge",
                 "Since the first import came that a run should have seen and has not.");
  const auto lag = work->behind_since ? std::max(std::chrono::milliseconds(0),
                                                 served.clock.now() - *work->behind_since)
                                      : std::chrono::milliseconds(0);
  metrics.sample({}, fmt::format("{}.{:03}", lag.count() / 1000, lag.count() % 1000));
}

void add_server(const Served& served, MetricsText& metrics) {
  metrics.family("pennyweight_http_requests_total", "counter", "Requests by route and status.");
  const auto routes = served.route_counts();
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

Response metrics_of(const Served& served) {
  MetricsText metrics;
  metrics.family("pennyweight_build_info", "gauge", "The version that runs.");
  metrics.sample({{"version", kProgramVersion}}, 1);
  add_engine(served, metrics);
  add_sources(served, metrics);
  add_ledger(served, metrics);
  add_work(served, metrics);
  add_server(served, metrics);
  add_process(metrics);
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics.text()};
}

Response ready(const Served& served) {
  std::string missing;
  if (!served.ledger.view()) missing += "the first look at the ledger is under way\n";
  if (!served.ledger.is_writing()) missing += "the ledger can't be written; see the log\n";
  if (served.engine.counters()["journal_refuses"] != 0) {
    missing += "the journal's disk refuses; see the log\n";
  }
  for (const LiveSource* source : served.sources) {
    if (!source->is_ready()) {
      missing += fmt::format("{} {} has not told everything yet\n", source->kind(),
                             source->cluster().text());
    }
  }
  if (missing.empty()) return {.body = "ready\n"};
  return {.status = 503, .body = std::move(missing)};
}

}  // namespace

std::vector<server::Route> serve_routes(const Served& served) {
  return {{.method = "POST",
           .path = "/api/v1/write",
           .handler = [served](const Request& request) { return write(served, request); },
           .needs = "send_telemetry"},
          {.method = "POST",
           .path = "/api/v1/import/prometheus",
           .handler = [served](const Request& request) { return push(served, request); },
           .needs = "send_telemetry"},
          {.method = "GET",
           .path = "/metrics",
           .handler = [served](const Request&) { return metrics_of(served); },
           .needs = "read_metrics"},
          {.method = "GET",
           .path = "/healthz",
           .open = true,
           .handler = [](const Request&) { return Response{.body = "ok\n"}; }},
          {.method = "GET", .path = "/readyz", .open = true, .handler = [served](const Request&) {
             return ready(served);
           }}};
}

}  // namespace pennyweight
