#include "reporting/invoice/rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/card_share.h"
#include "core/gpu/gpu_model.h"
#include "core/int128.h"
#include "core/try.h"

namespace pennyweight {
namespace {

// Whether the model's name is the rule's, or goes on behind it: "H100" begins "H100-SXM5-80GB".
bool is_named(std::string_view model, std::string_view rule) {
  if (!ascii::lower_case(model).starts_with(ascii::lower_case(rule))) return false;
  return model.size() == rule.size() || !ascii::is_letter_or_digit(model[rule.size()]);
}

// By any of the model's names: NVML's, Kubernetes' and Slurm's spellings mean one model.
bool is_of_model(std::string_view model, std::string_view rule) {
  if (is_named(model, rule)) return true;
  const GpuModel* known = find_gpu_model(model);
  if (known == nullptr) return false;
  return is_named(known->name, rule) || is_named(known->device_name, rule) ||
         known == find_gpu_model(rule);
}

bool fits(const InternalRate& rule, const RatedAmount& amount) {
  if (!rule.client.empty() && rule.client != amount.client) return false;
  if (!rule.tier.empty() && rule.tier != amount.tier) return false;
  if (!rule.gpu_model.empty() && !is_of_model(amount.gpu_model, rule.gpu_model)) return false;
  if (rule.from && (!amount.day || *amount.day < *rule.from)) return false;
  if (rule.to && (!amount.day || *amount.day > *rule.to)) return false;
  // Rates and floors are for GPU time only.
  return amount.is_gpu_time || rule.markup || rule.discount;
}

// The amount and `percent` of it more; less for a negative percentage.
Result<Money> with_percent(Money amount, Decimal percent) {
  const Decimal factor =
      Decimal::from_ticks(Int128{Decimal::kTicksPerUnit} + percent.ticks() / 100);
  const auto product = TRY(multiply(amount.amount(), factor, Rounding::kHalfEven));
  return Money::from_decimal(product, amount.currency());
}

// A price per GPU-hour times the time, half-even.
Result<Money> of_hours(Decimal per_hour, GpuTime time, Currency currency) {
  const auto rate = static_cast<UInt128>(per_hour.ticks());
  const UInt128 hour = kGpuHour.count();
  if (rate != 0 && time.count() / hour >= static_cast<UInt128>(Decimal::kTicksMax) / rate) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} per GPU-hour is more than an amount can be", to_text(per_hour)));
  }
  auto [ticks, rest] = multiply_divide(rate, time.count(), hour);
  if (rest * 2 > hour || (rest * 2 == hour && ticks % 2 != 0)) ticks += 1;
  return Money::from_ticks(static_cast<Int128>(ticks), currency);
}

void say(std::string& pricing, const std::string& part) {
  pricing += (pricing.empty() ? "" : ", ") + part;
}

}  // namespace

bool InternalRates::by_gpu_model() const {
  return std::ranges::any_of(rules_, [](const auto& rule) { return !rule.gpu_model.empty(); });
}

bool InternalRates::by_tier() const {
  return std::ranges::any_of(rules_, [](const auto& rule) { return !rule.tier.empty(); });
}

std::vector<std::string> InternalRates::unused(const std::set<std::size_t>& used, Date first,
                                               Date last) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const InternalRate& rule = rules_[i];
    const bool is_of_then = (!rule.from || *rule.from <= last) && (!rule.to || first <= *rule.to);
    if (used.contains(i) || !is_of_then) continue;
    std::string fits;
    for (const auto& [what, text] :
         {std::pair("client ", &rule.client), std::pair("gpu_model ", &rule.gpu_model),
          std::pair("tier ", &rule.tier)}) {
      if (!text->empty()) say(fits, what + *text);
    }
    texts.push_back(
        fmt::format("entry {} of invoice.rates{}", i + 1, fits.empty() ? "" : " (" + fits + ")"));
  }
  return texts;
}

Result<RatedPrice> InternalRates::price(const RatedAmount& amount) const {
  const Currency currency = amount.cost.currency();
  const auto in_currency = [&](const InternalRate& rule) {
    return !rule.currency || *rule.currency == currency;
  };
  const auto fitting = [&](const InternalRate& rule) { return fits(rule, amount); };
  const auto first = std::ranges::find_if(rules_, fitting);
  if (first == rules_.end()) return RatedPrice{amount.cost, "", std::nullopt};
  const auto rule = std::find_if(first, rules_.end(), [&](const InternalRate& one) {
    return fitting(one) && in_currency(one);
  });
  if (rule == rules_.end()) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("'{}' has cost in {}, and the rates that fit it are in {}; add one in "
                    "{} to invoice.rates",
                    amount.client, currency.text(), first->currency->text(), currency.text()));
  }
  RatedPrice price{amount.cost, "", static_cast<std::size_t>(rule - rules_.begin())};
  if (rule->rate && amount.is_gpu_time) {
    const Money charged = TRY(of_hours(*rule->rate, amount.time, currency));
    price.amount = charged;
    say(price.pricing, to_text(*rule->rate) + " per GPU-hour");
  } else if (rule->markup) {
    const Money charged = TRY(with_percent(price.amount, *rule->markup));
    price.amount = charged;
    say(price.pricing, to_text(*rule->markup) + " % markup");
  }
  if (rule->discount) {
    const Money charged = TRY(with_percent(price.amount, -*rule->discount));
    price.amount = charged;
    say(price.pricing, to_text(*rule->discount) + " % discount");
  }
  if (rule->floor && amount.is_gpu_time && amount.time != GpuTime()) {
    const Money least = TRY(of_hours(*rule->floor, amount.time, currency));
    price.amount = std::max(price.amount, least,
                            [](const Money& a, const Money& b) { return a.ticks() < b.ticks(); });
    say(price.pricing, "at least " + to_text(*rule->floor) + " per GPU-hour");
  }
  return price;
}

}  // namespace pennyweight
