#include "config/alert_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "insight/alerts/alert.h"

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
constexpr std::array<std::string_view, 4> kReceiverKinds = {"alertmanager", "webhook", "slack",
                                                            "teams"};

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
         {"secret_file", [&](const YamlNode& at) {
            receiver.secret_file = path(at, "alerts.receivers[].secret_file");
          }}});
    if (yaml.error_count() != before) return;
    if (receiver.name.empty()) return yaml.refuse(item, "a receiver needs a name");
    if (receiver.url.empty() == receiver.url_file.empty()) {
      return yaml.refuse(
          item, fmt::format("receiver '{}' needs url or url_file, one of them", receiver.name));
    }
    if (!receiver.url.empty() && !receiver.url.starts_with("https://") &&
        !receiver.url.starts_with("http://")) {
      return yaml.refuse(item, fmt::format("receiver '{}': its url begins with https:// or http://",
                                           receiver.name));
    }
    if (!receiver.secret_file.empty() && receiver.kind != ReceiverKind::kWebhook) {
      return yaml.refuse(item,
                         fmt::format("receiver '{}': secret_file is for webhooks", receiver.name));
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
       {"anomalies_by", [&](const YamlNode& at) {
          if (auto by = reader.text(at, "alerts.anomalies_by"))
            config.anomalies_by = std::move(*by);
        }}});
  return config;
}

ConfigKeys alert_config_keys() {
  return {
      {"alerts.receivers[].name", "text", "", "What the receiver is called. Required, and unique."},
      {"alerts.receivers[].kind", "alertmanager, webhook, slack, teams", "webhook",
       "What it is: an Alertmanager (API v2), any program that takes JSON, Slack or Teams."},
      {"alerts.receivers[].url", "address", "", "Where it is; this or `url_file` is required."},
      {"alerts.receivers[].url_file", "path", "",
       "A file with the address, where that is a secret."},
      {"alerts.receivers[].secret_file", "path", "",
       "A file with a secret: bodies to a webhook are signed with it."},
      {"alerts.allow_private", "list of hosts", "",
       "Hosts of receivers that may have a private or loopback address."},
      {"alerts.off", "list of rules", "", "Rules that are not evaluated."},
      {"alerts.silences[].rule", "rule", "", "The rule that is silent; without it, any."},
      {"alerts.silences[].scope", "text", "",
       "What is silent: the name of a budget, a team, or CLUSTER/WORKLOAD; without it, anything."},
      {"alerts.silences[].from", "date", "", "The first silent day; without it, always."},
      {"alerts.silences[].to", "date", "", "The last silent day. Required."},
      {"alerts.silences[].reason", "text", "", "Why. Required."},
      {"alerts.every", "duration", "1m", "How often the rules are evaluated."},
      {"alerts.repeat", "duration", "4h", "How often receivers are told again of what goes on."},
      {"alerts.idle_for", "duration", "1h",
       "How long GPUs are held and not used, or hardly, before anybody is told."},
      {"alerts.anomalies_by", "dimension", "team",
       "The dimension in which unusual days are found."},
  };
}

}  // namespace pennyweight
