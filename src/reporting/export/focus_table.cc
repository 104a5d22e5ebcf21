#include "reporting/export/focus_table.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/decimal.h"
#include "core/json_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

Error unreadable_columns(const Charge& charge, std::string_view why) {
  return Error{
      ErrorCode::kBadValue,
      fmt::format(
          "the other columns of the bill line in file line {} are not a JSON object of texts: {}",
          charge.source.line, why)};
}

Result<Texts> parse_other_columns(const Charge& charge, simdjson::ondemand::parser& parser) {
  Texts columns;
  if (charge.other_columns.empty()) return columns;
  const simdjson::padded_string json(charge.other_columns);
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto failed = parser.iterate(json).get(document);
  if (!failed) failed = document.get_object().get(object);
  if (failed) return std::unexpected(unreadable_columns(charge, simdjson::error_message(failed)));
  for (auto member : object) {
    std::string_view name;
    std::string_view text;
    failed = member.unescaped_key().get(name);
    // Both views point into the parser's memory.
    if (!failed) failed = member.value().get_string().get(text);
    if (failed) return std::unexpected(unreadable_columns(charge, simdjson::error_message(failed)));
    columns.emplace_back(name, text);
  }
  return columns;
}

FocusCell focus_text_cell(std::string_view text) {
  return text.empty() ? FocusCell() : FocusCell(std::string(text));
}

template <class Code>
FocusCell code_cell(const std::optional<Code>& code) {
  return code ? FocusCell(std::string(to_text(*code))) : FocusCell();
}

FocusCell number_cell(const std::optional<Decimal>& number) {
  return number ? FocusCell(*number) : FocusCell();
}

FocusCell tags_cell(const Labels& tags) {
  if (tags.empty()) return {};
  std::string json = "{";
  for (const auto& [key, value] : tags.entries()) {
    if (json.size() > 1) json += ',';
    append_json_string(json, key);
    json += ':';
    append_json_string(json, value);
  }
  return json + "}";
}

std::vector<std::pair<std::string_view, FocusCell>> charge_cells(const Charge& c) {
  return {
      {"AvailabilityZone", focus_text_cell(c.availability_zone)},
      {"BilledCost", c.costs.billed.amount()},
      {"BillingAccountId", focus_text_cell(c.billing_account_id)},
      {"BillingAccountName", focus_text_cell(c.billing_account_name)},
      {"BillingCurrency", c.costs.currency().text()},
      {"BillingPeriodEnd", c.billing_period.end()},
      {"BillingPeriodStart", c.billing_period.begin()},
      {"CapacityReservationId", focus_text_cell(c.capacity_reservation_id)},
      {"CapacityReservationStatus", code_cell(c.capacity_reservation_status)},
      {"ChargeCategory", std::string(to_text(c.charge_category))},
      {"ChargeClass", focus_text_cell(c.is_correction ? "Correction" : "")},
      {"ChargeDescription", focus_text_cell(c.charge_description)},
      {"ChargeFrequency", code_cell(c.charge_frequency)},
      {"ChargePeriodEnd", c.charge_period.end()},
      {"ChargePeriodStart", c.charge_period.begin()},
      {"CommitmentDiscountCategory", focus_text_cell(c.commitment_discount_category)},
      {"CommitmentDiscountId", focus_text_cell(c.commitment_discount_id)},
      {"CommitmentDiscountStatus", code_cell(c.commitment_discount_status)},
      {"CommitmentDiscountType", focus_text_cell(c.commitment_discount_type)},
      {"ConsumedQuantity", number_cell(c.consumed_quantity)},
      {"ConsumedUnit", focus_text_cell(c.consumed_unit)},
      {"ContractedCost", c.costs.contracted.amount()},
      {"ContractedUnitPrice", number_cell(c.contracted_unit_price)},
      {"EffectiveCost", c.costs.effective.amount()},
      {"InvoiceId", focus_text_cell(c.invoice_id)},
      {"InvoiceIssuerName", focus_text_cell(c.invoice_issuer_name)},
      {"ListCost", c.costs.list.amount()},
      {"ListUnitPrice", number_cell(c.list_unit_price)},
      {"PricingCategory", code_cell(c.pricing_category)},
      {"PricingQuantity", number_cell(c.pricing_quantity)},
      {"PricingUnit", focus_text_cell(c.pricing_unit)},
      {"ProviderName", focus_text_cell(c.service_provider_name)},
      {"PublisherName", focus_text_cell(c.service_provider_name)},
      {"RegionId", focus_text_cell(c.region_id)},
      {"ResourceId", focus_text_cell(c.resource_id)},
      {"ResourceName", focus_text_cell(c.resource_name)},
      {"ResourceType", focus_text_cell(c.resource_type)},
      {"ServiceCategory", focus_text_cell(c.service_category)},
      {"ServiceName", focus_text_cell(c.service_name)},
      {"ServiceProviderName", focus_text_cell(c.service_provider_name)},
      {"ServiceSubcategory", focus_text_cell(c.service_subcategory)},
      {"SkuId", focus_text_cell(c.sku_id)},
      {"SkuMeter", focus_text_cell(c.sku_meter)},
      {"SkuPriceDetails", focus_text_cell(c.sku_price_details)},
      {"SkuPriceId", focus_text_cell(c.sku_price_id)},
      {"SubAccountId", focus_text_cell(c.sub_account_id)},
      {"SubAccountName", focus_text_cell(c.sub_account_name)},
      {"Tags", tags_cell(c.tags)},
      {"x_ClusterId", focus_text_cell(c.cluster)},
      {"x_InstanceType", focus_text_cell(c.instance_type)},
      {"x_PoolId", focus_text_cell(c.pool)},
  };
}

