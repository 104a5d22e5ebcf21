#include "app/alerting/alert_state.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <ranges>
#include <system_error>
#include <utility>

#include "app/context/paths.h"
#include "core/date.h"
#include "core/files/disk.h"
#include "core/json_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kStateBytesMax = 256u << 20;
constexpr std::size_t kAlertBytes = 640;  // of most of them, so that the text grows once

// The file is written whole, with thousands of alerts each minute: nothing is copied on the way.
void add_name(std::string& out, std::string_view name) {
  if (!out.ends_with('{')) out += ", ";
  out += '"';
  out += name;
  out += "\": ";
}

void add_text(std::string& out, std::string_view name, std::string_view value) {
  add_name(out, name);
  append_json_string(out, value);
}

void add_time(std::string& out, std::string_view name, const std::optional<Instant>& at) {
  if (at) add_text(out, name, to_text(*at));
}

void append_alert(std::string& out, const Alert& alert) {
  out += '{';
  add_text(out, "rule", alert.condition.rule);
  add_text(out, "scope", alert.condition.scope);
  add_text(out, "subject", alert.condition.subject);
  add_text(out, "severity", to_text(alert.condition.severity));
  add_text(out, "owner", alert.condition.owner);
  add_text(out, "summary", alert.condition.summary);
  if (!alert.condition.incident.empty()) add_text(out, "incident", alert.condition.incident);
  fmt::format_to(std::back_inserter(out), ", \"wait_ms\": {}, \"is_silent\": {}",
                 alert.condition.wait.count(), alert.is_silent);
  if (alert.condition.keep) {
    fmt::format_to(std::back_inserter(out), ", \"keep_ms\": {}", alert.condition.keep->count());
  }
  add_time(out, "since", alert.since);
  add_time(out, "seen", alert.last_true);
  add_time(out, "ended", alert.ended);
  add_time(out, "told", alert.notified);
  if (!alert.delivered.empty()) {
    add_name(out, "delivered");
    out += '{';
    for (const auto& [receiver, at] : alert.delivered) {
      if (!out.ends_with('{')) out += ", ";
      append_json_string(out, receiver);
      out += ": ";
      append_json_string(out, to_text(at));
    }
    out += '}';
  }
  out += '}';
}

void append_entry(std::string& out, const OutboxEntry& entry) {
  out += '{';
  add_text(out, "receiver", entry.receiver);
  add_text(out, "id", entry.notification.id);
  add_text(out, "problem", entry.problem);
  add_time(out, "next", entry.next);
  fmt::format_to(std::back_inserter(out),
                 ", \"attempts\": {}, \"is_firing\": {}, \"alert\": ", entry.attempts,
                 entry.notification.is_firing);
  append_alert(out, entry.notification.alert);
  out += '}';
}

void append_silence(std::string& out, const PutSilence& silence) {
  out += '{';
  add_text(out, "id", silence.id);
  add_text(out, "rule", silence.what.rule);
  add_text(out, "scope", silence.what.scope);
  if (silence.what.from) add_text(out, "from", to_text(*silence.what.from));
  if (silence.what.to) add_text(out, "to", to_text(*silence.what.to));
  add_text(out, "reason", silence.reason);
  add_text(out, "by", silence.by);
  add_time(out, "at", silence.at);
  out += '}';
}

// "name": [ … ], an object a line.
template <typename Objects>
void append_list(std::string& out, std::string_view name, const Objects& objects, auto append) {
  add_name(out, name);
  out += '[';
  bool is_first = true;
  for (const auto& object : objects) {
    out += is_first ? "\n" : ",\n";
    append(out, object);
    is_first = false;
  }
  out += ']';
}

Result<std::string> text_of(const simdjson::dom::element& object, std::string_view name) {
  std::string_view text;
  if (object[name].get(text) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, fmt::format("'{}' is missing", name));
  }
  return std::string(text);
}

