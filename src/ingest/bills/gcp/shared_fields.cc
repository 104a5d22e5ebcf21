#include "ingest/bills/gcp/shared_fields.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "ingest/bills/gcp/export_values.h"
#include "ingest/bills/gcp/service_category.h"

namespace pennyweight::gcp {
namespace {

using bill::RowFault;

constexpr std::size_t kTagsRemembered = 4096;

constexpr std::string_view kGoogleCloud = "Google Cloud";

// The columns that tags come from, and the prefix of their keys. Labels of the resource and of
// Google keep their keys; Google's begin with the name of a service.
constexpr std::array<std::pair<Field, std::string_view>, 4> kTagSources = {{
    {Field::kLabels, ""},
    {Field::kSystemLabels, ""},
    {Field::kProjectLabels, "project/"},
    {Field::kTags, "tag/"},
}};

std::string shown(std::string_view text) { return std::string(text.substr(0, 60)); }

// "instances" for //compute.googleapis.com/projects/p/zones/z/instances/123; empty for a name of
// another form.
std::string_view collection_of(std::string_view global_name) {
  if (!global_name.starts_with("//")) return {};
  const std::size_t path = global_name.find('/', 2);
  const std::size_t last = global_name.rfind('/');
  if (path == std::string_view::npos || last <= path) return {};
  const std::size_t before = global_name.rfind('/', last - 1);
  return global_name.substr(before + 1, last - before - 1);
}

}  // namespace

Result<SharedFields> SharedFields::create() {
  auto zone = TimeZone::parse("America/Los_Angeles");
  if (!zone) return std::unexpected(zone.error().during("months of Google Cloud"));
  return SharedFields(std::move(*zone));
}

std::optional<RowFault> SharedFields::fill(Row& row, bool needs_usage_time, Charge& charge) {
  if (auto fault = fill_month(row, charge)) return fault;
  if (auto fault = fill_times(row, needs_usage_time, charge)) return fault;
  charge.billing_account_id = row.take(Field::kBillingAccountId);
  if (charge.billing_account_id.empty()) {
    return RowFault{"billing_account_id", "billing_account_id is empty; export it"};
  }
  charge.sub_account_id = row.take(Field::kProjectId);
  if (!charge.sub_account_id.empty()) charge.sub_account_name = row.take(Field::kProjectName);
  charge.invoice_issuer_name = kGoogleCloud;
  charge.service_provider_name = kGoogleCloud;
  charge.service_name = row.take(Field::kServiceDescription);
  const bill::ServiceCategory category = service_category(charge.service_name);
  charge.service_category = category.category;
  charge.service_subcategory = category.subcategory;
  charge.charge_description = row.take(Field::kSkuDescription);
  charge.region_id = row.take(Field::kRegion);
  charge.availability_zone = row.take(Field::kZone);
  fill_resource(row, charge);
  fill_tags(row, charge);
  fill_reservation(charge);
  return std::nullopt;
}

std::optional<RowFault> SharedFields::fill_month(Row& row, Charge& charge) {
  const std::string_view text = row.take(Field::kInvoiceMonth);
  if (last_month_ && text == last_month_text_) {
    charge.billing_period = *last_month_;
    return std::nullopt;
  }
  std::string month(text);
  if (month.size() == 6) month.insert(4, "-");
  const auto period = BillingPeriod::parse(month, zone_);
  if (!period) {
    return RowFault{"invoice.month",
                    fmt::format("invoice.month '{}' is not an invoice month; it is written 202603",
                                shown(text))};
  }
  last_month_text_ = text;
  last_month_ = period->to_interval();
  charge.billing_period = *last_month_;
  return std::nullopt;
}

std::optional<RowFault> SharedFields::fill_times(Row& row, bool needs_usage_time, Charge& charge) {
  const auto instant = [&](Field field, LastInstant& last) -> Result<Instant> {
    const std::string_view text = row[field];
    if (!text.empty() && text == last.text) return last.at;
    auto at = parse_instant(text);
    if (at) last = {.text = std::string(text), .at = *at};
    return at;
  };
  // A charge without length, such as a tax, is for its month; other_columns takes its times.
  const std::string_view begin_text = row[Field::kUsageStart];
  const std::string_view end_text = row[Field::kUsageEnd];
  if (!needs_usage_time && (begin_text.empty() || end_text.empty() || begin_text == end_text)) {
    charge.charge_period = charge.billing_period;
    return std::nullopt;
  }
  const auto begin = instant(Field::kUsageStart, last_begin_);
  if (!begin) return RowFault{"usage_start_time", "usage_start_time: " + begin.error().message};
  const auto end = instant(Field::kUsageEnd, last_end_);
  if (!end) return RowFault{"usage_end_time", "usage_end_time: " + end.error().message};
  const auto period = Interval::of(*begin, *end);
  if (!period) {
    return RowFault{"usage_end_time",
                    fmt::format("usage_end_time {} is not after usage_start_time {}",
                                shown(end_text), shown(begin_text))};
  }
  row.take(Field::kUsageStart);
  row.take(Field::kUsageEnd);
  charge.charge_period = *period;
  return std::nullopt;
}

void SharedFields::fill_resource(Row& row, Charge& charge) const {
  const std::string_view name = row.take(Field::kResourceName);
  charge.resource_id = row.take(Field::kResourceGlobalName);
  if (charge.resource_id.empty()) {
    charge.resource_id = name;
  } else if (name != charge.resource_id) {
    charge.resource_name = name;
  }
  if (charge.resource_id.empty()) return;
  charge.resource_type = collection_of(charge.resource_id);
  if (charge.resource_type.empty()) charge.resource_type = charge.service_name;
  if (charge.resource_type.empty()) charge.resource_type = "resource";
}

void SharedFields::fill_tags(Row& row, Charge& charge) {
  tags_key_.clear();
  for (const auto& [field, prefix] : kTagSources) tags_key_.append(row[field]) += '\x1f';
  auto seen = tags_cache_.find(tags_key_);
  if (seen == tags_cache_.end()) {
    if (tags_cache_.size() >= kTagsRemembered) tags_cache_.clear();
    ParsedTags tags;
    for (const auto& [field, prefix] : kTagSources) {
      if (!add_labels(row[field], prefix, tags.labels)) tags.unread = true;
    }
    if (tags.unread) tags.labels = {};
    seen = tags_cache_.emplace(tags_key_, std::move(tags)).first;
  }
  charge.tags = seen->second.labels;
  if (seen->second.unread) {
    ++unread_json_;
    return;
  }
  row.take(Field::kLabels);
  row.take(Field::kSystemLabels);
  row.take(Field::kProjectLabels);
  // A tag says more than its key and value (whether it is inherited), so other_columns takes it
  // too.
  if (const auto type = charge.tags.find("compute.googleapis.com/machine_spec")) {
    charge.instance_type = *type;
  }
}

// Finds capacity reservations by Google's own labels. Their unused part is a row of its own.
void SharedFields::fill_reservation(Charge& charge) {
  const auto unused = charge.tags.find("compute.googleapis.com/is_unused_reservation");
  const bool is_unused = unused == "true";
  const auto name = charge.tags.find("compute.googleapis.com/reservation_name");
  if (!is_unused && !name) return;
  const auto owner = charge.tags.find("compute.googleapis.com/reservation_project_id");
  const std::string project(owner ? *owner : std::string_view(charge.sub_account_id));
  // Before September 2025 reservations have no names in the export.
  charge.capacity_reservation_id =
      fmt::format("projects/{}/reservations/{}", project, name ? *name : "unnamed");
  charge.capacity_reservation_status = is_unused ? UsedOrUnused::kUnused : UsedOrUnused::kUsed;
}

}  // namespace pennyweight::gcp
