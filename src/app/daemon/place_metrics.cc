#include "app/daemon/place_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight {
namespace {

using server::MetricsText;

constexpr std::string_view kOtherPlaces = "(others)";
constexpr std::size_t kKillsShownMax = 1'000;
constexpr std::size_t kServicesShownMax = 1'000;

struct PlaceLine {
  std::string_view cluster, node, gpu;
  PlaceCost cost;
};

Money whole_cost(const PlaceLine& line) { return line.cost.held + line.cost.unallocated; }

void add_up(PlaceCost& sum, const PlaceCost& more) {
  if (sum.held.currency() != more.held.currency()) return;  // a cluster has one currency
  sum.held += more.held;
  sum.held_idle += more.held_idle;
  sum.unallocated += more.unallocated;
}

// The most expensive first; from `shown_max` on one line for each cluster.
std::vector<PlaceLine> with_others(std::vector<PlaceLine> lines, std::size_t shown_max) {
  std::ranges::stable_sort(lines, [](const PlaceLine& a, const PlaceLine& b) {
    return whole_cost(a).ticks() > whole_cost(b).ticks();
  });
  std::map<std::string_view, PlaceLine> others;
  for (std::size_t i = shown_max; i < lines.size(); ++i) {
    PlaceLine other = lines[i];
    other.node = kOtherPlaces;
    if (!other.gpu.empty()) other.gpu = kOtherPlaces;
    const auto [at, is_new] = others.try_emplace(other.cluster, other);
    if (!is_new) add_up(at->second.cost, other.cost);
  }
  if (lines.size() > shown_max) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(shown_max), lines.end());
  }
  for (const auto& [cluster, line] : others) lines.push_back(line);
  return lines;
}

std::string milliseconds_as_seconds(std::uint64_t ms) {
  return fmt::format("{}.{:03}", ms / 1000, ms % 1000);
}

}  // namespace

void add_node_costs(const LiveView& view, std::size_t shown_max, MetricsText& metrics) {
  if (shown_max == 0) return;
  std::vector<PlaceLine> lines;
  for (const auto& [id, cluster] : view.clusters) {
    const std::size_t first = lines.size();
    for (const auto& [place, cost] : cluster.recent.places) {
      const std::string_view node = place.first.text();
      if (lines.size() > first && lines.back().node == node) {
        add_up(lines.back().cost, cost);
      } else {
        lines.push_back({id.text(), node, {}, cost});
      }
    }
  }
  metrics.family("pennyweight_node_cost_per_hour", "gauge",
                 "Cost of an hour of each node, averaged over the last minutes: held by "
                 "workloads, of that held_idle, and unallocated.");
  for (const PlaceLine& line : with_others(std::move(lines), shown_max)) {
    const std::string currency = line.cost.held.currency().text();
    const auto write = [&](std::string_view kind, const Money& cost) {
      metrics.sample(
          {{"cluster", line.cluster}, {"node", line.node}, {"kind", kind}, {"currency", currency}},
          to_text(cost.amount()));
    };
    write("held", line.cost.held);
    write("held_idle", line.cost.held_idle);
    write("unallocated", line.cost.unallocated);
  }
}

void add_gpu_costs(const LiveView& view, std::size_t shown_max, MetricsText& metrics) {
  if (shown_max == 0) return;
  std::vector<PlaceLine> lines;
  for (const auto& [id, cluster] : view.clusters) {
    for (const auto& [place, cost] : cluster.recent.places) {
      if (!place.second.empty()) {
        lines.push_back({id.text(), place.first.text(), place.second.text(), cost});
      }
    }
  }
  metrics.family("pennyweight_gpu_cost_per_hour", "gauge",
                 "Cost of an hour of each GPU of which it is known who holds it, averaged over the "
                 "last minutes: held, and of that held_idle.");
  for (const PlaceLine& line : with_others(std::move(lines), shown_max)) {
    const std::string currency = line.cost.held.currency().text();
    const auto write = [&](std::string_view kind, const Money& cost) {
      metrics.sample({{"cluster", line.cluster},
                      {"node", line.node},
                      {"gpu", line.gpu},
                      {"kind", kind},
                      {"currency", currency}},
                     to_text(cost.amount()));
    };
    write("held", line.cost.held);
    write("held_idle", line.cost.held_idle);
  }
}

void add_kills(const OomKills& kills, MetricsText& metrics) {
  std::vector<OomKill> newest = kills.kills;
  std::ranges::stable_sort(newest, [](const OomKill& a, const OomKill& b) { return a.at > b.at; });
  if (newest.size() > kKillsShownMax) {
    newest.erase(newest.begin() + kKillsShownMax, newest.end());
  }
  metrics.family("pennyweight_oom_killed_timestamp_seconds", "gauge",
                 "When each container with GPUs was last killed for lack of memory, of the last "
                 "day and the newest 1000.");
  for (const OomKill& one : newest) {
    metrics.sample({{"cluster", one.cluster.text()},
                    {"workload", one.workload.text()},
                    {"container", one.container}},
                   milliseconds_as_seconds(static_cast<std::uint64_t>(unix_ms(one.at))));
  }
}

void add_latencies(std::span<const live::LatencyReading> services, MetricsText& metrics) {
  services = services.first(std::min(services.size(), kServicesShownMax));
  const auto write = [&](std::uint64_t live::LatencyReading::* ms) {
    for (const live::LatencyReading& one : services) {
      if (one.*ms == 0) continue;
      metrics.sample({{"cluster", one.cluster.text()}, {"service", one.service}},
                     milliseconds_as_seconds(one.*ms));
    }
  };
  metrics.family("pennyweight_service_latency_p95_seconds", "gauge",
                 "How long 95 % of the requests of the last minutes took at most, by service, of "
                 "the first 1000.");
  write(&live::LatencyReading::p95_ms);
  metrics.family("pennyweight_service_latency_usual_p95_seconds", "gauge",
                 "The same of the last 24 hours, without the slow ones.");
  write(&live::LatencyReading::usual_p95_ms);
}

}  // namespace pennyweight
