// Config: the configuration, one YAML file in which every key has a default.
//
// Every mistake is reported with its line and column. docs/guide/configuration.md documents the
// keys; its table is config_reference().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "config/alert_config.h"
#include "config/audit_config.h"
#include "config/bill_config.h"
#include "config/budget_config.h"
#include "config/config_key.h"
#include "config/invoice_config.h"
#include "config/label_config.h"
#include "config/live_config.h"
#include "config/mail_config.h"
#include "config/pull_config.h"
#include "config/yaml_reader.h"
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
  std::optional<Instant> origin;         // second 0 of a trace that counts from its own start
  bool partitions_are_pools = false;     // of Slurm: jobs without nodes ran in their partition
};

// Of config/guardrail_config.h, which few need.
struct GuardrailConfig;
std::shared_ptr<const GuardrailConfig> default_guardrails();

struct Config {
  std::string source;  // the file it was read from; empty: all defaults
  // The ledger's file. Wherever the ledger is, the files that are kept beside it have names that
  // begin with this one.
  std::string store_path = "pennyweight.duckdb";
  std::string store_address;  // "clickhouse://…" (core/clickhouse/address.h); empty: the file
  std::uint64_t store_memory_bytes = std::uint64_t{1} << 30;
  unsigned threads = 0;  // 0: one for each core
  std::vector<ClusterConfig> clusters;
  std::string price_file;  // empty: list prices only
  // Prices of what no bill covers, and of bills without amounts. An empty name: there is no such
  // file.
  std::string rate_card_file;
  std::string owned_file;
  std::string energy_file;
  std::string organisation = "Own organisation";  // the provider that such charges name
  std::vector<BillConfig> bills;
  CurrencyConfig currencies;
  std::vector<JoinRule> join_rules;  // they have passed check_join_rule
  TimeZone time_zone = TimeZone::utc();
  std::string policy_file;  // `policy: path.yaml`; empty: the policy was in the configuration
  bool states_dimensions = false;  // other than the built-in ones
  InvoiceConfig invoice;
  AuditConfig audit;
  MailConfig mail;
  std::vector<PullConfig> pulls;
  AlertConfig alerts;
  std::vector<Budget> budgets;
  std::vector<forecasting::KnownEvent> events;
  std::shared_ptr<const GuardrailConfig> guardrails = default_guardrails();  // never null
  LiveConfig live;
  // The labels that every workload should carry.
  LabelPolicy labels = default_label_policy();
  Policy policy;  // its time_zone is `time_zone` where it states none
};

Config default_config();

// Reads a configuration. `name` is the file's name, for messages and for paths, which are relative
// to its folder. Where the result names a policy file, the caller reads that and passes it to
// apply_policy_file(). The Error is the first mistake.
Result<Config> parse_config(std::string_view yaml, const std::string& name);

// The same, with every mistake and warning.
struct ConfigReading {
  Config config;                          // only to be used when no problem is an error
  std::vector<Problem> problems;          // by place
  YamlReader::KnownKeys known_keys = {};  // of the mappings that were read; for a test
};
ConfigReading check_config(std::string_view yaml, const std::string& name);

// Applies the content of config.policy_file, `yaml`. What it does not state stays as the
// configuration has it. Returns the problems; with an error among them `config` is unchanged.
std::vector<Problem> apply_policy_file(Config& config, std::string_view yaml);

// How often `serve` writes finished spans to the ledger: serve.flush_every, else a default for the
// kind of store. On ClickHouse each time is a commit that every program reads from then on.
std::chrono::milliseconds flush_every(const Config& config);
// How often `serve` writes changes of jobs, pods and nodes: serve.news_every, else at once into a
// file and once a minute on ClickHouse, since a cluster has changes every few seconds. Zero: at
// once.
std::chrono::milliseconds news_every(const Config& config);

// The settings of one cluster: those of the configuration, else the defaults in its time zone.
ClusterConfig cluster_config(const Config& config, const ClusterId& cluster);

// Every key, in the order of the guide.
const ConfigKeys& config_keys();
std::string config_reference();  // a Markdown table

// Reads a size such as "512MiB", "2GB" or "1073741824", in bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace pennyweight
