#include "app/alerting/alert_explanation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "core/date.h"

namespace pennyweight {
namespace {

const Instant kExplainedAt = *parse_instant("2026-03-04T10:00:00Z");

Alert hot_alert() {
  return {.condition = {.rule = "gpu_hot",
                        .scope = "lab/n1",
                        .subject = "lab/n1",
                        .severity = AlertSeverity::kCritical},
          .since = kExplainedAt - std::chrono::minutes(5),
          .last_true = kExplainedAt,
          .notified = kExplainedAt - std::chrono::minutes(5)};
}

TEST(AlertExplanation, NamesWhoHearsOfItAndWhen) {
  Config config;
  EXPECT_EQ(explain_alert(hot_alert(), {}, config, kExplainedAt),
            "it was told of at 2026-03-04T09:55:00Z: no receiver hears of it; it ends 5 minutes "
            "after it was last seen");
  ReceiverConfig ops;
  ops.name = "ops";
  ReceiverConfig lead;
  lead.name = "lead";
  lead.after_ms = 3'600'000;
  ReceiverConfig bo;
  bo.name = "bo";
  bo.owners = {"nlp"};
  config.alerts.receivers = {ops, lead, bo};
  EXPECT_EQ(explain_alert(hot_alert(), {}, config, kExplainedAt),
            "it was told of at 2026-03-04T09:55:00Z: ops, lead (after 1 hour); it ends 5 minutes "
            "after it was last seen");
}

TEST(AlertExplanation, SaysWhatHasNotArrived) {
  Config config;
  ReceiverConfig ops;
  ops.name = "ops";
  ReceiverConfig chat;
  chat.name = "chat";
  config.alerts.receivers = {ops, chat};
  const Alert alert = hot_alert();
  AlertState state;
  state.outbox = {{.receiver = "ops",
                   .notification = {alert.id() + "/firing", alert, true},
                   .attempts = 3,
                   .next = kExplainedAt,
                   .problem = "it answers with 500"}};
  state.dead = {{.receiver = "chat",
                 .notification = {alert.id() + "/firing", alert, true},
                 .attempts = 40,
                 .next = kExplainedAt,
                 .problem = "it answers with 404"}};
  EXPECT_EQ(explain_alert(alert, state, config, kExplainedAt),
            "it was told of at 2026-03-04T09:55:00Z: ops waits until 2026-03-04T10:00:00Z after "
            "attempt 3: it answers with 500, chat was given up: it answers with 404; it ends 5 "
            "minutes after it was last seen");
  Alert other = alert;
  other.since = kExplainedAt;
  EXPECT_EQ(explain_alert(other, state, config, kExplainedAt),
            "it was told of at 2026-03-04T09:55:00Z: ops, chat; it ends 5 minutes after it was "
            "last seen");
  other.notified.reset();
  EXPECT_EQ(explain_alert(other, state, config, kExplainedAt),
            "it is told of with the next ones: one evaluation tells of at most 100; it ends 5 "
            "minutes after it was last seen");
}

TEST(AlertExplanation, SaysWhatKeepsItQuiet) {
  Alert alert = hot_alert();
  alert.is_silent = true;
  Config config;
  AlertState state;
  EXPECT_TRUE(explain_alert(alert, state, config, kExplainedAt)
                  .starts_with("nobody is told, because of a graver alert about the same"));
  MaintenanceConfig window;
  window.scope = "lab";
  window.from = kExplainedAt - std::chrono::hours(1);
  window.to = kExplainedAt + std::chrono::hours(1);
  window.reason = "a fan";
  config.alerts.maintenance = {window};
  EXPECT_TRUE(explain_alert(alert, state, config, kExplainedAt)
                  .starts_with("nobody is told, because of maintenance: a fan; "));
  state.silences = {{.id = "1",
                     .what = {.rule = "gpu_hot", .scope = {}, .from = {}, .to = {}},
                     .reason = "known",
                     .by = "ana",
                     .at = kExplainedAt}};
  EXPECT_TRUE(explain_alert(alert, state, config, kExplainedAt)
                  .starts_with("nobody is told, because of a silence of ana: known; "));
  // One that has ended keeps nothing quiet.
  state.silences[0].what.to = *parse_date("2026-03-03");
  config.alerts.maintenance.clear();
  EXPECT_TRUE(explain_alert(alert, state, config, kExplainedAt)
                  .starts_with("nobody is told, because of a graver alert"));
}

TEST(AlertExplanation, SaysHowLongItMustHold) {
  Alert alert = hot_alert();
  alert.notified.reset();
  alert.condition.wait = std::chrono::minutes(60);
  alert.condition.keep = std::chrono::minutes(15);
  EXPECT_EQ(explain_alert(alert, {}, {}, kExplainedAt),
            "nobody is told before it has held for 1 hour, at 2026-03-04T10:55:00Z; it ends 15 "
            "minutes after it was last seen");
}

}  // namespace
}  // namespace pennyweight
