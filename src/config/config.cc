#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

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
    yaml_.mapping(root, "the configuration",
                  {{"store", [&](const YamlNode& at) { store(at); }},
                   {"time_zone",
                    [&](const YamlNode& at) { config_.time_zone = zone(at, config_.time_zone); }},
                   {"threads", [&](const YamlNode& at) { threads(at); }},
                   {"clusters", [&](const YamlNode& at) { clusters = &at; }},
                   {"dimensions", [&](const YamlNode& at) { dimensions(at); }},
                   {"policy", [&](const YamlNode& at) { policy = &at; }},
                   {"prices", [&](const YamlNode& at) { prices(at); }}});
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

  void store(const YamlNode& node) {
    yaml_.mapping(
        node, "store",
        {{"path", [&](const YamlNode& at) { config_.store_path = path(at, "store.path"); }},
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
    yaml_.mapping(node, "prices", {{"override", [&](const YamlNode& at) {
                                      config_.price_file = path(at, "prices.override");
                                    }}});
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

ClusterConfig cluster_config(const Config& config, const ClusterId& cluster) {
  for (const ClusterConfig& known : config.clusters) {
    if (known.name == cluster) return known;
  }
  return {cluster, ClusterKind::kUnknown, config.time_zone, std::nullopt, false};
}

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> kKeys = {
      {"store.path", "path", "pennyweight.duckdb", "The ledger: one file."},
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
      {"policy", "path, or the document", "",
       "How charges are divided: a policy file, or its keys; see [policy.md](policy.md)."},
      {"prices.override", "path", "",
       "A CSV file whose prices take the place of, or add to, the built-in lists."},
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
