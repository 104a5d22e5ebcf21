#include "app/cli/event_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "app/audit_events/audit_events.h"
#include "app/context/paths.h"
#include "core/json_text.h"
#include "core/try.h"
#include "reporting/queries/selection.h"
#include "server/event_book/event_book.h"
#include "server/event_book/event_json.h"

namespace pennyweight {
namespace {

using forecasting::KnownEvent;

struct SetEventOptions {
  std::string name;
  std::string from, to, key, by, per_day;
  std::optional<int> percent;
};

struct ListEventsOptions {
  std::string name;
  TableOptions table;
};

EventBook::Recorder event_recorder(Context& context, std::string action, std::string name) {
  return [&context, action = std::move(action), name = std::move(name)](
             const std::optional<KnownEvent>& before, const std::optional<KnownEvent>& after) {
    return announce_audit_event(context, action, "event " + name, before ? event_json(*before) : "",
                                after ? event_json(*after) : "");
  };
}

Result<void> refuse_configured(const std::string& name, const Context& context) {
  const auto& configured = context.config.events;
  if (std::ranges::find(configured, name, &KnownEvent::name) == configured.end()) return {};
  return fail(ErrorCode::kBadValue,
              fmt::format("event '{}' is part of the configuration; change it there", name));
}

// The book, in a folder that exists.
Result<std::unique_ptr<EventBook>> open_event_book(const Context& context) {
  std::error_code problem;
  std::filesystem::create_directories(live_folder(context.config), problem);
  if (problem) {
    return fail(ErrorCode::kIo, fmt::format("cannot create {}: {}", live_folder(context.config),
                                            problem.message()));
  }
  return std::make_unique<EventBook>(event_book_path(context.config));
}

Result<ExitCode> set_event(const SetEventOptions& options, Context& context) {
  std::string json = fmt::format("{{\"from\": {}", json_string(options.from));
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) json += fmt::format(", \"{}\": {}", key, json_string(value));
  };
  add("to", options.to);
  add("key", options.key);
  add("by", options.by);
  add("per_day", options.per_day);
  if (options.percent) json += fmt::format(", \"percent\": {}", *options.percent);
  const auto event = parse_event_json(json + "}", options.name);
  if (!event) return as_usage_error(event.error());
  if (const auto free = refuse_configured(event->name, context); !free) {
    return as_usage_error(free.error());
  }
  if (!event->by.empty()) {
    const auto known = parse_dimensions({event->by}, context.config.policy);
    if (!known) return as_usage_error(known.error().during("--by"));
  }
  const auto book = TRY(open_event_book(context));
  TRY(book->set(*event, cli_author().actor, context.clock.now(),
                event_recorder(context, "event.set", event->name)));
  context.console.say(fmt::format("event '{}' set", event->name));
  return ExitCode::kDone;
}

Result<ExitCode> remove_event(const std::string& name, Context& context) {
  if (const auto free = refuse_configured(name, context); !free) {
    return as_usage_error(free.error());
  }
  const auto book = TRY(open_event_book(context));
  TRY(book->remove(name, cli_author().actor, context.clock.now(),
                   event_recorder(context, "event.remove", name)));
  context.console.say(fmt::format("event '{}' removed", name));
  return ExitCode::kDone;
}

Result<ExitCode> list_events(const TableOptions& options, Context& context) {
  const std::vector<KnownEvent> events = TRY(all_events(context));
  Table table;
  table.title = "What is known of days to come";
  table.columns = {{"name", "event"}, {"from", "from"}, {"to", "to"},
                   {"by", "by"},      {"key", "of"},    {"effect", "what it does to a day"},
                   {"kept", "kept"}};
  for (const KnownEvent& one : events) {
    const auto& configured = context.config.events;
    const bool is_configured =
        std::ranges::find(configured, one.name, &KnownEvent::name) != configured.end();
    table.rows.push_back({one.name, to_text(one.from), one.to ? to_text(*one.to) : std::string(),
                          one.by, one.key, event_effect(one),
                          std::string(is_configured ? "in the configuration" : "by people")});
  }
  if (events.empty()) table.notes.emplace_back("none; 'pennyweight forecast event set' keeps one");
  print_tables({table}, options, context);
  return ExitCode::kDone;
}

Result<ExitCode> show_event_history(const ListEventsOptions& options, Context& context) {
  EventBook book(event_book_path(context.config));
  const auto changes = TRY(book.history(options.name));
  Table table;
  table.title = "Events that people keep, and what they changed";
  table.columns = {{"number", "number", ColumnKind::kCount},
                   {"at", "at"},
                   {"who", "by"},
                   {"event", "event"},
                   {"definition", "definition"}};
  for (const EventChange& change : changes) {
    table.rows.push_back({change.number, to_text(change.at), change.who, change.name,
                          change.event ? event_json(*change.event) : std::string("(removed)")});
  }
  if (changes.empty()) table.notes.emplace_back("nobody has kept one");
  print_tables({table}, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Result<std::vector<KnownEvent>> all_events(const Context& context) {
  return EventBook(event_book_path(context.config)).with(context.config.events);
}

std::function<std::optional<Result<ExitCode>>(Context&)> add_event_changes(CLI::App& forecast) {
  CLI::App* event = forecast.add_subcommand(
      "event", "Keep what is known of days to come: a client starts, a training run, a holiday");
  event->require_subcommand(1);
  const auto set = std::make_shared<SetEventOptions>();
  CLI::App* set_command = event->add_subcommand("set", "Keep an event, or change it");
  set_command->add_option("name", set->name, "What it is called")->required();
  set_command->add_option("--from", set->from, "Its first day, such as 2026-05-01")->required();
  set_command->add_option("--to", set->to, "Its last day; without it, it lasts");
  set_command->add_option("--key", set->key, "The value it is for, such as a team; default: all");
  set_command->add_option("--by", set->by,
                          "The dimension of that value; default: any that has it. Needed for one "
                          "without costs so far");
  set_command->add_option("--per-day", set->per_day,
                          "What it adds on each day, \"120 USD\"; below 0, what it saves");
  set_command->add_option(
      "--percent", set->percent,
      "What remains of a day's cost: 0 on a holiday, 150 for half as much more");
  const auto removed = std::make_shared<std::string>();
  CLI::App* remove_command = event->add_subcommand("remove", "Remove an event that was kept");
  remove_command->add_option("name", *removed, "Which")->required();
  const auto listed = std::make_shared<TableOptions>();
  CLI::App* list_command =
      event->add_subcommand("list", "Show all, also those of the configuration");
  add_table_options(*list_command, *listed);
  const auto history = std::make_shared<ListEventsOptions>();
  CLI::App* history_command =
      event->add_subcommand("history", "Show who kept which events, and when");
  history_command->add_option("name", history->name, "One of them; default: all");
  add_table_options(*history_command, history->table);
  return [=](Context& context) -> std::optional<Result<ExitCode>> {
    if (set_command->parsed()) return set_event(*set, context);
    if (remove_command->parsed()) return remove_event(*removed, context);
    if (list_command->parsed()) return list_events(*listed, context);
    if (history_command->parsed()) return show_event_history(*history, context);
    return std::nullopt;
  };
}

}  // namespace pennyweight
