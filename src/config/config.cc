#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "config/nearest.h"
#include "config/yaml.h"
#include "ledger/summary.h"

namespace pennyweight {
namespace {

constexpr std::uint32_t kWeightMax = 1'000'000;
constexpr unsigned kThreadsMax = 1024;

// Reads one document; the first mistake is kept and everything after it is skipped, so that the
// readers below need not check after each step.
class ConfigReader {
 public:
  ConfigReader(const std::string& name, Config& config) : name_(name), config_(config) {}

  Result<void> read(const YamlNode& root) {
    mapping(root, "the configuration",
            {{"store", [&](const YamlNode& node) { store(node); }},
             {"time_zone", [&](const YamlNode& node) { config_.policy.time_zone = zone(node); }},
             {"threads", [&](const YamlNode& node) { threads(node); }},
             {"clusters", [&](const YamlNode& node) { clusters(node); }},
             {"dimensions", [&](const YamlNode& node) { dimensions(node); }},
             {"policy", [&](const YamlNode& node) { policy(node); }},
             {"prices", [&](const YamlNode& node) { prices(node); }}});
    if (error_) return std::unexpected(*error_);
    return {};
  }

 private:
  using Reader = std::function<void(const YamlNode&)>;
  using Readers = std::vector<std::pair<std::string, Reader>>;

  void refuse(int line, int column, std::string_view why) {
    if (error_) return;
    error_ = Error{ErrorCode::kConfig, fmt::format("{}:{}:{}: {}", name_, line, column, why)};
  }
  void refuse(const YamlNode& node, std::string_view why) { refuse(node.line, node.column, why); }

  bool is(const YamlNode& node, YamlNode::Kind kind, std::string_view what) {
    if (node.kind == kind) return true;
    refuse(node, fmt::format("{} must be {}, not {}", what, describe(kind), describe(node.kind)));
    return false;
  }

  void mapping(const YamlNode& node, std::string_view what, const Readers& readers) {
    if (node.kind == YamlNode::Kind::kNull) return;  // "store:" and nothing: the defaults
    if (!is(node, YamlNode::Kind::kMapping, what)) return;
    for (const YamlNode::Entry& entry : node.entries) {
      const auto known = std::find_if(readers.begin(), readers.end(), [&](const auto& reader) {
        return reader.first == entry.key;
      });
      if (known == readers.end()) {
        std::vector<std::string> names;
        for (const auto& reader : readers) names.push_back(reader.first);
        refuse(entry.line, entry.column,
               fmt::format("{} has no key '{}'{}", what, entry.key, suggestion(entry.key, names)));
      } else {
        known->second(entry.value);
      }
    }
  }

  std::string text(const YamlNode& node, std::string_view what) {
    if (!is(node, YamlNode::Kind::kScalar, what)) return "";
    if (node.scalar.empty()) refuse(node, fmt::format("{} is empty", what));
    return node.scalar;
  }

  template <class Integer>
  Integer integer(const YamlNode& node, std::string_view what, Integer max) {
    Integer value{};
    if (!is(node, YamlNode::Kind::kScalar, what)) return value;
    const char* end = node.scalar.data() + node.scalar.size();
    const auto [stop, problem] = std::from_chars(node.scalar.data(), end, value);
    if (problem != std::errc() || stop != end || value > max) {
      refuse(node, fmt::format("{} must be a whole number from 0 to {}, not '{}'", what, max,
                               node.scalar));
      return {};
    }
    return value;
  }

  TimeZone zone(const YamlNode& node) {
    const auto parsed = TimeZone::parse(text(node, "a time zone"));
    if (parsed) return *parsed;
    refuse(node, parsed.error().message);
    return TimeZone::utc();
  }

  // A path of the configuration is relative to the folder of its file.
  std::string path(const YamlNode& node, std::string_view what) {
    const std::filesystem::path given(text(node, what));
    if (given.is_absolute()) return given.string();
    return (std::filesystem::path(name_).parent_path() / given).string();
  }

