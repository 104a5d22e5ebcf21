// Configuration of `serve`: where it listens, what it keeps, whom it asks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/openid_config.h"
#include "config/yaml_reader.h"
#include "core/id.h"
#include "http/client.h"
#include "telemetry/meaning.h"

namespace pennyweight {

// "10.0.0.0/8", "2001:db8::7": addresses of proxies. IPv4 is written as IPv6 has it,
// ::ffff:a.b.c.d.
struct ProxyAddresses {
  std::array<std::uint8_t, 16> address{};
  std::uint32_t bits = 128;  // that are the same in all of them, 1 to 128; of IPv4 its own and 96
  bool operator==(const ProxyAddresses&) const = default;
};

// How often somebody may ask: so often a second, and so often at once after a while of silence.
struct AskingRate {
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
  std::uint32_t grace_ms = 120'000;  // how long a minute waits for what is late of it
  // How often what is finished goes into the ledger; nothing: flush_every() of config.h says.
  std::optional<std::uint32_t> flush_ms;
  // How often news of jobs, pods and nodes goes there; nothing: news_every() of config.h says.
  std::optional<std::uint32_t> news_ms;
  std::uint32_t allocate_ms = 300'000;  // how often the day that is not over is divided again
  // Days that are over are priced here and divided by `pennyweight work`.
  bool leaves_to_workers = false;
  std::uint32_t reading_ms = 3'600'000;  // how often a holding that goes on is written again
  std::uint64_t body_bytes_max = 32u << 20;
  std::uint64_t journal_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t series_max = 4'000'000;
  std::uint32_t requests_max = 64;                            // at once
  AskingRate asker_rate{.per_second = 200, .burst = 1000};    // of a user, a token's too
  AskingRate address_rate{.per_second = 100, .burst = 1000};  // of who is not known, of open routes
  // Tokens of machines: who bears one may send telemetry, read metrics and what runs now.
  std::string token_file;
  // Without token_file so may who asks from this machine, by no proxy.
  bool trust_loopback = true;
  std::string tls_cert_file;
  std::string tls_key_file;
  // Who is believed when he says for whom he asks, and whether that one came over TLS.
  std::vector<ProxyAddresses> trusted_proxies;
  OpenIdConfig openid;
};

// Targets that are asked for their metrics.
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

// One Slurm cluster whose records are asked for.
struct SlurmConfig {
  ClusterId cluster{""};
  std::string sacct = "sacct";
  std::string scontrol = "scontrol";
  std::uint32_t interval_ms = 30'000;
};

struct LiveConfig {
  ServeConfig serve;
  std::vector<ScrapeConfig> scrape;
  std::vector<KubernetesConfig> kubernetes;
  std::vector<SlurmConfig> slurm;
  std::vector<telemetry::OutcomeRule> outcomes;
};

// Gives a path of the document, relative to its folder.
using PathReader = std::function<std::string(const YamlNode&, std::string_view what)>;

void read_serve_config(YamlReader& yaml, const YamlNode& node, const PathReader& path,
                       ServeConfig& serve);
std::vector<ScrapeConfig> read_scrape_configs(YamlReader& yaml, const YamlNode& node,
                                              const PathReader& path);
std::vector<KubernetesConfig> read_kubernetes_configs(YamlReader& yaml, const YamlNode& node,
                                                      const PathReader& path);
std::vector<SlurmConfig> read_slurm_configs(YamlReader& yaml, const YamlNode& node);
std::vector<telemetry::OutcomeRule> read_outcome_rules(YamlReader& yaml, const YamlNode& node);

}  // namespace pennyweight
