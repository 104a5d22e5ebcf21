// The configuration of `serve`: where it listens, its limits, and the sources that it collects
// from.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_key.h"
#include "config/openid_config.h"
#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/http/client.h"
#include "core/id.h"
#include "telemetry/classification.h"

namespace pennyweight {

// The addresses of proxies, from "10.0.0.0/8" or "2001:db8::7". IPv4 is mapped to IPv6,
// ::ffff:a.b.c.d.
struct ProxyAddresses {
  std::array<std::uint8_t, 16> address{};
  std::uint32_t bits = 128;  // of the prefix, 1 to 128; for IPv4 its own and 96
  bool operator==(const ProxyAddresses&) const = default;
};

// How many requests a client may send: so many a second, and so many at once after a pause.
struct RequestRate {
  std::uint32_t per_second;
  std::uint32_t burst;
};

struct ServeConfig {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9595;
  std::string data;  // folder of the journal; empty: beside the ledger, "<store.path>.live"
  ClusterId cluster{"default"};           // of samples that name none
  std::string cluster_label = "cluster";  // of samples; empty: none is looked at
  std::uint32_t resolution_ms = 60'000;
  std::uint32_t grace_ms = 120'000;  // how long a minute waits for late samples
  // How often finished spans go into the ledger; nothing: flush_every() of config.h decides.
  std::optional<std::uint32_t> flush_ms;
  // How often changes of jobs, pods and nodes go there; nothing: news_every() of config.h decides.
  std::optional<std::uint32_t> news_ms;
  std::uint32_t allocate_ms = 300'000;  // how often the current day is allocated again
  // Which page of the kubelet tells what containers use of their hosts, where it is scraped.
  telemetry::HostUsageSource host_usage = telemetry::HostUsageSource::kNone;
  // Finished days are priced here and allocated by `pennyweight work`.
  bool leaves_to_workers = false;
  std::uint32_t reading_ms = 3'600'000;  // how often a holding that continues is written again
  std::uint64_t body_bytes_max = 32u << 20;
  std::uint64_t journal_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t series_max = 4'000'000;
  std::uint32_t requests_max = 64;  // at once
  std::uint32_t connections_max = 4096;
  std::uint32_t connections_per_address_max = 512;
  std::uint32_t streams_per_user_max = 16;                     // of events
  RequestRate asker_rate{.per_second = 200, .burst = 1000};    // of a user, tokens included
  RequestRate address_rate{.per_second = 100, .burst = 1000};  // without a user, or to open routes
  // Tokens of machines: with one a client may send telemetry, read metrics and what runs now.
  std::string token_file;
  // Without token_file, clients on this machine that use no proxy may do the same.
  bool trust_loopback = false;
  // Names under which it is reached, besides addresses and private names; "*.x": every name below.
  std::vector<std::string> hosts;
  std::string tls_cert_file;
  std::string tls_key_file;
  // Proxies whose headers are trusted for the client's address and for whether it used TLS.
  std::vector<ProxyAddresses> trusted_proxies;
  // How long a sign-in is fresh enough for users, tokens, second factors and closing months.
  std::uint32_t fresh_sign_in_ms = 900'000;
  OpenIdConfig openid;
};

// Targets whose metrics are scraped.
struct ScrapeConfig {
  std::string job;
  ClusterId cluster{""};             // empty: serve.cluster
  std::vector<std::string> targets;  // "host:port" or a URL
  std::string targets_file;          // file_sd of Prometheus, JSON or YAML
  bool kubernetes = false;           // pods of the cluster's API that are annotated to be scraped
  std::string scheme = "http";
  std::string path = "/metrics";
  std::uint32_t interval_ms = 30'000;
  bool honor_labels = false;
  http::Settings http;
};

// One Kubernetes cluster whose API is watched.
struct KubernetesConfig {
  ClusterId cluster{""};
  std::string kubeconfig;  // empty: the service account of the pod that we run in
  std::string context;     // of the kubeconfig; empty: its current one
  std::vector<std::string> annotations = {};  // of pods, that become labels whatever their length
  bool gpu_nodes_only = false;  // pods without a GPU on nodes without one are left out
};

// One Slurm cluster whose records are read.
struct SlurmConfig {
  ClusterId cluster{""};
  std::string sacct = "sacct";
  std::string scontrol = "scontrol";
  std::string sacctmgr = "sacctmgr";  // empty: not asked
  std::uint32_t interval_ms = 30'000;
};

// Sets the address that `serve` listens on, such as "127.0.0.1:9595". An Error of kBadValue for any
// other text.
Result<void> set_listen_address(std::string_view text, ServeConfig& serve);

struct LiveConfig {
  ServeConfig serve;
  std::vector<ScrapeConfig> scrape;
  std::vector<KubernetesConfig> kubernetes;
  std::vector<SlurmConfig> slurm;
  std::vector<telemetry::OutcomeRule> outcomes;
};

// Reads a path, which is relative to the document's folder.
using PathReader = std::function<std::string(const YamlNode&, std::string_view what)>;

void read_serve_config(YamlReader& yaml, const YamlNode& node, const PathReader& path,
                       ServeConfig& serve);
std::vector<ScrapeConfig> read_scrape_configs(YamlReader& yaml, const YamlNode& node,
                                              const PathReader& path);
std::vector<KubernetesConfig> read_kubernetes_configs(YamlReader& yaml, const YamlNode& node,
                                                      const PathReader& path);
std::vector<SlurmConfig> read_slurm_configs(YamlReader& yaml, const YamlNode& node);
std::vector<telemetry::OutcomeRule> read_outcome_rules(YamlReader& yaml, const YamlNode& node);

ConfigKeys serve_config_keys();
ConfigKeys collection_config_keys();  // scrape, kubernetes, slurm, outcomes

}  // namespace pennyweight
