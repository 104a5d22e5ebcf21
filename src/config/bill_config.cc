#include "config/bill_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ingest/bills/formats/bill_formats.h"

namespace pennyweight {
namespace {

constexpr std::size_t kJoinRulesMax = 100;
constexpr std::int64_t kDaysValidMax = 3660;
constexpr std::int64_t kConfirmAmountMax = 1'000'000'000'000;
constexpr std::string_view kDeliveries[] = {"guarded", "replacement", "delta", "ledger"};

std::optional<Currency> currency(YamlReader& yaml, const YamlNode& node, std::string_view what) {
  const auto text = yaml.text(node, what);
  if (!text) return std::nullopt;
  const auto parsed = Currency::parse(*text);
  if (parsed) return *parsed;
  yaml.refuse(node, fmt::format("{}: {}", what, parsed.error().message));
  return std::nullopt;
}

std::vector<std::string_view> bill_format_names() {
  std::vector<std::string_view> names;
  for (const bill::BillFormat* format : bill::bill_formats()) names.push_back(format->name);
  return names;
}

std::optional<BillConfig> read_bill_config(YamlReader& yaml, const YamlNode& node) {
  if (!yaml.is(node, YamlNode::Kind::kMapping, "an item of bills")) return std::nullopt;
  BillConfig bill;
  bool names_format = false;
  const std::vector<std::string_view> formats = bill_format_names();
  struct GivenOption {
    const YamlNode* node;
    const bill::BillOption* option;
    const bill::BillFormat* format;
  };
  std::vector<GivenOption> given;
  YamlReader::Readers readers = {
      {"format",
       [&](const YamlNode& at) {
         names_format = true;
         const auto which = yaml.choice(at, "bills[].format", formats);
         if (which) bill.format = formats[*which];
       }},
      {"delivery",
       [&](const YamlNode& at) {
         const auto which = yaml.choice(at, "bills[].delivery", kDeliveries);
         if (which) bill.delivery = parse_delivery_style(kDeliveries[*which]);
       }},
      {"confirm_percent",
       [&](const YamlNode& at) {
         const auto percent = yaml.integer(at, "bills[].confirm_percent", 0, 100);
         if (percent) bill.confirm_percent = static_cast<int>(*percent);
       }},
      {"confirm_amount", [&](const YamlNode& at) {
         bill.confirm_amount = yaml.decimal(at, "bills[].confirm_amount", Decimal(),
                                            Decimal::from_units(kConfirmAmountMax));
       }}};
  for (const bill::BillFormat* format : bill::bill_formats()) {
    for (const bill::BillOption& option : format->options) {
      if (!option.in_configuration) continue;
      readers.emplace_back(std::string(option.key), [&, format](const YamlNode& at) {
        given.push_back({&at, &option, format});
        const auto which = yaml.choice(at, fmt::format("bills[].{}", option.key), option.choices);
        if (which) bill.options[std::string(option.key)] = option.choices[*which];
      });
    }
  }
  yaml.mapping(node, "bills[]", readers);
  if (!names_format) yaml.refuse(node, "an item of bills needs a format");
  if (bill.format.empty()) return std::nullopt;
  for (const auto& [at, option, format] : given) {
    if (format->name == bill.format) continue;
    yaml.refuse(*at, fmt::format("{} is for bills of {}, not of {}", option->key, format->name,
                                 bill.format));
  }
  return bill;
}

}  // namespace

std::vector<BillConfig> read_bill_configs(YamlReader& reader, const YamlNode& node) {
  std::vector<BillConfig> bills;
  reader.sequence(node, "bills", bill::bill_formats().size(), [&](const YamlNode& item) {
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

ConfigKeys bill_config_keys() {
  ConfigKeys keys = {
      {"bills[].format", fmt::format("{}", fmt::join(bill_format_names(), ", ")), "",
       "The provider whose bills the item is for, in CSV, Parquet or JSON. Required."},
      {"bills[].delivery", "guarded, replacement, delta, ledger", "",
       "How a bill that arrives again changes the earlier one, where `import` has no "
       "`--delivery`."},
      {"bills[].confirm_percent", "0 to 100", "10",
       "A delivery that takes more than this share of an account and month away wants "
       "`--confirm`."},
      {"bills[].confirm_amount", "number", "",
       "The same of an amount, in the bill's currency, whatever its share."},
  };
  // The options of bill formats that the configuration may set.
  for (const bill::BillFormat* format : bill::bill_formats()) {
    for (const bill::BillOption& option : format->options) {
      if (!option.in_configuration) continue;
      keys.push_back({fmt::format("bills[].{}", option.key),
                      fmt::format("{}", fmt::join(option.choices, ", ")), "",
                      fmt::format("{}. For imports without `{}`.", option.help, option.flag)});
    }
  }
  return keys;
}

ConfigKeys join_and_currency_config_keys() {
  return {
      {"join[].pattern", "text with `{node}`", "{node}",
       "Where a bill's resource contains the node's name; see [join.md](../bills/join.md)."},
      {"join[].label", "tag", "", "The tag whose value contains it, instead of the resource."},
      {"currencies.rates", "path", "",
       "Dated exchange rates; see [currencies.md](../bills/currencies.md)."},
      {"currencies.report", "currency", "",
       "The currency of reports without `--currency`. Without it: a table for each currency."},
      {"currencies.pivot", "currency", "",
       "The currency to convert through where there is no rate between two."},
      {"currencies.days_valid_max", "days", "31", "How old a rate may be."},
  };
}

}  // namespace pennyweight
