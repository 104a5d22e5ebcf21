#include "ingest/bills/gcp/charge_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/enum_names.h"
#include "core/json_text.h"
#include "core/try.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/gcp/amounts.h"
#include "ingest/bills/gcp/commitment.h"
#include "ingest/bills/gcp/export_values.h"
#include "ingest/bills/gcp/json_scanner.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/number.h"

namespace pennyweight::gcp {
namespace {

using bill::RowFault;

enum class CostType { kRegular, kTax, kAdjustment, kRoundingError };

constexpr auto kCostTypes = enum_names<CostType>({{CostType::kRegular, "regular"},
                                                  {CostType::kTax, "tax"},
                                                  {CostType::kAdjustment, "adjustment"},
                                                  {CostType::kRoundingError, "rounding_error"}});

// Nothing for a word that Google does not use. Rows from before 2019 have no cost type and are
// regular.
std::optional<CostType> parse_cost_type(std::string_view text) {
  if (text.empty()) return CostType::kRegular;
  std::string word = ascii::lower_case(text);
  std::ranges::replace(word, ' ', '_');
  return kCostTypes.parse(word);
}

bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return ascii::to_lower(a) == b; };
  auto from = text.begin();
  while (true) {
    const auto found = std::search(from, text.end(), word.begin(), word.end(), same);
    if (found == text.end()) return false;
    const auto end = found + static_cast<std::ptrdiff_t>(word.size());
    const bool begins = found == text.begin() || !ascii::is_letter(found[-1]);
    if (begins && (end == text.end() || !ascii::is_letter(*end))) return true;
    from = found + 1;
  }
}

// "Spot Preemptible A3 Instance Core running in Iowa": only a SKU's description says that it is
// spot.
bool is_spot(std::string_view sku) { return has_word(sku, "spot") || has_word(sku, "preemptible"); }

// True for METADATA_, USAGE_ and PRICE_CORRECTION, which FOCUS counts as corrections where they are
// for an earlier month; false for goodwill and SLA credits.
bool is_correction(const Row& row) {
  const std::string_view type = row[Field::kAdjustmentType];
  return type.empty() ? row.has(Field::kAdjustmentId) : type.ends_with("_CORRECTION");
}

// True for a credit of the sign opposite to the cost's that leaves some of the cost.
bool covers_part(Money credit, Money cost) {
  if (credit.is_zero() || cost.is_zero() || credit.is_negative() == cost.is_negative()) {
    return false;
  }
  const Int128 rest = cost.ticks() + credit.ticks();
  return rest != 0 && (rest < 0) == cost.is_negative();
}

// Builds the charges of one row, one after the other. The first holds the fields that they share.
class RowCharges {
 public:
  RowCharges(Row& row, const Amounts& amounts, bill::ChargeBuffer& charges)
      : row_(row),
        amounts_(amounts),
        charges_(charges),
        first_(charges.size() - 1),
        zero_(Money::zero(amounts.cost.currency())) {}

  void add_regular() {
    set_prices();
    if (const auto fee = fee_commitment(row_, amounts_)) {
      add_fee(*fee);
    } else {
      add_usage();
    }
  }

  void fill_unpriced(ChargeCategory category) {
    Charge& charge = first_charge();
    charge.charge_category = category;
    charge.charge_frequency = ChargeFrequency::kOneTime;
    set_all_costs(charge, net());
  }

  // After the rest: a credit that is a charge of its own has the shared fields of the row.
  void add_credits() {
    for (const Credit& credit : amounts_.credits.all) {
      if (credit.kind != CreditKind::kOwnCharge || credit.amount == Decimal()) continue;
      Charge& charge = add_copy();
      clear_prices(charge);
      charge.charge_category = ChargeCategory::kCredit;
      charge.charge_frequency = ChargeFrequency::kOneTime;
      charge.commitment_discount_id.clear();
      charge.commitment_discount_category.clear();
      charge.commitment_discount_type.clear();
      charge.commitment_discount_status.reset();
      charge.capacity_reservation_id.clear();
      charge.capacity_reservation_status.reset();
      for (const std::string& text : {credit.full_name, credit.name, credit.id, credit.type}) {
        if (text.empty()) continue;
        charge.charge_description = text;
        break;
      }
      set_all_costs(charge, Money::from_decimal(credit.amount, zero_.currency()));
      own_columns(charge) = credit.others;
    }
  }

