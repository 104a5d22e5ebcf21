#include "reporting/queries/staleness.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>

#include "core/billing_period.h"
#include "core/check.h"
#include "core/try.h"
#include "ledger/store_rules.h"
#include "ledger/usage.h"
#include "ledger/work.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

// A run, and the last import whose facts it has read.
struct ReadRun {
  const Run* run = nullptr;
  std::uint64_t imports = 0;
  std::uint64_t charge_imports = 0;  // the same of charges: a plan may know that they stayed
  sys_days first_charged;            // the month's day in which its charges are booked
  sys_days first, last;              // the days whose facts matter to it, in UTC
};

// In UTC and in the zone.
Interval month_around(sys_days first, const TimeZone& zone) {
  const auto next = std::chrono::year_month_day(first + days(31));
  const sys_days end = sys_days(next.year() / next.month() / 1);
  return {std::min(Instant(first), start_of_month(Instant(first + days(14)), zone)),
          std::max(Instant(end), start_of_month(Instant(end + days(14)), zone))};
}

// The days that matter to a run, as workers have it (reporting/queries/work_items.h).
void set_days(const Interval& reach, const Policy& policy, ReadRun& read) {
  const std::chrono::milliseconds shift(std::abs(policy.usage.shift_ms));
  const std::chrono::milliseconds before(std::max(policy.usage.hold_ms(), kUsageSpanMaxMs));
  read.first = std::chrono::floor<days>(reach.begin() - before - shift);
  read.last = std::chrono::floor<days>(reach.end() - std::chrono::milliseconds(1) + shift);
}

// Where the month's plan has the charges that the run was made of, these stayed until that plan,
// and it says which days matter.
void read_plan(const WorkPlan& plan, const RunInputs& inputs, const Policy& policy, ReadRun& read) {
  const auto found =
      std::ranges::find(plan.scopes, read.run->scope.cluster, &PlannedScope::cluster);
  const bool has_charges = found != plan.scopes.end();
  if (plan.join_rules != inputs.join_rules) return;
  if ((has_charges ? found->lines : Hash128()) != inputs.lines) return;
  read.charge_imports = std::max(read.imports, plan.imports);
  if (has_charges && found->reach) {
    set_days(*found->reach, policy, read);
  } else {
    read.last = read.first - days(1);  // none
  }
}

// What an import that the run has not read may change of it.
bool may_change(const InvalidatedScope& scope, const ReadRun& read, const LiveClusters& live) {
  const Invalidation& invalidation = scope.invalidation;
  const bool is_live = live.clusters.contains(invalidation.cluster);
  const ClusterId& cluster = read.run->scope.cluster;
  switch (invalidation.kind) {
    case InvalidationKind::kCharges:
      return scope.last_import > read.charge_imports && invalidation.day == read.first_charged;
    case InvalidationKind::kFleet:
      if (is_live) return false;
      if (invalidation.cluster == cluster) return scope.last_import > read.imports;
      // A machine of any cluster may be the one that a charge of no cluster is for.
      return cluster.empty() && scope.last_import > read.charge_imports;
    case InvalidationKind::kDay:
      if (is_live && invalidation.day >= live.first_day) return false;
      return scope.last_import > read.imports && invalidation.cluster == cluster &&
             invalidation.day >= read.first && invalidation.day <= read.last;
    case InvalidationKind::kCorrections:
      return scope.last_import > read.imports && invalidation.cluster == cluster &&
             invalidation.day >= read.first_charged - days(1) &&
             invalidation.day <= read.first_charged + days(31);
  }
  CHECK(false, "every kind is handled");
}

}  // namespace

Result<std::vector<StaleMonth>> query_staleness(Store& store, const Policy& policy,
                                                const LiveClusters& live) {
  const auto work = TRY(store.work_records());
  const auto runs = TRY(store.runs());
  const auto overview = TRY(store.overview());
  const auto closings = TRY(store.closings());
  std::set<std::string> closed;
  for (const Closing& closing : closings) closed.insert(closing.month);

  std::map<std::string, std::vector<ReadRun>> read;  // by month
  for (const std::string& month : overview.months) {
    if (!closed.contains(month)) read[month];
  }
  std::uint64_t oldest = work.imports;
  for (const Run& run : runs) {
    if (!run.current || closed.contains(run.scope.month)) continue;
    const auto done = std::ranges::find(work.done, run.scope, &WorkCompletion::scope);
    const bool is_known = done != work.done.end() && done->run == run.number;
    // Runs that were made without a claim tell only when they began.
    std::uint64_t imports = 0;
    if (is_known) {
      imports = done->inputs.imports;
    } else {
      imports = TRY(store.last_import_until(run.at));
    }
    const sys_days first_charged = charge_invalidation(run.scope.month).day;
    ReadRun one{.run = &run,
                .imports = imports,
                .charge_imports = 0,
                .first_charged = first_charged,
                .first = {},
                .last = {}};
    one.charge_imports = one.imports;
    set_days(month_around(first_charged, policy.time_zone), policy, one);
    const auto plan = std::ranges::find(work.plans, run.scope.month, &WorkPlan::month);
    if (is_known && plan != work.plans.end()) read_plan(*plan, done->inputs, policy, one);
    oldest = std::min(oldest, one.imports);
    read[run.scope.month].push_back(one);
  }
  const auto invalidated = TRY(store.invalidated_scopes(oldest));

  std::vector<StaleMonth> stale;
  for (const auto& [month, of_month] : read) {
    StaleMonth one{.month = month, .allocated_at = {}, .later = {}};
    std::set<std::uint64_t> later;
    for (const ReadRun& run : of_month) {
      one.allocated_at = std::min(one.allocated_at.value_or(run.run->at), run.run->at);
      for (const InvalidatedScope& scope : invalidated) {
        if (!may_change(scope, run, live)) continue;
        if (scope.first_import > run.imports) later.insert(scope.first_import);
        later.insert(scope.last_import);
      }
    }
    if (!of_month.empty() && later.empty()) continue;
    one.later_all = later.size();
    std::vector<std::uint64_t> named;
    for (const std::uint64_t number : later) {
      if (named.size() == kLaterImportsNamed) break;
      named.push_back(number);
    }
    // A ledger may have very many imports, and few of them matter.
    const auto imports = TRY(store.imports_numbered(named));
    for (const ImportRecord& import : imports) {
      one.later.push_back(
          {import.number, import.source.at, import.source.name, import.source.format});
    }
    stale.push_back(std::move(one));
  }
  return stale;
}

std::string to_text(const StaleMonth& stale) {
  const std::string remedy =
      fmt::format("'pennyweight allocate --month {}' takes it in", stale.month);
  if (!stale.allocated_at) {
    return fmt::format("{} has bill lines and was never allocated: {}", stale.month, remedy);
  }
  std::string text =
      fmt::format("{} was allocated at {}", stale.month, to_text(*stale.allocated_at));
  if (!stale.later.empty()) {
    const LaterImport& first = stale.later.front();
    text += fmt::format(", and import {} ({}, {}) came at {}", first.number, first.name,
                        first.format, to_text(first.at));
  }
  if (stale.later_all > 1) text += fmt::format(", and {} later", stale.later_all - 1);
  return text + ": " + remedy;
}

}  // namespace pennyweight
