#include "reporting/export/focus_table.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <variant>

#include "core/ascii.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/decimal.h"
#include "core/json_text.h"
#include "core/try.h"
#include "reporting/export/effective_rest.h"
#include "reporting/export/focus_categories.h"
#include "reporting/export/unit_prices.h"

namespace pennyweight {
namespace {

Error unreadable_columns(const Charge& charge, std::string_view why) {
  return Error{
      ErrorCode::kBadValue,
      fmt::format(
          "the other columns of the bill line in file line {} are not a JSON object of texts: {}",
          charge.source.line, why)};
}

Result<OtherTexts> parse_other_columns(const Charge& charge, simdjson::ondemand::parser& parser) {
  OtherTexts columns;
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

bool is_booked_late(const Charge& charge) {
  return !charge.booked_month.empty() &&
         charge.booked_month !=
             BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text();
}

bool is_priced(const Charge& charge) {
  const bool must_be = (charge.charge_category == ChargeCategory::kUsage ||
                        charge.charge_category == ChargeCategory::kPurchase) &&
                       !charge.is_correction && !is_booked_late(charge);
  return must_be ||
         (!charge.sku_price_id.empty() && charge.charge_category != ChargeCategory::kTax);
}

std::string_view find_text(const OtherTexts& others, std::string_view name) {
  const auto at = std::ranges::find(others, name, &std::pair<std::string, std::string>::first);
  return at == others.end() ? std::string_view() : std::string_view(at->second);
}

// The currency of the price list, where the bill names another than the billing currency and not
// all amounts in it, which FOCUS requires: there is no rate to work them out by.
std::string_view half_stated_currency(const Charge& charge, const OtherTexts& others) {
  const std::string_view currency = find_text(others, "PricingCurrency");
  if (currency.empty() || currency == charge.costs.currency().text()) return {};
  const bool has_all =
      !find_text(others, "PricingCurrencyEffectiveCost").empty() &&
      (!is_priced(charge) || (!find_text(others, "PricingCurrencyListUnitPrice").empty() &&
                              !find_text(others, "PricingCurrencyContractedUnitPrice").empty()));
  return has_all ? std::string_view() : currency;
}

bool has_allowed_values(const Charge& charge) {
  const std::string& commitment = charge.commitment_discount_category;
  if (!commitment.empty() && commitment != "Spend" && commitment != "Usage") return false;
  if (charge.service_category.empty()) return charge.service_subcategory.empty();
  return is_focus_category(charge.service_category) &&
         (charge.service_subcategory.empty() ||
          is_focus_subcategory(charge.service_category, charge.service_subcategory));
}

std::string json_object(const Replaced& replaced) {
  std::string json = "{";
  for (const auto& [column, value] : replaced) {
    if (json.size() > 1) json += ',';
    append_json_string(json, column);
    json += ':';
    append_json_string(json, value);
  }
  return json + "}";
}

bool is_ledger_id(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The id under which another ledger exported this charge whole; empty for all others. A share has
// the column AllocatedRatio; a reversal has an id of its own.
std::string exported_id(const Charge& charge, const OtherTexts& others) {
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
    if (fidelity_ == Fidelity::kConformant) note_replaced(charge, others);
    const bool keeps_id = fills(kOriginChargeId) && !exported_id(charge, others).empty();
    for (const auto& [name, text] : others) {
      if (keeps_id && name == kOriginChargeId) continue;
      if (find_focus_column(version_, name) == nullptr) note_name(name);
      if (!own_.empty() && is_allocated_column(name)) note_name(origin_name(name));
      // 1.2 has only ProviderName, and the bill has a different name as well.
      if (version_ == FocusVersion::k1_2 && name == "ProviderName") {
        note_name("ServiceProviderName");
      }
    }
  }
  return {};
}

void FocusTable::note_replaced(const Charge& charge, const OtherTexts& others) {
  if (!fills(kEffectiveCostOf) && fills(kOriginChargeId) && part_effective_cost(charge, version_)) {
    own_.push_back({std::string(kEffectiveCostOf), FocusType::kString});
  }
  if (!charge.service_name.empty() && is_focus_category(charge.service_category)) {
    auto& lines = categories_[charge.service_name];
    ++lines[charge.service_category];
    if (lines.size() > 1) note_name(kReplacedValues);
  }
  if (!has_allowed_values(charge)) note_name(kReplacedValues);
  if (!half_stated_currency(charge, others).empty()) note_name(kReplacedValues);
  if (!is_priced(charge)) return;
  const auto fitted = fit_prices(charge);
  if (!fitted || !fitted->replaced.empty()) note_name(kReplacedValues);
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
    columns_.push_back(column);
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

bool FocusTable::is_null(const FocusRow& row, std::string_view column) const {
  const auto at = column_indexes_.find(column);
  return at == column_indexes_.end() || std::holds_alternative<std::monostate>(row[at->second]);
}

std::string_view FocusTable::text(const FocusRow& row, std::string_view column) const {
  if (is_null(row, column)) return {};
  const auto* text = std::get_if<std::string>(&row[column_index(column)]);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

RowKind FocusTable::kind_of(const FocusRow& row) const {
  RowKind kind;
  kind.is_usage = text(row, "ChargeCategory") == "Usage";
  kind.is_purchase = text(row, "ChargeCategory") == "Purchase";
  kind.is_unused = text(row, "CommitmentDiscountStatus") == "Unused";
  kind.must_be_priced =
      (kind.is_usage || kind.is_purchase) && text(row, "ChargeClass") != "Correction";
  return kind;
}

void FocusTable::link_rest(FocusRow& line, FocusRow& rest, const Charge& parted) const {
  const std::size_t origin = column_index(kOriginChargeId);
  rest[column_index(kEffectiveCostOf)] = line[origin];
  rest[origin] = to_text(parted.id);
  const std::size_t cost = column_index("PricingCurrencyEffectiveCost");
  if (is_null(line, "PricingCurrencyEffectiveCost")) return;
  if (text(line, "PricingCurrency") == parted.costs.currency().text()) {
    line[cost] = rest[cost] = FocusCell();  // as the billing currency has it: fill_in()
  } else if (text(line, "ChargeCategory") == "Purchase") {
    line[cost] = Decimal();
  } else {
    rest[cost] = Decimal();
  }
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

// A service has one category: the one that most of its lines have.
void FocusTable::replace_category(const Charge& charge, Replaced& replaced, FocusRow& row) const {
  std::string category = charge.service_category;
  if (!is_focus_category(category)) category.clear();
  if (const auto service = categories_.find(charge.service_name); service != categories_.end()) {
    category = std::ranges::max_element(service->second, {}, [](const auto& lines) {
                 return lines.second;
               })->first;
  }
  if (category != charge.service_category) {
    if (!charge.service_category.empty()) {
      replaced.emplace_back("ServiceCategory", charge.service_category);
    }
    row[column_index("ServiceCategory")] = focus_text_cell(category);
  }
  if (!charge.service_subcategory.empty() &&
      !is_focus_subcategory(category, charge.service_subcategory)) {
    replaced.emplace_back("ServiceSubcategory", charge.service_subcategory);
    row[column_index("ServiceSubcategory")] = FocusCell();
  }
}

// Where FOCUS allows a stated value not, another takes its place, and it goes to kReplacedValues.
Result<void> FocusTable::replace(const Charge& charge, const OtherTexts& others, FocusRow& row) {
  Replaced replaced;
  const auto put = [&](std::string_view column, FocusCell cell) {
    row[column_index(column)] = std::move(cell);
  };
  if (is_priced(charge)) {
    auto fitted = fit_prices(charge);
    const bool can_do_without = charge.is_correction || is_booked_late(charge) ||
                                (charge.charge_category != ChargeCategory::kUsage &&
                                 charge.charge_category != ChargeCategory::kPurchase);
    if (!fitted && !can_do_without) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("bill line {} (file line {}) can't be written as FOCUS: {}; correct "
                              "the bill, or export it with 'export charges'",
                              to_text(charge.id), charge.source.line, fitted.error().message));
    }
    if (!fitted) {
      // Without the price's name no price is expected.
      replaced.emplace_back("SkuPriceId", charge.sku_price_id);
      put("SkuPriceId", FocusCell());
    } else {
      put("PricingQuantity", number_cell(fitted->prices.quantity));
      put("PricingUnit", focus_text_cell(fitted->prices.unit));
      put("ListUnitPrice", number_cell(fitted->prices.list));
      put("ContractedUnitPrice", number_cell(fitted->prices.contracted));
      replaced = std::move(fitted->replaced);
    }
  }
  if (const auto currency = half_stated_currency(charge, others); !currency.empty()) {
    replaced.emplace_back("PricingCurrency", currency);
    put("PricingCurrency", FocusCell());
    for (const std::string_view column :
         {"PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
          "PricingCurrencyListUnitPrice"}) {
      const std::string_view stated = find_text(others, column);
      if (!stated.empty()) replaced.emplace_back(column, stated);
      put(column, FocusCell());
    }
  }
  const std::string& category = charge.commitment_discount_category;
  if (!category.empty() && category != "Spend" && category != "Usage") {
    replaced.emplace_back("CommitmentDiscountCategory", category);
    put("CommitmentDiscountCategory", FocusCell());
  }
  replace_category(charge, replaced, row);
  if (replaced.empty()) return {};
  std::ranges::sort(replaced);
  for (const auto& [column, value] : replaced) ++replaced_[column];
  FocusCell& cell = row[column_index(kReplacedValues)];
  // What an earlier export of the line replaced is what its bill had said.
  if (std::holds_alternative<std::monostate>(cell)) cell = json_object(replaced);
  return {};
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
  if (fidelity_ == Fidelity::kConformant) {
    TRY(replace(charge, others, row));
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
