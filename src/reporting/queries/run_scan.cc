#include "reporting/queries/run_scan.h"

#include <fmt/format.h>

#include <chrono>

#include "core/billing_period.h"
#include "core/try.h"

namespace pennyweight {

Result<std::vector<Scope>> allocated_scopes(Store& store, const std::string& month) {
  const auto runs = TRY(store.runs());
  std::vector<Scope> scopes;
  for (const Run& run : runs) {
    if (run.current && (month.empty() || run.scope.month == month)) scopes.push_back(run.scope);
  }
  if (!scopes.empty()) return scopes;
  return fail(ErrorCode::kNotFound,
              fmt::format("nothing{} is allocated yet; run 'pennyweight allocate' first",
                          month.empty() ? "" : " of " + month));
}

Result<Interval> around_month(const std::string& month) {
  const auto period = TRY(BillingPeriod::parse(month, TimeZone::utc()));
  const Interval utc = period.to_interval();
  return Interval(utc.begin() - std::chrono::hours(14), utc.end() + std::chrono::hours(14));
}

std::function<std::optional<Holding>(const FactId&)> RunScan::holding_finder() {
  return [this](const FactId& id) -> std::optional<Holding> {
    auto found = store_.find_holding(id);
    if (found) return *std::move(found);
    if (!failed_) failed_ = found.error();
    return std::nullopt;
  };
}

Result<void> RunScan::scan(const Scope& scope, const std::function<void(const Holding&)>& holding,
                           const std::function<void(const Posting&)>& posting) {
  const auto around = TRY(around_month(scope.month));
  TRY(store_.scan_holdings(scope.cluster, around, [&](std::span<const Holding> batch) {
    for (const Holding& each : batch) holding(each);
    return true;
  }));
  TRY(store_.scan_postings(scope, [&](std::span<const Posting> batch) {
    for (const Posting& each : batch) posting(each);
    return !failed_.has_value();
  }));
  if (failed_) return std::unexpected(*failed_);
  return {};
}

}  // namespace pennyweight
