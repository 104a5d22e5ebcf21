#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "clickhouse/address.h"
#include "config/policy_document.h"
#include "config/yaml.h"
#include "config/yaml_reader.h"
#include "policy/default_policy.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kThreadsMax = 1024;
constexpr const char* kDimensionsTwice =
    "dimensions are stated by the configuration and by its policy; keep those of one of them";

class ConfigReader {
 public:
  ConfigReader(const std::string& name, Config& config) : yaml_(name), config_(config) {}

  std::vector<Problem> read(const YamlNode& root) {
    const YamlNode* clusters = nullptr;
    const YamlNode* policy = nullptr;
    yaml_.mapping(
        root, "the configuration",
        {{"store", [&](const YamlNode& at) { store(at); }},
         {"time_zone",
          [&](const YamlNode& at) { config_.time_zone = zone(at, config_.time_zone); }},
         {"threads", [&](const YamlNode& at) { threads(at); }},
         {"clusters", [&](const YamlNode& at) { clusters = &at; }},
         {"dimensions", [&](const YamlNode& at) { dimensions(at); }},
         {"policy", [&](const YamlNode& at) { policy = &at; }},
         {"invoice", [&](const YamlNode& at) { config_.invoice = read_invoice_config(yaml_, at); }},
         {"labels", [&](const YamlNode& at) { config_.labels = read_label_config(yaml_, at); }},
         {"prices", [&](const YamlNode& at) { prices(at); }},
         {"bills", [&](const YamlNode& at) { config_.bills = read_bill_configs(yaml_, at); }},
         {"join", [&](const YamlNode& at) { config_.join_rules = read_join_rules(yaml_, at); }},
         {"serve",
          [&](const YamlNode& at) {
            read_serve_config(yaml_, at, path_reader(), config_.live.serve);
          }},
         {"scrape",
          [&](const YamlNode& at) {
            config_.live.scrape = read_scrape_configs(yaml_, at, path_reader());
          }},
         {"kubernetes",
          [&](const YamlNode& at) {
            config_.live.kubernetes = read_kubernetes_configs(yaml_, at, path_reader());
          }},
         {"slurm", [&](const YamlNode& at) { config_.live.slurm = read_slurm_configs(yaml_, at); }},
         {"outcomes",
          [&](const YamlNode& at) { config_.live.outcomes = read_outcome_rules(yaml_, at); }},
         {"currencies", [&](const YamlNode& at) {
            config_.currencies = read_currency_config(yaml_, at, path_reader());
          }}});
    // These two build on other keys, wherever they stand.
    if (clusters != nullptr) this->clusters(*clusters);
    config_.policy.time_zone = config_.time_zone;
    std::vector<Problem> problems = yaml_.problems();
    if (policy != nullptr) {
      const std::vector<Problem> more = this->policy(*policy);
      problems.insert(problems.end(), more.begin(), more.end());
    }
    return problems;
  }

 private:
  TimeZone zone(const YamlNode& node, const TimeZone& otherwise) {
    const auto name = yaml_.text(node, "a time zone");
    if (!name) return otherwise;
    const auto parsed = TimeZone::parse(*name);
    if (parsed) return *parsed;
    yaml_.refuse(node, parsed.error().message);
    return otherwise;
  }

  // A path of the configuration is relative to the folder of its file.
  std::string path(const YamlNode& node, std::string_view what) {
    const auto text = yaml_.text(node, what);
    if (!text) return "";
    const std::filesystem::path given(*text);
    if (given.is_absolute()) return given.string();
    return (std::filesystem::path(yaml_.name()).parent_path() / given).string();
  }

  PathReader path_reader() {
    return [this](const YamlNode& node, std::string_view what) { return path(node, what); };
  }

