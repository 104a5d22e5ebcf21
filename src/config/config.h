// Configuration: one YAML file, every key with a default, every mistake named with its place.
//
// The keys are documented in docs/guide/configuration.md, whose table is config_reference().
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/bill_config.h"
#include "config/invoice_config.h"
#include "config/label_config.h"
#include "config/live_config.h"
#include "config/yaml_reader.h"
#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "policy/policy.h"

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
  // The ledger's file; what is kept beside the ledger has names that begin with it, wherever the
  // ledger itself is.
  std::string store_path = "pennyweight.duckdb";
  std::string store_address;  // "clickhouse://…" (clickhouse/address.h); empty: the file
  std::uint64_t store_memory_bytes = std::uint64_t{1} << 30;
  unsigned threads = 0;  // 0: one for each core
  std::vector<ClusterConfig> clusters;
  std::string price_file;  // empty: list prices only
  // Of what nobody bills, and of bills without money. Files may be empty: none.
  std::string rate_card_file;
  std::string owned_file;
  std::string energy_file;
  std::string organisation = "Own organisation";  // who the lines say provides it
  std::vector<BillConfig> bills;
  CurrencyConfig currencies;
  std::vector<JoinRule> join_rules;  // they have passed check_join_rule
  TimeZone time_zone = TimeZone::utc();
  std::string policy_file;  // `policy: path.yaml`; empty: the policy was in the configuration
  bool states_dimensions = false;  // other than the built-in ones
  InvoiceConfig invoice;
  LiveConfig live;
  // What every workload should say of itself.
  LabelPolicy labels = default_label_policy();
  Policy policy;  // its time_zone is `time_zone` where it states none
};

Config default_config();

// `name` is the file's, for messages and for paths, which are relative to its folder.
// Where it names a policy file, that is to be read and given to apply_policy_file. An error is the
// first mistake.
Result<Config> parse_config(std::string_view yaml, const std::string& name);

// The same with every mistake and warning.
struct ConfigReading {
  Config config;                  // REQUIRES of its users: no problem is an error
  std::vector<Problem> problems;  // by place
};
ConfigReading check_config(std::string_view yaml, const std::string& name);

// `yaml` is the content of config.policy_file. What it does not state is as the configuration has
// it. The problems; with an error among them `config` is as it was.
std::vector<Problem> apply_policy_file(Config& config, std::string_view yaml);

// How often `serve` writes what is finished: serve.flush_every; else what is good for a ledger
// where this one is. On ClickHouse it is a commit that every program reads for ever.
std::chrono::milliseconds flush_every(const Config& config);
// How often `serve` writes what is news of jobs, pods and nodes: serve.news_every; else at once
// into a file, and once a minute on ClickHouse, where a cluster has some every few seconds. Zero:
// at once.
std::chrono::milliseconds news_every(const Config& config);

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
