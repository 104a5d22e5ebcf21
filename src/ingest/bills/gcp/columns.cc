#include "ingest/bills/gcp/columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"

namespace pennyweight::gcp {
namespace {

constexpr std::pair<std::string_view, Field> kPaths[] = {
    {"billing_account_id", Field::kBillingAccountId},
    {"service.description", Field::kServiceDescription},
    {"sku.id", Field::kSkuId},
    {"sku.description", Field::kSkuDescription},
    {"usage_start_time", Field::kUsageStart},
    {"usage_end_time", Field::kUsageEnd},
    {"project.id", Field::kProjectId},
    {"project.name", Field::kProjectName},
    {"project.labels", Field::kProjectLabels},
    {"labels", Field::kLabels},
    {"system_labels", Field::kSystemLabels},
    {"tags", Field::kTags},
    {"location.region", Field::kRegion},
    {"location.zone", Field::kZone},
    {"resource.name", Field::kResourceName},
    {"resource.global_name", Field::kResourceGlobalName},
    {"cost", Field::kCost},
    {"currency", Field::kCurrency},
    {"cost_at_list", Field::kCostAtList},
    {"cost_at_effective_price_default", Field::kCostAtEffectivePriceDefault},
    {"price.list_price", Field::kListPrice},
    {"price.effective_price", Field::kEffectivePrice},
    {"price.effective_price_default", Field::kEffectivePriceDefault},
    {"price.tier_start_amount", Field::kTierStartAmount},
    {"usage.amount", Field::kUsageAmount},
    {"usage.unit", Field::kUsageUnit},
    {"usage.amount_in_pricing_units", Field::kPricingAmount},
    {"usage.pricing_unit", Field::kPricingUnit},
    {"credits", Field::kCredits},
    {"invoice.month", Field::kInvoiceMonth},
    {"cost_type", Field::kCostType},
    {"adjustment_info.id", Field::kAdjustmentId},
    {"adjustment_info.type", Field::kAdjustmentType},
    {"consumption_model.id", Field::kConsumptionModelId},
    {"consumption_model.description", Field::kConsumptionModelDescription},
    {"subscription.instance_id", Field::kSubscriptionId},
    {"export_time", Field::kExportTime},
};
static_assert(std::size(kPaths) == kFields);

constexpr std::string_view kRecords[] = {
    "service", "sku",   "project",         "location",          "resource",     "usage",
    "invoice", "price", "adjustment_info", "consumption_model", "subscription",
};
constexpr std::string_view kLists[] = {"labels", "system_labels", "tags", "credits",
                                       "project.labels"};
constexpr std::string_view kListMembers[] = {"key",    "value",     "inherited", "namespace", "id",
                                             "amount", "full_name", "name",      "type"};

// Besides names that begin with "cost".
constexpr std::string_view kNumbers[] = {
    "currency_conversion_rate",           "price.list_price",
    "price.list_price_consumption_model", "price.effective_price",
    "price.effective_price_default",      "price.tier_start_amount",
    "price.pricing_unit_quantity",        "usage.amount",
    "usage.amount_in_pricing_units",      "usage.amount_in_pricing_unit",
};

// Columns that begin like the name of a record but belong to none.
constexpr std::string_view kPlain[] = {"usage_start_time", "usage_end_time"};

constexpr std::string_view kNested[] = {
    "billing_account_id",
    "service",
    "sku",
    "usage_start_time",
    "usage_end_time",
    "project",
    "labels",
    "system_labels",
    "location",
    "resource",
    "tags",
    "price",
    "transaction_type",
    "seller_name",
    "subscription",
    "export_time",
    "cost",
    "currency",
    "currency_conversion_rate",
    "usage",
    "credits",
    "invoice",
    "cost_type",
    "adjustment_info",
    "cost_at_list",
    "cost_at_effective_price_default",
    "cost_at_list_consumption_model",
    "consumption_model",
};

}  // namespace

std::string path_of(std::string_view column) {
  std::string path(column);
  std::ranges::transform(path, path.begin(), ascii::to_lower);
  if (std::ranges::find(kPlain, path) != std::end(kPlain)) return path;
  for (const std::string_view record : kRecords) {
    if (path.size() > record.size() + 1 && path.starts_with(record) && path[record.size()] == '_') {
      path[record.size()] = '.';
      return path;
    }
  }
  return path;
}

std::string_view path_of(Field field) {
  for (const auto& [path, of] : kPaths) {
    if (of == field) return path;
  }
  return {};
}

std::optional<Field> find_field(std::string_view path) {
  for (const auto& [name, field] : kPaths) {
    if (name == path) return field;
  }
  // The reseller's export has the singular.
  if (path == "usage.amount_in_pricing_unit") return Field::kPricingAmount;
  return std::nullopt;
}

bool is_record(std::string_view path) {
  return std::ranges::find(kRecords, path) != std::end(kRecords);
}

bool is_number(std::string_view path) {
  return path.starts_with("cost") ? path != "cost_type"
                                  : std::ranges::find(kNumbers, path) != std::end(kNumbers);
}

bool is_unnested(std::string_view path) {
  return std::ranges::any_of(kLists, [&](std::string_view list) {
    return path.size() > list.size() && path.starts_with(list) &&
           (path[list.size()] == '.' || path[list.size()] == '_') &&
           std::ranges::find(kListMembers, path.substr(list.size() + 1)) != std::end(kListMembers);
  });
}

std::string kept_name(std::string_view path) {
  if (path == "location.location") return "x_Location";
  std::string name = "x_";
  bool begins_word = true;
  for (const char c : path) {
    const bool is_letter = ascii::is_letter(c);
    if (!is_letter && !ascii::is_digit(c)) {
      begins_word = true;
      continue;
    }
    name += begins_word ? ascii::to_upper(c) : c;
    begins_word = false;
  }
  return name;
}

std::string_view kept_name(Field field) {
  static const auto names = [] {
    std::array<std::string, kFields> all;
    for (const auto& [path, of] : kPaths) all[static_cast<std::size_t>(of)] = kept_name(path);
    return all;
  }();
  return names[static_cast<std::size_t>(field)];
}

std::span<const std::string_view> nested_columns() { return kNested; }

}  // namespace pennyweight::gcp
