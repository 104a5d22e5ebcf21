// Target: one endpoint that is scraped, made from an address that was discovered.
//
// The rules are those of Prometheus, without relabelling: a group has addresses and labels;
// __address__, __scheme__, __metrics_path__ and __param_<name> say where to scrape, the job's name
// and the address become `job` and `instance`, and other labels that begin with __ are dropped.
// https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/http/client.h"
#include "telemetry/prometheus/exposition.h"

namespace pennyweight::collect {

inline constexpr std::size_t kScrapeBytesMax = 64u << 20;  // of one answer, decoded

// How the targets of one job are scraped.
struct ScrapeJob {
  std::string name;
  std::string scheme = "http";  // or https
  std::string metrics_path = "/metrics";
  std::vector<std::pair<std::string, std::string>> params = {};
  std::chrono::milliseconds interval{30'000};
  bool honor_labels = false;
  bool honor_timestamps = true;
  std::vector<prometheus::Label> labels = {};  // such as cluster; a target's own win
  // TLS, tokens, time-outs. A scrape that takes longer than `interval` delays the next one.
  http::Settings http = {.body_bytes_max = kScrapeBytesMax};
};

struct TargetGroup {
  std::vector<std::string> addresses;  // host:port
  std::vector<prometheus::Label> labels = {};
};

struct Target {
  std::string id;  // job, address and labels: the same as long as the target is the same
  std::string job;
  std::string url;
  prometheus::TargetLabels labels;
  bool honor_timestamps = true;
  std::chrono::milliseconds interval{30'000};
};

// One address of a group. kConfig: it has a path or a space, or the scheme is unknown.
Result<Target> make_target(const ScrapeJob& job, std::string_view address,
                           const TargetGroup& group);

}  // namespace pennyweight::collect
