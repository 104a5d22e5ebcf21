#include "config/budget_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

TEST(BudgetConfig, EverythingThatABudgetCanSay) {
  const auto config = parse_config(R"(
budgets:
  - name: research
    amount: 20000.50 USD
    amounts: [{from: 2026-04-01, amount: 25000 USD}]
    period: quarter
    from: 2026-01-01
    roll_over: true
    owner: ana
  - {name: nlp, filter: team=nlp, amount: 900 gpu_hours, parent: research}
  - {name: run, filter: [team=cv, kind!=shared], amount: 1 EUR, period: project, cost: billed,
     from: 2026-02-01, to: 2026-02-21}
events:
  - {name: new client, from: 2026-05-01, key: nlp, per_day: 120 USD}
  - {name: holiday, from: 2026-12-25, to: 2026-12-26, percent: 0}
)",
                                   "p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->budgets.size(), 3u);
  const Budget& research = config->budgets[0];
  EXPECT_EQ(to_text(research.amount_on(parse_date("2026-03-31").value()).amount()), "20000.5");
  EXPECT_EQ(to_text(research.amount_on(parse_date("2026-04-01").value()).amount()), "25000");
  EXPECT_EQ(config->budgets[1].cost, "gpu_hours");
  EXPECT_EQ(config->budgets[2].filters.size(), 2u);
  EXPECT_EQ(config->events[1].percent, 0);
}

TEST(BudgetConfig, MistakesAreNamedWithTheirPlace) {
  const auto refused = [](const char* yaml) {
    const auto config = parse_config(yaml, "p.yaml");
    return config ? std::string("accepted") : config.error().message;
  };
  EXPECT_THAT(refused("budgets: [{name: a}]"),
              HasSubstr("p.yaml:1:11: budget 'a': it needs an amount"));
  EXPECT_THAT(refused("budgets: [{name: a, amount: 5}]"), HasSubstr("has no currency"));
  EXPECT_THAT(refused("budgets: [{name: a, amount: -5 USD}]"), HasSubstr("0 or more"));
  EXPECT_THAT(refused("budgets: [{name: a, amount: 5 usd}]"), HasSubstr("usd"));
  EXPECT_THAT(refused("budgets: [{name: a, amount: 5 USD}, {name: a, amount: 5 USD}]"),
              HasSubstr("two budgets 'a'"));
  EXPECT_THAT(refused("budgets: [{name: a, amount: 5 USD, period: project}]"),
              HasSubstr("`from` and `to`"));
  EXPECT_THAT(refused("budgets: [{name: a, amount: 5 USD, perod: month}]"), HasSubstr("perod"));
  EXPECT_THAT(refused("budgets: [{name: a, cost: billed, amount: 5 gpu_hours}]"),
              HasSubstr("GPU-hours have no billed cost; leave the cost out"));
  EXPECT_THAT(refused("events: [{name: a, from: 2026-01-02, to: 2026-01-01, percent: 5}]"),
              HasSubstr("ends before it begins"));
  EXPECT_THAT(refused("events: [{name: a, from: 2026-01-02}]"), HasSubstr("per_day or percent"));
}

TEST(BudgetConfig, GpuHoursAreNotWrittenAsACurrency) {
  const auto config = parse_config("budgets: [{name: a, amount: 1 \x58XX}]\n", "p.yaml");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("write GPU-hours as \"2000 gpu_hours\""));
}

TEST(AlertConfig, TheWordsOfAReceiverAreChecked) {
  const auto with = [](const std::string& kind, const std::string& text) {
    return parse_config("alerts: {receivers: [{name: chat, kind: " + kind +
                            ", url: 'https://c', text: '" + text + "'}]}\n",
                        "p.yaml");
  };
  const auto sound = with("slack", "<!here> {summary}");
  ASSERT_TRUE(sound) << sound.error().message;
  EXPECT_EQ(sound->alerts.receivers[0].text, "<!here> {summary}");
  const auto wrong = with("teams", "{summry}");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("receiver 'chat': text: there is no {summry}"));
  const auto other = with("webhook", "{summary}");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("text is for slack and teams"));
}

TEST(AlertConfig, AMisspeltRuleIsRefused) {
  const auto off = parse_config("alerts: {off: [budgt_spent]}\n", "p.yaml");
  ASSERT_FALSE(off);
  EXPECT_THAT(off.error().message,
              HasSubstr("p.yaml:1:15: alerts.off: there is no rule 'budgt_spent'"));
  const auto silence =
      parse_config("alerts: {silences: [{rule: idle, to: 2026-01-01, reason: r}]}\n", "p.yaml");
  ASSERT_FALSE(silence);
  EXPECT_THAT(silence.error().message,
              HasSubstr("there is no rule 'idle'; the rules are approval_"));
  const auto sound = parse_config("alerts: {off: [gpu_idle], idle_for: 90m}\n", "p.yaml");
  ASSERT_TRUE(sound);
  EXPECT_EQ(sound->alerts.idle_for_ms, 5'400'000u);
}

