// alerts: what goes on, what waits to be delivered, what could not be, and a test of a receiver.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "app/alerting/alert_explanation.h"
#include "app/alerting/alert_state.h"
#include "app/alerting/delivery.h"
#include "app/alerting/past_alerts.h"
#include "app/audit_events/audit_events.h"
#include "app/cli/event_changes.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/paths.h"
#include "core/billing_period.h"
#include "core/date.h"
#include "core/try.h"
#include "insight/alerts/alert.h"
#include "reporting/number_format.h"
#include "server/budget_book/budget_book.h"

namespace pennyweight {
namespace {

struct AlertOptions {
  std::string receiver;  // to be tested; empty: list
  std::string from;      // of the past that is replayed; empty: none is
  std::string to;
  bool explains = false;
  TableOptions table;
};

// The message says that it is a test; an Alertmanager forgets it after five minutes.
Result<ExitCode> test_receiver(const std::string& name, Context& context) {
  const auto& receivers = context.config.alerts.receivers;
  const auto receiver = std::ranges::find(receivers, name, &ReceiverConfig::name);
  if (receiver == receivers.end()) {
    return usage_error(fmt::format("--test: alerts.receivers has no '{}'", name));
  }
  const Instant now = context.clock.now();
  Alert alert{.condition = {.rule = "test",
                            .scope = "test",
                            .subject = "test",
                            .summary = "A test of pennyweight: nothing is wrong"},
              .since = now,
              .last_true = now};
  const AlertNotification notification{.id = alert.id() + "/firing", .alert = alert};
  Delivery delivery(context.config.alerts, context.config.mail);
  TRY(delivery.send(*receiver, {&notification, 1}, false, now));
  if (receiver->kind == ReceiverKind::kPagerDuty) {
    // It forgets nothing by itself.
    alert.ended = now;
    const AlertNotification end{alert.id() + "/resolved", alert, false};
    TRY(delivery.send(*receiver, {&end, 1}, false, now));
  }
  TRY(record_audit_event(context, "alert.test", name, "", ""));
  context.console.say(fmt::format("receiver '{}' accepted the test message", name));
  return ExitCode::kDone;
}

std::string_view state_text(const Alert& alert) {
  if (alert.is_silent) return "silent";
  return alert.notified ? "firing" : "pending";
}

Table alert_table(const AlertState& state) {
  Table table;
  table.title = "Current alerts";
  table.columns = {{"severity", "severity"}, {"rule", "rule"},   {"subject", "subject"},
                   {"owner", "owner"},       {"since", "since"}, {"state", "state"},
                   {"summary", "summary"}};
  std::uint64_t in_incidents = 0;
  for (const auto& [key, alert] : state.book) {
    if (alert.condition.is_in_incident()) {
      ++in_incidents;
      continue;
    }
    table.rows.push_back({std::string(to_text(alert.condition.severity)), alert.condition.rule,
                          alert.condition.subject, alert.condition.owner, to_text(alert.since),
                          std::string(state_text(alert)), alert.condition.summary});
  }
  if (in_incidents > 0) {
    table.notes.push_back(
        fmt::format("{} of incidents that are listed, told to their owners alone; --explain lists "
                    "them",
                    counted(in_incidents, "alert")));
  }
  return table;
}

void add_entries(const std::deque<OutboxEntry>& entries, const std::string& state, Table& table) {
  for (const OutboxEntry& entry : entries) {
    table.rows.push_back({entry.receiver, entry.notification.id, state,
                          std::uint64_t{entry.attempts}, to_text(entry.next), entry.problem});
  }
}

Table delivery_table(const AlertState& state) {
  Table table;
  table.title = "Notifications that did not arrive yet";
  table.columns = {{"receiver", "receiver"}, {"id", "id"},
                   {"state", "state"},       {"attempts", "attempts", ColumnKind::kCount},
                   {"next", "next attempt"}, {"problem", "problem"}};
  add_entries(state.outbox, "waits", table);
  add_entries(state.dead, "given up", table);
  return table;
}

Result<Date> date_option(std::string_view name, const std::string& text) {
  const auto day = parse_date(text);
  if (!day) return usage_error(fmt::format("{}: {}", name, day.error().message));
  return *day;
}

// "gpu_hot would have told of 14 GPUs in March".
Result<ExitCode> replay_past(const AlertOptions& options, Context& context) {
  const Config& config = context.config;
  const std::string yesterday = local_date(
      day_of(context.clock.now(), config.policy.time_zone).begin() - std::chrono::milliseconds(1),
      config.policy.time_zone);
  const Date first = TRY(date_option("--from", options.from));
  const Date last = TRY(date_option("--to", options.to.empty() ? yesterday : options.to));
  auto budgets = TRY(BudgetBook(budget_book_path(config)).with(config.budgets));
  auto events = TRY(all_events(context));
  const auto store = TRY(open_ledger(config));
  const PastAlertsQuery query{
      .first = first,
      .last = last,
      .budgets = std::move(budgets),
      .events = std::move(events),
      .summarise = [&](const SummaryQuery& summary) { return store->summarise(summary); },
      .usage = [&](const Interval& during,
                   const std::function<void(std::span<const Usage>)>& sink) -> Result<void> {
        for (const ClusterConfig& cluster : config.clusters) {
          TRY(store->scan_usage(cluster.name, during, UsageDetail::kAll,
                                [&](std::span<const Usage> batch) {
                                  sink(batch);
                                  return true;
                                }));
        }
        return {};
      }};
  const auto past = replay_alerts(query, config);
  if (!past) return as_usage_error(past.error());
  std::vector<Table> tables = past_alert_tables(*past, query);
  // A file has one header: each alert is a row.
  if (options.table.format == "csv") tables.erase(tables.begin());
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> run_alerts(const AlertOptions& options, Context& context) {
  if (!options.receiver.empty()) return test_receiver(options.receiver, context);
  if (!options.from.empty()) return replay_past(options, context);
  const AlertState state = TRY(load_alert_state(alert_state_path(context.config)));
  if (state.book.empty()) context.console.say("no alert goes on");
  std::vector<Table> tables{alert_table(state)};
  if (options.explains) {
    for (const auto& [key, alert] : state.book) {
      tables.front().notes.push_back(
          fmt::format("{} {}: {}", alert.condition.rule, alert.condition.scope,
                      explain_alert(alert, state, context.config, context.clock.now())));
    }
  }
  if (!state.outbox.empty() || !state.dead.empty()) tables.push_back(delivery_table(state));
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_alerts(CLI::App& app) {
  const auto options = std::make_shared<AlertOptions>();
  CLI::App* command =
      app.add_subcommand("alerts", "Show what alerts go on and what could not be delivered");
  CLI::Option* test = command->add_option("--test", options->receiver,
                                          "Send a test message to this receiver instead");
  CLI::Option* from = command->add_option(
      "--from", options->from,
      "Show instead what the rules would have told of from this day on, such as 2026-03-01");
  command->add_option("--to", options->to, "The last day of these; by default, yesterday")
      ->needs(from);
  command
      ->add_flag("--explain", options->explains,
                 "Who heard of each alert, or what keeps it quiet, and when it ends")
      ->excludes(test)
      ->excludes(from);
  add_table_options(*command, options->table);
  command->footer(examples_footer("alerts"));
  return {command, [options](Context& context) { return run_alerts(*options, context); }};
}

}  // namespace pennyweight
