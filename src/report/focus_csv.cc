#include "report/focus_csv.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/check.h"
#include "report/json_text.h"

namespace pennyweight {
namespace {

// The columns of 1.3 and 1.4 together, sorted: each version has all but two of them.
constexpr std::string_view kColumns[] = {"AllocatedMethodDetails",
                                         "AllocatedMethodId",
                                         "AllocatedResourceId",
                                         "AllocatedResourceName",
                                         "AllocatedTags",
                                         "AvailabilityZone",
                                         "BilledCost",
                                         "BillingAccountId",
                                         "BillingAccountName",
                                         "BillingAccountType",
                                         "BillingCurrency",
                                         "BillingPeriodEnd",
                                         "BillingPeriodStart",
                                         "CapacityReservationId",
                                         "CapacityReservationStatus",
                                         "ChargeCategory",
                                         "ChargeClass",
                                         "ChargeDescription",
                                         "ChargeFrequency",
                                         "ChargePeriodEnd",
                                         "ChargePeriodStart",
                                         "CommitmentDiscountCategory",
                                         "CommitmentDiscountId",
                                         "CommitmentDiscountName",
                                         "CommitmentDiscountQuantity",
                                         "CommitmentDiscountStatus",
                                         "CommitmentDiscountType",
                                         "CommitmentDiscountUnit",
                                         "CommitmentProgramEligibilityDetails",
                                         "ConsumedQuantity",
                                         "ConsumedUnit",
                                         "ContractApplied",
                                         "ContractedCost",
                                         "ContractedUnitPrice",
                                         "EffectiveCost",
                                         "HostProviderName",
                                         "InvoiceDetailId",
                                         "InvoiceId",
                                         "InvoiceIssuerName",
                                         "ListCost",
                                         "ListUnitPrice",
                                         "PricingCategory",
                                         "PricingCurrency",
                                         "PricingCurrencyContractedUnitPrice",
                                         "PricingCurrencyEffectiveCost",
                                         "PricingCurrencyListUnitPrice",
                                         "PricingQuantity",
                                         "PricingUnit",
                                         "ProviderName",
                                         "PublisherName",
                                         "RegionId",
                                         "RegionName",
                                         "ResourceId",
                                         "ResourceName",
                                         "ResourceType",
                                         "ServiceCategory",
                                         "ServiceName",
                                         "ServiceProviderName",
                                         "ServiceSubcategory",
                                         "SkuId",
                                         "SkuMeter",
                                         "SkuPriceDetails",
                                         "SkuPriceId",
                                         "SubAccountId",
                                         "SubAccountName",
                                         "SubAccountType",
                                         "Tags"};
constexpr std::string_view kOnly1_3[] = {"ProviderName", "PublisherName"};
constexpr std::string_view kOnly1_4[] = {"CommitmentProgramEligibilityDetails", "InvoiceDetailId"};

bool is_in_version(std::string_view column, FocusVersion version) {
  const auto& others = version == FocusVersion::k1_3 ? kOnly1_4 : kOnly1_3;
  return std::ranges::binary_search(kColumns, column) &&
         std::ranges::find(others, column) == std::end(others);
}

using Texts = std::vector<std::pair<std::string, std::string>>;

Error unreadable(const Charge& charge, std::string_view why) {
  return Error{
      ErrorCode::kBadValue,
      fmt::format("other columns of the charge of line {} are not a JSON object of texts: {}",
                  charge.source.line, why)};
}

Result<Texts> other_columns_of(const Charge& charge, simdjson::ondemand::parser& parser) {
  Texts columns;
  if (charge.other_columns.empty()) return columns;
  const simdjson::padded_string json(charge.other_columns);
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto failed = parser.iterate(json).get(document);
  if (!failed) failed = document.get_object().get(object);
  if (failed) return std::unexpected(unreadable(charge, simdjson::error_message(failed)));
  for (auto member : object) {
    std::string_view name;
    std::string_view text;
    failed = member.unescaped_key().get(name);
    // Both views live in the parser's memory until the document is done.
    if (!failed) failed = member.value().get_string().get(text);
    if (failed) return std::unexpected(unreadable(charge, simdjson::error_message(failed)));
    columns.emplace_back(name, text);
  }
  return columns;
}

bool must_be_quoted(std::string_view text) {
  if (text == "NULL" || text == "null" || text == "\\N") return true;
  if (text.empty()) return false;
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  return is_space(text.front()) || is_space(text.back()) ||
         text.find_first_of(",\"\r\n") != std::string_view::npos;
}

void append_field(std::string& out, std::string_view text) {
  if (!must_be_quoted(text)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

template <class Code>
std::string code_text(const std::optional<Code>& code) {
  return code ? std::string(to_text(*code)) : std::string();
}

std::string number_text(const std::optional<Decimal>& number) {
  return number ? to_text(*number) : std::string();
}

std::string tags_text(const Labels& tags) {
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

// What the charge's own fields say, column by column.
Texts columns_of(const Charge& c) {
  return {
      {"AvailabilityZone", c.availability_zone},
      {"BilledCost", to_text(c.costs.billed.amount())},
      {"BillingAccountId", c.billing_account_id},
      {"BillingAccountName", c.billing_account_name},
      {"BillingCurrency", c.costs.currency().text()},
      {"BillingPeriodEnd", to_text(c.billing_period.end())},
      {"BillingPeriodStart", to_text(c.billing_period.begin())},
      {"CapacityReservationId", c.capacity_reservation_id},
      {"CapacityReservationStatus", code_text(c.capacity_reservation_status)},
      {"ChargeCategory", std::string(to_text(c.charge_category))},
      {"ChargeClass", c.is_correction ? "Correction" : ""},
      {"ChargeDescription", c.charge_description},
      {"ChargeFrequency", code_text(c.charge_frequency)},
      {"ChargePeriodEnd", to_text(c.charge_period.end())},
      {"ChargePeriodStart", to_text(c.charge_period.begin())},
      {"CommitmentDiscountCategory", c.commitment_discount_category},
      {"CommitmentDiscountId", c.commitment_discount_id},
      {"CommitmentDiscountStatus", code_text(c.commitment_discount_status)},
      {"CommitmentDiscountType", c.commitment_discount_type},
      {"ConsumedQuantity", number_text(c.consumed_quantity)},
      {"ConsumedUnit", c.consumed_unit},
      {"ContractedCost", to_text(c.costs.contracted.amount())},
      {"ContractedUnitPrice", number_text(c.contracted_unit_price)},
      {"EffectiveCost", to_text(c.costs.effective.amount())},
      {"InvoiceId", c.invoice_id},
      {"InvoiceIssuerName", c.invoice_issuer_name},
      {"ListCost", to_text(c.costs.list.amount())},
      {"ListUnitPrice", number_text(c.list_unit_price)},
      {"PricingCategory", code_text(c.pricing_category)},
      {"PricingQuantity", number_text(c.pricing_quantity)},
      {"PricingUnit", c.pricing_unit},
      {"ProviderName", c.service_provider_name},
      {"PublisherName", c.service_provider_name},
      {"RegionId", c.region_id},
      {"ResourceId", c.resource_id},
      {"ResourceName", c.resource_name},
      {"ResourceType", c.resource_type},
      {"ServiceCategory", c.service_category},
      {"ServiceName", c.service_name},
      {"ServiceProviderName", c.service_provider_name},
      {"ServiceSubcategory", c.service_subcategory},
      {"SkuId", c.sku_id},
      {"SkuMeter", c.sku_meter},
      {"SkuPriceDetails", c.sku_price_details},
      {"SkuPriceId", c.sku_price_id},
      {"SubAccountId", c.sub_account_id},
      {"SubAccountName", c.sub_account_name},
      {"Tags", tags_text(c.tags)},
      {"x_ClusterId", c.cluster},
      {"x_InstanceType", c.instance_type},
      {"x_PoolId", c.pool},
  };
}

}  // namespace

FocusCsv::FocusCsv(FocusVersion version) : version_(version) {}

Result<void> FocusCsv::note(std::span<const Charge> charges) {
  CHECK(columns_.empty(), "columns are noted before the header is written");
  simdjson::ondemand::parser parser;
  for (const Charge& charge : charges) {
    if (!charge.cluster.empty()) custom_.insert("x_ClusterId");
    if (!charge.instance_type.empty()) custom_.insert("x_InstanceType");
    if (!charge.pool.empty()) custom_.insert("x_PoolId");
    const auto others = other_columns_of(charge, parser);
    if (!others) return std::unexpected(others.error());
    for (const auto& [name, text] : *others) {
      if (!is_in_version(name, version_)) custom_.insert(name);
    }
  }
  return {};
}

std::string FocusCsv::header() {
  for (const std::string_view name : kColumns) {
    if (is_in_version(name, version_)) columns_.emplace_back(name);
  }
  columns_.insert(columns_.end(), custom_.begin(), custom_.end());
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) line += ',';
    append_field(line, columns_[i]);
    places_.emplace(columns_[i], i);
  }
  return line + "\n";
}

Result<void> FocusCsv::rows(std::span<const Charge> charges, std::string& out) {
  CHECK(!columns_.empty(), "the header is written before the rows");
  simdjson::ondemand::parser parser;
  std::vector<std::string> fields(columns_.size());
  for (const Charge& charge : charges) {
    for (std::string& field : fields) field.clear();
    for (auto& [name, text] : columns_of(charge)) {
      if (const auto place = places_.find(name); place != places_.end()) {
        fields[place->second] = std::move(text);
      }
    }
    auto others = other_columns_of(charge, parser);
    if (!others) return std::unexpected(others.error());
    for (auto& [name, text] : *others) {
      const auto place = places_.find(name);
      CHECK(place != places_.end(), "every charge that is written was noted");
      fields[place->second] = std::move(text);
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) out += ',';
      append_field(out, fields[i]);
    }
    out += '\n';
  }
  return {};
}

Result<std::string> focus_csv(FocusVersion version, std::span<const Charge> charges) {
  FocusCsv csv(version);
  if (auto ok = csv.note(charges); !ok) return std::unexpected(std::move(ok.error()));
  std::string out = csv.header();
  if (auto ok = csv.rows(charges, out); !ok) return std::unexpected(std::move(ok.error()));
  return out;
}

}  // namespace pennyweight
