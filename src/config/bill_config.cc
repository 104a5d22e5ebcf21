#include "config/bill_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pennyweight {
namespace {

constexpr std::size_t kJoinRulesMax = 100;
constexpr std::int64_t kDaysValidMax = 3660;
constexpr std::string_view kDeliveries[] = {"guarded", "replacement", "delta", "ledger"};
constexpr std::string_view kAzureMetrics[] = {"actual", "amortized", "purchases"};

std::optional<Currency> currency(YamlReader& yaml, const YamlNode& node, std::string_view what) {
  const auto text = yaml.text(node, what);
  if (!text) return std::nullopt;
  const auto parsed = Currency::parse(*text);
  if (parsed) return *parsed;
  yaml.refuse(node, fmt::format("{}: {}", what, parsed.error().message));
  return std::nullopt;
}

std::optional<BillConfig> read_bill_config(YamlReader& yaml, const YamlNode& node) {
  if (!yaml.is(node, YamlNode::Kind::kMapping, "an item of bills")) return std::nullopt;
  BillConfig bill;
  bool names_format = false;
  const YamlNode* metric = nullptr;
  yaml.mapping(node, "bills[]",
               {{"format",
                 [&](const YamlNode& at) {
                   names_format = true;
                   const auto which = yaml.choice(at, "bills[].format", kBillFormats);
                   if (which) bill.format = kBillFormats[*which];
                 }},
                {"delivery",
                 [&](const YamlNode& at) {
                   const auto which = yaml.choice(at, "bills[].delivery", kDeliveries);
                   if (which) bill.delivery = parse_delivery_style(kDeliveries[*which]);
                 }},
                {"azure_metric", [&](const YamlNode& at) {
                   metric = &at;
                   const auto which = yaml.choice(at, "bills[].azure_metric", kAzureMetrics);
                   if (which) bill.azure_metric = kAzureMetrics[*which];
                 }}});
  if (!names_format) yaml.refuse(node, "an item of bills needs a format");
  if (bill.format.empty()) return std::nullopt;
  if (metric != nullptr && bill.format != "azure") {
    yaml.refuse(*metric, fmt::format("azure_metric is of azure's bills, not of {}'s", bill.format));
  }
  return bill;
}

}  // namespace

std::vector<BillConfig> read_bill_configs(YamlReader& reader, const YamlNode& node) {
  std::vector<BillConfig> bills;
  reader.sequence(node, "bills", std::size(kBillFormats), [&](const YamlNode& item) {
    auto bill = read_bill_config(reader, item);
    if (!bill) return;
    if (std::ranges::find(bills, bill->format, &BillConfig::format) != bills.end()) {
      return reader.refuse(item, fmt::format("bills of {} are here twice", bill->format));
    }
    bills.push_back(std::move(*bill));
  });
  return bills;
}

CurrencyConfig read_currency_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path) {
  CurrencyConfig config;
  reader.mapping(
      node, "currencies",
      {{"rates", [&](const YamlNode& at) { config.rates_file = path(at, "currencies.rates"); }},
       {"report",
        [&](const YamlNode& at) { config.report = currency(reader, at, "currencies.report"); }},
       {"pivot",
        [&](const YamlNode& at) { config.pivot = currency(reader, at, "currencies.pivot"); }},
       {"days_valid_max", [&](const YamlNode& at) {
          const auto days = reader.integer(at, "currencies.days_valid_max", 0, kDaysValidMax);
          if (days) config.days_valid_max = static_cast<int>(*days);
        }}});
  return config;
}

std::vector<JoinRule> read_join_rules(YamlReader& reader, const YamlNode& node) {
  std::vector<JoinRule> rules;
  reader.sequence(node, "join", kJoinRulesMax, [&](const YamlNode& item) {
    if (!reader.is(item, YamlNode::Kind::kMapping, "a rule of join")) return;
    JoinRule rule;
    bool says_something = false;
    const std::size_t before = reader.error_count();
    const auto take = [&](const YamlNode& at, std::string_view what, std::string& target) {
      says_something = true;
      if (auto text = reader.text(at, what)) target = std::move(*text);
    };
    reader.mapping(
        item, "join[]",
        {{"pattern", [&](const YamlNode& at) { take(at, "join[].pattern", rule.pattern); }},
         {"label", [&](const YamlNode& at) { take(at, "join[].label", rule.label); }}});
    if (reader.error_count() != before) return;
    if (!says_something) {
      return reader.refuse(item, "a rule of join needs a pattern, a label or both");
    }
    if (const auto sound = check_join_rule(rule); !sound) {
      return reader.refuse(item, sound.error().message);
    }
    rules.push_back(std::move(rule));
  });
  return rules;
}

}  // namespace pennyweight
