// InternalRates: what customers are charged in place of what their work cost: dated rates per
// GPU-hour, markups, discounts and floors, by client, GPU model and tier.
//
// Of the rules that fit an amount, the first in the list decides. It is applied in this order:
//   rate      GPU time is charged per GPU-hour, whatever it cost
//   markup    else the cost, and this many percent
//   discount  less this many percent
//   floor     but GPU time at least this much per GPU-hour
// A rule that states only a rate or a floor is for GPU time; other lines (CPU and memory, shares,
// credits) look further down the list, and without a rule are charged at cost. A rule fits by the
// local day on which the cost arose, so a rate may change within a month. Every amount is rounded
// half-even at 10^-18, once for each step.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/date.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/money.h"
#include "core/quantity.h"

namespace pennyweight {

struct InternalRate {
  // Both inclusive; absent: unlimited.
  std::optional<Date> from = std::nullopt, to = std::nullopt;
  // Empty: any. A GPU model is also that of its variants, by any name of it: "H100" is
  // "H100-SXM5-80GB", and "NVIDIA H100 80GB HBM3".
  std::string client, gpu_model, tier;
  std::optional<Currency> currency;  // of rate and floor, which need it; else any
  std::optional<Decimal> rate;       // per GPU-hour
  std::optional<Decimal> markup;     // percent
  std::optional<Decimal> discount;   // percent
  std::optional<Decimal> floor;      // per GPU-hour
  bool operator==(const InternalRate&) const = default;
};

// The largest rate per GPU-hour and percentage that are accepted.
inline constexpr Decimal kInternalRateMax = Decimal::from_units(1'000'000);
inline constexpr Decimal kInternalPercentMax = Decimal::from_units(1000);

// What a rule is applied to.
struct RatedAmount {
  std::string client, gpu_model, tier;
  std::optional<Date> day;
  Money cost;
  bool is_gpu_time = false;
  GpuTime time;  // of GPU time
};

struct RatedPrice {
  Money amount;
  std::string pricing;              // in words: "4.2 per GPU-hour, 5 % discount"; empty: at cost
  std::optional<std::size_t> rule;  // the place of the one that decided
};

class InternalRates {
 public:
  InternalRates() = default;
  explicit InternalRates(std::vector<InternalRate> rules) : rules_(std::move(rules)) {}

  bool empty() const { return rules_.empty(); }
  bool by_gpu_model() const;
  bool by_tier() const;

  // The rules, in words, that are of these days and not among the places of `used`.
  std::vector<std::string> unused(const std::set<std::size_t>& used, Date first, Date last) const;

  // An Error where only rules of another currency fit, or the price leaves the range of money.
  Result<RatedPrice> price(const RatedAmount& amount) const;

 private:
  std::vector<InternalRate> rules_;
};

}  // namespace pennyweight
