#include "reporting/queries/work_items.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/date.h"
#include "core/hash.h"
#include "core/try.h"
#include "ledger/closing.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

bool may_affect(const Invalidation& invalidation, const Scope& scope,
                const std::optional<PlannedScope>& plan, const WorkCriteria& rules) {
  if (invalidation.kind == InvalidationKind::kCharges)
    return invalidation == charge_invalidation(scope.month);
  if (invalidation.cluster != scope.cluster) return false;
  switch (invalidation.kind) {
    case InvalidationKind::kFleet:
      return true;
    case InvalidationKind::kCorrections: {
      // The month in any time zone.
      const sys_days first = charge_invalidation(scope.month).day;
      return invalidation.day >= first - days(1) && invalidation.day <= first + days(32);
    }
    case InvalidationKind::kDay: {
      if (!plan || !plan->reach) return false;
      const Instant last = plan->reach->end() - std::chrono::milliseconds(1);
      return invalidation.day >= std::chrono::floor<days>(plan->reach->begin() - rules.before) &&
             invalidation.day <= std::chrono::floor<days>(last + rules.after);
    }
    case InvalidationKind::kCharges:
      break;
  }
  return false;
}

// The last import that invalidated the scope. Charges don't count: the plan has their fingerprint.
std::uint64_t last_invalidation(const WorkSnapshot& snapshot, const Scope& scope,
                                const std::optional<PlannedScope>& plan,
                                const WorkCriteria& rules) {
  std::uint64_t last = 0;
  for (const InvalidationKind kind :
       {InvalidationKind::kFleet, InvalidationKind::kDay, InvalidationKind::kCorrections}) {
    const Invalidation from{kind, scope.cluster, sys_days()};
    for (auto at = snapshot.invalidated.lower_bound(from); at != snapshot.invalidated.end(); ++at) {
      if (at->first.kind != kind || at->first.cluster != scope.cluster) break;
      if (may_affect(at->first, scope, plan, rules)) last = std::max(last, at->second);
    }
  }
  return last;
}

bool is_planned(const WorkSnapshot& snapshot, const WorkPlan* plan, const std::string& month,
                const WorkCriteria& rules) {
  if (plan == nullptr || plan->join_rules != rules.join_rules) return false;
  const auto lines = snapshot.invalidated.find(charge_invalidation(month));
  if (lines != snapshot.invalidated.end() && lines->second > plan->imports) return false;
  // A charge may be for a machine of any cluster.
  return std::ranges::none_of(snapshot.invalidated, [&](const auto& invalidated) {
    return invalidated.first.kind == InvalidationKind::kFleet && invalidated.second > plan->imports;
  });
}

class WorkItemBuilder {
 public:
  WorkItemBuilder(const WorkSnapshot& snapshot, const WorkCriteria& rules)
      : snapshot_(snapshot), rules_(rules) {
    for (const WorkCompletion& done : snapshot.work_records.done) done_[done.scope] = &done;
    for (const ClaimState& state : snapshot.work_records.claims)
      claims_[state.claim.scope] = &state;
  }

  void add_month(const std::string& month, std::vector<WorkItem>& items) const {
    const auto found = std::ranges::find(snapshot_.work_records.plans, month, &WorkPlan::month);
    const WorkPlan* plan = found == snapshot_.work_records.plans.end() ? nullptr : &*found;
    const bool planned = is_planned(snapshot_, plan, month, rules_);
    if (!planned) {
      items.push_back({.scope = {ClusterId(""), month}, .state = WorkState::kUnplanned});
      items.back().imports_behind =
          snapshot_.work_records.imports - (plan == nullptr ? 0 : plan->imports);
    }
    std::set<ClusterId> clusters;
    if (plan != nullptr) {
      for (const PlannedScope& scope : plan->scopes) clusters.insert(scope.cluster);
    }
    for (const auto& [scope, run] : snapshot_.current) {
      if (scope.month == month) clusters.insert(scope.cluster);
    }
    bool others_are_done = planned;
    std::optional<WorkItem> no_cluster;
    for (const ClusterId& cluster : clusters) {
      WorkItem item = make_item({cluster, month}, plan);
      if (cluster.empty()) {
        no_cluster = std::move(item);
        continue;
      }
      others_are_done = others_are_done && item.state == WorkState::kDone;
      items.push_back(std::move(item));
    }
    if (!no_cluster) return;
    if (no_cluster->state == WorkState::kDue && rules_.spreads && !others_are_done) {
      no_cluster->state = WorkState::kWaiting;
    }
    items.push_back(std::move(*no_cluster));
  }