  // `store: clickhouse://…`, or its keys.
  void store(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kScalar && clickhouse::is_address(node.scalar)) {
      return address(node, "store");
    }
    yaml_.mapping(node, "store",
                  {{"path",
                    [&](const YamlNode& at) {
                      // What is shown of a path may be a password of an address.
                      if (clickhouse::is_address(at.scalar)) {
                        return yaml_.refuse(at,
                                            "store.path: this is an address; say store.address");
                      }
                      config_.store_path = path(at, "store.path");
                    }},
                   {"address", [&](const YamlNode& at) { address(at, "store.address"); }},
                   {"memory_limit", [&](const YamlNode& at) {
                      const auto text = yaml_.text(at, "store.memory_limit");
                      if (!text) return;
                      const auto bytes = parse_bytes(*text);
                      if (!bytes) {
                        return yaml_.refuse(at, "store.memory_limit: " + bytes.error().message);
                      }
                      config_.store_memory_bytes = *bytes;
                    }}});
  }

  void address(const YamlNode& node, std::string_view what) {
    const auto text = yaml_.text(node, what);
    if (!text) return;
    const auto parsed = clickhouse::parse_address(*text);
    if (!parsed) return yaml_.refuse(node, fmt::format("{}: {}", what, parsed.error().message));
    config_.store_address = *text;
  }

  void threads(const YamlNode& node) {
    const auto count = yaml_.integer(node, "threads", 0, kThreadsMax);
    if (count) config_.threads = static_cast<unsigned>(*count);
  }

  void clusters(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kNull ||
        !yaml_.is(node, YamlNode::Kind::kSequence, "clusters")) {
      return;
    }
    for (const YamlNode& item : node.items) cluster(item);
  }

  void cluster(const YamlNode& node) {
    std::optional<ClusterId> name;
    bool is_named = false;
    ClusterConfig cluster{ClusterId(""), ClusterKind::kUnknown, config_.time_zone, {}, false};
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "a cluster")) return;
    yaml_.mapping(node, "a cluster",
                  {{"name",
                    [&](const YamlNode& at) {
                      is_named = true;
                      if (const auto text = yaml_.text(at, "a cluster's name")) {
                        name = ClusterId(*text);
                      }
                    }},
                   {"kind", [&](const YamlNode& at) { cluster.kind = kind(at); }},
                   {"time_zone",
                    [&](const YamlNode& at) { cluster.time_zone = zone(at, cluster.time_zone); }},
                   {"origin", [&](const YamlNode& at) { cluster.origin = instant(at); }},
                   {"partitions_are_pools", [&](const YamlNode& at) {
                      cluster.partitions_are_pools =
                          yaml_.yes_or_no(at, "partitions_are_pools").value_or(false);
                    }}});
    if (!is_named) yaml_.refuse(node, "a cluster needs a name");
    if (!name) return;
    cluster.name = *name;
    for (const ClusterConfig& other : config_.clusters) {
      if (other.name == cluster.name) {
        return yaml_.refuse(node,
                            fmt::format("the cluster '{}' is here twice", cluster.name.text()));
      }
    }
    config_.clusters.push_back(std::move(cluster));
  }

  ClusterKind kind(const YamlNode& node) {
    static constexpr std::string_view kKinds[] = {"slurm", "kubernetes"};
    const auto kind = yaml_.choice(node, "a cluster's kind", kKinds);
    if (!kind) return ClusterKind::kUnknown;
    return *kind == 0 ? ClusterKind::kSlurm : ClusterKind::kKubernetes;
  }

  std::optional<Instant> instant(const YamlNode& node) {
    const auto text = yaml_.text(node, "a cluster's origin");
    if (!text) return std::nullopt;
    const auto parsed = parse_instant(*text);
    if (parsed) return *parsed;
    yaml_.refuse(node, parsed.error().message);
    return std::nullopt;
  }

  // A rule takes the place of the built-in one of its name and leaves the others.
  void dimensions(const YamlNode& node) {
    config_.states_dimensions = node.kind != YamlNode::Kind::kNull;
    auto& rules = config_.policy.dimensions;
    for (DimensionRule& rule : read_dimensions(yaml_, node, "dimensions")) {
      const auto same = std::find_if(rules.begin(), rules.end(), [&](const DimensionRule& other) {
        return other.dimension == rule.dimension;
      });
      if (same == rules.end()) {
        rules.push_back(std::move(rule));
      } else {
        *same = std::move(rule);
      }
    }
    std::sort(rules.begin(), rules.end(), [](const DimensionRule& a, const DimensionRule& b) {
      return a.dimension < b.dimension;
    });
  }

  // A path, or the document itself.
  std::vector<Problem> policy(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kScalar) {
      config_.policy_file = path(node, "policy");
      return {};
    }
    PolicyReading reading =
        read_policy(node, yaml_.name(), config_.policy, PolicyVersion::kOptional);
    if (reading.states_dimensions && config_.states_dimensions) {
      YamlReader twice(yaml_.name());
      twice.refuse(node, kDimensionsTwice);
      return twice.problems();
    }
    config_.policy = std::move(reading.policy);
    return std::move(reading.problems);
  }

  void prices(const YamlNode& node) {
    const auto file = [&](std::string key, std::string& target) {
      std::string what = "prices." + key;
      return std::pair(std::move(key), YamlReader::Reader([&, what](const YamlNode& at) {
                         target = path(at, what);
                       }));
    };
    yaml_.mapping(node, "prices",
                  {file("override", config_.price_file),
                   file("rate_card", config_.rate_card_file),
                   file("owned", config_.owned_file),
                   file("energy", config_.energy_file),
                   {"organisation", [&](const YamlNode& at) {
                      if (auto name = yaml_.text(at, "prices.organisation")) {
                        config_.organisation = std::move(*name);
                      }
                    }}});
    if (!config_.energy_file.empty() && config_.owned_file.empty()) {
      yaml_.refuse(node, "prices.energy is of the nodes of prices.owned, which is not there");
    }
  }

  YamlReader yaml_;
  Config& config_;
};

}  // namespace

