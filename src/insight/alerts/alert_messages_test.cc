#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/utf8.h"
#include "insight/alerts/alert_mail.h"
#include "insight/alerts/message_template.h"
#include "insight/alerts/pager_duty.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;
using testing::Not;

const Instant kSince = parse_instant("2026-03-01T00:00:00Z").value();

AlertNotification told(std::string summary, AlertSeverity severity, bool is_firing = true) {
  Alert alert{.condition = {.rule = "gpu_idle",
                            .scope = summary,
                            .subject = "lab/7",
                            .severity = severity,
                            .owner = "ana",
                            .summary = summary},
              .since = kSince,
              .last_true = kSince};
  if (!is_firing) alert.ended = kSince + std::chrono::hours(1);
  return {alert.id() + (is_firing ? "/firing" : "/resolved"), alert, is_firing};
}

TEST(AlertMail, TheGravestComesFirstAndTheCountsAreRight) {
  const std::vector<AlertNotification> all{told("b is idle", AlertSeverity::kWarning),
                                           told("c has ended", AlertSeverity::kWarning, false),
                                           told("a is spent", AlertSeverity::kCritical)};
  EXPECT_EQ(alert_mail_subject(all), "[pennyweight] 2 alerts, 1 ended: a is spent");
  EXPECT_EQ(alert_mail_subject(std::span(all).first(1)), "[pennyweight] 1 alert: b is idle");
  EXPECT_EQ(alert_mail_subject(std::span(all).subspan(1, 1)),
            "[pennyweight] 1 alert ended: c has ended");
  const Alert other = told("d goes on", AlertSeverity::kWarning).alert;
  const std::vector<Alert> ongoing{all[0].alert, other};
  const std::string text = alert_mail_text(all, ongoing, false);
  EXPECT_LT(text.find("a is spent"), text.find("b is idle"));
  EXPECT_LT(text.find("b is idle"), text.find("Ended:"));
  EXPECT_LT(text.find("c has ended"), text.find("Still going on:"));
  EXPECT_LT(text.find("Still going on:"), text.find("d goes on"));
  EXPECT_EQ(text.find("b is idle", text.find("Still going on:")), std::string::npos);
  EXPECT_THAT(text, HasSubstr("gpu_idle/c has ended/2026-03-01T00:00:00Z/resolved"));
  EXPECT_THAT(text, Not(HasSubstr("before")));
  EXPECT_THAT(alert_mail_text(all, {}, true), HasSubstr("may have been delivered before"));
}

TEST(PagerDuty, OneIncidentBeginsAndEnds) {
  const std::string begins =
      pager_duty_json(told("a \"b\"", AlertSeverity::kCritical), "key", "one");
  EXPECT_THAT(begins, HasSubstr(R"("routing_key": "key", "event_action": "trigger")"));
  EXPECT_THAT(begins,
              HasSubstr(R"("summary": "a \"b\"", "source": "lab/7", "severity": "critical")"));
  const std::string ends = pager_duty_json(told("a", AlertSeverity::kWarning, false), "key", "one");
  EXPECT_THAT(ends, HasSubstr(R"("event_action": "resolve", "dedup_key": "one")"));
  std::string longest(999, 'a');
  for (int i = 0; i < 100; ++i) longest += "ü";
  const std::string cut = pager_duty_json(told(longest, AlertSeverity::kWarning), "key", "one");
  EXPECT_THAT(cut, HasSubstr("\"summary\": \"" + longest.substr(0, 999) + "\""));
}

TEST(MessageTemplate, MistakesAreNamed) {
  const std::pair<std::string, const char*> kCases[] = {
      {"", "without {summary}"},
      {"{rule} of {owner}", "without {summary}"},
      {"{summry}", "there is no {summry}; use {summary}, {status}"},
      {"{summary} {", "a brace stands alone"},
      {"{summary} }", "a brace stands alone"},
      {"{summary}" + std::string(2'000, 'x'), "it has 2009 bytes"}};
  for (const auto& [text, why] : kCases) {
    const auto checked = check_message_template(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_THAT(checked.error().message, testing::HasSubstr(why));
  }
}

TEST(MessageTemplate, ValuesAreEscapedAndTheWordsBetweenThemAreNot) {
  AlertNotification one{.id = "1", .alert = {.condition = {}}};
  one.alert.condition = {
      .rule = "gpu_hot", .scope = "lab/n1", .owner = "<!channel>", .summary = "a & {owner}"};
  const std::string text = "<!here> {{*{status}*}} {summary} {owner} x/{rule}";
  ASSERT_TRUE(check_message_template(text));
  EXPECT_EQ(slack_text(one, text), "<!here> {*FIRING*} a &amp; {owner} &lt;!channel&gt; x/gpu_hot");
  one.is_firing = false;
  EXPECT_EQ(teams_text(one, text), "<!here> {*RESOLVED*} a & {owner} <\\!channel\\> x/gpu\\_hot");
  EXPECT_EQ(slack_text(one, ""), "RESOLVED (warning): a &amp; {owner}");
}

TEST(MessageTemplate, NamesAreNeitherLinksNorMarkupNorLines) {
  AlertNotification one{.id = "1", .alert = {.condition = {}}};
  one.alert.condition.summary = "[pay](https://evil.example)\n# *now*";
  EXPECT_EQ(slack_text(one, "{summary}"), "[pay](https://\u200bevil.example) # *now*");
  EXPECT_EQ(teams_text(one, "{summary}"),
            "\\[pay\\]\\(https://\u200bevil.example\\) \\# \\*now\\*");
  // An address of ours is one.
  one.link = "; to decide, open https://pw.example/approve/1_2";
  EXPECT_THAT(teams_text(one, "{summary}"),
              testing::EndsWith("; to decide, open https://pw.example/approve/1_2"));
}

TEST(MessageTemplate, WhatIsTooLongIsCutBetweenLettersAndEscapes) {
  AlertNotification one{.id = "1", .alert = {.condition = {}}};
  for (const char* letter : {"€", "&", "*", "a"}) {
    one.alert.condition.summary.clear();
    for (int i = 0; i < 4'000; ++i) one.alert.condition.summary += letter;
    for (const std::string_view prefix : {"", "a", "ab", "abc"}) {
      const std::string text = std::string(prefix) + "{summary}";
      for (const std::string& said : {slack_text(one, text), teams_text(one, text)}) {
        EXPECT_LE(said.size(), 3'003u);
        EXPECT_GT(said.size(), 2'900u);
        EXPECT_TRUE(is_utf8(said));
        EXPECT_FALSE(said.ends_with("&am…") || said.ends_with("&a…")) << said.substr(2'990);
      }
    }
  }
}

}  // namespace
}  // namespace pennyweight
