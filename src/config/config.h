// Configuration: one YAML file, every key with a default, every mistake named with its place.
//
// The keys are documented in docs/guide/configuration.md, whose table is config_reference().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"

namespace pennyweight {

enum class ClusterKind { kUnknown, kSlurm, kKubernetes };

struct ClusterConfig {
  ClusterId name;
  ClusterKind kind = ClusterKind::kUnknown;
  TimeZone time_zone = TimeZone::utc();  // of the wall-clock times in its Slurm records
  std::optional<Instant> origin;         // second 0 of a trace that counts from a start
  bool partitions_are_pools = false;     // of Slurm: jobs without nodes are in their partition
};

struct Config {
  std::string source;  // the file it was read from; empty: all defaults
  std::string store_path = "pennyweight.duckdb";
  std::uint64_t store_memory_bytes = std::uint64_t{1} << 30;
  unsigned threads = 0;  // 0: one for each core
  std::vector<ClusterConfig> clusters;
  std::string price_file;  // empty: list prices only
  Policy policy;           // with the dimensions; its time_zone is `time_zone`
};

Config default_config();

// `name` is the file's, for messages and for paths, which are relative to its folder.
Result<Config> parse_config(std::string_view yaml, const std::string& name);

// Settings of one cluster: those of the configuration, else the defaults in the configured zone.
ClusterConfig cluster_config(const Config& config, const ClusterId& cluster);

struct ConfigKey {
  const char* key;
  const char* type;
  const char* fallback;
  const char* meaning;
};

// Every key, as the guide lists them.
const std::vector<ConfigKey>& config_keys();
std::string config_reference();  // a Markdown table

// "512MiB", "2GB", "1073741824": bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace pennyweight
