#include "ingest/rated/rated_focus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ingest/focus/focus_bill.h"

namespace pennyweight::rated {
namespace {

constexpr std::size_t kCosts = 4;
// What the reader of FOCUS wants in every row, with what is written where the file says nothing.
struct Supplied {
  std::string_view column;
  std::string_view value;
};
constexpr Supplied kSupplied[] = {
    {"BilledCost", "0"},         {"EffectiveCost", "0"},     {"ListCost", "0"},
    {"ContractedCost", "0"},     {"BillingCurrency", "USD"},  // the price's takes its place
    {"ChargeCategory", "Usage"},
};
constexpr std::size_t kCurrency = kCosts;

// As the reader of FOCUS has it where a number or a code must stand.
bool is_null(std::string_view text) {
  return text.empty() || text == "NULL" || text == "null" || text == "\\N";
}

class RatedFocusBill : public bill::BillReader {
 public:
  explicit RatedFocusBill(const RateCard& card) : card_(card), focus_(focus::focus_bill()) {}

  Result<void> header(const csv::Header& header) override {
    const bool priced_by = header.find("PricingQuantity") && header.find("PricingUnit");
    const bool consumed = header.find("ConsumedQuantity") && header.find("ConsumedUnit");
    if (!priced_by && !consumed) {
      return fail(
          ErrorCode::kBadFile,
          "neither PricingQuantity and PricingUnit nor ConsumedQuantity and ConsumedUnit; a "
          "bill without money is priced by its quantities");
    }
    std::vector<std::string_view> names(header.names().begin(), header.names().end());
    columns_ = names.size();
    for (std::size_t i = 0; i < std::size(kSupplied); ++i) {
      const auto at = header.find(kSupplied[i].column);
      places_[i] = at ? *at : names.size();
      if (!at) names.push_back(kSupplied[i].column);
    }
    gpu_model_ = header.find("x_GpuModel");
    const auto whole = csv::Header::of(names);
    if (!whole) return std::unexpected(whole.error());
    fields_.resize(names.size());
    quoted_.resize(names.size());
    return focus_->header(*whole);
  }

  Outcome read(const bill::TextRow& row, bill::Lines& lines) override {
    CHECK(row.fields.size() == columns_, "rows are as wide as their header");
    std::copy(row.fields.begin(), row.fields.end(), fields_.begin());
    std::copy(row.quoted.begin(), row.quoted.end(), quoted_.begin());
    std::size_t stated = 0;
    for (std::size_t i = 0; i < kCosts; ++i) stated += is_stated(row, i) ? 1 : 0;
    if (stated != 0 && stated != kCosts) {
      return {.fault = bill::Fault{"BilledCost",
                                   "some of the four costs are stated and others are not; state "
                                   "all, or none to have the row priced"}};
    }
    const bool has_currency = is_stated(row, kCurrency);
    for (std::size_t i = 0; i < std::size(kSupplied); ++i) {
      if (is_stated(row, i)) continue;
      fields_[places_[i]] = kSupplied[i].value;
      quoted_[places_[i]] = 0;
    }
    Outcome outcome = focus_->read({fields_, quoted_}, lines);
    if (outcome.fault || outcome.passed_over) return outcome;
    if (stated == kCosts) {
      if (has_currency) return outcome;
      return {.fault = bill::Fault{"BillingCurrency", "costs are stated, but not their currency"}};
    }
    outcome.fault = price(lines.all().back(), has_currency);
    return outcome;
  }

  void describe(bill::ImportSummary& summary) const override {
    focus_->describe(summary);
    summary.kind += fmt::format(" without money, priced from {}",
                                card_.name().empty() ? "a rate card" : card_.name());
    summary.rounded_numbers += rounded_;
  }

 private:
  bool is_stated(const bill::TextRow& row, std::size_t supplied) const {
    return places_[supplied] < columns_ && !is_null(row.fields[places_[supplied]]);
  }

  std::optional<bill::Fault> price(Charge& charge, bool has_currency) {
    if (!charge.pricing_quantity || charge.pricing_unit.empty()) {
      if (!charge.consumed_quantity || charge.consumed_unit.empty()) {
        return bill::Fault{"PricingQuantity",
                           "the row has neither costs nor a quantity with its unit; it can't be "
                           "priced"};
      }
      charge.pricing_quantity = charge.consumed_quantity;
      charge.pricing_unit = charge.consumed_unit;
    }
    CardUsage usage{.provider = charge.service_provider_name,
                    .skus = {charge.sku_id, charge.sku_meter, charge.sku_price_id},
                    .service = charge.service_name,
                    .gpu_model = gpu_model_ ? fields_[*gpu_model_] : std::string_view(),
                    .instance_type = charge.instance_type,
                    .region = charge.region_id,
                    .unit = charge.pricing_unit,
                    .currency = std::nullopt,
                    .during = charge.charge_period};
    if (has_currency) usage.currency = charge.costs.currency();
    const auto found = card_.find(usage);
    if (!found) return bill::Fault{"BilledCost", found.error().message};
    CardRate rate = **found;
    if (charge.contracted_unit_price && *charge.contracted_unit_price != rate.price) {
      return bill::Fault{
          "ContractedUnitPrice",
          fmt::format("the bill says {} and {} says {}; correct the card",
                      to_text(*charge.contracted_unit_price), rate.place, to_text(rate.price))};
    }
    if (charge.list_unit_price) rate.list_price = *charge.list_unit_price;
    const auto amounts = amounts_of(rate, *charge.pricing_quantity, 1);
    if (!amounts) return bill::Fault{"PricingQuantity", amounts.error().message};
    rounded_ += amounts->rounded ? 1 : 0;
    charge.costs = {amounts->cost, amounts->cost, amounts->list, amounts->cost};
    charge.list_unit_price = rate.list_price;
    charge.contracted_unit_price = rate.price;
    if (!charge.pricing_category) charge.pricing_category = PricingCategory::kStandard;
    if (!charge.charge_frequency) charge.charge_frequency = ChargeFrequency::kUsageBased;
    return std::nullopt;
  }

  const RateCard& card_;
  std::unique_ptr<bill::BillReader> focus_;
  std::size_t columns_ = 0;                                 // of the file
  std::array<std::size_t, std::size(kSupplied)> places_{};  // of kSupplied, among fields_
  std::optional<std::size_t> gpu_model_;
  std::vector<std::string_view> fields_;
  std::vector<std::uint8_t> quoted_;
  std::uint64_t rounded_ = 0;
};

}  // namespace

std::unique_ptr<bill::BillReader> rated_focus_bill(const RateCard& card) {
  return std::make_unique<RatedFocusBill>(card);
}

}  // namespace pennyweight::rated
