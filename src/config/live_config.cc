#include "config/live_config.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "config/config.h"
#include "core/ascii.h"
#include "ledger/host_usage.h"
#include "ledger/job_without_time.h"

namespace pennyweight {
namespace {

constexpr std::size_t kLiveListMax = 10'000;
constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kDay = 86'400 * kSecond;
constexpr std::int64_t kSeriesMax = 100'000'000;
constexpr std::int64_t kRequestsMax = 10'000;
constexpr std::int64_t kRequestRateMax = 1'000'000;  // what api::RateLimit takes
constexpr std::size_t kProxiesMax = 1'000;
constexpr std::size_t kHostsMax = 1'000;
constexpr std::int64_t kConnectionsMax = 1'000'000;
constexpr std::array<std::string_view, 2> kDividers = {"serve", "workers"};
// In the order of telemetry::HostUsageSource.
constexpr std::array<std::string_view, 3> kHostUsageSources = {"none", "cadvisor", "resource"};

void read_duration(YamlReader& yaml, const YamlNode& node, std::string_view what,
                   std::int64_t min_ms, std::int64_t max_ms, std::uint32_t& into) {
  const auto given = yaml.duration(node, what, min_ms, max_ms);
  if (given) into = static_cast<std::uint32_t>(*given);
}

void read_count(YamlReader& yaml, const YamlNode& node, std::string_view what, std::int64_t most,
                std::uint32_t& into) {
  const auto count = yaml.integer(node, what, 1, most);
  if (count) into = static_cast<std::uint32_t>(*count);
}

void read_bytes(YamlReader& yaml, const YamlNode& node, std::string_view what,
                std::uint64_t& into) {
  const auto text = yaml.text(node, what);
  if (!text) return;
  const auto bytes = parse_bytes(*text);
  if (!bytes) return yaml.refuse(node, std::string(what) + ": " + bytes.error().message);
  into = *bytes;
}

void read_text(YamlReader& yaml, const YamlNode& node, std::string_view what, std::string& into) {
  if (const auto text = yaml.text(node, what)) into = *text;
}

void read_cluster(YamlReader& yaml, const YamlNode& node, std::string_view what, ClusterId& into) {
  if (const auto text = yaml.text(node, what)) into = ClusterId(*text);
}

void read_listen(YamlReader& yaml, const YamlNode& node, ServeConfig& serve) {
  const auto text = yaml.text(node, "serve.listen");
  if (!text) return;
  if (const auto set = set_listen_address(*text, serve); !set) {
    yaml.refuse(node, "serve.listen: " + set.error().message);
  }
}

void read_limits(YamlReader& yaml, const YamlNode& node, ServeConfig& serve) {
  const auto count = [&](const std::string& name, std::int64_t most, std::uint32_t& into) {
    return std::pair<std::string, YamlReader::Reader>(
        name, [&yaml, name, most, &into](const YamlNode& at) {
          read_count(yaml, at, "serve.limits." + name, most, into);
        });
  };
  yaml.mapping(
      node, "serve.limits",
      {{"body",
        [&](const YamlNode& at) {
          read_bytes(yaml, at, "serve.limits.body", serve.body_bytes_max);
        }},
       {"journal",
        [&](const YamlNode& at) {
          read_bytes(yaml, at, "serve.limits.journal", serve.journal_bytes_max);
        }},
       {"series",
        [&](const YamlNode& at) {
          const auto series = yaml.integer(at, "serve.limits.series", 1, kSeriesMax);
          if (series) serve.series_max = static_cast<std::uint64_t>(*series);
        }},
       count("requests", kRequestsMax, serve.requests_max),
       count("connections", kConnectionsMax, serve.connections_max),
       count("connections_per_address", kConnectionsMax, serve.connections_per_address_max),
       count("streams_per_user", kRequestsMax, serve.streams_per_user_max),
       count("asker_per_second", kRequestRateMax, serve.asker_rate.per_second),
       count("asker_burst", kRequestRateMax, serve.asker_rate.burst),
       count("address_per_second", kRequestRateMax, serve.address_rate.per_second),
       count("address_burst", kRequestRateMax, serve.address_rate.burst)});
}

// Reads ADDRESS or ADDRESS/BITS; nothing for any other text. Without BITS it is one address.
std::optional<ProxyAddresses> parse_proxies(std::string_view text) {
  static constexpr std::size_t kIpv4At = 12;
  const std::size_t slash = text.find('/');
  const std::string address(text.substr(0, slash));
  ProxyAddresses proxies;
  const bool is_ipv4 = !address.contains(':');
  if (is_ipv4) {
    proxies.address[10] = proxies.address[11] = 0xff;
    if (::inet_pton(AF_INET, address.c_str(), &proxies.address[kIpv4At]) != 1) return std::nullopt;
  } else if (::inet_pton(AF_INET6, address.c_str(), proxies.address.data()) != 1) {
    return std::nullopt;
  }
  if (slash == std::string_view::npos) return proxies;
  const std::string_view digits = text.substr(slash + 1);
  const char* const end = digits.data() + digits.size();
  const std::uint32_t bits_max = is_ipv4 ? 32 : 128;
  const auto parsed = std::from_chars(digits.data(), end, proxies.bits);
  if (parsed.ec != std::errc() || parsed.ptr != end || proxies.bits > bits_max) return std::nullopt;
  if (is_ipv4) proxies.bits += 96;
  return proxies;
}

// Whether it contains all of IPv6, or all of IPv4 (::ffff:0:0/96).
bool is_everybody(const ProxyAddresses& proxies) {
  static constexpr std::uint32_t kIpv4Bits = 96;
  if (proxies.bits > kIpv4Bits) return false;
  for (std::uint32_t bit = 0; bit < proxies.bits; ++bit) {
    const bool is_set = (proxies.address[bit / 8] >> (7 - bit % 8) & 1) != 0;
    if (is_set != (bit >= 80)) return false;
  }
  return true;
}

// Whether no bit is set beyond the prefix.
bool is_plain_network(const ProxyAddresses& proxies) {
  for (std::uint32_t bit = proxies.bits; bit < 128; ++bit) {
    if ((proxies.address[bit / 8] >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

void read_trusted_proxies(YamlReader& yaml, const YamlNode& node, ServeConfig& serve) {
  static constexpr std::string_view kWhat = "serve.trusted_proxies";
  serve.trusted_proxies.clear();
  yaml.sequence(node, kWhat, kProxiesMax, [&](const YamlNode& item) {
    const auto text = yaml.text(item, kWhat);
    if (!text) return;
    const auto proxies = parse_proxies(*text);
    const auto refuse = [&](std::string_view why) {
      yaml.refuse(item, fmt::format("{}: {}: {}", kWhat, *text, why));
    };
    if (!proxies) return refuse("write it as 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32");
    if (is_everybody(*proxies)) return refuse("these are all addresses; name only the proxies");
    if (!is_plain_network(*proxies)) {
      return refuse("the address has bits set beyond its prefix");
    }
    serve.trusted_proxies.push_back(*proxies);
  });
}

// A host name as in Host, "*." in front of it at most.
bool is_host_pattern(std::string_view text) {
  const std::string_view name = text.starts_with("*.") ? text.substr(2) : text;
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return ascii::is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

void read_hosts(YamlReader& yaml, const YamlNode& node, ServeConfig& serve) {
  serve.hosts = yaml.texts(node, "serve.hosts", kHostsMax);
  for (const std::string& host : serve.hosts) {
    if (is_host_pattern(host)) continue;
    yaml.refuse(node, fmt::format("serve.hosts: {}: write a name without scheme and port, as "
                                  "gpu.example.com or *.example.com",
                                  host));
  }
}

void read_tls_of_server(YamlReader& yaml, const YamlNode& node, const PathReader& path,
                        ServeConfig& serve) {
  yaml.mapping(
      node, "serve.tls",
      {{"cert_file",
        [&](const YamlNode& at) { serve.tls_cert_file = path(at, "serve.tls.cert_file"); }},
       {"key_file",
        [&](const YamlNode& at) { serve.tls_key_file = path(at, "serve.tls.key_file"); }}});
  if (serve.tls_cert_file.empty() != serve.tls_key_file.empty()) {
    yaml.refuse(node, "serve.tls: give both cert_file and key_file");
  }
}

void read_tls(YamlReader& yaml, const YamlNode& node, const PathReader& path,
              http::Settings& settings) {
  yaml.mapping(
      node, "tls",
      {{"ca_file", [&](const YamlNode& at) { settings.ca_file = path(at, "tls.ca_file"); }},
       {"cert_file", [&](const YamlNode& at) { settings.cert_file = path(at, "tls.cert_file"); }},
       {"key_file", [&](const YamlNode& at) { settings.key_file = path(at, "tls.key_file"); }},
       {"server_name",
        [&](const YamlNode& at) { read_text(yaml, at, "tls.server_name", settings.server_name); }},
       {"insecure_skip_verify", [&](const YamlNode& at) {
          settings.insecure_skip_verify =
              yaml.yes_or_no(at, "tls.insecure_skip_verify").value_or(false);
        }}});
}

void read_basic_auth(YamlReader& yaml, const YamlNode& node, const PathReader& path,
                     http::Settings& settings) {
  yaml.mapping(node, "basic_auth",
               {{"username",
                 [&](const YamlNode& at) {
                   read_text(yaml, at, "basic_auth.username", settings.basic_user);
                 }},
                {"password_file", [&](const YamlNode& at) {
                   settings.basic_password_file = path(at, "basic_auth.password_file");
                 }}});
}

ScrapeConfig read_scrape(YamlReader& yaml, const YamlNode& node, const PathReader& path) {
  ScrapeConfig scrape;
  yaml.mapping(
      node, "scrape[]",
      {{"job", [&](const YamlNode& at) { read_text(yaml, at, "scrape[].job", scrape.job); }},
       {"cluster",
        [&](const YamlNode& at) { read_cluster(yaml, at, "scrape[].cluster", scrape.cluster); }},
       {"targets",
        [&](const YamlNode& at) {
          scrape.targets = yaml.texts(at, "scrape[].targets", kLiveListMax);
        }},
       {"targets_file",
        [&](const YamlNode& at) { scrape.targets_file = path(at, "scrape[].targets_file"); }},
       {"kubernetes",
        [&](const YamlNode& at) {
          scrape.kubernetes = yaml.yes_or_no(at, "scrape[].kubernetes").value_or(false);
        }},
       {"scheme",
        [&](const YamlNode& at) {
          static constexpr std::string_view kSchemes[] = {"http", "https"};
          const auto which = yaml.choice(at, "scrape[].scheme", kSchemes);
          if (which) scrape.scheme = kSchemes[*which];
        }},
       {"path", [&](const YamlNode& at) { read_text(yaml, at, "scrape[].path", scrape.path); }},
       {"interval",
        [&](const YamlNode& at) {
          read_duration(yaml, at, "scrape[].interval", kSecond, 300 * kSecond, scrape.interval_ms);
        }},
       {"timeout",
        [&](const YamlNode& at) {
          const auto given = yaml.duration(at, "scrape[].timeout", 100, 300 * kSecond);
          if (given) scrape.http.timeout = std::chrono::milliseconds(*given);
        }},
       {"honor_labels",
        [&](const YamlNode& at) {
          scrape.honor_labels = yaml.yes_or_no(at, "scrape[].honor_labels").value_or(false);
        }},
       {"bearer_token_file",
        [&](const YamlNode& at) {
          scrape.http.bearer_token_file = path(at, "scrape[].bearer_token_file");
        }},
       {"basic_auth", [&](const YamlNode& at) { read_basic_auth(yaml, at, path, scrape.http); }},
       {"tls", [&](const YamlNode& at) { read_tls(yaml, at, path, scrape.http); }}});
  if (scrape.job.empty()) yaml.refuse(node, "scrape[]: give it a name with `job:`");
  if (scrape.targets.empty() && scrape.targets_file.empty() && !scrape.kubernetes) {
    yaml.refuse(node, "scrape[]: name what to scrape: targets, targets_file or kubernetes");
  }
  return scrape;
}

KubernetesConfig read_kubernetes(YamlReader& yaml, const YamlNode& node, const PathReader& path) {
  KubernetesConfig kubernetes;
  yaml.mapping(
      node, "kubernetes[]",
      {{"cluster",
        [&](const YamlNode& at) {
          read_cluster(yaml, at, "kubernetes[].cluster", kubernetes.cluster);
        }},
       {"kubeconfig",
        [&](const YamlNode& at) { kubernetes.kubeconfig = path(at, "kubernetes[].kubeconfig"); }},
       {"annotations",
        [&](const YamlNode& at) {
          kubernetes.annotations = yaml.texts(at, "kubernetes[].annotations", kLiveListMax);
        }},
       {"gpu_nodes_only",
        [&](const YamlNode& at) {
          kubernetes.gpu_nodes_only =
              yaml.yes_or_no(at, "kubernetes[].gpu_nodes_only").value_or(false);
        }},
       {"context", [&](const YamlNode& at) {
          read_text(yaml, at, "kubernetes[].context", kubernetes.context);
        }}});
  if (kubernetes.cluster.empty()) {
    yaml.refuse(node, "kubernetes[]: name the cluster with `cluster:`");
  }
  return kubernetes;
}

SlurmConfig read_slurm(YamlReader& yaml, const YamlNode& node) {
  SlurmConfig slurm;
  yaml.mapping(
      node, "slurm[]",
      {{"cluster",
        [&](const YamlNode& at) { read_cluster(yaml, at, "slurm[].cluster", slurm.cluster); }},
       {"sacct", [&](const YamlNode& at) { read_text(yaml, at, "slurm[].sacct", slurm.sacct); }},
       {"scontrol",
        [&](const YamlNode& at) { read_text(yaml, at, "slurm[].scontrol", slurm.scontrol); }},
       {"sacctmgr",
        [&](const YamlNode& at) { read_text(yaml, at, "slurm[].sacctmgr", slurm.sacctmgr); }},
       {"interval", [&](const YamlNode& at) {
          read_duration(yaml, at, "slurm[].interval", kSecond, 3600 * kSecond, slurm.interval_ms);
        }}});
  if (slurm.cluster.empty()) yaml.refuse(node, "slurm[]: name the cluster with `cluster:`");
  return slurm;
}

telemetry::OutcomeRule read_outcome_rule(YamlReader& yaml, const YamlNode& node) {
  telemetry::OutcomeRule rule;
  yaml.mapping(
      node, "outcomes[]",
      {{"metric",
        [&](const YamlNode& at) { read_text(yaml, at, "outcomes[].metric", rule.metric); }},
       {"measure",
        [&](const YamlNode& at) { read_text(yaml, at, "outcomes[].measure", rule.measure); }},
       {"labels", [&](const YamlNode& at) { rule.keep = yaml.texts(at, "outcomes[].labels", 32); }},
       {"per",
        [&](const YamlNode& at) {
          const auto per = yaml.integer(at, "outcomes[].per", 1, 1'000'000'000);
          if (per) rule.per = static_cast<std::uint64_t>(*per);
        }},
       {"where", [&](const YamlNode& at) {
          if (!yaml.is(at, YamlNode::Kind::kMapping, "outcomes[].where")) return;
          for (const auto& entry : at.entries) {
            if (const auto value = yaml.any_text(entry.value, "outcomes[].where")) {
              rule.where.push_back({entry.key, *value});
            }
          }
        }}});
  if (rule.metric.empty() || rule.measure.empty()) {
    yaml.refuse(node,
                "outcomes[]: give `metric:`, a counter's name, and `measure:`, what it counts");
  }
  if (is_measure_of_host_usage(rule.measure) || is_measure_of_jobs_without_time(rule.measure)) {
    yaml.refuse(node, fmt::format("outcomes[]: the measure '{}' is pennyweight's own; give yours "
                                  "another name",
                                  rule.measure));
  }
  return rule;
}

template <class Item, class Read>
std::vector<Item> read_list(YamlReader& yaml, const YamlNode& node, std::string_view what,
                            const Read& read) {
  std::vector<Item> items;
  yaml.sequence(node, what, kLiveListMax, [&](const YamlNode& at) { items.push_back(read(at)); });
  return items;
}

}  // namespace

Result<void> set_listen_address(std::string_view text, ServeConfig& serve) {
  const std::size_t colon = text.rfind(':');
  std::uint32_t port = 0;
  const char* const end = text.data() + text.size();
  const bool has_port = colon != std::string_view::npos && colon + 1 < text.size() &&
                        std::from_chars(text.data() + colon + 1, end, port).ptr == end &&
                        port < 65536;
  if (!has_port || colon == 0) {
    return fail(ErrorCode::kBadValue, "write it as 127.0.0.1:9595");
  }
  serve.host = text.substr(0, colon);
  serve.port = static_cast<std::uint16_t>(port);
  return {};
}

void read_serve_config(YamlReader& yaml, const YamlNode& node, const PathReader& path,
                       ServeConfig& serve) {
  yaml.mapping(
      node, "serve",
      {{"listen", [&](const YamlNode& at) { read_listen(yaml, at, serve); }},
       {"data", [&](const YamlNode& at) { serve.data = path(at, "serve.data"); }},
       {"cluster",
        [&](const YamlNode& at) { read_cluster(yaml, at, "serve.cluster", serve.cluster); }},
       {"cluster_label",
        [&](const YamlNode& at) {
          const auto text = yaml.any_text(at, "serve.cluster_label");
          if (text) serve.cluster_label = *text;
        }},
       {"resolution",
        [&](const YamlNode& at) {
          read_duration(yaml, at, "serve.resolution", kSecond, 900 * kSecond, serve.resolution_ms);
          if (86'400'000 % serve.resolution_ms != 0) {
            yaml.refuse(at, "serve.resolution: a day must be a multiple of it");
          }
        }},
       {"grace",
        [&](const YamlNode& at) {
          read_duration(yaml, at, "serve.grace", kSecond, 600 * kSecond, serve.grace_ms);
        }},
       {"flush_every",
        [&](const YamlNode& at) {
          std::uint32_t flush_ms = 0;
          read_duration(yaml, at, "serve.flush_every", 200, 600 * kSecond, flush_ms);
          if (flush_ms > 0) serve.flush_ms = flush_ms;
        }},
       {"news_every",
        [&](const YamlNode& at) {
          std::uint32_t news_ms = 0;
          read_duration(yaml, at, "serve.news_every", 200, 600 * kSecond, news_ms);
          if (news_ms > 0) serve.news_ms = news_ms;
        }},
       {"allocate_every",
        [&](const YamlNode& at) {
          read_duration(yaml, at, "serve.allocate_every", kSecond, kDay, serve.allocate_ms);
        }},
       {"allocate",
        [&](const YamlNode& at) {
          const auto who = yaml.choice(at, "serve.allocate", kDividers);
          if (who) serve.leaves_to_workers = *who == 1;
        }},
       {"host_usage",
        [&](const YamlNode& at) {
          const auto source = yaml.choice(at, "serve.host_usage", kHostUsageSources);
          if (source) serve.host_usage = static_cast<telemetry::HostUsageSource>(*source);
        }},
       {"reading_every",
        [&](const YamlNode& at) {
          read_duration(yaml, at, "serve.reading_every", kSecond, kDay, serve.reading_ms);
        }},
       {"token_file", [&](const YamlNode& at) { serve.token_file = path(at, "serve.token_file"); }},
       {"trust_loopback",
        [&](const YamlNode& at) {
          const auto trusts = yaml.yes_or_no(at, "serve.trust_loopback");
          if (trusts) serve.trust_loopback = *trusts;
        }},
       {"tls", [&](const YamlNode& at) { read_tls_of_server(yaml, at, path, serve); }},
       {"hosts", [&](const YamlNode& at) { read_hosts(yaml, at, serve); }},
       {"trusted_proxies", [&](const YamlNode& at) { read_trusted_proxies(yaml, at, serve); }},
       {"fresh_sign_in",
        [&](const YamlNode& at) {
          read_duration(yaml, at, "serve.fresh_sign_in", 60 * kSecond, kDay,
                        serve.fresh_sign_in_ms);
        }},
       {"openid", [&](const YamlNode& at) { serve.openid = read_openid_config(yaml, at, path); }},
       {"limits", [&](const YamlNode& at) { read_limits(yaml, at, serve); }}});
}

std::vector<ScrapeConfig> read_scrape_configs(YamlReader& yaml, const YamlNode& node,
                                              const PathReader& path) {
  auto all = read_list<ScrapeConfig>(
      yaml, node, "scrape", [&](const YamlNode& at) { return read_scrape(yaml, at, path); });
  std::set<std::string> jobs;
  for (const ScrapeConfig& scrape : all) {
    if (!scrape.job.empty() && !jobs.insert(scrape.job).second) {
      yaml.refuse(node, "scrape: two entries have the job " + scrape.job);
    }
  }
  return all;
}

std::vector<KubernetesConfig> read_kubernetes_configs(YamlReader& yaml, const YamlNode& node,
                                                      const PathReader& path) {
  return read_list<KubernetesConfig>(yaml, node, "kubernetes", [&](const YamlNode& at) {
    return read_kubernetes(yaml, at, path);
  });
}

std::vector<SlurmConfig> read_slurm_configs(YamlReader& yaml, const YamlNode& node) {
  return read_list<SlurmConfig>(yaml, node, "slurm",
                                [&](const YamlNode& at) { return read_slurm(yaml, at); });
}

std::vector<telemetry::OutcomeRule> read_outcome_rules(YamlReader& yaml, const YamlNode& node) {
  return read_list<telemetry::OutcomeRule>(
      yaml, node, "outcomes", [&](const YamlNode& at) { return read_outcome_rule(yaml, at); });
}

ConfigKeys serve_config_keys() {
  return {
      {"serve.listen", "address:port", "127.0.0.1:9595",
       "The address on which `serve` answers. Port 0: any free port, which the log names."},
      {"serve.data", "path", "STORE.live",
       "Its folder, for data that is acknowledged and not in the ledger yet."},
      {"serve.cluster", "text", "default", "The cluster of samples that name none."},
      {"serve.cluster_label", "label", "cluster",
       "The label of samples that names their cluster, an external label of Prometheus."},
      {"serve.resolution", "duration", "1m",
       "The length of the spans over which usage is averaged and stored."},
      {"serve.grace", "duration", "2m",
       "How long a span waits for late samples; those that come later become a further part of "
       "it."},
      {"serve.flush_every", "duration", "1m",
       "How often finished spans go from the journal into the ledger, at most `10m`; sooner once "
       "half a million rows wait. On ClickHouse, where each flush is a commit that every later "
       "program reads, the default is `5m`. Reports show what is in the ledger; what runs now is "
       "shown without waiting for it."},
      {"serve.news_every", "duration", "at once",
       "How often changes of jobs, pods and nodes go into the ledger, at most `10m`. By default at "
       "once into a file, and every minute into a ledger on ClickHouse, where each time is a "
       "commit. What runs is shown before; Slurm is asked again once the ledger has its last "
       "answer."},
      {"serve.allocate_every", "duration", "5m",
       "How often the current day is allocated again; less often where that takes long."},
      {"serve.allocate", "serve, workers", "serve",
       "Who allocates finished days: `serve` itself, or `pennyweight work` beside it."},
      {"serve.host_usage", "none, cadvisor, resource", "none",
       "Which page of the kubelet, where it is scraped or its metrics are sent, tells how much "
       "processor time and memory containers use: `/metrics/cadvisor` or `/metrics/resource`. Two "
       "rows a pod and span; see [activity.md](activity.md#used-and-requested-cpus-and-memory)."},
      {"serve.reading_every", "duration", "1h",
       "How often a holding that continues is written to the ledger again."},
      {"serve.token_file", "path", "",
       "Tokens of machines, one a line. A client that sends one (`Authorization: Bearer`) may send "
       "telemetry, and read `/metrics` and what runs now. People, and programs that read costs, "
       "have accounts; see [access.md](access.md)."},
      {"serve.trust_loopback", "true, false", "false",
       "Whether clients on this machine that use no proxy may do the same without a token; never "
       "with a `token_file`. Without both, `serve` writes a token for programs on this machine "
       "into the file `machine-token` of `serve.data`, which only its user can read, and "
       "`pennyweight top` uses it."},
      {"serve.hosts", "list of names", "",
       "Names under which browsers reach it, as `gpu.example.com` or `*.example.com`. Addresses, "
       "`localhost`, this machine's name, names without a dot, those inside of Kubernetes, of the "
       "certificate and of `redirect_url` need not be listed. A request to another name is refused "
       "with 421, unless it has a token."},
      {"serve.tls.cert_file", "path", "", "Its certificate chain, PEM; together with key_file."},
      {"serve.tls.key_file", "path", "", "Its private key, PEM."},
      {"serve.trusted_proxies", "list of addresses", "",
       "Proxies, as `10.0.0.7` or `10.0.0.0/8`, whose statement of the client's address is "
       "trusted: `X-Forwarded-For`, `X-Forwarded-Proto`, `Forwarded`. See [deploy.md](deploy.md)."},
      {"serve.fresh_sign_in", "duration", "15m",
       "How recent a sign-in, or its confirmation, must be to change users, tokens and second "
       "factors "
       "and to close months."},
      {"serve.limits.body", "bytes", "32MiB",
       "Size of a body of telemetry, as sent and unpacked; larger ones are refused."},
      {"serve.limits.journal", "bytes", "4GiB",
       "Size of the data that waits for the ledger; more is refused for the time being, with 503."},
      {"serve.limits.series", "count", "4000000", "Series at one time; further ones are dropped."},
      {"serve.limits.requests", "count", "64",
       "Requests at one time, and of one user at most half of them; others wait."},
      {"serve.limits.connections", "count", "4096",
       "Connections at one time; beyond this, or beyond the limit per address, the slowest are "
       "closed."},
      {"serve.limits.connections_per_address", "count", "512",
       "Connections of an address (of IPv6 its /64); not of `trusted_proxies`."},
      {"serve.limits.streams_per_user", "count", "16",
       "Streams of events of a user, who has one for each browser."},
      {"serve.limits.asker_per_second", "count", "200",
       "Requests a second of a user, in sessions and with tokens; 1 to 1000000. More are answered "
       "with 429. Telemetry does not count."},
      {"serve.limits.asker_burst", "count", "1000",
       "Requests at once after a pause; 1 to 1000000."},
      {"serve.limits.address_per_second", "count", "100",
       "Requests a second of an address (of IPv6 its /64) without a user, and to routes that are "
       "open to all."},
      {"serve.limits.address_burst", "count", "1000", "Requests at once after a pause."},
  };
}

ConfigKeys collection_config_keys() {
  return {
      {"scrape[].job", "text", "", "The job's name, in the label `job`. Required."},
      {"scrape[].cluster", "text", "serve.cluster", "The cluster of its devices."},
      {"scrape[].targets", "list of host:port", "", "The targets to scrape."},
      {"scrape[].targets_file", "path", "",
       "Targets in a file of Prometheus' `file_sd`, JSON or YAML; changes are picked up."},
      {"scrape[].kubernetes", "true, false", "false",
       "Scrape pods with `prometheus.io/scrape: \"true\"` of the cluster whose API is watched."},
      {"scrape[].scheme", "http, https", "http", "The scheme of the targets."},
      {"scrape[].path", "text", "/metrics", "The path to scrape."},
      {"scrape[].interval", "duration", "30s", "How often to scrape."},
      {"scrape[].timeout", "duration", "10s", "How long to wait for an answer."},
      {"scrape[].honor_labels", "true, false", "false",
       "Whether a target's labels win over ours; otherwise they become `exported_…`."},
      {"scrape[].bearer_token_file", "path", "", "A token, read for each request."},
      {"scrape[].basic_auth", "username, password_file", "",
       "User name and password for the targets."},
      {"scrape[].tls", "ca_file, cert_file, key_file, server_name, insecure_skip_verify", "",
       "Certificates of the targets, and our own."},
      {"kubernetes[].cluster", "text", "", "The cluster whose API is watched. Required."},
      {"kubernetes[].kubeconfig", "path", "",
       "How to reach the API; without it: by the service account of this program's pod."},
      {"kubernetes[].context", "text", "", "The kubeconfig context; by default, the current one."},
      {"kubernetes[].annotations", "list of keys", "",
       "Annotations of pods that become labels whatever their length: `team`, `example.com/*`."},
      {"kubernetes[].gpu_nodes_only", "true, false", "false",
       "Leave out pods without a GPU on nodes without one."},
      {"slurm[].cluster", "text", "", "The cluster whose jobs are read. Required."},
      {"slurm[].sacct", "path", "sacct", "The program that lists jobs."},
      {"slurm[].scontrol", "path", "scontrol", "The program that lists nodes, and what runs."},
      {"slurm[].sacctmgr", "path", "sacctmgr",
       "The program that lists when nodes were out of use."},
      {"slurm[].interval", "duration", "30s", "How often they are run."},
      {"outcomes[].metric", "metric", "", "A counter of results, such as requests. Required."},
      {"outcomes[].measure", "text", "", "What it counts: `requests`, `images`, … Required."},
      {"outcomes[].labels", "list of labels", "", "Which of its labels are stored: model, user, …"},
      {"outcomes[].per", "count", "1", "How much one step of the counter adds to the measure."},
      {"outcomes[].where", "labels and values", "", "Only series with these label values."},
  };
}

}  // namespace pennyweight
