// What the configuration says of bills: how each provider's are delivered, which node a line is
// for, and at which rates reports convert.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"
#include "core/money.h"
#include "fleet/cloud_resource.h"
#include "ledger/delivery.h"

namespace pennyweight {

// An item of `bills:`, the defaults of `import` for bills of one format.
struct BillConfig {
  std::string format;  // of kBillFormats
  std::optional<DeliveryStyle> delivery;
  std::string azure_metric;  // "actual", "amortized", "purchases"; or empty
  bool operator==(const BillConfig&) const = default;
};

// Whatever the file is, CSV, Parquet or JSON.
inline constexpr std::string_view kBillFormats[] = {"focus", "aws", "azure",
                                                    "gcp",   "oci", "runpod"};

std::vector<BillConfig> read_bill_configs(YamlReader& reader, const YamlNode& node);

// `currencies:` but its file, which is a path of the configuration.
struct CurrencyConfig {
  std::string rates_file;
  std::optional<Currency> report;  // into which reports convert; nothing: they do not
  std::optional<Currency> pivot;
  int days_valid_max = 31;
  bool operator==(const CurrencyConfig&) const = default;
};

// The texts of a path are made paths by `path`.
CurrencyConfig read_currency_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path);

// ENSURES: every rule has passed check_join_rule.
std::vector<JoinRule> read_join_rules(YamlReader& reader, const YamlNode& node);

}  // namespace pennyweight
