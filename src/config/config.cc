#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "allocation/policy/default_policy.h"
#include "config/config_key.h"
#include "config/guardrail_config.h"
#include "config/policy_document.h"
#include "config/yaml.h"
#include "config/yaml_reader.h"
#include "core/clickhouse/address.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kThreadsMax = 1024;
constexpr const char* kDimensionsTwice =
    "dimensions are stated by the configuration and by its policy; keep those of one of them";

class ConfigReader {
 public:
  ConfigReader(const std::string& name, Config& config) : yaml_(name), config_(config) {}

  const YamlReader::KnownKeys& known_keys() const { return yaml_.known_keys(); }

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
         {"audit",
          [&](const YamlNode& at) { config_.audit = read_audit_config(yaml_, at, path_reader()); }},
         {"invoice",
          [&](const YamlNode& at) {
            config_.invoice = read_invoice_config(yaml_, at, path_reader());
          }},
         {"mail",
          [&](const YamlNode& at) { config_.mail = read_mail_config(yaml_, at, path_reader()); }},
         {"pull",
          [&](const YamlNode& at) { config_.pulls = read_pull_configs(yaml_, at, path_reader()); }},
         {"alerts",
          [&](const YamlNode& at) {
            config_.alerts = read_alert_config(yaml_, at, path_reader());
          }},
         {"budgets", [&](const YamlNode& at) { config_.budgets = read_budgets(yaml_, at); }},
         {"events", [&](const YamlNode& at) { config_.events = read_known_events(yaml_, at); }},
         {"guardrails",
          [&](const YamlNode& at) {
            config_.guardrails =
                std::make_shared<const GuardrailConfig>(read_guardrails(yaml_, at, path_reader()));
          }},
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
    check_mail_receivers(root);
    check_approval_links(root);
    check_stop_terms(root);
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

  void check_mail_receivers(const YamlNode& root) {
    if (!config_.mail.server.empty() && !config_.mail.from.empty()) return;
    for (const ReceiverConfig& receiver : config_.alerts.receivers) {
      if (receiver.kind != ReceiverKind::kEmail) continue;
      yaml_.refuse(root, fmt::format("receiver '{}' gets mail: set mail.server and mail.from",
                                     receiver.name));
      return;
    }
  }

  // A link decides in the name of an approver who is known by name.
  void check_approval_links(const YamlNode& root) {
    const guardrails::ApprovalTerms& terms = config_.guardrails->approvals;
    for (const ReceiverConfig& receiver : config_.alerts.receivers) {
      if (!receiver.has_approval_links) continue;
      const bool is_approver =
          std::ranges::find(terms.approvers, receiver.owners.front(),
                            &guardrails::ApproverLimit::who) != terms.approvers.end();
      if (is_approver && !terms.link_address.empty()) continue;
      yaml_.refuse(root, fmt::format("receiver '{}' has approval_links: set "
                                     "guardrails.approvals.link_address, and list '{}' among "
                                     "guardrails.approvals.approvers",
                                     receiver.name, receiver.owners.front()));
    }
  }

