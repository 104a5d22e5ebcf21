// The section `alerts:` of the configuration: which alerts are sent, to whom, and which are silent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_key.h"
#include "config/live_config.h"
#include "config/yaml_reader.h"
#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/week_hours.h"

namespace pennyweight {

enum class ReceiverKind { kAlertmanager, kWebhook, kSlack, kTeams, kEmail, kPagerDuty };

// How often a receiver hears what happened: at once, or together, once a day or on Mondays.
enum class DigestPeriod { kNone, kDay, kWeek };

struct ReceiverConfig {
  std::string name;
  ReceiverKind kind = ReceiverKind::kWebhook;
  std::string url;       // https://… or http://…; of an Alertmanager its address
  std::string url_file;  // instead: Slack's address is a secret
  // Of a webhook: its bodies are signed with it (HMAC-SHA-256). Of PagerDuty: the routing key.
  std::string secret_file;
  std::vector<std::string> to;  // of a mail: addresses
  std::string text = {};        // of Slack and Teams: a message template; empty: the usual words
  DigestPeriod digest = DigestPeriod::kNone;
  std::vector<std::string> owners;  // hears only of what belongs to one of them; empty: of all
  std::uint32_t after_ms = 0;       // hears only of what has gone on for so long (escalation)
  bool is_in_hours = false;         // hears only in alerts.business_hours
  bool is_critical_only = false;
  // Alerts about requests for approvals carry a link that decides in the name of its only owner.
  bool has_approval_links = false;
  bool operator==(const ReceiverConfig&) const = default;
};

struct SilenceConfig {
  std::string rule;   // empty: any
  std::string scope;  // of the alert, such as the name of a budget; empty: any
  std::optional<Date> from;
  std::optional<Date> to;  // inclusive
  std::string reason;
  bool operator==(const SilenceConfig&) const = default;
};

// While something is being worked on nobody is notified of it: once, or each week.
struct MaintenanceConfig {
  std::string scope;  // a cluster, CLUSTER/NODE, the name of a budget; empty: everything
  std::optional<Instant> from;
  std::optional<Instant> to;
  std::optional<WeekHours> weekly;
  std::string reason;
  bool operator==(const MaintenanceConfig&) const = default;
};

// What is different about a rule.
struct AlertRuleConfig {
  std::string rule;
  std::optional<std::uint32_t> for_ms;   // how long it holds before anybody is notified
  std::optional<std::uint32_t> keep_ms;  // how long after it was last seen it ends
  std::optional<bool> is_critical;
  bool operator==(const AlertRuleConfig&) const = default;
};

// When a commitment ends, of which the bill does not say so.
struct CommitmentEnd {
  std::string id;  // as the bill has it
  Date ends;
  bool operator==(const CommitmentEnd&) const = default;
};

// Where the rules begin to tell.
struct AlertThresholds {
  std::uint32_t temperature = 90;            // °C; more is gpu_hot
  std::uint32_t throttled_percent = 50;      // of the time; gpu_throttled
  std::uint32_t throttled_for_ms = 900'000;  // so long
  int memory_percent = 95;                   // of the memory in use: XID 13 and 31 are its lack
  std::uint32_t silent_for_ms = 600'000;     // telemetry_missing
  std::uint32_t low_percent = 20;            // of held GPUs in use: low_utilisation
  std::uint32_t costs_missing_days = 3;      // costs_missing: no costs of more than so many days
  // cost_anomaly: so many thousandths of what a day costs in all
  std::uint32_t anomaly_permille = 1;
  std::uint32_t errors_for_ms = 900'000;  // after an XID or a memory error its alert goes on
  std::uint32_t high_percent = 95;        // of held GPUs in use: high_utilisation
  std::uint32_t high_for_ms = 1'800'000;
  std::uint32_t inference_idle_for_ms = 300'000;
  std::uint32_t checkpoint_hours = 2;     // no_checkpoint
  std::uint32_t coverage_points = 5;      // coverage_fell: so many percent points less has an owner
  std::uint32_t commitment_percent = 90;  // used to less: commitment_underused
  std::uint32_t commitment_days = 60;     // before a commitment ends: commitment_expires
  std::uint32_t spot_percent = 20;        // of spot nodes taken back in a day: spot_interrupted
  std::uint32_t latency_times = 5;        // the usual p95: latency_high
  std::uint32_t latency_window_ms = 300'000;  // of these last minutes
  std::uint32_t latency_requests = 20;        // in that time; the baseline needs five times so many
  bool operator==(const AlertThresholds&) const = default;
};

struct AlertConfig {
  std::vector<ReceiverConfig> receivers;
  // Hosts with private addresses that receivers may have, such as alertmanager.local.
  std::vector<std::string> allow_private;
  std::vector<std::string> off;  // names of rules that are not evaluated
  std::vector<SilenceConfig> silences;
  std::vector<AlertRuleConfig> rules;
  WeekHours business_hours;
  std::vector<MaintenanceConfig> maintenance;
  std::uint32_t every_ms = 60'000;
  std::uint32_t repeat_ms = 14'400'000;   // how often a receiver is told again of what goes on
  std::uint32_t idle_for_ms = 3'600'000;  // of gpu_idle and low_utilisation
  std::string anomalies_by = "team";
  std::vector<CommitmentEnd> commitments;
  // Workloads that answer requests, "namespace=serving": inference_idle. Empty: none.
  std::vector<std::string> inference;
  AlertThresholds thresholds;
  int digest_hour = 8;  // of the day, in the configured time zone
  bool operator==(const AlertConfig&) const = default;
};

AlertConfig read_alert_config(YamlReader& reader, const YamlNode& node, const PathReader& path);

ConfigKeys alert_config_keys();

}  // namespace pennyweight
