// The configuration of bills: how each provider delivers them, which node a charge is for, and at
// which rates reports convert.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"
#include "core/decimal.h"
#include "core/gpu/cloud_resource.h"
#include "core/money.h"
#include "ledger/delivery.h"

namespace pennyweight {

// An item of `bills:`, the defaults of `import` for the bills of one format, in every encoding.
struct BillConfig {
  std::string format;  // the name of one of bill::bill_formats()
  std::optional<DeliveryStyle> delivery;
  std::map<std::string, std::string, std::less<>> options;  // by bill::BillOption::key
  // What a delivery may take away of an account and month before a person must confirm it: a share,
  // and an amount in any currency. Nothing: as DeliveryGuard has it.
  std::optional<int> confirm_percent = {};
  std::optional<Decimal> confirm_amount = {};
  bool operator==(const BillConfig&) const = default;
};

std::vector<BillConfig> read_bill_configs(YamlReader& reader, const YamlNode& node);

// The section `currencies:`.
struct CurrencyConfig {
  std::string rates_file;
  std::optional<Currency> report;  // that reports convert into; nothing: they do not
  std::optional<Currency> pivot;
  int days_valid_max = 31;
  bool operator==(const CurrencyConfig&) const = default;
};

// `path` resolves paths, which are relative to the configuration.
CurrencyConfig read_currency_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path);

// ENSURES: every rule has passed check_join_rule.
std::vector<JoinRule> read_join_rules(YamlReader& reader, const YamlNode& node);

ConfigKeys bill_config_keys();
ConfigKeys join_and_currency_config_keys();

}  // namespace pennyweight
