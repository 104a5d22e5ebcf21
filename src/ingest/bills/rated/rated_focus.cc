#include "ingest/bills/rated/rated_focus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/try.h"
#include "ingest/bills/cell_text.h"
#include "ingest/bills/focus/focus_bill.h"

namespace pennyweight::rated {
namespace {

constexpr std::size_t kCostCount = 4;
// The columns that the FOCUS reader wants in every row, with the value that fills a gap.
struct FilledColumn {
  std::string_view name;
  std::string_view value;
};
constexpr FilledColumn kFilledColumns[] = {
    {"BilledCost", "0"},         {"EffectiveCost", "0"},     {"ListCost", "0"},
    {"ContractedCost", "0"},     {"BillingCurrency", "USD"},  // the rate's currency replaces it
    {"ChargeCategory", "Usage"},
};
constexpr std::size_t kCurrency = kCostCount;

class RatedFocusRowReader : public bill::RowReader {
 public:
  static Result<RatedFocusRowReader> open(const csv::Header& header, const RateCard& card) {
    const bool has_pricing = header.find("PricingQuantity") && header.find("PricingUnit");
    const bool has_consumed = header.find("ConsumedQuantity") && header.find("ConsumedUnit");
    if (!has_pricing && !has_consumed) {
      return fail(
          ErrorCode::kBadFile,
          "neither PricingQuantity and PricingUnit nor ConsumedQuantity and ConsumedUnit; a "
          "bill without money is priced by its quantities");
    }
    RatedFocusRowReader rated(card);
    std::vector<std::string_view> names(header.names().begin(), header.names().end());
    rated.columns_ = names.size();
    for (std::size_t i = 0; i < std::size(kFilledColumns); ++i) {
      const auto at = header.find(kFilledColumns[i].name);
      rated.positions_[i] = at ? *at : names.size();
      if (!at) names.push_back(kFilledColumns[i].name);
    }
    rated.gpu_model_ = header.find("x_GpuModel");
    const auto filled_header = TRY(csv::Header::of(names));
    rated.fields_.resize(names.size());
    rated.quoted_.resize(names.size());
    rated.focus_ = TRY(focus::focus_bill()(filled_header));
    return rated;
  }

  bill::RowOutcome read(const bill::TextRow& row, bill::ChargeBuffer& charges) override {
    CHECK(row.fields.size() == columns_, "a row has as many fields as its header");
    std::copy(row.fields.begin(), row.fields.end(), fields_.begin());
    std::copy(row.quoted.begin(), row.quoted.end(), quoted_.begin());
    std::size_t stated = 0;
    for (std::size_t i = 0; i < kCostCount; ++i) stated += is_stated(row, i) ? 1 : 0;
    if (stated != 0 && stated != kCostCount) {
      return {.fault = bill::RowFault{"BilledCost",
                                      "some of the four costs are stated and others are not; state "
                                      "all, or none to have the row priced"}};
    }
    const bool has_currency = is_stated(row, kCurrency);
    for (std::size_t i = 0; i < std::size(kFilledColumns); ++i) {
      if (is_stated(row, i)) continue;
      fields_[positions_[i]] = kFilledColumns[i].value;
      quoted_[positions_[i]] = 0;
    }
    bill::RowOutcome outcome = focus_->read({fields_, quoted_}, charges);
    if (outcome.fault || outcome.skipped) return outcome;
    if (stated == kCostCount) {
      if (has_currency) return outcome;
      return {.fault =
                  bill::RowFault{"BillingCurrency", "costs are stated, but not their currency"}};
    }
    outcome.fault = price(charges.all().back(), has_currency);
    return outcome;
  }

  void describe(bill::ImportSummary& summary) const override {
    focus_->describe(summary);
    summary.kind += fmt::format(" without money, priced from {}",
                                card_->name().empty() ? "a rate card" : card_->name());
    summary.rounded_numbers += rounded_;
  }

 private:
  explicit RatedFocusRowReader(const RateCard& card) : card_(&card) {}

  bool is_stated(const bill::TextRow& row, std::size_t filled) const {
    return positions_[filled] < columns_ && !bill::is_null(row.fields[positions_[filled]]);
  }

  std::optional<bill::RowFault> price(Charge& charge, bool has_currency) {
    if (!charge.pricing_quantity || charge.pricing_unit.empty()) {
      if (!charge.consumed_quantity || charge.consumed_unit.empty()) {
        return bill::RowFault{"PricingQuantity",
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
    const auto found = card_->find(usage);
    if (!found) return bill::RowFault{"BilledCost", found.error().message};
    CardRate rate = **found;
    if (charge.contracted_unit_price && *charge.contracted_unit_price != rate.price) {
      return bill::RowFault{
          "ContractedUnitPrice",
          fmt::format("the bill says {} and {} says {}; correct the card",
                      to_text(*charge.contracted_unit_price), rate.place, to_text(rate.price))};
    }
    if (charge.list_unit_price) rate.list_price = *charge.list_unit_price;
    const auto amounts = amounts_of(rate, *charge.pricing_quantity, 1);
    if (!amounts) return bill::RowFault{"PricingQuantity", amounts.error().message};
    rounded_ += amounts->rounded ? 1 : 0;
    charge.costs = {amounts->cost, amounts->cost, amounts->list, amounts->cost};
    charge.list_unit_price = rate.list_price;
    charge.contracted_unit_price = rate.price;
    if (!charge.pricing_category) charge.pricing_category = PricingCategory::kStandard;
    if (!charge.charge_frequency) charge.charge_frequency = ChargeFrequency::kUsageBased;
    return std::nullopt;
  }

  const RateCard* card_;
  std::unique_ptr<bill::RowReader> focus_;
  std::size_t columns_ = 0;  // of the file
  std::array<std::size_t, std::size(kFilledColumns)>
      positions_{};  // of kFilledColumns, among fields_
  std::optional<std::size_t> gpu_model_;
  std::vector<std::string_view> fields_;
  std::vector<std::uint8_t> quoted_;
  std::uint64_t rounded_ = 0;
};

}  // namespace

bill::RowReaderFactory rated_focus_bill(const RateCard& card) {
  return [&card](const csv::Header& header) {
    return bill::boxed(RatedFocusRowReader::open(header, card));
  };
}

}  // namespace pennyweight::rated
