// The columns of Google's billing export: paths of its schema, however a file spells them.
//
// The export is a table of nested records: service{id, description}. A CSV of it has the columns
// "service.id" or "service_id"; JSON and Parquet have a column "service" with a record. All three
// are the same path here.
// Source: docs.cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pennyweight::gcp {

// The paths that a rule reads.
enum class Field {
  kBillingAccountId,
  kServiceDescription,
  kSkuId,
  kSkuDescription,
  kUsageStart,
  kUsageEnd,
  kProjectId,
  kProjectName,
  kProjectLabels,
  kLabels,
  kSystemLabels,
  kTags,
  kRegion,
  kZone,
  kResourceName,
  kResourceGlobalName,
  kCost,
  kCurrency,
  kCostAtList,
  kCostAtEffectivePriceDefault,
  kListPrice,
  kEffectivePrice,
  kEffectivePriceDefault,
  kTierStartAmount,
  kUsageAmount,
  kUsageUnit,
  kPricingAmount,
  kPricingUnit,
  kCredits,
  kInvoiceMonth,
  kCostType,
  kAdjustmentId,
  kAdjustmentType,
  kConsumptionModelId,
  kConsumptionModelDescription,
  kSubscriptionId,
  kExportTime,
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::kExportTime) + 1;

// "service.id" for either spelling; unchanged if the name begins with no record of the schema.
std::string path_of(std::string_view column);
std::optional<Field> find_field(std::string_view path);
// True for a record of the schema, such as "service".
bool is_record(std::string_view path);
// True for a path that only UNNEST makes: "labels.key", "credits.amount". Such a table repeats each
// row, and its cost, for each of its labels.
bool is_unnested(std::string_view path);

// True for a column of numbers.
bool is_number(std::string_view path);

// The name in other_columns of a column that FOCUS does not have: "x_" and the path in PascalCase,
// x_ServiceId. location.location is x_Location, as in Google's own FOCUS export.
std::string kept_name(std::string_view path);
std::string_view kept_name(Field field);
std::string_view path_of(Field field);

// The columns of a table that BigQuery exports with whole records, as JSON or Parquet.
std::span<const std::string_view> nested_columns();

}  // namespace pennyweight::gcp
