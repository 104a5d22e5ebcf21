#include "config/alert_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/mail/message.h"
#include "insight/alerts/alert.h"
#include "insight/alerts/message_template.h"

namespace pennyweight {
namespace {

constexpr std::size_t kReceiversMax = 50;
constexpr std::size_t kSilencesMax = 1000;
constexpr std::size_t kPrivateHostsMax = 100;
constexpr std::size_t kRulesMax = 100;
constexpr std::int64_t kEveryMin = 1'000;
constexpr std::int64_t kEveryMax = 3'600'000;
constexpr std::int64_t kRepeatMax = 604'800'000;  // a week
constexpr std::int64_t kIdleForMax = 604'800'000;
constexpr std::size_t kAddressesMax = 50;
constexpr std::size_t kOwnersMax = 100;
constexpr std::array<std::string_view, 6> kReceiverKinds = {"alertmanager", "webhook", "slack",
                                                            "teams",        "email",   "pagerduty"};
constexpr std::array<std::string_view, 3> kDigestPeriods = {"none", "day", "week"};
constexpr std::array<std::string_view, 2> kReceiverSeverities = {"warning", "critical"};
constexpr std::array<std::string_view, 2> kReceiverHours = {"always", "business"};
constexpr std::size_t kMaintenanceMax = 200;
constexpr std::int64_t kLatencyWindowMin = 10'000;
constexpr std::int64_t kLatencyWindowMax = 3'600'000;
constexpr std::size_t kInferenceMax = 20;
constexpr std::size_t kCommitmentsMax = 10'000;
// https://developer.pagerduty.com/docs/events-api-v2/trigger-events
constexpr std::string_view kPagerDutyUrl = "https://events.pagerduty.com/v2/enqueue";

bool has_digests(ReceiverKind kind) {
  return kind == ReceiverKind::kEmail || kind == ReceiverKind::kSlack ||
         kind == ReceiverKind::kTeams;
}

// What is wrong with a receiver; empty: nothing.
std::string receiver_problem(const ReceiverConfig& receiver) {
  const bool is_mail = receiver.kind == ReceiverKind::kEmail;
  const bool is_pager = receiver.kind == ReceiverKind::kPagerDuty;
  const bool has_url = !receiver.url.empty() || !receiver.url_file.empty();
  if (is_mail && has_url) return "it is reached by the server of `mail`; it has `to`, and no url";
  if (is_mail && receiver.to.empty()) return "it needs `to`: the addresses";
  if (!is_mail && !receiver.to.empty()) return "`to` is for the kind email";
  for (const std::string& address : receiver.to) {
    if (const auto right = mail::check_address(address); !right) return right.error().message;
  }
  if (is_pager && receiver.secret_file.empty()) {
    return "it needs secret_file: a file with the routing key of the service";
  }
  if (!receiver.url.empty() && !receiver.url_file.empty()) return "it has url and url_file; one";
  if (!is_mail && !is_pager && !has_url) return "it needs url or url_file, one of them";
  if (!receiver.url.empty() && !receiver.url.starts_with("https://") &&
      !receiver.url.starts_with("http://")) {
    return "its url begins with https:// or http://";
  }
  if (!receiver.secret_file.empty() && !is_pager && receiver.kind != ReceiverKind::kWebhook) {
    return "secret_file is for webhooks and PagerDuty";
  }
  if (receiver.digest != DigestPeriod::kNone && !has_digests(receiver.kind)) {
    return "a digest is for email, slack and teams";
  }
  if (!receiver.text.empty()) {
    if (receiver.kind != ReceiverKind::kSlack && receiver.kind != ReceiverKind::kTeams) {
      return "text is for slack and teams";
    }
    if (const auto right = check_message_template(receiver.text); !right) {
      return "text: " + right.error().message;
    }
  }
  if (receiver.has_approval_links) {
    const bool is_of_one = receiver.owners.size() == 1 && receiver.to.size() <= 1 &&
                           !receiver.owners.front().contains('*');
    if (!is_of_one) {
      return "approval_links decide in the name of one approver: state owners with that name "
             "alone, and one address";
    }
    if (is_pager || receiver.kind == ReceiverKind::kAlertmanager ||
        receiver.digest != DigestPeriod::kNone) {
      return "approval_links are for a webhook, slack, teams or email, without a digest";
    }
    if (!receiver.text.empty() && !receiver.text.contains("{summary}")) {
      return "approval_links stand in the summary: its text needs {summary}";
    }
  }
  if (receiver.kind == ReceiverKind::kAlertmanager &&
      (receiver.after_ms > 0 || receiver.is_in_hours)) {
    return "an Alertmanager gets all that goes on; say there when people are to hear of it";
  }
  return "";
}

void read_receivers(YamlReader& yaml, const YamlNode& node, const PathReader& path,
                    std::vector<ReceiverConfig>& receivers) {
  yaml.sequence(node, "alerts.receivers", kReceiversMax, [&](const YamlNode& item) {
    ReceiverConfig receiver;
    const auto text = [&](const YamlNode& at, std::string_view what, std::string& target) {
      if (auto value = yaml.text(at, what)) target = std::move(*value);
    };
    const std::size_t before = yaml.error_count();
    yaml.mapping(
        item, "alerts.receivers[]",
        {{"name", [&](const YamlNode& at) { text(at, "alerts.receivers[].name", receiver.name); }},
         {"kind",
          [&](const YamlNode& at) {
            const auto which = yaml.choice(at, "alerts.receivers[].kind", kReceiverKinds);
            if (which) receiver.kind = static_cast<ReceiverKind>(*which);
          }},
         {"url", [&](const YamlNode& at) { text(at, "alerts.receivers[].url", receiver.url); }},
         {"url_file",
          [&](const YamlNode& at) { receiver.url_file = path(at, "alerts.receivers[].url_file"); }},
         {"secret_file",
          [&](const YamlNode& at) {
            receiver.secret_file = path(at, "alerts.receivers[].secret_file");
          }},
         {"to",
          [&](const YamlNode& at) {
            receiver.to = yaml.texts(at, "alerts.receivers[].to", kAddressesMax);
          }},
         {"text", [&](const YamlNode& at) { text(at, "alerts.receivers[].text", receiver.text); }},
         {"owners",
          [&](const YamlNode& at) {
            receiver.owners = yaml.texts(at, "alerts.receivers[].owners", kOwnersMax);
          }},
         {"approval_links",
          [&](const YamlNode& at) {
            if (const auto value = yaml.yes_or_no(at, "alerts.receivers[].approval_links")) {
              receiver.has_approval_links = *value;
            }
          }},
         {"severity",
          [&](const YamlNode& at) {
            const auto which = yaml.choice(at, "alerts.receivers[].severity", kReceiverSeverities);
            receiver.is_critical_only = which == 1u;
          }},
         {"digest",
          [&](const YamlNode& at) {
            const auto which = yaml.choice(at, "alerts.receivers[].digest", kDigestPeriods);
            if (which) receiver.digest = static_cast<DigestPeriod>(*which);
          }},
         {"after",
          [&](const YamlNode& at) {
            const auto after = yaml.duration(at, "alerts.receivers[].after", 0, kRepeatMax);
            if (after) receiver.after_ms = static_cast<std::uint32_t>(*after);
          }},
         {"hours", [&](const YamlNode& at) {
            const auto which = yaml.choice(at, "alerts.receivers[].hours", kReceiverHours);
            receiver.is_in_hours = which == 1u;
          }}});
    if (yaml.error_count() != before) return;
    if (receiver.name.empty()) return yaml.refuse(item, "a receiver needs a name");
    if (const std::string why = receiver_problem(receiver); !why.empty()) {
      return yaml.refuse(item, fmt::format("receiver '{}': {}", receiver.name, why));
    }
    if (receiver.kind == ReceiverKind::kPagerDuty && receiver.url.empty() &&
        receiver.url_file.empty()) {
      receiver.url = kPagerDutyUrl;
    }
    if (std::ranges::find(receivers, receiver.name, &ReceiverConfig::name) != receivers.end()) {
      return yaml.refuse(item, fmt::format("there are two receivers '{}'", receiver.name));
    }
    receivers.push_back(std::move(receiver));
  });
}

// A rule's name; a misspelt one would silence nothing, without a word.
bool is_rule(YamlReader& yaml, const YamlNode& at, std::string_view what, std::string_view name) {
  const auto names = alert_rule_names();
  if (std::ranges::find(names, name) != names.end()) return true;
  yaml.refuse(at, fmt::format("{}: there is no rule '{}'; the rules are {}", what, name,
                              fmt::join(names, ", ")));
  return false;
}

void read_silences(YamlReader& yaml, const YamlNode& node, std::vector<SilenceConfig>& silences) {
  yaml.sequence(node, "alerts.silences", kSilencesMax, [&](const YamlNode& item) {
    SilenceConfig silence;
    const auto text = [&](const YamlNode& at, std::string_view what, std::string& target) {
      if (auto value = yaml.text(at, what)) target = std::move(*value);
    };
    const auto date = [&](const YamlNode& at, std::string_view what, std::optional<Date>& target) {
      const auto value = yaml.text(at, what);
      if (!value) return;
      const auto parsed = parse_date(*value);
      if (!parsed) return yaml.refuse(at, fmt::format("{}: {}", what, parsed.error().message));
      target = *parsed;
    };
    const std::size_t before = yaml.error_count();
    yaml.mapping(
        item, "alerts.silences[]",
        {{"rule",
          [&](const YamlNode& at) {
            text(at, "alerts.silences[].rule", silence.rule);
            if (!silence.rule.empty()) is_rule(yaml, at, "alerts.silences[].rule", silence.rule);
          }},
         {"scope", [&](const YamlNode& at) { text(at, "alerts.silences[].scope", silence.scope); }},
         {"from", [&](const YamlNode& at) { date(at, "alerts.silences[].from", silence.from); }},
         {"to", [&](const YamlNode& at) { date(at, "alerts.silences[].to", silence.to); }},
         {"reason",
          [&](const YamlNode& at) { text(at, "alerts.silences[].reason", silence.reason); }}});
    if (yaml.error_count() != before) return;
    if (silence.reason.empty() || !silence.to) {
      return yaml.refuse(item, "a silence needs a reason and an end: `to`");
    }
    silences.push_back(std::move(silence));
  });
}

void read_commitments(YamlReader& yaml, const YamlNode& node, std::vector<CommitmentEnd>& all) {
  yaml.sequence(node, "alerts.commitments", kCommitmentsMax, [&](const YamlNode& item) {
    std::string id;
    std::optional<Date> ends;
    const std::size_t before = yaml.error_count();
    yaml.mapping(item, "alerts.commitments[]",
                 {{"id",
                   [&](const YamlNode& at) {
                     id = yaml.any_text(at, "alerts.commitments[].id").value_or("");
                   }},
                  {"ends", [&](const YamlNode& at) {
                     const auto text = yaml.text(at, "alerts.commitments[].ends");
                     if (!text) return;
                     const auto day = parse_date(*text);
                     if (!day) {
                       return yaml.refuse(
                           at, fmt::format("alerts.commitments[].ends: {}", day.error().message));
                     }
                     ends = *day;
                   }}});
    if (yaml.error_count() != before) return;
    if (id.empty() || !ends) {
      return yaml.refuse(item, "a commitment needs its `id`, as the bill has it, and `ends`");
    }
    if (std::ranges::find(all, id, &CommitmentEnd::id) != all.end()) {
      return yaml.refuse(item, fmt::format("alerts.commitments: '{}' is there twice", id));
    }
    all.push_back({std::move(id), *ends});
  });
}

void read_rules(YamlReader& yaml, const YamlNode& node, std::vector<AlertRuleConfig>& rules) {
  yaml.sequence(node, "alerts.rules", kRulesMax, [&](const YamlNode& item) {
    AlertRuleConfig rule;
    const auto duration = [&](std::string_view what, std::optional<std::uint32_t>& target) {
      return [&yaml, what, &target](const YamlNode& at) {
        if (const auto value = yaml.duration(at, what, 0, kRepeatMax)) {
          target = static_cast<std::uint32_t>(*value);
        }
      };
    };
    const std::size_t before = yaml.error_count();
    yaml.mapping(item, "alerts.rules[]",
                 {{"rule",
                   [&](const YamlNode& at) {
                     if (auto name = yaml.text(at, "alerts.rules[].rule")) {
                       if (is_rule(yaml, at, "alerts.rules[].rule", *name)) rule.rule = *name;
                     }
                   }},
                  {"for", duration("alerts.rules[].for", rule.for_ms)},
                  {"keep", duration("alerts.rules[].keep", rule.keep_ms)},
                  {"severity", [&](const YamlNode& at) {
                     const auto which =
                         yaml.choice(at, "alerts.rules[].severity", kReceiverSeverities);
                     if (which) rule.is_critical = which == 1u;
                   }}});
    if (yaml.error_count() != before) return;
    if (rule.rule.empty()) return yaml.refuse(item, "alerts.rules[]: `rule` is missing");
    if (std::ranges::find(rules, rule.rule, &AlertRuleConfig::rule) != rules.end()) {
      return yaml.refuse(item, fmt::format("alerts.rules: '{}' is there twice", rule.rule));
    }
    rules.push_back(std::move(rule));
  });
}

void read_hours(YamlReader& yaml, const YamlNode& at, std::string_view what,
                std::optional<WeekHours>& hours) {
  const auto text = yaml.text(at, what);
  if (!text) return;
  const auto parsed = parse_week_hours(*text);
  if (!parsed) return yaml.refuse(at, fmt::format("{}: {}", what, parsed.error().message));
  hours = *parsed;
}

void read_maintenance(YamlReader& yaml, const YamlNode& node,
                      std::vector<MaintenanceConfig>& windows) {
  yaml.sequence(node, "alerts.maintenance", kMaintenanceMax, [&](const YamlNode& item) {
    MaintenanceConfig window;
    const auto instant = [&](std::string_view what, std::optional<Instant>& target) {
      return [&yaml, what, &target](const YamlNode& at) {
        const auto text = yaml.text(at, what);
        if (!text) return;
        const auto parsed = parse_instant(*text);
        if (!parsed) return yaml.refuse(at, fmt::format("{}: {}", what, parsed.error().message));
        target = *parsed;
      };
    };
    const std::size_t before = yaml.error_count();
    yaml.mapping(item, "alerts.maintenance[]",
                 {{"scope",
                   [&](const YamlNode& at) {
                     if (auto text = yaml.text(at, "alerts.maintenance[].scope"))
                       window.scope = *text;
                   }},
                  {"from", instant("alerts.maintenance[].from", window.from)},
                  {"to", instant("alerts.maintenance[].to", window.to)},
                  {"weekly",
                   [&](const YamlNode& at) {
                     read_hours(yaml, at, "alerts.maintenance[].weekly", window.weekly);
                   }},
                  {"reason", [&](const YamlNode& at) {
                     if (auto text = yaml.text(at, "alerts.maintenance[].reason"))
                       window.reason = *text;
                   }}});
    if (yaml.error_count() != before) return;
    if (window.reason.empty()) return yaml.refuse(item, "a maintenance window needs a reason");
    if (window.weekly ? window.from || window.to : !window.from || !window.to) {
      return yaml.refuse(item, "a maintenance window has `from` and `to`, or `weekly`");
    }
    if (window.from && *window.from >= *window.to) {
      return yaml.refuse(item, "a maintenance window ends after it begins");
    }
    windows.push_back(std::move(window));
  });
}

void read_thresholds(YamlReader& yaml, const YamlNode& node, AlertThresholds& thresholds) {
  const auto number = [&](std::string_view what, std::int64_t most, std::uint32_t& target) {
    return [&yaml, what, most, &target](const YamlNode& at) {
      if (const auto value = yaml.integer(at, what, 1, most)) {
        target = static_cast<std::uint32_t>(*value);
      }
    };
  };
  const auto duration = [&](std::string_view what, std::int64_t least, std::uint32_t& target) {
    return [&yaml, what, least, &target](const YamlNode& at) {
      if (const auto value = yaml.duration(at, what, least, kIdleForMax)) {
        target = static_cast<std::uint32_t>(*value);
      }
    };
  };
  yaml.mapping(
      node, "alerts.thresholds",
      {{"temperature", number("alerts.thresholds.temperature", 200, thresholds.temperature)},
       {"throttled_percent",
        number("alerts.thresholds.throttled_percent", 100, thresholds.throttled_percent)},
       {"throttled_for",
        duration("alerts.thresholds.throttled_for", 0, thresholds.throttled_for_ms)},
       {"memory_percent",
        [&](const YamlNode& at) {
          const auto value = yaml.integer(at, "alerts.thresholds.memory_percent", 1, 100);
          if (value) thresholds.memory_percent = static_cast<int>(*value);
        }},
       {"silent_for", duration("alerts.thresholds.silent_for", 60'000, thresholds.silent_for_ms)},
       {"low_percent", number("alerts.thresholds.low_percent", 100, thresholds.low_percent)},
       {"errors_for", duration("alerts.thresholds.errors_for", 1'000, thresholds.errors_for_ms)},
       {"high_percent", number("alerts.thresholds.high_percent", 100, thresholds.high_percent)},
       {"high_for", duration("alerts.thresholds.high_for", 0, thresholds.high_for_ms)},
       {"inference_idle_for",
        duration("alerts.thresholds.inference_idle_for", 0, thresholds.inference_idle_for_ms)},
       {"checkpoint_hours",
        number("alerts.thresholds.checkpoint_hours", 168, thresholds.checkpoint_hours)},
       {"coverage_points",
        number("alerts.thresholds.coverage_points", 100, thresholds.coverage_points)},
       {"commitment_percent",
        number("alerts.thresholds.commitment_percent", 100, thresholds.commitment_percent)},
       {"spot_percent", number("alerts.thresholds.spot_percent", 100, thresholds.spot_percent)},
       {"latency_times", number("alerts.thresholds.latency_times", 1000, thresholds.latency_times)},
       {"latency_window",
        [&](const YamlNode& at) {
          const auto value = yaml.duration(at, "alerts.thresholds.latency_window",
                                           kLatencyWindowMin, kLatencyWindowMax);
          if (value) thresholds.latency_window_ms = static_cast<std::uint32_t>(*value);
        }},
       {"latency_requests",
        number("alerts.thresholds.latency_requests", 1'000'000, thresholds.latency_requests)},
       {"commitment_days",
        number("alerts.thresholds.commitment_days", 366, thresholds.commitment_days)},
       {"anomaly_permille",
        [&](const YamlNode& at) {
          const auto value = yaml.integer(at, "alerts.thresholds.anomaly_permille", 0, 1000);
          if (value) thresholds.anomaly_permille = static_cast<std::uint32_t>(*value);
        }},
       {"costs_missing_days",
        number("alerts.thresholds.costs_missing_days", 366, thresholds.costs_missing_days)}});
}

}  // namespace

AlertConfig read_alert_config(YamlReader& reader, const YamlNode& node, const PathReader& path) {
  AlertConfig config;
  reader.mapping(
      node, "alerts",
      {{"receivers",
        [&](const YamlNode& at) { read_receivers(reader, at, path, config.receivers); }},
       {"allow_private",
        [&](const YamlNode& at) {
          config.allow_private = reader.texts(at, "alerts.allow_private", kPrivateHostsMax);
        }},
       {"off",
        [&](const YamlNode& at) {
          config.off = reader.texts(at, "alerts.off", kRulesMax);
          for (const std::string& rule : config.off) is_rule(reader, at, "alerts.off", rule);
        }},
       {"silences", [&](const YamlNode& at) { read_silences(reader, at, config.silences); }},
       {"every",
        [&](const YamlNode& at) {
          const auto every = reader.duration(at, "alerts.every", kEveryMin, kEveryMax);
          if (every) config.every_ms = static_cast<std::uint32_t>(*every);
        }},
       {"repeat",
        [&](const YamlNode& at) {
          const auto repeat = reader.duration(at, "alerts.repeat", 60'000, kRepeatMax);
          if (repeat) config.repeat_ms = static_cast<std::uint32_t>(*repeat);
        }},
       {"idle_for",
        [&](const YamlNode& at) {
          const auto wait = reader.duration(at, "alerts.idle_for", 0, kIdleForMax);
          if (wait) config.idle_for_ms = static_cast<std::uint32_t>(*wait);
        }},
       {"thresholds", [&](const YamlNode& at) { read_thresholds(reader, at, config.thresholds); }},
       {"rules", [&](const YamlNode& at) { read_rules(reader, at, config.rules); }},
       {"business_hours",
        [&](const YamlNode& at) {
          std::optional<WeekHours> hours;
          read_hours(reader, at, "alerts.business_hours", hours);
          if (hours) config.business_hours = *hours;
        }},
       {"maintenance",
        [&](const YamlNode& at) { read_maintenance(reader, at, config.maintenance); }},
       {"inference",
        [&](const YamlNode& at) {
          config.inference = reader.texts(at, "alerts.inference", kInferenceMax);
          for (const std::string& one : config.inference) {
            if (const std::size_t equals = one.find('='); equals == 0 || equals == one.npos) {
              reader.refuse(at, fmt::format("alerts.inference: '{}' is not DIMENSION=VALUE", one));
            }
          }
        }},
       {"commitments",
        [&](const YamlNode& at) { read_commitments(reader, at, config.commitments); }},
       {"digest_hour",
        [&](const YamlNode& at) {
          const auto hour = reader.integer(at, "alerts.digest_hour", 0, 23);
          if (hour) config.digest_hour = static_cast<int>(*hour);
        }},
       {"anomalies_by", [&](const YamlNode& at) {
          if (auto by = reader.text(at, "alerts.anomalies_by"))
            config.anomalies_by = std::move(*by);
        }}});
  return config;
}

ConfigKeys alert_config_keys() {
  return {
      {"alerts.receivers[].name", "text", "", "What the receiver is called. Required, and unique."},
      {"alerts.receivers[].kind", "alertmanager, webhook, slack, teams, email, pagerduty",
       "webhook",
       "What it is: an Alertmanager (API v2), any program that takes JSON, Slack, Teams, mail by "
       "the server of `mail`, or PagerDuty (Events v2)."},
      {"alerts.receivers[].url", "address", "",
       "Where it is; this or `url_file` is required, but for mail and PagerDuty."},
      {"alerts.receivers[].url_file", "path", "",
       "A file with the address, where that is a secret."},
      {"alerts.receivers[].secret_file", "path", "",
       "A file with a secret: bodies to a webhook are signed with it; of PagerDuty the routing "
       "key."},
      {"alerts.receivers[].to", "list of addresses", "", "Who gets the mail."},
      {"alerts.receivers[].text", "text", "",
       "How Slack and Teams are told of an alert, such as `<!here> {summary} (owner {owner})`; "
       "`summary`, `status`, `severity`, `rule`, `scope`, `subject`, `owner`, `since` and `id` may "
       "stand in braces."},
      {"alerts.receivers[].owners", "list of texts", "",
       "It hears only of what belongs to one of these owners: the owner of a budget, a team."},
      {"alerts.receivers[].approval_links", "true, false", "false",
       "What it hears of requests for approvals has a link that decides on them in the name of its "
       "only owner, whoever opens it: for a receiver that this approver alone reads."},
      {"alerts.receivers[].severity", "warning, critical", "warning",
       "The lowest severity that is sent to it."},
      {"alerts.receivers[].digest", "none, day, week", "none",
       "Alerts are sent at once, or together every day or every Monday. For email, slack and "
       "teams."},
      {"alerts.receivers[].after", "duration", "0s",
       "It hears only of what has gone on for so long after others were notified: escalation."},
      {"alerts.receivers[].hours", "always, business", "always",
       "Whether it hears at once, or only in `alerts.business_hours`. What ends meanwhile is not "
       "sent."},
      {"alerts.allow_private", "list of hosts", "",
       "Hosts of receivers that may have a private or loopback address."},
      {"alerts.off", "list of rules", "", "Rules that are not evaluated."},
      {"alerts.silences[].rule", "rule", "", "The rule to silence; by default, every rule."},
      {"alerts.silences[].scope", "text", "",
       "What to silence: the name of a budget, a team, or CLUSTER/WORKLOAD; by default, "
       "everything."},
      {"alerts.silences[].from", "date", "", "The first silent day; without it, always."},
      {"alerts.silences[].to", "date", "", "The last silent day. Required."},
      {"alerts.silences[].reason", "text", "", "Why. Required."},
      {"alerts.rules[].rule", "rule", "", "The rule that is different. Required."},
      {"alerts.rules[].for", "duration", "", "How long it holds before anybody is notified."},
      {"alerts.rules[].keep", "duration", "5m",
       "How long after it was last seen an alert ends, so that what comes and goes is one alert."},
      {"alerts.rules[].severity", "warning, critical", "", "How grave it is."},
      {"alerts.business_hours", "days and times", "mon-fri 08:00-18:00",
       "When receivers with `hours: business` hear of alerts, in `time_zone`."},
      {"alerts.maintenance[].scope", "text", "",
       "What is worked on: a cluster, CLUSTER/NODE, CLUSTER/WORKLOAD, the name of a budget; by "
       "default, everything."},
      {"alerts.maintenance[].from", "instant", "", "When it begins, 2026-12-01T22:00:00+01:00."},
      {"alerts.maintenance[].to", "instant", "", "When it ends."},
      {"alerts.maintenance[].weekly", "days and times", "",
       "Instead of `from` and `to`: each week, such as sat 22:00-04:00, in `time_zone`."},
      {"alerts.maintenance[].reason", "text", "", "Why. Required."},
      {"alerts.inference", "list of DIMENSION=VALUE", "",
       "Workloads that answer requests: GPUs that they don't use are `inference_idle`."},
      {"alerts.commitments[].id", "text", "",
       "A commitment whose end the bill does not say, by its id in the bill."},
      {"alerts.commitments[].ends", "date", "",
       "The day on which it ends. Required; it counts instead of what the bill says."},
      {"alerts.every", "duration", "1m", "How often the rules are evaluated."},
      {"alerts.repeat", "duration", "4h",
       "How often receivers are notified again of an alert that continues."},
      {"alerts.idle_for", "duration", "1h",
       "How long GPUs are held and not used, or hardly, before anybody is notified."},
      {"alerts.thresholds.temperature", "°C", "90", "A hotter GPU is `gpu_hot`."},
      {"alerts.thresholds.throttled_percent", "percent", "50",
       "A GPU that is slowed down for so much of the time is `gpu_throttled`."},
      {"alerts.thresholds.throttled_for", "duration", "15m",
       "How long that goes on before anybody is notified."},
      {"alerts.thresholds.memory_percent", "percent", "95",
       "With so much of the memory in use XID 13 and 31 are `gpu_out_of_memory`."},
      {"alerts.thresholds.silent_for", "duration", "10m",
       "A cluster that sent telemetry and has sent none for so long is `telemetry_missing`."},
      {"alerts.thresholds.low_percent", "percent", "20",
       "Workloads that use less of the GPUs that they hold are `low_utilisation`."},
      {"alerts.thresholds.errors_for", "duration", "15m",
       "How long after an XID or a memory error its alert goes on."},
      {"alerts.thresholds.high_percent", "percent", "95",
       "Workloads that use more of the GPUs that they hold are `high_utilisation`."},
      {"alerts.thresholds.high_for", "duration", "30m",
       "How long that goes on before anybody is notified."},
      {"alerts.thresholds.inference_idle_for", "duration", "5m",
       "How long GPUs of `alerts.inference` are not used before anybody is notified."},
      {"alerts.thresholds.checkpoint_hours", "hours", "2",
       "A running workload that wrote checkpoints and has written none for so long is "
       "`no_checkpoint`."},
      {"alerts.thresholds.coverage_points", "percent points", "5",
       "If the share of costs that has an owner falls by so much, it is `coverage_fell`."},
      {"alerts.thresholds.commitment_percent", "percent", "90",
       "Commitments of which less is used in a month are `commitment_underused`."},
      {"alerts.thresholds.commitment_days", "days", "60",
       "So long before it ends a commitment is `commitment_expires`."},
      {"alerts.thresholds.latency_times", "number", "5",
       "If requests take more than so many times the usual p95, it is `latency_high`."},
      {"alerts.thresholds.latency_window", "duration", "5m",
       "The p95 of requests in this last time is compared with the usual one."},
      {"alerts.thresholds.latency_requests", "number", "20",
       "So many requests in that time are enough for a p95; the usual one needs five times so "
       "many."},
      {"alerts.thresholds.spot_percent", "percent", "20",
       "If more of a cluster's spot nodes are taken back in a day, it is `spot_interrupted`."},
      {"alerts.thresholds.anomaly_permille", "thousandths", "1",
       "An unusual day of an owner is `cost_anomaly` if it differs by at least so much of what a "
       "day costs in all; 0: any."},
      {"alerts.thresholds.costs_missing_days", "days", "3",
       "No costs of more than so many days are `costs_missing`."},
      {"alerts.digest_hour", "0 to 23", "8", "The hour in which digests are sent."},
      {"alerts.anomalies_by", "dimension", "team",
       "The dimension in which unusual days are found."},
  };
}

}  // namespace pennyweight
