#include "ingest/gcp/charge_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ingest/bill/currency_code.h"
#include "ingest/bill/json_column.h"
#include "ingest/bill/number.h"
#include "ingest/gcp/amounts.h"
#include "ingest/gcp/commitment.h"
#include "ingest/gcp/json_text.h"
#include "ingest/gcp/records.h"

namespace pennyweight::gcp {
namespace {

using bill::Fault;

enum class CostType { kRegular, kTax, kAdjustment, kRoundingError };

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Nothing for a word that Google does not have. Rows from before 2019 have none: they are regular.
std::optional<CostType> parse_cost_type(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), lower);
  std::ranges::replace(word, ' ', '_');
  if (word.empty() || word == "regular") return CostType::kRegular;
  if (word == "tax") return CostType::kTax;
  if (word == "adjustment") return CostType::kAdjustment;
  if (word == "rounding_error") return CostType::kRoundingError;
  return std::nullopt;
}

bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  auto from = text.begin();
  while (true) {
    const auto found = std::search(from, text.end(), word.begin(), word.end(), same);
    if (found == text.end()) return false;
    const auto end = found + static_cast<std::ptrdiff_t>(word.size());
    const bool begins = found == text.begin() || !is_letter(found[-1]);
    if (begins && (end == text.end() || !is_letter(*end))) return true;
    from = found + 1;
  }
}

// "Spot Preemptible A3 Instance Core running in Iowa": what a SKU is, only its description says.
bool is_spot(std::string_view sku) { return has_word(sku, "spot") || has_word(sku, "preemptible"); }

// A correction in the terms of FOCUS is to a month that is closed. METADATA_, USAGE_ and
// PRICE_CORRECTION are such; goodwill and SLA credits are not.
bool corrects(const Row& row) {
  const std::string_view type = row[Field::kAdjustmentType];
  return type.empty() ? row.has(Field::kAdjustmentId) : type.ends_with("_CORRECTION");
}

// Whether money goes the other way than `cost` and does not use it up.
bool is_part_of(Money credit, Money cost) {
  if (credit.is_zero() || cost.is_zero() || credit.is_negative() == cost.is_negative()) {
    return false;
  }
  const Int128 rest = cost.ticks() + credit.ticks();
  return rest != 0 && (rest < 0) == cost.is_negative();
}

// The lines of one row, one after the other. The first has what they share.
class Composer {
 public:
  Composer(Row& row, const Amounts& amounts, bill::Lines& lines)
      : row_(row),
        amounts_(amounts),
        lines_(lines),
        first_(lines.size() - 1),
        zero_(Money::zero(amounts.cost.currency())) {}

  void regular() {
    set_prices();
    if (const auto fee = fee_commitment(row_, amounts_)) {
      this->fee(*fee);
    } else {
      usage();
    }
  }

  void not_priced(ChargeCategory category) {
    Charge& line = first();
    line.charge_category = category;
    line.charge_frequency = ChargeFrequency::kOneTime;
    bill(line, net());
  }

  // After the rest: a credit that is a charge of its own has the row's circumstances.
  void own_credits() {
    for (const Credit& credit : amounts_.credits.all) {
      if (credit.kind != CreditKind::kOwnCharge || credit.amount == Decimal()) continue;
      Charge& line = another();
      make_unpriced(line);
      line.charge_category = ChargeCategory::kCredit;
      line.charge_frequency = ChargeFrequency::kOneTime;
      line.commitment_discount_id.clear();
      line.commitment_discount_category.clear();
      line.commitment_discount_type.clear();
      line.commitment_discount_status.reset();
      line.capacity_reservation_id.clear();
      line.capacity_reservation_status.reset();
      for (const std::string& text : {credit.full_name, credit.name, credit.id, credit.type}) {
        if (text.empty()) continue;
        line.charge_description = text;
        break;
      }
      bill(line, Money::from_decimal(credit.amount, zero_.currency()));
      kept_of(line) = credit.others;
    }
  }

  void keep_others() {
    if (!amounts_.credits.text.empty()) {
      kept_.resize(std::max<std::size_t>(kept_.size(), 1));
      kept_[0].emplace_back("x_Credits", amounts_.credits.text);
    }
    row_.take(Field::kCredits);
    collect_shared();
    kept_.resize(lines_.size() - first_);
    for (std::size_t i = first_; i < lines_.size(); ++i) {
      write_kept(kept_[i - first_], lines_.all()[i].other_columns);
    }
  }

 private:
  using OwnKept = std::vector<std::pair<std::string, std::string>>;

  Charge& first() { return lines_.all()[first_]; }
  Charge& another() {
    Charge& line = lines_.add_used();  // may move the first
    line = first();
    return line;
  }
  OwnKept& kept_of(const Charge& line) {
    const auto at = static_cast<std::size_t>(&line - &first());
    if (kept_.size() <= at) kept_.resize(at + 1);
    return kept_[at];
  }
  Money net() const {
    return amounts_.cost + amounts_.reduced + amounts_.covered + amounts_.offset;
  }