 private:
  WorkItem make_item(const Scope& scope, const WorkPlan* plan) const {
    WorkItem item{.scope = scope};
    if (plan != nullptr) {
      const auto planned = std::ranges::find(plan->scopes, scope.cluster, &PlannedScope::cluster);
      if (planned != plan->scopes.end()) item.plan = *planned;
    }
    if (const auto done = done_.find(scope); done != done_.end()) item.done = *done->second;
    if (const auto claim = claims_.find(scope); claim != claims_.end()) item.claim = *claim->second;
    if (const auto run = snapshot_.current.find(scope); run != snapshot_.current.end()) {
      item.run = &run->second;
    }
    item.due = due_reason(item);
    if (item.due) {
      item.state = WorkState::kDue;
      item.imports_behind =
          snapshot_.work_records.imports - (item.done ? item.done->inputs.imports : 0);
    }
    // In a ledger that one program at a time can open, a claim of another program is obsolete.
    const bool is_claimed = item.claim && !item.claim->is_over && !snapshot_.work_records.is_alone;
    if (is_claimed) item.state = WorkState::kClaimed;
    return item;
  }

  std::optional<DueReason> due_reason(const WorkItem& item) const {
    if (!item.done || item.run == nullptr) return DueReason::kNever;
    const Run& run = *item.run;
    const RunInputs& inputs = item.done->inputs;
    if (run.policy_version != rules_.policy_version ||
        run.catalog_version != rules_.catalog_version || run.time_zone != rules_.time_zone ||
        inputs.join_rules != rules_.join_rules) {
      return DueReason::kRules;
    }
    if (run.number != item.done->run) return DueReason::kOtherRun;
    if (inputs.lines != (item.plan ? item.plan->lines : Hash128{})) return DueReason::kLines;
    if (last_invalidation(snapshot_, item.scope, item.plan, rules_) > inputs.imports)
      return DueReason::kFacts;
    if (item.scope.cluster.empty() &&
        inputs.elsewhere != other_runs_hash(snapshot_, rules_, item.scope.month)) {
      return DueReason::kOtherClusters;
    }
    return std::nullopt;
  }

  const WorkSnapshot& snapshot_;
  const WorkCriteria& rules_;
  std::map<Scope, const WorkCompletion*> done_;
  std::map<Scope, const ClaimState*> claims_;
};

}  // namespace

WorkCriteria work_criteria(const Policy& policy, const Catalog& catalog,
                           std::span<const JoinRule> join_rules) {
  using std::chrono::milliseconds;
  Fingerprint joins;
  for (const JoinRule& rule : join_rules) joins.add(rule.label).add(rule.pattern);
  const milliseconds shift(std::abs(policy.usage.shift_ms));
  const milliseconds before(std::max(policy.usage.hold_ms(), kUsageSpanMaxMs));
  return {.policy_version = policy.version(),
          .catalog_version = catalog.version(),
          .time_zone = policy.time_zone.name(),
          .join_rules = joins.hash(),
          .spreads = !policy.spread.empty(),
          .before = before + shift,
          .after = shift};
}