bool is_allocated_column(std::string_view name) {
  return std::ranges::find(kAllocatedColumns, name) != std::end(kAllocatedColumns);
}

// Conditional columns that may not be null: present only if the bill has account types.
bool is_only_with_values(std::string_view name) {
  return name == "BillingAccountType" || name == "SubAccountType";
}

bool is_booked_late(const Charge& charge) {
  return !charge.booked_month.empty() &&
         charge.booked_month !=
             BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text();
}

bool is_ledger_id(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The id under which another ledger exported this charge whole; empty for all others. A share has
// the column AllocatedRatio; a reversal has an id of its own.
std::string exported_id(const Charge& charge, const Texts& others) {
  if (charge.takes_back) return {};
  std::string id;
  for (const auto& [name, text] : others) {
    if (name == "x_AllocatedRatio" && !text.empty()) return {};
    if (name == kOriginChargeId && is_ledger_id(text)) id = text;
  }
  return id;
}

std::string origin_name(std::string_view name) {
  if (name.starts_with("x_")) name.remove_prefix(2);
  return "x_Origin" + std::string(name);
}

}  // namespace

FocusTable::FocusTable(FocusVersion version, Fidelity fidelity, std::vector<FocusColumn> own)
    : version_(version), fidelity_(fidelity), own_(std::move(own)) {}

Result<void> FocusTable::note(std::span<const Charge> charges) {
  CHECK(columns_.empty(), "charges are noted before the columns are fixed");
  simdjson::ondemand::parser parser;
  for (const Charge& charge : charges) {
    if (!charge.cluster.empty()) note_name("x_ClusterId");
    if (!charge.instance_type.empty()) note_name("x_InstanceType");
    if (!charge.pool.empty()) note_name("x_PoolId");
    if (fidelity_ == Fidelity::kConformant) note_booking(charge);
    const auto others = TRY(parse_other_columns(charge, parser));
    const bool keeps_id = fills(kOriginChargeId) && !exported_id(charge, others).empty();
    for (const auto& [name, text] : others) {
      if (keeps_id && name == kOriginChargeId) continue;
      if (find_focus_column(version_, name) == nullptr) note_name(name);
      if (is_only_with_values(name)) account_types_.insert(name);
      if (!own_.empty() && is_allocated_column(name)) note_name(origin_name(name));
      // 1.2 has only ProviderName, and the bill has a different name as well.
      if (version_ == FocusVersion::k1_2 && name == "ProviderName") {
        note_name("ServiceProviderName");
      }
    }
  }
  return {};
}

bool FocusTable::fills(std::string_view own) const {
  return std::ranges::find(own_, own, &FocusColumn::name) != own_.end();
}

// Adds the booking columns if a charge of the month needs them.
void FocusTable::note_booking(const Charge& charge) {
  if (is_booked_late(charge) && !fills(kBookedMonth)) {
    own_.push_back({std::string(kBookedMonth), FocusType::kString});
    own_.push_back({std::string(kTakesBack), FocusType::kString});
  }
}