  void write_other_columns() {
    if (!amounts_.credits.text.empty()) {
      kept_.resize(std::max<std::size_t>(kept_.size(), 1));
      kept_[0].emplace_back("x_Credits", amounts_.credits.text);
    }
    row_.take(Field::kCredits);
    collect_shared();
    kept_.resize(charges_.size() - first_);
    for (std::size_t i = first_; i < charges_.size(); ++i) {
      write_kept(kept_[i - first_], charges_.all()[i].other_columns);
    }
  }

 private:
  using OwnColumns = std::vector<std::pair<std::string, std::string>>;

  Charge& first_charge() { return charges_.all()[first_]; }
  Charge& add_copy() {
    Charge& charge = charges_.add_recycled();  // may move the first
    charge = first_charge();
    return charge;
  }
  OwnColumns& own_columns(const Charge& charge) {
    const auto at = static_cast<std::size_t>(&charge - &first_charge());
    if (kept_.size() <= at) kept_.resize(at + 1);
    return kept_[at];
  }
  Money net() const {
    return amounts_.cost + amounts_.reduced + amounts_.covered + amounts_.offset;
  }

  // The same amount for all four costs: where nothing else is known of list and contracted.
  static void set_all_costs(Charge& charge, Money amount) {
    charge.costs = {.billed = amount, .effective = amount, .list = amount, .contracted = amount};
  }

  static void clear_prices(Charge& charge) {
    charge.sku_price_id.clear();
    charge.pricing_category.reset();
    charge.pricing_quantity.reset();
    charge.pricing_unit.clear();
    charge.list_unit_price.reset();
    charge.contracted_unit_price.reset();
    charge.consumed_quantity.reset();
    charge.consumed_unit.clear();
  }

  void set_prices() {
    Charge& charge = first_charge();
    charge.sku_id = row_.take(Field::kSkuId);
    if (!charge.sku_id.empty()) {
      charge.sku_meter = charge.charge_description;
      charge.sku_price_id = charge.sku_id;
      const std::string_view tier = row_.take(Field::kTierStartAmount);
      const auto amount = bill::parse_printed_number(tier);
      if (!tier.empty()) {
        charge.sku_price_id += '/';
        charge.sku_price_id += amount ? to_text(amount->value) : std::string(tier);
      }
      const std::string_view model = row_[Field::kConsumptionModelId];
      if (!model.empty() && row_[Field::kConsumptionModelDescription] != "Default") {
        charge.sku_price_id.append("/").append(model);
      }
    }
    if (amounts_.priced && row_.has(Field::kPricingUnit)) {
      row_.take(Field::kPricingAmount);
      charge.pricing_quantity = amounts_.priced;
      charge.pricing_unit = row_.take(Field::kPricingUnit);
    }
    const auto set_price = [&](const std::optional<Decimal>& price, Field field,
                               std::optional<Decimal>& out) {
      if (!price || price->is_negative() || out) return;
      row_.take(field);
      out = price;
    };
    set_price(amounts_.list_price, Field::kListPrice, charge.list_unit_price);
    set_price(amounts_.effective_price_default, Field::kEffectivePriceDefault,
              charge.contracted_unit_price);
    set_price(amounts_.effective_price, Field::kEffectivePrice, charge.contracted_unit_price);
    if (amounts_.list) row_.take(Field::kCostAtList);
    if (amounts_.contracted) row_.take(Field::kCostAtEffectivePriceDefault);
  }

  void set_costs(Charge& charge, Money amount) {
    charge.costs = {.billed = amount,
                    .effective = amount,
                    .list = amounts_.list.value_or(amounts_.cost),
                    .contracted = amounts_.contracted.value_or(amounts_.cost)};
  }

  void keep_commitment(const Charge& charge, const Commitment& commitment, Money amount) {
    OwnColumns& kept = own_columns(charge);
    if (!commitment.name.empty()) kept.emplace_back("CommitmentDiscountName", commitment.name);
    if (commitment.is_spend) {
      kept.emplace_back("CommitmentDiscountQuantity", to_text(amount.amount()));
      kept.emplace_back("CommitmentDiscountUnit", amount.currency().text());
    } else if (charge.pricing_quantity) {
      kept.emplace_back("CommitmentDiscountQuantity", to_text(*charge.pricing_quantity));
      kept.emplace_back("CommitmentDiscountUnit", charge.pricing_unit);
    }
    if (row_[Field::kSubscriptionId] == commitment.id) row_.take(Field::kSubscriptionId);
  }

