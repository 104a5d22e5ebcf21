// `bills:`, `join:`, `currencies:` and `prices:`: every key, and the errors with their position.
#include "config/bill_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BillConfig, ReadsEveryKey) {
  const auto config = parse_config(R"(
prices: {rate_card: card.csv, owned: /etc/owned.csv, energy: kwh.csv, organisation: Northwind IT}
bills:
  - {format: aws, delivery: replacement}
  - {format: azure, delivery: guarded, azure_metric: amortized}
  - {format: oci, delivery: ledger, confirm_percent: 2, confirm_amount: 250.50}
  - {format: runpod}
join:
  - {pattern: "lease-{node}-2026"}
  - {label: host}
  - {label: asset, pattern: "rack7/{node}"}
currencies: {rates: fx/rates.csv, report: EUR, pivot: USD, days_valid_max: 7}
)",
                                   "/etc/pw/p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->rate_card_file, "/etc/pw/card.csv");
  EXPECT_EQ(config->owned_file, "/etc/owned.csv");
  EXPECT_EQ(config->energy_file, "/etc/pw/kwh.csv");
  EXPECT_EQ(config->organisation, "Northwind IT");
  EXPECT_THAT(
      config->bills,
      ElementsAre(BillConfig{"aws", DeliveryStyle::kReplacement, {}},
                  BillConfig{"azure", DeliveryStyle::kGuarded, {{"azure_metric", "amortized"}}},
                  BillConfig{"oci", DeliveryStyle::kLedger, {}, 2, parse_decimal("250.50")->value},
                  BillConfig{"runpod", std::nullopt, {}}));
  EXPECT_THAT(config->join_rules,
              ElementsAre(JoinRule{"lease-{node}-2026", ""}, JoinRule{"{node}", "host"},
                          JoinRule{"rack7/{node}", "asset"}));
  EXPECT_EQ(config->currencies,
            (CurrencyConfig{"/etc/pw/fx/rates.csv", Currency::parse("EUR").value(), kUsd, 7}));
}

TEST(BillConfig, AnEmptyConfigurationIsTheDefaults) {
  for (const char* text : {"", "bills:\njoin:\ncurrencies:\nprices:\n", "bills: []\njoin: []\n"}) {
    const auto config = parse_config(text, "p.yaml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_THAT(config->bills, IsEmpty());
    EXPECT_THAT(config->join_rules, IsEmpty());
    EXPECT_EQ(config->currencies, CurrencyConfig());
    EXPECT_EQ(config->currencies.days_valid_max, 31);
    EXPECT_EQ(config->rate_card_file, "");
    EXPECT_EQ(config->organisation, "Own organisation");
  }
}

TEST(BillConfig, RefusesWithPlaceAndReason) {
  const struct {
    const char* yaml;
    const char* want;
  } kCases[] = {
      {"prices: {rate_crad: x}\n",
       "p.yaml:1:10: prices has no key 'rate_crad'; did you mean 'rate_card'?"},
      {"prices: {rate_card: ''}\n", "p.yaml:1:21: prices.rate_card is empty"},
      {"prices: {owned: [a]}\n", "p.yaml:1:17: prices.owned must be a text, not a list"},
      {"prices: {energy: a.csv}\n",
       "p.yaml:1:9: prices.energy needs prices.owned, the file of the machines that it measures"},
      {"prices: {organisation: ''}\n", "p.yaml:1:24: prices.organisation is empty"},
      {"bills: {format: aws}\n", "p.yaml:1:8: bills must be a list, not a mapping"},
      {"bills: [aws]\n", "p.yaml:1:9: an item of bills must be a mapping, not a text"},
      {"bills: [{delivery: delta}]\n", "p.yaml:1:9: an item of bills needs a format"},
      {"bills: [{format: gpc}]\n",
       "p.yaml:1:18: bills[].format is focus, aws, azure, gcp, oci or runpod, not 'gpc'; did you "
       "mean 'gcp'?"},
      {"bills: [{format: aws, delivery: append}]\n",
       "p.yaml:1:33: bills[].delivery is guarded, replacement, delta or ledger, not 'append'"},
      {"bills: [{format: azure, azure_metric: list}]\n",
       "p.yaml:1:39: bills[].azure_metric is actual, amortized or purchases, not 'list'"},
      {"bills: [{format: aws, azure_metric: actual}]\n",
       "p.yaml:1:37: azure_metric is for bills of azure, not of aws"},
      {"bills: [{format: aws}, {format: aws}]\n", "p.yaml:1:24: bills of aws are here twice"},
      {"join: {label: a}\n", "p.yaml:1:7: join must be a list, not a mapping"},
      {"join: ['{node}']\n", "p.yaml:1:8: a rule of join must be a mapping, not a text"},
      {"join: [{}]\n", "p.yaml:1:8: a rule of join needs a pattern, a label or both"},
      {"join: [{pattern: abc}]\n", "p.yaml:1:8: pattern 'abc' has no {node}"},
      {"join: [{pattern: '{node}-{node}'}]\n",
       "p.yaml:1:8: pattern '{node}-{node}' has {node} twice"},
      {"join: [{pattern: '{node}'}]\n", "p.yaml:1:8: a rule needs a pattern with more"},
      {"join: [{label: ''}]\n", "p.yaml:1:16: join[].label is empty"},
      {"join: [{tag: a}]\n", "p.yaml:1:9: join[] has no key 'tag'"},
      {"currencies: {report: euro}\n", "p.yaml:1:22: currencies.report: "},
      {"currencies: {pivot: 7}\n", "p.yaml:1:21: currencies.pivot: "},
      {"currencies: {days_valid_max: -1}\n",
       "p.yaml:1:30: currencies.days_valid_max must be a whole number from 0 to 3660, not '-1'"},
      {"currencies: {rate: a}\n",
       "p.yaml:1:14: currencies has no key 'rate'; did you mean 'rates'?"},
      {"currencies: EUR\n", "p.yaml:1:13: currencies must be a mapping, not a text"},
  };
  for (const auto& [yaml, want] : kCases) {
    const auto config = parse_config(yaml, "p.yaml");
    ASSERT_FALSE(config) << yaml;
    EXPECT_TRUE(config.error().message.starts_with(want)) << config.error().message << "\n" << want;
  }
}

TEST(BillConfig, AMistakeIsReportedOnce) {
  const auto reading =
      check_config("bills: [{format: 1}]\njoin: [{pattern: ''}, {label: [x]}]\n", "p.yaml");
  EXPECT_EQ(reading.problems.size(), 3u);
  EXPECT_THAT(reading.config.join_rules, IsEmpty());
}

TEST(BillConfig, RulesHaveALimit) {
  std::string many = "join:\n";
  for (int i = 0; i < 101; ++i) many += "  - {label: a}\n";
  EXPECT_FALSE(parse_config(many, "p.yaml"));
}

}  // namespace
}  // namespace pennyweight
