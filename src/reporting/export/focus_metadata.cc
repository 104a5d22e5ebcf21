#include "reporting/export/focus_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/hash.h"
#include "core/json_text.h"

namespace pennyweight {
namespace {

constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"x_AllocatedMethodDetails", "AllocatedMethodDetails of FOCUS 1.3, which 1.2 lacks."},
    {"x_AllocatedMethodId", "AllocatedMethodId of FOCUS 1.3, which 1.2 lacks."},
    {"x_AllocatedRatio", "The row's part of its origin charge, rounded to 10^-15."},
    {"x_AllocatedResourceId", "AllocatedResourceId of FOCUS 1.3, which 1.2 lacks."},
    {"x_AllocatedResourceName", "AllocatedResourceName of FOCUS 1.3, which 1.2 lacks."},
    {"x_AllocatedTags", "AllocatedTags of FOCUS 1.3, which 1.2 lacks."},
    {"x_BookedMonth",
     "For a correction, the month in which it is booked, because the month of its billing period "
     "was closed."},
    {"x_ClusterId", "The cluster that the bill line belongs to."},
    {"x_EffectiveCostOfChargeId",
     "Of a row that holds the effective cost of a bill line on which FOCUS does not allow it: that "
     "line's x_OriginChargeId."},
    {"x_GpuHours", "GPU-hours held; stated on only one of the bill lines for a machine's hour."},
    {"x_HeldIdleBilledCost", "The part of BilledCost that was held and not used."},
    {"x_HeldIdleEffectiveCost", "The part of EffectiveCost that was held and not used."},
    {"x_InstanceType", "The machine type of the bill line."},
    {"x_OriginAllocatedMethodDetails", "AllocatedMethodDetails as the bill had it."},
    {"x_OriginAllocatedMethodId", "AllocatedMethodId as the bill had it."},
    {"x_OriginAllocatedResourceId", "AllocatedResourceId as the bill had it."},
    {"x_OriginAllocatedResourceName", "AllocatedResourceName as the bill had it."},
    {"x_OriginAllocatedTags", "AllocatedTags as the bill had it."},
    {"x_OriginChargeId",
     "The ledger's id of the bill line that the row is, or is a part of. A line that another "
     "ledger exported whole keeps the id that it had there."},
    {"x_PoolId", "The pool of machines that the bill line belongs to."},
    {"x_PostingKind",
     "The kind of cost: used, held_idle, unallocated, stranded, overhead, "
     "unavailable, shared; several are joined by a plus sign."},
    {"x_ReplacedValues",
     "A JSON object of column to value: what the bill says in columns where FOCUS does not allow "
     "it, "
     "such as a unit price beside which the cost was rounded."},
    {"x_TakesBackChargeId",
     "The ledger's id of the bill line of a closed month that this line reverses."},
    {"x_TransferId", "The ledger's id of the transfer that the row is a part of."},
    {"x_TransferOwnerId", "The owner that gives or takes the amount; null for unallocated cost."},
    {"x_TransferOwnerTags", "The owner's dimensions."},
};

std::string json_quoted(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

std::string_view data_type(FocusType type) {
  switch (type) {
    case FocusType::kString:
      return "STRING";
    case FocusType::kDecimal:
      return "DECIMAL";
    case FocusType::kDateTime:
      return "DATETIME";
    case FocusType::kJson:
      return "JSON";
  }
  CHECK(false, "every type is listed");
}

std::string definition(const FocusColumn& column) {
  std::string json = fmt::format(R"({{"ColumnName":{},"DataType":"{}")", json_quoted(column.name),
                                 data_type(column.type));
  if (column.type == FocusType::kDecimal) json += R"(,"NumericPrecision":38,"NumberScale":18)";
  if (column.type == FocusType::kString || column.type == FocusType::kJson) {
    json += R"(,"StringEncoding":"UTF-8")";
  }
  if (column.name == "AllocatedTags" || column.name == "x_AllocatedTags") {
    json += R"(,"ProviderTagPrefixes":["pennyweight/"])";
  }
  if (const std::string_view meaning = describe_custom_column(column.name); !meaning.empty()) {
    json += R"(,"x_Description":)" + json_quoted(meaning);
  }
  return json + "}";
}

std::string method(const AllocationMethod& method) {
  return fmt::format(
      R"({{"AllocatedMethodId":{},"x_Basis":{},"x_CatalogVersion":"{}","x_Cluster":{},)"
      R"("x_Documentation":"docs/bills/focus-export.md","x_Policy":{},"x_PolicyVersion":"{}",)"
      R"("x_RunNumber":{},"x_RunTime":"{}"}})",
      json_quoted(method.id), json_quoted(method.basis), to_text(method.run.catalog_version),
      json_quoted(method.run.scope.cluster.text()), json_quoted(method.run.policy),
      to_text(method.run.policy_version), method.run.number, to_text(method.run.at));
}

template <class Items, class ToJson>
std::string json_array(const Items& items, const ToJson& to_item) {
  std::string json = "[";
  for (const auto& item : items) json += (json.size() > 1 ? ",\n    " : "\n    ") + to_item(item);
  return json + (json.size() > 1 ? "\n  ]" : "]");
}

}  // namespace

std::string_view describe_custom_column(std::string_view custom_column) {
  const auto* const at = std::ranges::find(kMeanings, custom_column,
                                           &std::pair<std::string_view, std::string_view>::first);
  return at == std::end(kMeanings) ? std::string_view() : at->second;
}

std::string to_json(const FocusMetadata& metadata) {
  const std::string definitions = json_array(metadata.columns, definition);
  const std::string schema_id =
      to_text(Fingerprint().add(to_text(metadata.version)).add(definitions).hash());
  const std::string instance = fmt::format("pennyweight-focus-{}-{}", to_text(metadata.version),
                                           metadata.is_allocated ? "allocated" : "charges");
  const std::string at = to_text(std::chrono::floor<std::chrono::seconds>(metadata.at));
  const std::string json = fmt::format(
      R"({{
  "SchemaId": "{0}",
  "CreationDate": "{1}",
  "FocusVersion": "{2}",
  "DataGenerator": "pennyweight",
  "DataGeneratorVersion": {3},
  "DatasetInstanceId": "{4}",
  "ColumnDefinition": {5},
  "DatasetInstance": [
    {{"DatasetInstanceId":"{4}","DatasetInstanceName":"Cost and usage, {6}",
      "FocusDatasetId":"CostAndUsage"}}
  ],
  "Recency": [
    {{"DatasetInstanceId":"{4}","RecencyLastUpdated":"{1}","DatasetInstanceLastUpdated":"{1}",
      "DatasetInstanceComplete":{7},
      "TimeSectors":[{{"TimeSectorStart":"{8}","TimeSectorEnd":"{9}","TimeSectorComplete":{7},
        "TimeSectorLastUpdated":"{1}"}}]}}
  ],
  "CorrectionHandling": "Replacement",
  "DeliveryHandling": "Overwrite",
  "x_DeliveryScope": "{10}",
  "x_AllocatedMethod": {11}
}}
)",
      schema_id, at, to_text(metadata.version), json_quoted(metadata.program_version), instance,
      definitions, metadata.is_allocated ? "as allocated" : "as billed", metadata.is_complete,
      to_text(metadata.period.begin()), to_text(metadata.period.end()), metadata.month,
      json_array(metadata.methods, method));
  return json;
}

}  // namespace pennyweight