TEST(AlertConfig, RulesHoursAndMaintenance) {
  const auto config = parse_config(R"(
alerts:
  rules: [{rule: gpu_hot, for: 1m, keep: 10m, severity: warning}, {rule: gpu_xid}]
  business_hours: mon-thu 09:00-17:30
  maintenance:
    - {scope: lab/n1, from: 2026-12-01T22:00:00+01:00, to: 2026-12-02T04:00:00+01:00, reason: a fan}
    - {weekly: sat 22:00-04:00, reason: updates}
  inference: [namespace=serving]
  commitments: [{id: 17, ends: 2027-01-31}]
  receivers: [{name: a, url: "https://a", after: 1h, hours: business}]
)",
                                   "p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const AlertConfig& alerts = config->alerts;
  ASSERT_EQ(alerts.rules.size(), 2u);
  EXPECT_EQ(alerts.rules[0].for_ms, 60'000u);
  EXPECT_EQ(alerts.rules[0].keep_ms, 600'000u);
  EXPECT_EQ(alerts.rules[0].is_critical, false);
  EXPECT_FALSE(alerts.rules[1].for_ms || alerts.rules[1].is_critical);
  EXPECT_EQ(alerts.business_hours.to_minutes, 17 * 60 + 30);
  EXPECT_FALSE(alerts.business_hours.days[4]);
  ASSERT_EQ(alerts.maintenance.size(), 2u);
  EXPECT_EQ(to_text(*alerts.maintenance[0].from), "2026-12-01T21:00:00Z");
  EXPECT_TRUE(alerts.maintenance[1].weekly->days[5]);
  EXPECT_EQ(alerts.receivers[0].after_ms, 3'600'000u);
  EXPECT_TRUE(alerts.receivers[0].is_in_hours);
  ASSERT_EQ(alerts.commitments.size(), 1u);
  EXPECT_EQ(alerts.commitments[0].id, "17");
  EXPECT_EQ(to_text(alerts.commitments[0].ends), "2027-01-31");
}

TEST(AlertConfig, WhatIsNotMeantIsRefused) {
  const std::pair<const char*, const char*> kCases[] = {
      {"rules: [{rule: gpu_hott}]", "there is no rule 'gpu_hott'"},
      {"rules: [{for: 1m}]", "`rule` is missing"},
      {"rules: [{rule: gpu_hot}, {rule: gpu_hot}]", "'gpu_hot' is there twice"},
      {"business_hours: 8 to 6", "write mon-fri 08:00-18:00"},
      {"maintenance: [{weekly: sat 22:00-04:00}]", "needs a reason"},
      {"maintenance: [{reason: r}]", "has `from` and `to`, or `weekly`"},
      {"maintenance: [{from: 2026-12-01T22:00:00Z, reason: r}]", "has `from` and `to`"},
      {"maintenance: [{from: 2026-12-02T00:00:00Z, to: 2026-12-01T00:00:00Z, reason: r}]",
       "ends after it begins"},
      {"inference: [serving]", "'serving' is not DIMENSION=VALUE"},
      {"commitments: [{id: ri-1}]", "needs its `id`, as the bill has it, and `ends`"},
      {"commitments: [{id: ri-1, ends: soon}]", "alerts.commitments[].ends: "},
      {"commitments: [{id: a, ends: 2027-01-01}, {id: a, ends: 2028-01-01}]", "'a' is there twice"},
      {"receivers: [{name: a, kind: alertmanager, url: \"https://a\", after: 1h}]",
       "an Alertmanager gets all that goes on"},
  };
  for (const auto& [text, why] : kCases) {
    const auto config = parse_config(std::string("alerts: {") + text + "}\n", "p.yaml");
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().message, HasSubstr(why)) << text;
  }
}

std::string refused_receiver(const std::string& receiver) {
  const auto config = parse_config(
      "mail: {server: \"smtp://a\", from: a@b}\nalerts: {receivers: [" + receiver + "]}\n",
      "p.yaml");
  return config ? "" : config.error().message;
}

TEST(AlertConfig, ReceiversOfEachKindHaveWhatTheyNeed) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{name: m, kind: email, to: [a@b.example]}", ""},
      {"{name: m, kind: email}", "it needs `to`"},
      {"{name: m, kind: email, to: [a@b], url: \"https://a\"}", "it has `to`, and no url"},
      {"{name: m, kind: email, to: [\"a b\"]}", "is not a mail address"},
      {"{name: m, url: \"https://a\", to: [a@b]}", "`to` is for the kind email"},
      {"{name: m, kind: email, to: [a@b], digest: week}", ""},
      {"{name: m, kind: webhook, url: \"https://a\", digest: day}", "a digest is for email"},
      {"{name: m, kind: pagerduty, secret_file: k}", ""},
      {"{name: m, kind: pagerduty}", "it needs secret_file"},
      {"{name: m, kind: slack, url: \"https://a\", secret_file: k}", "secret_file is for webhooks"},
      {"{name: m, url: \"https://a\", url_file: k}", "url and url_file"},
      {"{name: m}", "it needs url or url_file"},
      {"{name: m, url: \"ftp://a\"}", "begins with https://"},
      {"{name: m, url: \"https://a\", severity: grave}", "alerts.receivers[].severity"},
  };
  for (const auto& [receiver, why] : kCases) {
    const std::string told = refused_receiver(receiver);
    if (std::string_view(why).empty()) {
      EXPECT_EQ(told, "") << receiver;
    } else {
      EXPECT_THAT(told, HasSubstr(why)) << receiver;
    }
  }
  const auto without =
      parse_config("alerts: {receivers: [{name: m, kind: email, to: [a@b]}]}\n", "p.yaml");
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("set mail.server and mail.from"));
}

}  // namespace
}  // namespace pennyweight