  void add_usage() {
    Charge& charge = first_charge();
    charge.charge_category = ChargeCategory::kUsage;
    charge.charge_frequency = ChargeFrequency::kUsageBased;
    charge.pricing_category =
        is_spot(charge.charge_description) ? PricingCategory::kDynamic : PricingCategory::kStandard;
    if (amounts_.consumed && row_.has(Field::kUsageUnit)) {
      row_.take(Field::kUsageAmount);
      charge.consumed_quantity = amounts_.consumed;
      charge.consumed_unit = row_.take(Field::kUsageUnit);
    }
    set_costs(charge, net());
    const auto commitment = usage_commitment(row_, amounts_);
    if (!commitment) return;
    if (covers_part(amounts_.covered, amounts_.cost)) {
      split_usage(*commitment);
      return;
    }
    charge.pricing_category = PricingCategory::kCommitted;
    set_commitment(*commitment, UsedOrUnused::kUsed, charge);
    const Money drawn = amounts_.covered.is_zero() ? charge.costs.effective : -amounts_.covered;
    keep_commitment(charge, *commitment, drawn);
  }

  // FOCUS wants covered usage and the rest of the usage in separate charges.
  void split_usage(const Commitment& commitment) {
    add_copy();
    Charge& covered = first_charge();
    Charge& rest = charges_.all()[first_ + 1];
    const Money part = amounts_.covered;
    const Money whole = amounts_.cost;
    const SplitMoney list = divide(covered.costs.list, part, whole);
    const SplitMoney contracted = divide(covered.costs.contracted, part, whole);
    rest.costs = {
        .billed = net(), .effective = net(), .list = list.second, .contracted = contracted.second};
    covered.costs = {
        .billed = zero_, .effective = zero_, .list = list.first, .contracted = contracted.first};
    for (const auto member : {&Charge::pricing_quantity, &Charge::consumed_quantity}) {
      if (!(covered.*member)) continue;
      const auto [first_part, rest_part] = divide(*(covered.*member), part, whole);
      covered.*member = first_part;
      rest.*member = rest_part;
    }
    covered.pricing_category = PricingCategory::kCommitted;
    set_commitment(commitment, UsedOrUnused::kUsed, covered);
    keep_commitment(covered, commitment, -part);
  }

  void add_fee(const Commitment& commitment) {
    const Money fee = amounts_.cost + amounts_.reduced + amounts_.covered;
    const FeeUse use = fee_use(row_, amounts_, first_charge().tags);
    {
      Charge& purchase = first_charge();
      purchase.charge_category = ChargeCategory::kPurchase;
      purchase.charge_frequency = ChargeFrequency::kRecurring;
      purchase.pricing_category = PricingCategory::kStandard;
      purchase.resource_id = commitment.id;
      purchase.resource_name.clear();
      purchase.resource_type = "Commitment";
      set_costs(purchase, fee);
      set_commitment(commitment, std::nullopt, purchase);
      keep_commitment(purchase, commitment, fee);
      if (use == FeeUse::kUnknown) return;
      purchase.costs.effective = zero_;
    }
    if (use == FeeUse::kUsed) {
      Charge& used = covered_usage(commitment, UsedOrUnused::kUsed, fee);
      used.resource_id.clear();
      used.resource_type.clear();
      return;
    }
    if (!amounts_.offset.is_zero()) {
      // An Adjustment, not a Credit: FOCUS wants a Credit to be effective too, and what this one
      // takes back is effective in the usage that it covered.
      Charge& offset = add_copy();
      clear_prices(offset);
      offset.charge_category = ChargeCategory::kAdjustment;
      offset.charge_frequency = ChargeFrequency::kUsageBased;
      set_all_costs(offset, amounts_.offset);
      offset.costs.effective = zero_;
    }
    const Money unused = fee + amounts_.offset;
    if (!unused.is_zero()) covered_usage(commitment, UsedOrUnused::kUnused, unused);
  }