  // What is billed, and equally effective; list and contracted where nothing else is known.
  static void bill(Charge& line, Money amount) {
    line.costs = {.billed = amount, .effective = amount, .list = amount, .contracted = amount};
  }

  static void make_unpriced(Charge& line) {
    line.sku_price_id.clear();
    line.pricing_category.reset();
    line.pricing_quantity.reset();
    line.pricing_unit.clear();
    line.list_unit_price.reset();
    line.contracted_unit_price.reset();
    line.consumed_quantity.reset();
    line.consumed_unit.clear();
  }

  void set_prices() {
    Charge& line = first();
    line.sku_id = row_.take(Field::kSkuId);
    if (!line.sku_id.empty()) {
      line.sku_meter = line.charge_description;
      line.sku_price_id = line.sku_id;
      const std::string_view tier = row_.take(Field::kTierStartAmount);
      const auto amount = bill::parse_printed_number(tier);
      if (!tier.empty()) {
        line.sku_price_id += '/';
        line.sku_price_id += amount ? to_text(amount->value) : std::string(tier);
      }
      const std::string_view model = row_[Field::kConsumptionModelId];
      if (!model.empty() && row_[Field::kConsumptionModelDescription] != "Default") {
        line.sku_price_id.append("/").append(model);
      }
    }
    if (amounts_.priced && row_.has(Field::kPricingUnit)) {
      row_.take(Field::kPricingAmount);
      line.pricing_quantity = amounts_.priced;
      line.pricing_unit = row_.take(Field::kPricingUnit);
    }
    const auto set_price = [&](const std::optional<Decimal>& price, Field field,
                               std::optional<Decimal>& out) {
      if (!price || price->is_negative() || out) return;
      row_.take(field);
      out = price;
    };
    set_price(amounts_.list_price, Field::kListPrice, line.list_unit_price);
    set_price(amounts_.effective_price_default, Field::kEffectivePriceDefault,
              line.contracted_unit_price);
    set_price(amounts_.effective_price, Field::kEffectivePrice, line.contracted_unit_price);
    if (amounts_.list) row_.take(Field::kCostAtList);
    if (amounts_.contracted) row_.take(Field::kCostAtEffectivePriceDefault);
  }

  void set_costs(Charge& line, Money amount) {
    line.costs = {.billed = amount,
                  .effective = amount,
                  .list = amounts_.list.value_or(amounts_.cost),
                  .contracted = amounts_.contracted.value_or(amounts_.cost)};
  }

  void keep_commitment(const Charge& line, const Commitment& commitment, Money amount) {
    OwnKept& kept = kept_of(line);
    if (!commitment.name.empty()) kept.emplace_back("CommitmentDiscountName", commitment.name);
    if (commitment.is_spend) {
      kept.emplace_back("CommitmentDiscountQuantity", to_text(amount.amount()));
      kept.emplace_back("CommitmentDiscountUnit", amount.currency().text());
    } else if (line.pricing_quantity) {
      kept.emplace_back("CommitmentDiscountQuantity", to_text(*line.pricing_quantity));
      kept.emplace_back("CommitmentDiscountUnit", line.pricing_unit);
    }
    if (row_[Field::kSubscriptionId] == commitment.id) row_.take(Field::kSubscriptionId);
  }

  void usage() {
    Charge& line = first();
    line.charge_category = ChargeCategory::kUsage;
    line.charge_frequency = ChargeFrequency::kUsageBased;
    line.pricing_category =
        is_spot(line.charge_description) ? PricingCategory::kDynamic : PricingCategory::kStandard;
    if (amounts_.consumed && row_.has(Field::kUsageUnit)) {
      row_.take(Field::kUsageAmount);
      line.consumed_quantity = amounts_.consumed;
      line.consumed_unit = row_.take(Field::kUsageUnit);
    }
    set_costs(line, net());
    const auto commitment = usage_commitment(row_, amounts_);
    if (!commitment) return;
    if (is_part_of(amounts_.covered, amounts_.cost)) {
      divide_usage(*commitment);
      return;
    }
    line.pricing_category = PricingCategory::kCommitted;
    set_commitment(*commitment, UsedOrUnused::kUsed, line);
    const Money drawn = amounts_.covered.is_zero() ? line.costs.effective : -amounts_.covered;
    keep_commitment(line, *commitment, drawn);
  }