  void store(const YamlNode& node) {
    mapping(node, "store",
            {{"path", [&](const YamlNode& at) { config_.store_path = path(at, "store.path"); }},
             {"memory_limit", [&](const YamlNode& at) {
                const auto bytes = parse_bytes(text(at, "store.memory_limit"));
                if (!bytes) return refuse(at, "store.memory_limit: " + bytes.error().message);
                config_.store_memory_bytes = *bytes;
              }}});
  }

  void threads(const YamlNode& node) {
    config_.threads = integer<unsigned>(node, "threads", kThreadsMax);
  }

  void clusters(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kNull || !is(node, YamlNode::Kind::kSequence, "clusters")) {
      return;
    }
    for (const YamlNode& item : node.items) cluster(item);
  }

  void cluster(const YamlNode& node) {
    std::optional<ClusterId> name;
    ClusterConfig cluster{
        ClusterId(""), ClusterKind::kUnknown, config_.policy.time_zone, {}, false};
    if (!is(node, YamlNode::Kind::kMapping, "a cluster")) return;
    mapping(node, "a cluster",
            {{"name", [&](const YamlNode& at) { name = ClusterId(text(at, "a cluster's name")); }},
             {"kind", [&](const YamlNode& at) { cluster.kind = kind(at); }},
             {"time_zone", [&](const YamlNode& at) { cluster.time_zone = zone(at); }},
             {"origin", [&](const YamlNode& at) { cluster.origin = instant(at); }},
             {"partitions_are_pools",
              [&](const YamlNode& at) { cluster.partitions_are_pools = yes_or_no(at); }}});
    if (!name) return refuse(node, "a cluster needs a name");
    cluster.name = *name;
    for (const ClusterConfig& other : config_.clusters) {
      if (other.name == cluster.name) {
        return refuse(node, fmt::format("the cluster '{}' is here twice", cluster.name.text()));
      }
    }
    config_.clusters.push_back(std::move(cluster));
  }

  ClusterKind kind(const YamlNode& node) {
    const std::string name = text(node, "a cluster's kind");
    if (name == "slurm") return ClusterKind::kSlurm;
    if (name == "kubernetes") return ClusterKind::kKubernetes;
    refuse(node, fmt::format("a cluster's kind is slurm or kubernetes, not '{}'", name));
    return ClusterKind::kUnknown;
  }

  bool yes_or_no(const YamlNode& node) {
    const std::string word = text(node, "a choice");
    if (word != "true" && word != "false") {
      refuse(node, fmt::format("must be true or false, not '{}'", word));
    }
    return word == "true";
  }

  std::optional<Instant> instant(const YamlNode& node) {
    const auto parsed = parse_instant(text(node, "a cluster's origin"));
    if (parsed) return *parsed;
    refuse(node, parsed.error().message);
    return std::nullopt;
  }

  void dimensions(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kNull || !is(node, YamlNode::Kind::kMapping, "dimensions")) {
      return;
    }
    for (const YamlNode::Entry& entry : node.entries) dimension(entry);
  }

  void dimension(const YamlNode::Entry& entry) {
    const auto* const end = std::end(kBuiltInDimensions);
    if (std::find(std::begin(kBuiltInDimensions), end, entry.key) != end) {
      return refuse(entry.line, entry.column,
                    fmt::format("'{}' is a built-in dimension; choose another name", entry.key));
    }
    DimensionRule rule{entry.key, {}, "(none)"};
    mapping(entry.value, "a dimension",
            {{"from", [&](const YamlNode& at) { rule.labels = texts(at, "from"); }},
             {"fallback", [&](const YamlNode& at) { rule.fallback = text(at, "fallback"); }}});
    if (rule.labels.empty()) {
      return refuse(entry.line, entry.column,
                    fmt::format("the dimension '{}' needs from: [label, …]", entry.key));
    }
    auto& rules = config_.policy.dimensions;
    const auto same = std::find_if(rules.begin(), rules.end(), [&](const DimensionRule& other) {
      return other.dimension == rule.dimension;
    });
    if (same == rules.end()) {
      rules.push_back(std::move(rule));
    } else {
      *same = std::move(rule);
    }
  }

  std::vector<std::string> texts(const YamlNode& node, std::string_view what) {
    std::vector<std::string> list;
    if (!is(node, YamlNode::Kind::kSequence, what)) return list;
    for (const YamlNode& item : node.items) list.push_back(text(item, "a label"));
    return list;
  }