  // Nothing that runs is stopped unless somebody is told before.
  void check_stop_terms(const YamlNode& root) {
    for (const guardrails::UsageLimit& limit : config_.guardrails->limits) {
      if (!limit.stop_running) continue;
      const bool is_off = std::ranges::find(config_.alerts.off, guardrails::kStopNoticeRule) !=
                          config_.alerts.off.end();
      const bool is_heard =
          std::ranges::any_of(config_.alerts.receivers, [&](const ReceiverConfig& receiver) {
            const bool waits = receiver.digest != DigestPeriod::kNone || receiver.after_ms > 0 ||
                               receiver.is_in_hours;
            return !waits &&
                   (receiver.owners.empty() ||
                    std::ranges::find(receiver.owners, limit.selected()) != receiver.owners.end());
          });
      if (is_heard && !is_off) continue;
      yaml_.refuse(root, fmt::format("limit '{}' stops work that runs, and nobody would be told "
                                     "before: set a receiver that hears of '{}' at once, and leave "
                                     "{} out of alerts.off",
                                     limit.name, limit.selected(), guardrails::kStopNoticeRule));
    }
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
                                            "store.path: this is an address; use store.address");
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
      yaml_.refuse(node,
                   "prices.energy needs prices.owned, the file of the machines that it measures");
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
    ConfigReader reader(name, reading.config);
    reading.problems = reader.read(*root);
    reading.known_keys = reader.known_keys();
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

namespace {

ConfigKeys general_keys() {
  return {
      {"store.path", "path", "pennyweight.duckdb",
       "The ledger, in one file. Everything kept beside the ledger has a name that begins with "
       "this one."},
      {"store.address", "clickhouse://…", "none",
       "The ledger on ClickHouse; `store.path` then only names what is kept beside it. See "
       "[cluster.md](cluster.md). `store: clickhouse://…` means the same."},
      {"store.memory_limit", "bytes", "1GiB",
       "How much memory the ledger's database engine may use. KB, MB, GB, KiB, MiB, GiB."},
      {"time_zone", "IANA zone", "UTC",
       "The zone whose days divide charges where the policy names none, and the zone of clusters "
       "that name none."},
      {"threads", "count", "0",
       "Threads of an allocation; 0: one for each core. No figure depends on it."},
      {"clusters[].name", "text", "",
       "A cluster, by the name that `--cluster` and `x_ClusterId` of bills use. Required."},
      {"clusters[].kind", "slurm, kubernetes", "",
       "The cluster's scheduler; records of the other kind are refused."},
      {"clusters[].time_zone", "IANA zone", "time_zone",
       "The zone of the local times in its Slurm records."},
      {"clusters[].origin", "time", "",
       "Second 0 of a trace that counts seconds from its own start (openb)."},
      {"clusters[].partitions_are_pools", "true, false", "false",
       "Whether a Slurm job without a node list ran in the pool named like its partition."},
      {"dimensions.NAME.from", "list of labels", "built-in rules",
       "Where the dimension's value comes from: the first of these labels that a workload has."},
      {"dimensions.NAME.fallback", "text", "(none)",
       "The value of a workload that has none of them."},
      {"dimensions.NAME.derive", "list of label, matches, value", "",
       "How to derive the value from another label where a workload has none of them; see "
       "[policy.md](policy.md)."},
  };
}

ConfigKeys policy_and_price_keys() {
  return {
      {"policy", "path, or the document", "",
       "How charges are allocated: a policy file, or its content; see [policy.md](policy.md)."},
      {"prices.override", "path", "",
       "A CSV file of prices that replace, or add to, the built-in price lists."},
      {"prices.rate_card", "path", "",
       "Contract prices, for bills without amounts and for nodes without a bill; see "
       "[rate-cards.md](../bills/rate-cards.md)."},
      {"prices.owned", "path", "",
       "Owned machines, for which `price` writes charges; see "
       "[owned-hardware.md](../bills/owned-hardware.md)."},
      {"prices.energy", "path", "", "Their measured energy, by node and day."},
      {"prices.organisation", "text", "Own organisation",
       "The provider named in the charges that `price` writes."},
  };
}

}  // namespace

const ConfigKeys& config_keys() {
  static const ConfigKeys kKeys = [] {
    ConfigKeys keys;
    // In the order of the guide.
    for (ConfigKeys part :
         {general_keys(), label_config_keys(), policy_and_price_keys(), bill_config_keys(),
          join_and_currency_config_keys(), invoice_config_keys(), audit_config_keys(),
          mail_config_keys(), pull_config_keys(), budget_config_keys(), guardrail_config_keys(),
          alert_config_keys(), serve_config_keys(), openid_config_keys(),
          collection_config_keys()}) {
      keys.insert(keys.end(), std::make_move_iterator(part.begin()),
                  std::make_move_iterator(part.end()));
    }
    return keys;
  }();
  return kKeys;
}

std::string config_reference() {
  std::string text = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const ConfigKey& key : config_keys()) {
    const std::string fallback = key.fallback.empty() ? "" : fmt::format("`{}`", key.fallback);
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