  // FOCUS wants what a commitment covers apart from what it does not.
  void divide_usage(const Commitment& commitment) {
    another();
    Charge& covered = first();
    Charge& rest = lines_.all()[first_ + 1];
    const Money part = amounts_.covered;
    const Money whole = amounts_.cost;
    const Parts list = divide(covered.costs.list, part, whole);
    const Parts contracted = divide(covered.costs.contracted, part, whole);
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

  void fee(const Commitment& commitment) {
    const Money fee = amounts_.cost + amounts_.reduced + amounts_.covered;
    const FeeUse use = fee_use(row_, amounts_, first().tags);
    {
      Charge& purchase = first();
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
      // An Adjustment, because of a Credit FOCUS wants that it be effective as well, and what this
      // takes back is effective in the usage that it was for.
      Charge& offset = another();
      make_unpriced(offset);
      offset.charge_category = ChargeCategory::kAdjustment;
      offset.charge_frequency = ChargeFrequency::kUsageBased;
      bill(offset, amounts_.offset);
      offset.costs.effective = zero_;
    }
    const Money unused = fee + amounts_.offset;
    if (!unused.is_zero()) covered_usage(commitment, UsedOrUnused::kUnused, unused);
  }

  // The part of a fee that is effective elsewhere than in its purchase.
  Charge& covered_usage(const Commitment& commitment, UsedOrUnused status, Money effective) {
    Charge& line = another();
    line.charge_category = ChargeCategory::kUsage;
    line.charge_frequency = ChargeFrequency::kUsageBased;
    line.pricing_category = PricingCategory::kCommitted;
    line.commitment_discount_status = status;
    // What it would have cost stands with the purchase; here it would count twice.
    line.costs = {.billed = zero_, .effective = effective, .list = zero_, .contracted = zero_};
    line.list_unit_price.reset();
    line.contracted_unit_price.reset();
    if (status == UsedOrUnused::kUnused) {
      const bool in_money = amounts_.effective_price == Decimal::from_units(1);
      if (in_money && line.pricing_quantity) line.pricing_quantity = effective.amount();
      if (!in_money && amounts_.has_offset) line.pricing_quantity.reset();
      if (!line.pricing_quantity) line.pricing_unit.clear();
    }
    keep_commitment(line, commitment, effective);
    return line;
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
  void write_kept(const OwnKept& own, std::string& out) const {
    std::vector<Kept> all = shared_;
    for (const auto& [name, text] : own) all.emplace_back(name, text);
    std::ranges::sort(all);
    out.clear();
    std::string_view last;
    std::string unique;
    for (const auto& [name, text] : all) {
      unique.assign(name);
      // Two columns of the file that come to the same name in PascalCase.
      if (name == last) {
        unique += '_';
      } else {
        last = name;
      }
      out += out.empty() ? '{' : ',';
      bill::append_json_string(out, unique);
      out += ':';
      bill::append_json_string(out, text);
    }
    if (!out.empty()) out += '}';
  }

  Row& row_;
  const Amounts& amounts_;
  bill::Lines& lines_;
  std::size_t first_;
  Money zero_;
  std::vector<Kept> shared_;
  std::vector<OwnKept> kept_;  // by line, counted from the first
};

}  // namespace

Result<ChargeLines> ChargeLines::make() {
  auto circumstances = Circumstances::make();
  if (!circumstances) return std::unexpected(circumstances.error());
  return ChargeLines(std::move(*circumstances));
}

std::optional<Fault> ChargeLines::add(Row& row, bill::Lines& lines) {
  const std::string_view code = row.take(Field::kCurrency);
  if (code.empty() || code != last_currency_text_) {
    const auto currency = Currency::parse(code);
    if (!currency || !bill::is_iso_currency(code)) {
      return Fault{"currency", fmt::format("currency '{}' is not one of ISO 4217, such as USD",
                                           code.substr(0, 60))};
    }
    last_currency_text_ = code;
    last_currency_ = *currency;
  }
  const auto cost_type = parse_cost_type(row[Field::kCostType]);
  if (!cost_type) {
    return Fault{"cost_type", fmt::format("cost_type '{}' is none that Google has; write regular, "
                                          "tax, adjustment or rounding_error",
                                          row[Field::kCostType].substr(0, 60))};
  }
  Amounts amounts(last_currency_);
  if (auto fault = read_amounts(row, amounts)) return fault;
  row.take(Field::kCost);

  Charge& first = lines.add();
  const bool is_regular = *cost_type == CostType::kRegular;
  if (auto fault = circumstances_.fill(row, is_regular, first)) return fault;
  first.is_correction = corrects(row) && first.charge_period.begin() < first.billing_period.begin();

  Composer composer(row, amounts, lines);
  switch (*cost_type) {
    case CostType::kRegular:
      composer.regular();
      break;
    case CostType::kTax:
      composer.not_priced(ChargeCategory::kTax);
      break;
    case CostType::kAdjustment:
    case CostType::kRoundingError:
      composer.not_priced(ChargeCategory::kAdjustment);
      break;
  }
  composer.own_credits();
  composer.keep_others();
  rounded_numbers_ += amounts.rounded;
  too_large_ += amounts.too_large;
  return std::nullopt;
}

}  // namespace pennyweight::gcp