Config default_config() {
  Config config;
  config.policy = default_policy();
  return config;
}

ConfigReading check_config(std::string_view yaml, const std::string& name) {
  ConfigReading reading{default_config(), {}};
  reading.config.source = name;
  const auto root = parse_yaml(yaml, name);
  if (!root) {
    reading.problems = {{1, 1, false, root.error().message}};
  } else {
    reading.problems = ConfigReader(name, reading.config).read(*root);
  }
  return reading;
}

Result<Config> parse_config(std::string_view yaml, const std::string& name) {
  ConfigReading reading = check_config(yaml, name);
  if (auto error = first_error(reading.problems)) return std::unexpected(std::move(*error));
  return std::move(reading.config);
}

std::vector<Problem> apply_policy_file(Config& config, std::string_view yaml) {
  PolicyReading reading = check_policy(yaml, config.policy_file, config.policy);
  if (reading.states_dimensions && config.states_dimensions) {
    reading.problems.push_back({1, 1, false, config.policy_file + ": " + kDimensionsTwice});
  }
  if (!first_error(reading.problems)) config.policy = std::move(reading.policy);
  return std::move(reading.problems);
}

std::chrono::milliseconds flush_every(const Config& config) {
  using std::chrono::milliseconds;
  constexpr std::chrono::minutes kFile{1}, kClickhouse{5};
  if (config.live.serve.flush_ms) return milliseconds(*config.live.serve.flush_ms);
  return config.store_address.empty() ? kFile : kClickhouse;
}

std::chrono::milliseconds news_every(const Config& config) {
  using std::chrono::milliseconds;
  if (config.live.serve.news_ms) return milliseconds(*config.live.serve.news_ms);
  return config.store_address.empty() ? milliseconds(0) : std::chrono::minutes(1);
}

