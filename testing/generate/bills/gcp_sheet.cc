#include "testing/generate/bills/gcp_sheet.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/json_text.h"
#include "testing/generate/bills/json_text.h"
#include "testing/generate/bills/number_text.h"

namespace pennyweight::bills {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// docs.cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage
constexpr GcpColumn kColumns[] = {{"billing_account_id", GcpKind::kText},
                                  {"service.id", GcpKind::kText},
                                  {"service.description", GcpKind::kText},
                                  {"sku.id", GcpKind::kText},
                                  {"sku.description", GcpKind::kText},
                                  {"usage_start_time", GcpKind::kTime},
                                  {"usage_end_time", GcpKind::kTime},
                                  {"project.id", GcpKind::kText},
                                  {"project.number", GcpKind::kText},
                                  {"project.name", GcpKind::kText},
                                  {"project.labels", GcpKind::kList},
                                  {"project.ancestry_numbers", GcpKind::kText},
                                  {"labels", GcpKind::kList},
                                  {"system_labels", GcpKind::kList},
                                  {"location.location", GcpKind::kText},
                                  {"location.country", GcpKind::kText},
                                  {"location.region", GcpKind::kText},
                                  {"location.zone", GcpKind::kText},
                                  {"resource.name", GcpKind::kText},
                                  {"resource.global_name", GcpKind::kText},
                                  {"tags", GcpKind::kList},
                                  {"price.effective_price", GcpKind::kNumber},
                                  {"price.tier_start_amount", GcpKind::kNumber},
                                  {"price.unit", GcpKind::kText},
                                  {"price.pricing_unit_quantity", GcpKind::kNumber},
                                  {"price.list_price", GcpKind::kNumber},
                                  {"transaction_type", GcpKind::kText},
                                  {"seller_name", GcpKind::kText},
                                  {"subscription.instance_id", GcpKind::kText},
                                  {"export_time", GcpKind::kTime},
                                  {"cost", GcpKind::kNumber},
                                  {"currency", GcpKind::kText},
                                  {"currency_conversion_rate", GcpKind::kNumber},
                                  {"usage.amount", GcpKind::kNumber},
                                  {"usage.unit", GcpKind::kText},
                                  {"usage.amount_in_pricing_units", GcpKind::kNumber},
                                  {"usage.pricing_unit", GcpKind::kText},
                                  {"credits", GcpKind::kList},
                                  {"invoice.month", GcpKind::kText},
                                  {"cost_type", GcpKind::kText},
                                  {"adjustment_info.id", GcpKind::kText},
                                  {"adjustment_info.description", GcpKind::kText},
                                  {"adjustment_info.mode", GcpKind::kText},
                                  {"adjustment_info.type", GcpKind::kText},
                                  {"cost_at_list", GcpKind::kNumber},
                                  {"consumption_model.id", GcpKind::kText},
                                  {"consumption_model.description", GcpKind::kText}};

std::vector<SheetColumn> csv_columns() {
  std::vector<SheetColumn> columns;
  for (const GcpColumn& column : kColumns) {
    columns.push_back({std::string(column.path), std::string(column.path)});
  }
  return columns;
}

// "2026-03-01 07:00:00" and what follows it.
std::string spaced(Instant at, std::string_view zone) {
  std::string text = pennyweight::to_text(at);
  text[10] = ' ';
  text.pop_back();
  return text + std::string(zone);
}

const TextSink& nowhere() {
  static const TextSink sink = [](std::string_view) -> Result<void> { return {}; };
  return sink;
}

}  // namespace

std::span<const GcpColumn> gcp_columns() { return kColumns; }

GcpSheet::GcpSheet(bool as_json, const TextSink& sink)
    : as_json_(as_json),
      csv_(csv_columns(), as_json ? nowhere() : sink),
      sink_(sink),
      values_(std::size(kColumns)) {}

std::size_t GcpSheet::find(std::string_view path) const {
  const auto found = std::ranges::find(kColumns, path, &GcpColumn::path);
  CHECK(found != std::end(kColumns), "only columns of the export are set");
  return static_cast<std::size_t>(found - std::begin(kColumns));
}

void GcpSheet::text(std::string_view path, std::string_view value) {
  if (!as_json_) return csv_.set(path, value);
  if (!value.empty()) values_[find(path)] = json_string(value);
}

void GcpSheet::number(std::string_view path, Decimal value) {
  if (!as_json_) return csv_.set(path, python_double(value));
  const std::size_t at = find(path);
  // Prices are NUMERIC, which BigQuery exports as text.
  values_[at] = path.starts_with("price.") ? json_string(to_text(value)) : python_double(value);
}

void GcpSheet::time(std::string_view path, Instant value) {
  if (!as_json_) return csv_.set(path, spaced(value, "+00:00"));
  values_[find(path)] = json_string(spaced(value, " UTC"));
}

void GcpSheet::list(std::string_view path, std::string json) {
  if (!as_json_) return csv_.set(path, json);
  values_[find(path)] = std::move(json);
}

void GcpSheet::end_json_row() {
  text_ += '{';
  std::string_view open;  // the record being written
  bool first = true;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    std::string& value = values_[i];
    if (value.empty()) continue;
    const std::string_view path = kColumns[i].path;
    const std::size_t dot = path.find('.');
    const std::string_view record = dot == std::string_view::npos ? "" : path.substr(0, dot);
    if (!open.empty() && record != open) text_ += '}';
    if (record.empty()) {
      if (!first) text_ += ',';
      text_ += json_string(path);
    } else {
      if (!first) text_ += ',';
      if (record != open) text_ += json_string(record) + ":{";
      text_ += json_string(path.substr(dot + 1));
    }
    open = record;
    text_ += ':';
    text_ += value;
    value.clear();
    first = false;
  }
  if (!open.empty()) text_ += '}';
  text_ += "}\n";
}

Result<void> GcpSheet::end_row() {
  if (!as_json_) return csv_.end_row();
  end_json_row();
  return text_.size() < kChunkBytes ? Result<void>{} : finish();
}

Result<void> GcpSheet::finish() {
  if (!as_json_) return csv_.finish();
  auto taken = sink_(text_);
  text_.clear();
  return taken;
}

}  // namespace pennyweight::bills