  // The part of a fee that is effective elsewhere than in its purchase.
  Charge& covered_usage(const Commitment& commitment, UsedOrUnused status, Money effective) {
    Charge& charge = add_copy();
    charge.charge_category = ChargeCategory::kUsage;
    charge.charge_frequency = ChargeFrequency::kUsageBased;
    charge.pricing_category = PricingCategory::kCommitted;
    charge.commitment_discount_status = status;
    // The purchase has the list and contracted cost; here they would count twice.
    charge.costs = {.billed = zero_, .effective = effective, .list = zero_, .contracted = zero_};
    charge.list_unit_price.reset();
    charge.contracted_unit_price.reset();
    if (status == UsedOrUnused::kUnused) {
      const bool in_money = amounts_.effective_price == Decimal::from_units(1);
      if (in_money && charge.pricing_quantity) charge.pricing_quantity = effective.amount();
      if (!in_money && amounts_.has_offset) charge.pricing_quantity.reset();
      if (!charge.pricing_quantity) charge.pricing_unit.clear();
    }
    keep_commitment(charge, commitment, effective);
    return charge;
  }

  void collect_shared() {
    shared_.clear();
    for (std::size_t i = 0; i < kFields; ++i) {
      const auto field = static_cast<Field>(i);
      if (!row_.has(field) || row_.is_taken(field)) continue;
      shared_.emplace_back(kept_name(field), row_.store(kept_text(field)));
    }
    shared_.insert(shared_.end(), row_.others().begin(), row_.others().end());
  }
  std::string kept_text(Field field) const {
    const std::string_view text = row_[field];
    if (field == Field::kExportTime || field == Field::kUsageStart || field == Field::kUsageEnd) {
      return time_text(text);
    }
    if (is_number(path_of(field))) return number_text(text);
    if (text[0] != '[' && text[0] != '{') return std::string(text);
    const auto json = parse_json(text);
    return json ? text_of(*json) : std::string(text);
  }
  void write_kept(const OwnColumns& own, std::string& out) const {
    std::vector<NamedText> all = shared_;
    for (const auto& [name, text] : own) all.emplace_back(name, text);
    std::ranges::sort(all);
    out.clear();
    std::string_view last;
    std::string unique;
    for (const auto& [name, text] : all) {
      unique.assign(name);
      // Two columns of the file have the same name in PascalCase.
      if (name == last) {
        unique += '_';
      } else {
        last = name;
      }
      out += out.empty() ? '{' : ',';
      append_stored_json_string(out, unique);
      out += ':';
      append_stored_json_string(out, text);
    }
    if (!out.empty()) out += '}';
  }

  Row& row_;
  const Amounts& amounts_;
  bill::ChargeBuffer& charges_;
  std::size_t first_;
  Money zero_;
  std::vector<NamedText> shared_;
  std::vector<OwnColumns> kept_;  // by charge, from the first
};

}  // namespace

Result<ChargeBuilder> ChargeBuilder::create() {
  auto shared_fields = TRY(SharedFields::create());
  return ChargeBuilder(std::move(shared_fields));
}

std::optional<RowFault> ChargeBuilder::add(Row& row, bill::ChargeBuffer& charges) {
  const std::string_view code = row.take(Field::kCurrency);
  const auto currency = currency_parser_.parse(code);
  if (!currency) {
    return RowFault{"currency", fmt::format("currency '{}' is not one of ISO 4217, such as USD",
                                            code.substr(0, 60))};
  }
  const auto cost_type = parse_cost_type(row[Field::kCostType]);
  if (!cost_type) {
    return RowFault{"cost_type",
                    fmt::format("cost_type '{}' is not one of Google's; write regular, "
                                "tax, adjustment or rounding_error",
                                row[Field::kCostType].substr(0, 60))};
  }
  Amounts amounts(*currency);
  if (auto fault = read_amounts(row, amounts)) return fault;
  row.take(Field::kCost);

  Charge& first = charges.add();
  const bool is_regular = *cost_type == CostType::kRegular;
  if (auto fault = shared_fields_.fill(row, is_regular, first)) return fault;
  first.is_correction =
      is_correction(row) && first.charge_period.begin() < first.billing_period.begin();

  RowCharges built(row, amounts, charges);
  switch (*cost_type) {
    case CostType::kRegular:
      built.add_regular();
      break;
    case CostType::kTax:
      built.fill_unpriced(ChargeCategory::kTax);
      break;
    case CostType::kAdjustment:
    case CostType::kRoundingError:
      built.fill_unpriced(ChargeCategory::kAdjustment);
      break;
  }
  built.add_credits();
  built.write_other_columns();
  rounded_numbers_ += amounts.rounded;
  too_large_ += amounts.too_large;
  return std::nullopt;
}

}  // namespace pennyweight::gcp