std::string FocusTable::column_name(std::string_view source) const {
  if (fidelity_ == Fidelity::kLossless) return std::string(source);
  const std::string name = custom_column_name(source);
  return fills(name) ? origin_name(name) : name;
}

void FocusTable::fix_columns() {
  CHECK(columns_.empty(), "columns are fixed once");
  const auto standard = focus_columns(version_);
  for (const FocusColumn& column : standard) {
    if (fidelity_ == Fidelity::kLossless || !is_only_with_values(column.name) ||
        account_types_.contains(column.name)) {
      columns_.push_back(column);
    }
  }
  std::vector<FocusColumn> custom = own_;
  std::set<std::string> taken;  // case-insensitive, as in SQL
  for (const FocusColumn& column : own_) taken.insert(ascii::lower_case(column.name));
  std::map<std::string, std::string, std::less<>> names;  // the bill's → the column's
  for (const std::string& source : noted_) {
    std::string name = column_name(source);
    if (fidelity_ == Fidelity::kConformant) {
      const std::string base = name;
      for (int again = 2; taken.contains(ascii::lower_case(name)); ++again) {
        name = base + std::to_string(again);
      }
    }
    taken.insert(ascii::lower_case(name));
    custom.push_back({name, FocusType::kString});
    names.emplace(source, name);
  }
  std::ranges::sort(custom, {}, &FocusColumn::name);
  columns_.insert(columns_.end(), custom.begin(), custom.end());
  for (std::size_t i = 0; i < columns_.size(); ++i) column_indexes_.emplace(columns_[i].name, i);
  for (const FocusColumn& column : standard) {
    const auto at = column_indexes_.find(column.name);
    if (at != column_indexes_.end()) source_indexes_.emplace(column.name, at->second);
  }
  for (const auto& [source, name] : names) {
    source_indexes_.emplace(source, column_indexes_.find(name)->second);
  }
}

std::size_t FocusTable::column_index(std::string_view name) const {
  const auto at = column_indexes_.find(name);
  CHECK(at != column_indexes_.end(), "the table has the column");
  return at->second;
}

void FocusTable::set_other(std::string_view source, std::string_view text, FocusRow& row) {
  const auto at = source_indexes_.find(source);
  CHECK(at != source_indexes_.end(), "every charge that is written was noted");
  FocusCell& cell = row[at->second];
  const FocusColumn& column = columns_[at->second];
  if (fidelity_ == Fidelity::kLossless || column.type != FocusType::kDecimal) {
    cell = focus_text_cell(text);
    return;
  }
  cell = FocusCell();
  const auto number = parse_decimal(text);
  if (!number) {
    ++unreadable_[column.name];
    return;
  }
  if (number->rounded) ++rounded_[column.name];
  cell = number->value;
}

void FocusTable::fill_own(const Charge& charge, const std::string& origin, FocusRow& row) const {
  if (fills(kOriginChargeId)) {
    row[column_index(kOriginChargeId)] = origin.empty() ? to_text(charge.id) : origin;
  }
  if (!fills(kBookedMonth) || !is_booked_late(charge)) return;
  row[column_index("ChargeClass")] = std::string("Correction");
  row[column_index(kBookedMonth)] = charge.booked_month;
  if (charge.takes_back) row[column_index(kTakesBack)] = to_text(*charge.takes_back);
}

Result<void> FocusTable::fill(const Charge& charge, FocusRow& row) {
  CHECK(!columns_.empty(), "columns are fixed before rows are filled");
  row.assign(columns_.size(), FocusCell());
  for (auto& [name, cell] : charge_cells(charge)) {
    if (const auto at = source_indexes_.find(name); at != source_indexes_.end())
      row[at->second] = cell;
  }
  simdjson::ondemand::parser parser;
  const auto others = TRY(parse_other_columns(charge, parser));
  const std::string origin = fills(kOriginChargeId) ? exported_id(charge, others) : std::string();
  bool names_provider = false;
  for (const auto& [name, text] : others) {
    if (!origin.empty() && name == kOriginChargeId) continue;
    set_other(name, text, row);
    names_provider = names_provider || name == "ProviderName";
  }
  // 1.2 gets a custom column, if the bill has two names.
  if (version_ == FocusVersion::k1_2 && !names_provider) {
    const auto at = source_indexes_.find("ServiceProviderName");
    if (at != source_indexes_.end()) row[at->second] = FocusCell();
  }
  fill_own(charge, origin, row);
  return {};
}

}  // namespace pennyweight
