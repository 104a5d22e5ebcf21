#include "insight/what_if/commitments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/split.h"
#include "core/try.h"
#include "insight/what_if/scenario_facts.h"
#include "ledger/fact_id.h"

namespace pennyweight::what_if {
namespace {

constexpr std::array<Money Costs::*, 4> kAllCosts = {&Costs::billed, &Costs::effective,
                                                     &Costs::list, &Costs::contracted};

Instant moment_of(const CommitmentChange& change) {
  return Instant(std::chrono::milliseconds(change.from_ms));
}

// The part of a charge before the moment stays in it; returns the part after it.
// REQUIRES: the moment lies within its period.
Charge cut_at(Charge& charge, Instant moment) {
  // Far from the numbers of copies of a charge, and of its parts while a node is on.
  constexpr std::uint64_t kAfterStep = std::uint64_t{1} << 56;
  Charge after = charge;
  const Interval before_period(charge.charge_period.begin(), moment);
  after.charge_period = Interval(moment, charge.charge_period.end());
  const std::array<Weight, 2> weights = {before_period.length_ms(),
                                         after.charge_period.length_ms()};
  for (Money Costs::* cost : kAllCosts) {
    const std::vector<Money> shares = split(charge.costs.*cost, weights);
    charge.costs.*cost = shares[0];
    after.costs.*cost = shares[1];
  }
  charge.charge_period = before_period;
  after.id = numbered(charge.id.hash, kAfterStep);
  return after;
}

// What is charged for it without the commitment; nothing: it is not charged at all.
Result<std::optional<Charge>> charge_without_commitment(Charge charge,
                                                        const CommitmentChange& change) {
  const Money none = Money::zero(charge.costs.currency());
  if (charge.charge_category == ChargeCategory::kPurchase) {
    if (charge.charge_frequency == ChargeFrequency::kOneTime) return charge;
    return std::nullopt;
  }
  if (charge.commitment_discount_status == UsedOrUnused::kUnused) return std::nullopt;
  if (charge.costs.contracted == none && charge.costs.effective != none) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the bill has no contracted cost of {}, which commitment {} covers, so "
                            "what it costs without is not known; import a bill with "
                            "ContractedCost",
                            charge.resource_id, charge.commitment_discount_id));
  }
  charge.costs.billed = charge.costs.contracted;
  charge.costs.effective = charge.costs.contracted;
  if (change.percent) {
    const std::array<Weight, 2> weights = {*change.percent, 100u - *change.percent};
    charge.costs.billed = split(charge.costs.contracted, weights)[0];
    charge.costs.effective = charge.costs.billed;
    return charge;
  }
  charge.commitment_discount_id.clear();
  charge.commitment_discount_category.clear();
  charge.commitment_discount_type.clear();
  charge.commitment_discount_status.reset();
  charge.pricing_category = PricingCategory::kStandard;
  return charge;
}

}  // namespace

Result<std::vector<Charge>> change_commitments(std::vector<Charge> charges,
                                               const std::vector<CommitmentChange>& changes,
                                               const StopCheck& is_stopped) {
  if (changes.empty()) return charges;
  std::vector<bool> is_used(changes.size(), false);
  std::vector<Charge> result;
  result.reserve(charges.size());
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (i % 4096 == 0) TRY(go_on(is_stopped));
    Charge charge = std::move(charges[i]);
    const auto change = std::ranges::find_if(changes, [&](const CommitmentChange& each) {
      return !charge.commitment_discount_id.empty() &&
             (each.id.empty() || each.id == charge.commitment_discount_id) &&
             charge.charge_period.end() > moment_of(each);
    });
    if (change == changes.end()) {
      result.push_back(std::move(charge));
      continue;
    }
    is_used[static_cast<std::size_t>(change - changes.begin())] = true;
    if (charge.charge_period.begin() < moment_of(*change)) {
      Charge after = cut_at(charge, moment_of(*change));
      result.push_back(std::move(charge));
      charge = std::move(after);
    }
    std::optional<Charge> changed = TRY(charge_without_commitment(std::move(charge), *change));
    if (changed) result.push_back(*std::move(changed));
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (is_used[i]) continue;
    return fail(ErrorCode::kConfig,
                fmt::format("no charge of the cluster after {} is of {}, so its end changes "
                            "nothing",
                            to_text(moment_of(changes[i])),
                            changes[i].id.empty() ? std::string("a commitment")
                                                  : "commitment " + changes[i].id));
  }
  return result;
}

}  // namespace pennyweight::what_if