Result<std::optional<Instant>> time_of(const simdjson::dom::element& object,
                                       std::string_view name) {
  std::string_view text;
  if (object[name].get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto at = TRY(parse_instant(text));
  return at;
}

Result<Alert> read_alert(const simdjson::dom::element& object) {
  Alert alert{.condition = {}};
  alert.condition.rule = TRY(text_of(object, "rule"));
  alert.condition.scope = TRY(text_of(object, "scope"));
  alert.condition.subject = text_of(object, "subject").value_or("");  // since its second version
  const auto severity = TRY(text_of(object, "severity"));
  alert.condition.severity =
      severity == "critical" ? AlertSeverity::kCritical : AlertSeverity::kWarning;
  alert.condition.owner = TRY(text_of(object, "owner"));
  alert.condition.summary = TRY(text_of(object, "summary"));
  alert.condition.incident = text_of(object, "incident").value_or("");  // of few
  std::int64_t wait = 0;
  if (object["wait_ms"].get(wait) == simdjson::SUCCESS) {
    alert.condition.wait = std::chrono::milliseconds(wait);
  }
  std::int64_t keep = 0;
  if (object["keep_ms"].get(keep) == simdjson::SUCCESS) {
    alert.condition.keep = std::chrono::milliseconds(keep);
  }
  // Absent in the first version of the file.
  if (object["is_silent"].get(alert.is_silent) != simdjson::SUCCESS) alert.is_silent = false;
  const auto since = TRY(time_of(object, "since"));
  const auto seen = TRY(time_of(object, "seen"));
  if (!since || !seen) return fail(ErrorCode::kBadFile, "an alert has no time");
  alert.since = *since;
  alert.last_true = *seen;
  alert.ended = TRY(time_of(object, "ended"));
  alert.notified = TRY(time_of(object, "told"));
  simdjson::dom::object delivered;  // of few, and absent in earlier versions
  if (object["delivered"].get(delivered) == simdjson::SUCCESS) {
    for (const auto& [receiver, value] : delivered) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) {
        return fail(ErrorCode::kBadFile, "a delivery has no time");
      }
      const auto at = TRY(parse_instant(text));
      alert.delivered.emplace(receiver, at);
    }
  }
  return alert;
}

