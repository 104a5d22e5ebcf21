#include "insight/queries/commitment_use.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "core/try.h"
#include "ledger/other_columns.h"

namespace pennyweight {
namespace {

constexpr std::string_view kEndColumns[] = {"x_ReservationEndTime", "x_SavingsPlanEndTime"};
constexpr std::size_t kDateBytes = 10;

// A line is of a commitment, or else of a capacity reservation.
struct CoveredBy {
  const std::string& id;
  std::optional<UsedOrUnused> status;
};

CoveredBy covered_by(const Charge& charge) {
  const bool is_reservation =
      charge.commitment_discount_id.empty() && !charge.capacity_reservation_id.empty();
  return is_reservation
             ? CoveredBy{charge.capacity_reservation_id, charge.capacity_reservation_status}
             : CoveredBy{charge.commitment_discount_id, charge.commitment_discount_status};
}

using CommitmentKey = std::pair<std::string, Currency>;

void add_line(const Charge& charge, const std::string& month,
              std::map<CommitmentKey, CommitmentUse>& uses) {
  const CoveredBy by = covered_by(charge);
  if (by.id.empty()) return;
  const Money cost = charge.costs.effective;
  const Money none = Money::zero(cost.currency());
  const Interval& period = charge.charge_period;
  const auto place = uses.try_emplace(
      {by.id, cost.currency()},
      CommitmentUse{by.id, month, none, none, period.begin(), period.end(), std::nullopt});
  CommitmentUse& use = place.first->second;
  use.from = std::min(use.from, period.begin());
  use.until = std::max(use.until, period.end());
  if (const auto ends = commitment_end_of(charge)) use.ends = std::max(use.ends, ends);
  if (by.status) (*by.status == UsedOrUnused::kUsed ? use.used : use.unused) += cost;
}

}  // namespace

std::optional<Date> commitment_end_of(const Charge& charge) {
  OtherColumnReader reader(charge.other_columns);
  while (const auto column = reader.next()) {
    if (std::ranges::find(kEndColumns, column->name) == std::end(kEndColumns)) continue;
    // "x_SavingsPlanEndTime":"2027-01-01T00:00:00.000Z
    const std::size_t quote = column->identity.rfind('"');
    const auto ends = parse_date(column->identity.substr(quote + 1).substr(0, kDateBytes));
    if (ends) return *ends;
  }
  return std::nullopt;
}

Result<std::vector<CommitmentUse>> query_commitment_use(Store& store, const std::string& month) {
  std::map<CommitmentKey, CommitmentUse> uses;
  TRY(store.scan_charges(month, [&](std::span<const Charge> batch) {
    for (const Charge& charge : batch) add_line(charge, month, uses);
    return true;
  }));
  std::vector<CommitmentUse> out;
  for (auto& [key, use] : uses) out.push_back(std::move(use));
  return out;
}

}  // namespace pennyweight