  void policy(const YamlNode& node) {
    mapping(node, "policy",
            {{"weights", [&](const YamlNode& at) { weights(at); }},
             {"node_split", [&](const YamlNode& at) {
                const std::string name = text(at, "policy.node_split");
                if (name == "residual") {
                  config_.policy.node_split = NodeSplit::kResidual;
                } else if (name == "whole_node") {
                  config_.policy.node_split = NodeSplit::kWholeNode;
                } else {
                  refuse(at, fmt::format("policy.node_split is residual or whole_node, not '{}'",
                                         name));
                }
              }}});
  }

  void weights(const YamlNode& node) {
    ShareWeights& weights = config_.policy.weights;
    mapping(node, "policy.weights",
            {{"compute",
              [&](const YamlNode& at) {
                weights.compute = integer<std::uint32_t>(at, "weights.compute", kWeightMax);
              }},
             {"memory", [&](const YamlNode& at) {
                weights.memory = integer<std::uint32_t>(at, "weights.memory", kWeightMax);
              }}});
    if (weights.compute == 0 && weights.memory == 0) {
      refuse(node, "policy.weights: one of compute and memory must be more than 0");
    }
  }

  void prices(const YamlNode& node) {
    mapping(node, "prices", {{"override", [&](const YamlNode& at) {
                                config_.price_file = path(at, "prices.override");
                              }}});
  }

  const std::string& name_;
  Config& config_;
  std::optional<Error> error_;
};

}  // namespace

Config default_config() {
  Config config;
  // Labels as Slurm, Kubernetes and its common conventions name them, the most telling first.
  config.policy.dimensions = {
      // By name, as parse_config() sorts them.
      {"client", {"client", "customer", "tenant"}, "(none)"},
      {"environment", {"environment", "env"}, "(none)"},
      {"job", {"job_name", "job", "app.kubernetes.io/name", "app"}, "(none)"},
      {"model", {"model"}, "(none)"},
      {"namespace", {"namespace"}, "(none)"},
      {"partition", {"partition"}, "(none)"},
      {"project", {"project", "app.kubernetes.io/part-of", "account", "namespace"}, "(none)"},
      {"qos", {"qos"}, "(none)"},
      {"team", {"team", "account", "namespace", "qos"}, "(unowned)"},
      {"user", {"user", "owner"}, "(none)"},
  };
  return config;
}

Result<Config> parse_config(std::string_view yaml, const std::string& name) {
  const auto root = parse_yaml(yaml, name);
  if (!root) return std::unexpected(root.error());
  Config config = default_config();
  config.source = name;
  config.store_path = (std::filesystem::path(name).parent_path() / config.store_path).string();
  if (const auto read = ConfigReader(name, config).read(*root); !read) {
    return std::unexpected(read.error());
  }
  // One order whatever the file's, so that the policy's version does not depend on it.
  std::sort(
      config.policy.dimensions.begin(), config.policy.dimensions.end(),
      [](const DimensionRule& a, const DimensionRule& b) { return a.dimension < b.dimension; });
  return config;
}

ClusterConfig cluster_config(const Config& config, const ClusterId& cluster) {
  for (const ClusterConfig& known : config.clusters) {
    if (known.name == cluster) return known;
  }
  return {cluster, ClusterKind::kUnknown, config.policy.time_zone, std::nullopt, false};
}

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> kKeys = {
      {"store.path", "path", "pennyweight.duckdb", "The ledger: one file."},
      {"store.memory_limit", "bytes", "1GiB",
       "How much memory the ledger's engine may take. KB, MB, GB, KiB, MiB, GiB."},
      {"time_zone", "IANA zone", "UTC",
       "Whose days reports are cut by, and the zone of clusters that name none."},
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
      {"policy.weights.compute", "count", "500",
       "How much of a GPU's cost follows the share of compute …"},
      {"policy.weights.memory", "count", "500", "… and how much the share of memory."},
      {"policy.node_split", "residual, whole_node", "residual",
       "How a node's price becomes the price of its GPUs: less CPU and memory at market rates, or "
       "all "
       "of it."},
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