Result<std::optional<Date>> date_of(const simdjson::dom::element& object, std::string_view name) {
  std::string_view text;
  if (object[name].get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto day = TRY(parse_date(text));
  return day;
}

Result<PutSilence> read_silence(const simdjson::dom::element& object) {
  PutSilence silence;
  silence.id = TRY(text_of(object, "id"));
  silence.what.rule = TRY(text_of(object, "rule"));
  silence.what.scope = TRY(text_of(object, "scope"));
  silence.what.from = TRY(date_of(object, "from"));
  silence.what.to = TRY(date_of(object, "to"));
  silence.reason = TRY(text_of(object, "reason"));
  silence.by = TRY(text_of(object, "by"));
  const auto at = TRY(time_of(object, "at"));
  silence.at = at.value_or(Instant{});
  return silence;
}

Result<std::deque<OutboxEntry>> read_entries(const simdjson::dom::element& root,
                                             std::string_view name) {
  std::deque<OutboxEntry> entries;
  simdjson::dom::array list;
  if (root[name].get(list) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, fmt::format("'{}' is missing", name));
  }
  for (const simdjson::dom::element& object : list) {
    OutboxEntry entry{.receiver = {}, .notification = {.id = {}, .alert = {.condition = {}}}};
    entry.receiver = TRY(text_of(object, "receiver"));
    entry.notification.id = TRY(text_of(object, "id"));
    entry.problem = TRY(text_of(object, "problem"));
    const auto next = TRY(time_of(object, "next"));
    entry.next = next.value_or(Instant{});
    std::uint64_t attempts = 0;
    simdjson::dom::element alert;
    if (object["attempts"].get(attempts) != simdjson::SUCCESS ||
        object["is_firing"].get(entry.notification.is_firing) != simdjson::SUCCESS ||
        object["alert"].get(alert) != simdjson::SUCCESS) {
      return fail(ErrorCode::kBadFile, "a notification is not complete");
    }
    entry.attempts = static_cast<std::uint32_t>(attempts);
    entry.notification.alert = TRY(read_alert(alert));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::string to_json(const AlertState& state) {
  std::string out;
  out.reserve(kAlertBytes * (state.book.size() + state.outbox.size() + state.dead.size()));
  out = "{";
  append_list(out, "alerts", std::views::values(state.book), append_alert);
  append_list(out, "outbox", state.outbox, append_entry);
  append_list(out, "dead", state.dead, append_entry);
  append_list(out, "ended", state.ended, append_alert);
  append_list(out, "silences", state.silences, append_silence);
  return out + "}\n";
}

Result<AlertState> parse_alert_state(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, "this is not JSON");
  }
  AlertState state;
  simdjson::dom::array alerts;
  if (root["alerts"].get(alerts) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, "'alerts' is missing");
  }
  for (const simdjson::dom::element& object : alerts) {
    Alert alert = TRY(read_alert(object));
    std::pair key(alert.condition.rule, alert.condition.scope);
    state.book.insert_or_assign(std::move(key), std::move(alert));
  }
  state.outbox = TRY(read_entries(root, "outbox"));
  state.dead = TRY(read_entries(root, "dead"));
  // Both are absent in the first versions of the file.
  simdjson::dom::array ended;
  if (root["ended"].get(ended) == simdjson::SUCCESS) {
    for (const simdjson::dom::element& object : ended) {
      state.ended.push_back(TRY(read_alert(object)));
    }
  }
  simdjson::dom::array silences;
  if (root["silences"].get(silences) == simdjson::SUCCESS) {
    for (const simdjson::dom::element& object : silences) {
      state.silences.push_back(TRY(read_silence(object)));
    }
  }
  return state;
}

void limit_outbox(AlertState& state, const OutboxLimits& limits) {
  if (state.outbox.size() <= std::min(limits.of_receiver, limits.of_all)) return;
  struct Count {
    std::size_t kept = 0;
    std::size_t surplus = 0;
  };
  std::map<std::string, Count> receivers;
  for (const OutboxEntry& entry : state.outbox) ++receivers[entry.receiver].kept;
  std::size_t all = 0;
  const auto give_up = [](Count& count, std::size_t some) {
    count.kept -= some;
    count.surplus += some;
  };
  for (auto& [name, count] : receivers) {
    if (count.kept > limits.of_receiver) give_up(count, count.kept - limits.of_receiver);
    all += count.kept;
  }
  for (; all > limits.of_all; --all) {
    const auto most = std::ranges::max_element(
        receivers, {}, [](const auto& receiver) { return receiver.second.kept; });
    give_up(most->second, 1);
  }
  std::deque<OutboxEntry> kept;
  for (OutboxEntry& entry : state.outbox) {
    std::size_t& surplus = receivers[entry.receiver].surplus;
    if (surplus == 0) {
      kept.push_back(std::move(entry));
      continue;
    }
    --surplus;
    entry.problem = "too many notifications wait";
    state.dead.push_back(std::move(entry));
  }
  state.outbox = std::move(kept);
}

std::string alert_state_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "alerts.json").string();
}

Result<AlertState> load_alert_state(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return AlertState{};
  const auto text = TRY(read_raw_file(path, kStateBytesMax));
  auto state = parse_alert_state(text);
  if (state) return state;
  return std::unexpected(
      state.error().during(fmt::format("the alerts in {} can't be read; move the file away to "
                                       "start over: every active alert is then sent again",
                                       path)));
}

Result<void> save_alert_state(const AlertState& state, const std::string& path) {
  return replace_file(path, to_json(state));
}

}  // namespace pennyweight
