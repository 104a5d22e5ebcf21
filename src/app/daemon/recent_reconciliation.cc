#include "app/daemon/recent_reconciliation.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "app/daemon/charge_changes.h"
#include "app/daemon/shared_ledger.h"
#include "core/billing_period.h"
#include "core/try.h"

namespace pennyweight {

Result<ReconcileResult> RecentReconciliation::query_month(Store& store, const std::string& month,
                                                          Instant now) {
  Kept next;
  // One of a clock that is ahead is read again the next time.
  const std::uint64_t imports = TRY(store.last_import_until(now));
  next.imports = imports;
  const std::vector<Run> runs = TRY(store.runs());
  for (const Run& run : runs) {
    if (run.scope.month == month) next.runs += run.number;
  }
  const auto known = kept_.find(month);
  if (known != kept_.end() && known->second.runs == next.runs) {
    const bool has_changed = TRY(charges_changed(store, month, known->second.imports));
    if (!has_changed) {
      known->second.imports = next.imports;
      return known->second.result;
    }
  }
  ++months_read_;
  auto result =
      query_reconciliation(store, {.month = month, .lines = false, .top = 0, .rejected = 0});
  if (result) {
    next.result = *std::move(result);
  } else if (result.error().code != ErrorCode::kNotFound) {
    return std::unexpected(result.error());
  }
  return kept_.insert_or_assign(month, std::move(next)).first->second.result;
}

Result<ReconcileResult> RecentReconciliation::query(SharedLedger& ledger, Instant now) {
  const std::string month = local_date(now, TimeZone::utc()).substr(0, 7);
  const Instant before = start_of_month(now, TimeZone::utc()) - std::chrono::milliseconds(1);
  const std::string last = local_date(before, TimeZone::utc()).substr(0, 7);
  std::erase_if(kept_, [&](const auto& one) { return one.first != month && one.first != last; });
  ReconcileResult both;
  for (const std::string& one : {last, month}) {
    TRY(ledger.with([&](Store& store) -> Result<void> {
      auto result = TRY(query_month(store, one, now));
      std::ranges::move(result.months, std::back_inserter(both.months));
      return {};
    }));
  }
  return both;
}

}  // namespace pennyweight
