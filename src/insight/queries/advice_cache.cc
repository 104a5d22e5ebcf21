#include "insight/queries/advice_cache.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/billing_period.h"
#include "core/check.h"
#include "core/try.h"
#include "ledger/work.h"

namespace pennyweight {
namespace {

// Holdings and samples reach over midnight, and advice looks a day around each.
constexpr std::chrono::days kReach{2};

const ImportRecord* last_of(const std::vector<ImportRecord>& imports) {
  const auto last = std::ranges::max_element(imports, {}, &ImportRecord::number);
  return last == imports.end() ? nullptr : &*last;
}

// Whether an import changed what advice of the month is worked out from.
bool changes(const InvalidatedScope& scope, const Interval& month) {
  const Instant day(scope.invalidation.day);
  switch (scope.invalidation.kind) {
    case InvalidationKind::kFleet:
      return true;
    case InvalidationKind::kCharges:
      return day == month.begin();
    case InvalidationKind::kDay:
      return month.begin() - kReach <= day && day < month.end() + kReach;
    case InvalidationKind::kCorrections:
      return false;  // advice reads the bill
  }
  CHECK(false, "every kind is listed");
}

}  // namespace

Result<std::shared_ptr<const WorkedOutAdvice>> AdviceCache::get(Store& store, const Key& key,
                                                                const WorkOut& work_out) {
  const std::vector<ImportRecord> imports = TRY(store.imports());
  const ImportRecord* last = last_of(imports);
  const auto month = BillingPeriod::parse(key.month, TimeZone::utc());
  if (last == nullptr || !month) return std::make_shared<const WorkedOutAdvice>(TRY(work_out()));
  std::optional<Kept> known;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = kept_.find(key); at != kept_.end()) known = at->second;
  }
  if (known) {
    // The same ledger, and not another that was put in its place.
    const auto then = std::ranges::find(imports, known->last_import.number, &ImportRecord::number);
    const bool is_same_ledger = then != imports.end() &&
                                then->source.file_hash == known->last_import.source.file_hash &&
                                then->source.at == known->last_import.source.at;
    if (is_same_ledger) {
      const auto scopes = TRY(store.invalidated_scopes(known->last_import.number));
      const bool is_current = std::ranges::none_of(scopes, [&](const InvalidatedScope& scope) {
        return changes(scope, month->to_interval());
      });
      if (is_current) return known->advice;
    }
  }
  auto advice = std::make_shared<const WorkedOutAdvice>(TRY(work_out()));
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kKeptMax && !kept_.contains(key)) kept_.clear();
  kept_.insert_or_assign(key, Kept{*last, advice});
  return advice;
}

SavingsByTeam AdviceCache::savings() const {
  const std::lock_guard lock(mutex_);
  return savings_;
}

void AdviceCache::keep_savings(SavingsByTeam savings) {
  const std::lock_guard lock(mutex_);
  savings_ = std::move(savings);
}

}  // namespace pennyweight