ClusterConfig cluster_config(const Config& config, const ClusterId& cluster) {
  for (const ClusterConfig& known : config.clusters) {
    if (known.name == cluster) return known;
  }
  return {cluster, ClusterKind::kUnknown, config.time_zone, std::nullopt, false};
}

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> kKeys = {
      {"store.path", "path", "pennyweight.duckdb",
       "The ledger: one file. What is kept beside it has names that begin with its."},
      {"store.address", "clickhouse://…", "none",
       "The ledger is on ClickHouse instead, and only what is kept beside it goes by `store.path`; "
       "see [cluster.md](cluster.md). `store: clickhouse://…` says the same."},
      {"store.memory_limit", "bytes", "1GiB",
       "How much memory the ledger's engine may take. KB, MB, GB, KiB, MiB, GiB."},
      {"time_zone", "IANA zone", "UTC",
       "Whose days charges are cut by where the policy names none, and the zone of clusters that "
       "name none."},
      {"threads", "count", "0", "Of an allocation; 0: one for each core. It changes no figure."},
      {"clusters[].name", "text", "",
       "A cluster, as `--cluster` and `x_ClusterId` of bills name it. Required."},
      {"clusters[].kind", "slurm, kubernetes", "",
       "What runs it; records of the other kind are refused."},
      {"clusters[].time_zone", "IANA zone", "time_zone",
       "Of the wall-clock times in its Slurm records."},
      {"clusters[].origin", "time", "",
       "Second 0 of a trace that counts seconds from its own start (openb)."},
      {"clusters[].partitions_are_pools", "true, false", "false",
       "Whether a Slurm job without a list of nodes ran in the pool named like its partition."},
      {"dimensions.NAME.from", "list of labels", "built-in rules",
       "Where the dimension's value comes from: the first label that a workload has."},
      {"dimensions.NAME.fallback", "text", "(none)",
       "The value of a workload without any of them."},
      {"dimensions.NAME.derive", "list of label, matches, value", "",
       "What to make of another label where there is none of them; see [policy.md](policy.md)."},
      {"labels.required[]", "key, or the keys below", "project-id, team-id, user-id",
       "What every workload should say of itself; see [labels.md](labels.md)."},
      {"labels.required[].key", "text", "", "The requirement's name. Required."},
      {"labels.required[].labels", "list of labels", "the key",
       "Any of these states it. The three usual keys have their usual names."},
      {"labels.required[].derive", "list of label, matches, value", "",
       "What may stand for it where none of them is there."},
      {"labels.required[].dimension", "dimension", "",
       "Its value may stand for it too, but for the fallback. Of the usual keys: project, team, "
       "user."},
      {"labels.required[].allowed", "list of values", "",
       "Which values count, `*` allowed at the end. Without: all."},
      {"labels.required[].allowed_pattern", "regular expression", "",
       "Values that match as a whole count too."},
      {"labels.required[].in_force_from", "date", "labels.in_force_from",
       "Days before it are not judged."},
      {"labels.in_force_from", "date", "", "The same for all of them."},
      {"policy", "path, or the document", "",
       "How charges are divided: a policy file, or its keys; see [policy.md](policy.md)."},
      {"prices.override", "path", "",
       "A CSV file whose prices take the place of, or add to, the built-in lists."},
      {"prices.rate_card", "path", "",
       "A contract's prices, for bills without money and for nodes without a bill; see "
       "[rate-cards.md](../bills/rate-cards.md)."},
      {"prices.owned", "path", "",
       "Owned machines, which `price` makes lines of; see "
       "[owned-hardware.md](../bills/owned-hardware.md)."},
      {"prices.energy", "path", "", "Their measured energy, by node and day."},
      {"prices.organisation", "text", "Own organisation",
       "Who the lines of `price` say provides it."},
      {"bills[].format", "focus, aws, azure, gcp, oci, runpod", "",
       "Whose bills the item is about, be they CSV, Parquet or JSON. Required."},
      {"bills[].delivery", "guarded, replacement, delta, ledger", "guarded",
       "How they meet what was sent before, where `import` has no `--delivery`."},
      {"bills[].azure_metric", "actual, amortized, purchases", "",
       "Which of Azure's exports they are, where `import` has no `--azure-metric`."},
      {"join[].pattern", "text with `{node}`", "{node}",
       "Where a bill's resource names the node; see [join.md](../bills/join.md)."},
      {"join[].label", "tag", "", "The tag whose value names it, in place of the resource."},
      {"currencies.rates", "path", "",
       "Dated exchange rates; see [currencies.md](../bills/currencies.md)."},
      {"currencies.report", "currency", "",
       "Into which `report` converts where it has no `--currency`. Without: every currency has a "
       "table of its own."},
      {"currencies.pivot", "currency", "",
       "Through which to cross where there is no rate between two."},
      {"currencies.days_valid_max", "days", "31", "How old a rate may be."},
      {"invoice.prefix", "text", "INV", "What the numbers of invoices begin with."},
      {"invoice.by", "dimension", "team", "Whose values the customers are."},
      {"invoice.cost", "effective, billed", "effective", "Which cost of the bill is charged."},
      {"invoice.detail", "list of dimensions", "", "A section of the invoice for each value."},
      {"invoice.not_customers", "list of values", "",
       "Who gets no invoice: what they cost is told as charged to nobody."},
      {"invoice.showback", "true, false", "false", "Statements for information: nothing is due."},
      {"invoice.issuer", "name, address, tax_id, contact", "",
       "Who sends the invoices; `address` is a list of lines."},
      {"invoice.customers.VALUE", "name, address, tax_id, contact", "",
       "Who gets them, by the dimension's value; others go by that value."},
      {"invoice.terms_days", "days", "", "From the day of issue to the day by which to pay."},
      {"invoice.tax", "name, percent", "", "On top of the net total."},
      {"invoice.note", "text", "", "At the end of every invoice."},
      {"invoice.logo", "data URI", "", "An image: `data:image/png;base64,…`."},
      {"invoice.paper", "a4, letter", "a4", "For what the HTML is made."},
      {"serve.listen", "address:port", "127.0.0.1:9595",
       "Where `serve` answers. Port 0: any that is free; the log says which."},
      {"serve.data", "path", "STORE.live",
       "Its folder: what was acknowledged and is not in the ledger yet."},
      {"serve.cluster", "text", "default", "The cluster of samples that name none."},
      {"serve.cluster_label", "label", "cluster",
       "The label of samples that names the cluster: an external label of Prometheus."},
      {"serve.resolution", "duration", "1m", "Over which usage is averaged and kept."},
      {"serve.grace", "duration", "2m",
       "How long a span waits for what is late of it; what is later is a further part of it."},
      {"serve.flush_every", "duration", "1m",
       "How often what is finished goes from the journal into the ledger, at most `10m`; sooner "
       "where half a million rows wait. On ClickHouse, where each time is a commit that every "
       "later program reads, the default is `5m`. Reports are of what is in the ledger; what runs "
       "now is shown without it."},
      {"serve.news_every", "duration", "at once",
       "How often news of jobs, pods and nodes goes into the ledger, at most `10m`. By default a "
       "file is told at once, and a ledger on ClickHouse, where each time is a commit, every "
       "minute. What runs is shown before; Slurm is asked again when the ledger has what it said "
       "before."},
      {"serve.allocate_every", "duration", "5m",
       "How often the day that is not over is divided anew; more seldom where that takes long."},
      {"serve.allocate", "serve, workers", "serve",
       "Who divides a day that is over: `serve` itself, or `pennyweight work` beside it."},
      {"serve.reading_every", "duration", "1h",
       "How often the ledger is told of a holding that goes on."},
      {"serve.token_file", "path", "",
       "Tokens of machines, one a line: who bears one (`Authorization: Bearer`) may send "
       "telemetry, "
       "read `/metrics` and what runs now. People and programs that ask for costs have accounts; "
       "see "
       "[access.md](access.md)."},
      {"serve.trust_loopback", "true, false", "true",
       "Whether the same is allowed to who asks from this machine itself and through no proxy; "
       "not where there is a `token_file`."},
      {"serve.tls.cert_file", "path", "", "Its certificate chain, PEM; with key_file."},
      {"serve.tls.key_file", "path", "", "Its private key, PEM."},
      {"serve.trusted_proxies", "list of addresses", "",
       "Proxies, as `10.0.0.7` or `10.0.0.0/8`, that are believed when they say for whom they ask: "
       "`X-Forwarded-For`, `X-Forwarded-Proto`, `Forwarded`. See [deploy.md](deploy.md)."},
      {"serve.limits.body", "bytes", "32MiB", "Of a request, unpacked; larger ones are refused."},
      {"serve.limits.journal", "bytes", "4GiB",
       "What may wait for the ledger; more is refused for now, with 503."},
      {"serve.limits.series", "count", "4000000", "Series known at once; others are dropped."},
      {"serve.limits.requests", "count", "64", "Requests at once; others wait."},
      {"serve.limits.asker_per_second", "count", "200",
       "How often a user may ask, by a session or his tokens; 1 to 1000000. More is answered 429. "
       "Telemetry is not counted."},
      {"serve.limits.asker_burst", "count", "1000",
       "How often at once, after a while of silence; 1 to 1000000."},
      {"serve.limits.address_per_second", "count", "100",
       "How often an address may ask that nobody knows, and for what is open to all (of IPv6 the "
       "/64)."},
      {"serve.limits.address_burst", "count", "1000", "How often at once."},
      {"serve.openid.issuer", "URL", "",
       "Who vouches for people, to the letter as he writes it: what comes before "
       "`/.well-known/openid-configuration`. See [sign-in.md](sign-in.md)."},
      {"serve.openid.client_id", "text", "", "Who we are to him. Required."},
      {"serve.openid.client_secret_file", "path", "",
       "What proves it, read at each sign-in; without: a public client, with PKCE alone."},
      {"serve.openid.redirect_url", "URL", "",
       "Where he sends people back: this server's address and `/api/v1/session/openid/callback`. "
       "Required."},
      {"serve.openid.name", "text", "OpenID Connect", "Of the button at sign-in."},
      {"serve.openid.ca_file", "path", "", "Who signed his certificate; without: the system's."},
      {"serve.openid.scopes", "list of words", "openid, profile, email", "What is asked for."},
      {"serve.openid.user_claims", "list of claims", "preferred_username, email, sub",
       "The first that is there names the user."},
      {"serve.openid.role_claim", "claim", "",
       "Whose values give a role: `groups`, `realm_access.roles`."},
      {"serve.openid.roles.VALUE", "viewer, team_lead, finance, operator, admin", "",
       "The role of who has that value; the first of the file counts."},
      {"serve.openid.default_role", "viewer, team_lead, finance, operator, admin", "",
       "Of who has none of them; without: he is refused."},
      {"serve.openid.scope_claim", "claim", "", "Whose values say what somebody sees."},
      {"serve.openid.scope[].match", "text with one `*`", "",
       "Of the scope claim's values; the `*` is a value of the dimension."},
      {"serve.openid.scope[].dimension", "dimension", "", "Of which somebody sees that value."},
      {"serve.openid.unscoped_roles", "list of roles", "admin, finance, operator",
       "Who sees everything; others must match `scope` where there is one."},
      {"scrape[].job", "text", "", "Its name, as the label `job`. Required."},
      {"scrape[].cluster", "text", "serve.cluster", "Whose devices they are."},
      {"scrape[].targets", "list of host:port", "", "Whom to ask."},
      {"scrape[].targets_file", "path", "", "Prometheus' `file_sd`, JSON or YAML; read again."},
      {"scrape[].kubernetes", "true, false", "false",
       "Pods with `prometheus.io/scrape: \"true\"` of the cluster's watched API."},
      {"scrape[].scheme", "http, https", "http", "How to ask."},
      {"scrape[].path", "text", "/metrics", "What to ask for."},
      {"scrape[].interval", "duration", "30s", "How often."},
      {"scrape[].timeout", "duration", "10s", "How long to wait for an answer."},
      {"scrape[].honor_labels", "true, false", "false",
       "Whether a target's labels go before ours; else they become `exported_…`."},
      {"scrape[].bearer_token_file", "path", "", "A token, read for each request."},
      {"scrape[].basic_auth", "username, password_file", "", "Who asks."},
      {"scrape[].tls", "ca_file, cert_file, key_file, server_name, insecure_skip_verify", "",
       "How the target proves itself, and we."},
      {"kubernetes[].cluster", "text", "", "The cluster whose API is watched. Required."},
      {"kubernetes[].kubeconfig", "path", "",
       "How to reach it; without: the service account of our own pod."},
      {"kubernetes[].context", "text", "", "Of the kubeconfig; without: its current one."},
      {"kubernetes[].annotations", "list of keys", "",
       "Annotations of pods that become labels whatever their length: `team`, `example.com/*`."},
      {"kubernetes[].gpu_nodes_only", "true, false", "false",
       "Leave out pods without a GPU on nodes without one."},
      {"slurm[].cluster", "text", "", "The cluster whose jobs are asked for. Required."},
      {"slurm[].sacct", "path", "sacct", "The program that tells of jobs."},
      {"slurm[].scontrol", "path", "scontrol", "The program that tells of nodes, and what runs."},
      {"slurm[].interval", "duration", "30s", "How often."},
      {"outcomes[].metric", "metric", "", "A counter of what was done for somebody. Required."},
      {"outcomes[].measure", "text", "", "What it counts: `requests`, `images`, … Required."},
      {"outcomes[].labels", "list of labels", "", "Which of its labels are kept: model, user, …"},
      {"outcomes[].per", "count", "1", "How many of the measure one of the counter is."},
      {"outcomes[].where", "labels and values", "", "Only series with these."},
  };
  return kKeys;
}

std::string config_reference() {
  std::string text = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const ConfigKey& key : config_keys()) {
    const std::string fallback = *key.fallback == '\0' ? "" : fmt::format("`{}`", key.fallback);
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.key, key.type, fallback, key.meaning);
  }
  return text;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"KiB", std::uint64_t{1} << 10},
      {"MiB", std::uint64_t{1} << 20},
      {"GiB", std::uint64_t{1} << 30},
      {"TiB", std::uint64_t{1} << 40},
      {"KB", 1'000},
      {"MB", 1'000'000},
      {"GB", 1'000'000'000},
      {"TB", 1'000'000'000'000},
      {"", 1}};
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, count);
  if (problem == std::errc()) {
    std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    for (const auto& [name, bytes] : kUnits) {
      std::uint64_t product = 0;
      if (unit != name || __builtin_mul_overflow(count, bytes, &product)) continue;
      if (product > 0) return product;
    }
  }
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a size; write it as 512MiB or 2GB", text));
}

}  // namespace pennyweight
