#include "testing/generate/bill_prices.h"

#include <fmt/format.h>

#include <utility>

#include "core/try.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight {

Result<const HourlyPrices*> BillPrices::find(const std::string& instance_type,
                                             const std::string& region, NodeTerm term, Instant at) {
  auto key = std::tuple(instance_type, region, term, options_.prices_as_of.value_or(at));
  const auto seen = seen_.find(key);
  if (seen != seen_.end()) return &seen->second;
  auto prices = TRY(read(instance_type, region, term, std::get<Instant>(key)));
  return &seen_.emplace(std::move(key), std::move(prices)).first->second;
}

Result<HourlyPrices> BillPrices::read(const std::string& instance_type, const std::string& region,
                                      NodeTerm term, Instant at) const {
  RateQuery query{.instance_type = instance_type, .region = region, .at = at};
  const auto listed = TRY(catalog_.find_rate(query));
  if (listed.currency != options_.currency) {
    return fail(ErrorCode::kConfig,
                fmt::format("the price of {} is in {}, the bill in {}", instance_type,
                            listed.currency.text(), options_.currency.text()));
  }
  HourlyPrices prices;
  prices.list = round_half_even(listed.per_hour, kUnitPriceDigits);
  prices.contracted =
      per_mille_of(prices.list, 1000 - options_.negotiated_discount_per_mille, kUnitPriceDigits);
  prices.effective = prices.contracted;
  prices.region = !region.empty() ? region : listed.region;
  prices.source = listed.source;
  if (term == NodeTerm::kOnDemand) return prices;

  // Both options in the region whose list price was used.
  query.region = listed.region;
  query.option = term == NodeTerm::kSpot ? PurchaseOption::kSpot : PurchaseOption::kCommitted1Year;
  const std::uint32_t discount = term == NodeTerm::kSpot ? options_.spot_discount_per_mille
                                                         : options_.commitment_discount_per_mille;
  const auto special = catalog_.find_rate(query);
  if (special && special->currency == options_.currency) {
    prices.effective = round_half_even(special->per_hour, kUnitPriceDigits);
    prices.source += "; " + special->source;
  } else {
    prices.effective = per_mille_of(prices.list, 1000 - discount, kUnitPriceDigits);
    prices.source +=
        fmt::format("; {} assumed at {}/1000 of list", to_text(query.option), 1000 - discount);
  }
  if (term == NodeTerm::kSpot) prices.contracted = prices.effective;
  return prices;
}

}  // namespace pennyweight