Result<void> refresh_work(Store& store, WorkSnapshot& snapshot) {
  auto work_records = TRY(store.work_records());
  snapshot.work_records = std::move(work_records);
  // What is read after the work records may be newer than they are; then more scopes are due.
  if (snapshot.imports != snapshot.work_records.imports) {
    const auto invalidated = TRY(store.invalidated_scopes(snapshot.imports.value_or(0)));
    for (const InvalidatedScope& one : invalidated) {
      std::uint64_t& last = snapshot.invalidated[one.invalidation];
      last = std::max(last, one.last_import);
      if (one.invalidation.kind == InvalidationKind::kCharges) {
        snapshot.months.insert(
            to_text(Date(one.invalidation.day)).substr(0, std::string_view("2026-03").size()));
      }
    }
    // Imports of older versions did not record what they invalidate.
    if (!snapshot.imports) {
      auto overview = TRY(store.overview());
      snapshot.months.insert(overview.months.begin(), overview.months.end());
    }
    snapshot.imports = snapshot.work_records.imports;
  }
  auto runs = TRY(store.runs());
  snapshot.current.clear();
  for (Run& run : runs) {
    if (run.current) snapshot.current.insert_or_assign(run.scope, std::move(run));
  }
  const auto closings = TRY(store.closings());
  for (const Closing& closing : closings) snapshot.closed.insert(closing.month);
  return {};
}

std::string_view to_text(WorkState state) {
  switch (state) {
    case WorkState::kDone:
      return "done";
    case WorkState::kDue:
      return "due";
    case WorkState::kWaiting:
      return "waiting";
    case WorkState::kClaimed:
      return "claimed";
    case WorkState::kUnplanned:
      return "unplanned";
  }
  CHECK(false, "every state has its text");
}

std::string_view to_text(DueReason reason) {
  switch (reason) {
    case DueReason::kNever:
      return "never divided by a worker";
    case DueReason::kOtherRun:
      return "another run took its place";
    case DueReason::kRules:
      return "other rules or prices";
    case DueReason::kLines:
      return "other bill lines";
    case DueReason::kFacts:
      return "further facts";
    case DueReason::kOtherClusters:
      return "runs of other clusters changed";
  }
  CHECK(false, "every reason has its text");
}

std::vector<WorkItem> work_items(const WorkSnapshot& snapshot, const WorkCriteria& rules) {
  std::set<std::string> months = snapshot.months;
  for (const auto& [scope, run] : snapshot.current) months.insert(scope.month);
  const WorkItemBuilder builder(snapshot, rules);
  std::vector<WorkItem> items;
  for (const std::string& month : months) {
    if (!snapshot.closed.contains(month)) builder.add_month(month, items);
  }
  return items;
}

Result<void> find_behind_since(Store& store, const WorkCriteria& rules,
                               std::vector<WorkItem>& items) {
  std::map<std::uint64_t, std::vector<WorkItem*>> due;  // by the imports that were read
  for (WorkItem& item : items) {
    const bool by_import = item.due == DueReason::kFacts || item.due == DueReason::kLines ||
                           item.due == DueReason::kNever || item.state == WorkState::kUnplanned;
    if (by_import) due[item.done ? item.done->inputs.imports : 0].push_back(&item);
  }
  std::size_t queries = 0;
  for (auto& [imports, some] : due) {
    if (queries++ == kBehindAskedMax) break;
    const auto invalidated = TRY(store.invalidated_scopes(imports));
    for (WorkItem* item : some) {
      for (const InvalidatedScope& one : invalidated) {
        if (!may_affect(one.invalidation, item->scope, item->plan, rules)) continue;
        item->behind_since =
            std::min(item->behind_since.value_or(one.first_imported_at), one.first_imported_at);
      }
    }
  }
  return {};
}

Hash128 other_runs_hash(const WorkSnapshot& snapshot, const WorkCriteria& rules,
                        const std::string& month) {
  if (!rules.spreads) return {};
  Fingerprint print;
  for (const auto& [scope, run] : snapshot.current) {
    if (scope.month != month || scope.cluster.empty()) continue;
    print.add(scope.cluster.text())
        .add(std::optional<std::uint64_t>(run.number))
        .add(to_text(run.postings_digest));
  }
  return print.hash();
}

}  // namespace pennyweight
