#include "config/guardrail_config.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace pennyweight {
namespace {

std::string first_mistake(const std::string& rules) {
  const auto config = parse_config("guardrails:\n  rules:\n" + rules, "p.yaml");
  return config ? "" : config.error().message;
}

TEST(GuardrailConfig, ReadsARule) {
  const auto config = parse_config(
      "guardrails:\n  rules:\n"
      "  - name: big\n    mode: warn\n    effect: require_approval\n"
      "    when: {kind: [Job, RayJob], label: {team: 'n*'}, gpus_above: 16, per_run_above: 100.50 "
      "USD, time_above: 48h, spot: false}\n"
      "    reason: expensive\n    way_out: ask the platform team\n"
      "    exempt: [{when: {name: llm}, reason: launch, until: 2026-12-31}]\n",
      "p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->guardrails->rules.size(), 1U);
  const guardrails::GuardrailRule& rule = config->guardrails->rules[0];
  EXPECT_EQ(rule.mode, guardrails::RuleMode::kWarn);
  EXPECT_EQ(rule.effect, guardrails::RuleEffect::kRequireApproval);
  EXPECT_EQ(rule.when.kinds.size(), 2U);
  EXPECT_EQ(rule.when.labels[0].second, "n*");
  EXPECT_EQ(rule.when.run_ms_above, 172'800'000U);
  EXPECT_EQ(rule.when.per_run_above,
            Money::from_decimal(parse_exact_decimal("100.5").value(), kUsd));
  EXPECT_EQ(rule.exemptions[0].reason, "launch");
}

// Whoever reads a link may decide by it.
TEST(GuardrailConfig, LinksLeadToHttpsOnly) {
  const auto address = [](const std::string& text) {
    return parse_config("guardrails: {approvals: {link_address: '" + text + "'}}\n", "p.yaml");
  };
  const auto good = address("https://pennyweight.example.org//");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->guardrails->approvals.link_address, "https://pennyweight.example.org");
  EXPECT_TRUE(address("http://127.0.0.1:8080/"));
  for (const char* const bad :
       {"http://pennyweight.example.org", "http://127.0.0.1.example.org", "http://127.0.0.1",
        "HTTPS://pennyweight.example.org", "pennyweight.example.org", "ftp://example.org", "/"}) {
    const auto refused = address(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("link_address begins with https://"), std::string::npos)
        << refused.error().message;
  }
}

TEST(GuardrailConfig, ReadsTheWebhookAndItsPricing) {
  const auto config = parse_config(
      "guardrails:\n"
      "  pricing: {provider: aws, option: spot, gpu_models: {a100: A100-SXM4-80GB, default: "
      "H100-SXM5-80GB}}\n"
      "  admission: {listen: '0.0.0.0:8443', cert_file: c.pem, key_file: k.pem, unknown: allow, "
      "controllers: a*}\n"
      "  rules: [{name: a, effect: mutate, when: {kind: '*'}, set: {label: {a/b: c}, time_limit: "
      "2h, toleration: spot}}, {name: b, when: {per_hour_above: 1 EUR}}]\n",
      "p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->guardrails->admission.port, 8443);
  EXPECT_TRUE(config->guardrails->admission.admits_unknown);
  EXPECT_EQ(config->guardrails->admission.controllers, std::vector<std::string>{"a*"});
  EXPECT_EQ(config->guardrails->pricing.gpu_models.at(""), "H100-SXM5-80GB");
  EXPECT_EQ(config->guardrails->pricing.option, PurchaseOption::kSpot);
  EXPECT_EQ(config->guardrails->pricing.currency.text(), "EUR");
  EXPECT_EQ(config->guardrails->rules[0].change.run_ms, 7'200'000U);
}

TEST(GuardrailConfig, RefusesAWebhookThatNobodyCanReach) {
  const std::pair<const char*, const char*> cases[] = {
      {"admission: {unknown: deny}", "needs listen"},
      {"admission: {listen: '0.0.0.0:8443'}", "TLS"},
      {"admission: {listen: '127.0.0.1:1', cert_file: c.pem}", "key_file"},
      {"admission: {listen: 8443}", "listen"},
      {"admission: {listen: '127.0.0.1:1', unknown: maybe}", "deny"},
      {"pricing: {gpu_models: {a: Voodoo2}}", "Voodoo2"},
      {"pricing: {option: free}", "on_demand"}};
  for (const auto& [text, says] : cases) {
    const auto config = parse_config(std::string("guardrails:\n  ") + text + "\n", "p.yaml");
    ASSERT_FALSE(config) << text;
    EXPECT_NE(config.error().message.find(says), std::string::npos) << config.error().message;
  }
}

TEST(GuardrailConfig, RefusesRulesThatSayTooLittleOrTooMuch) {
  const std::pair<const char*, const char*> cases[] = {
      {"  - {name: a}\n", "has no condition"},
      {"  - {when: {gpus_above: 1}}\n", "needs a name"},
      {"  - {name: a, effect: mutate, when: {gpus_above: 1}}\n", "changes nothing"},
      {"  - {name: a, when: {gpus_above: 1}, set: {priority_class: x}}\n", "only the effect"},
      {"  - {name: a, effect: mutate, when: {gpus_above: 1}, set: {time_limit: 1500ms}}\n",
       "whole seconds"},
      {"  - {name: a, when: {gpus_above: -1}}\n", "gpus_above"},
      {"  - {name: a, when: {gpu_above: 1}}\n", "gpus_above"},
      {"  - {name: a, effect: forbid, when: {gpus_above: 1}}\n", "deny"},
      {"  - {name: a, when: {per_hour_above: 100}}\n", "100 USD"},
      {"  - {name: a, when: {per_hour_above: -1 USD}}\n", "per_hour_above"},
      {"  - {name: a, when: {per_hour_above: 5 gpu_hours}}\n", "per_hour_above"},
      {"  - {name: a, when: {gpus_above: 1}, exempt: [{reason: x}]}\n", "until"},
      {"  - {name: a, when: {gpus_above: 1}, exempt: [{until: 2026-01-01}]}\n", "reason"},
      {"  - {name: a, when: {gpus_above: 1}}\n  - {name: a, when: {gpus_above: 2}}\n", "two rules"},
      {"  - {name: a, when: {per_hour_above: 1 USD}}\n  - {name: b, when: {per_run_above: 1 "
       "EUR}}\n",
       "one currency"},
  };
  for (const auto& [rules, word] : cases) {
    EXPECT_NE(first_mistake(rules).find(word), std::string::npos) << rules << first_mistake(rules);
  }
}

TEST(GuardrailConfig, StopsWhatRunsOnlyWhereSomebodyIsToldBefore) {
  const auto config = [](const std::string& limit, const std::string& alerts) {
    const auto read = parse_config(
        "guardrails: {limits: [{name: nlp, " + limit + "}]}\nalerts: {" + alerts + "}\n", "p.yaml");
    return read ? std::string() : read.error().message;
  };
  const std::string stops = "per_month: 10 USD, stop_running: {grace: 24h}";
  const std::string hears =
      "receivers: [{name: a, kind: webhook, url: 'https://a.example', owners: [nlp]}]";
  EXPECT_EQ(config(stops, hears), "");
  EXPECT_EQ(config("per_month: 10 USD", ""), "");
  const std::string exempt = "per_month: 10 USD, stop_running: {grace: 24h, exempt: [{";
  EXPECT_EQ(config(exempt + "label: {tier: prod*}, reason: r, until: 2026-12-31}]}", hears), "");
  const std::pair<std::string, std::string> refused[] = {
      {config(stops, ""), "nobody would be told"},
      {config(stops, "off: [limit_stop_notice], " + hears), "nobody would be told"},
      {config(stops,
              "receivers: [{name: a, kind: webhook, url: 'https://a.example', owners: [cv]}]"),
       "nobody would be told"},
      {config(stops + ", enforcement: soft", hears), "only a hard limit"},
      {config("gpus: {H100-SXM5-80GB: 1}, stop_running: {grace: 24h}", hears), "only a hard limit"},
      {config("per_month: 10 USD, stop_running: {}", hears), "needs grace"},
      {config("per_month: 10 USD, stop_running: {grace: 1m}", hears), "grace"},
      {config(exempt + "reason: r, until: 2026-12-31}]}", hears), "needs workload or label"},
      {config(exempt + "workload: a, until: 2026-12-31}]}", hears), "needs workload or label"},
      {config(exempt + "workload: a, reason: r}]}", hears), "needs workload or label"},
  };
  for (const auto& [message, word] : refused) {
    EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
  }
}

TEST(GuardrailConfig, RefusesASlurmAccountOfTwoLimits) {
  const auto config = [](const char* accounts) {
    return parse_config(std::string("guardrails: {limits: [") + accounts + "]}\n", "p.yaml");
  };
  EXPECT_TRUE(config("{name: a, gpu_hours: 1, slurm_account: nlp}, {name: b, gpu_hours: 1}"));
  const auto twice = config(
      "{name: a, gpu_hours: 1, slurm_account: nlp}, {name: b, gpu_hours: 1, slurm_account: nlp}");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("two limits are of"), std::string::npos);
  const auto one_qos =
      config("{name: a, gpu_hours: 1, slurm_qos: nlp}, {name: b, gpu_hours: 1, slurm_qos: nlp}");
  ASSERT_FALSE(one_qos);
  EXPECT_NE(one_qos.error().message.find("two limits are of the Slurm QOS 'nlp'"),
            std::string::npos);
  const auto no_word = config("{name: a, gpu_hours: 1, slurm_qos: 'nlp; rm'}");
  ASSERT_FALSE(no_word);
  EXPECT_NE(no_word.error().message.find("slurm_qos has small letters"), std::string::npos);
  const auto capitals = config("{name: a, gpu_hours: 1, slurm_account: NLP}");
  ASSERT_FALSE(capitals);
  EXPECT_NE(capitals.error().message.find("small letters"), std::string::npos);
}

}  // namespace
}  // namespace pennyweight
