#include "questions/work_items.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/date.h"
#include "core/hash.h"
#include "ledger/closing.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

bool may_touch(const TouchedPlace& place, const Scope& scope,
               const std::optional<PlannedScope>& plan, const WorkRules& rules) {
  if (place.what == Touch::kLines) return place == touched_lines(scope.month);
  if (place.cluster != scope.cluster) return false;
  switch (place.what) {
    case Touch::kFleet:
      return true;
    case Touch::kCorrections: {
      // The month in any time zone.
      const sys_days first = touched_lines(scope.month).day;
      return place.day >= first - days(1) && place.day <= first + days(32);
    }
    case Touch::kDay: {
      if (!plan || !plan->reach) return false;
      const Instant last = plan->reach->end() - std::chrono::milliseconds(1);
      return place.day >= std::chrono::floor<days>(plan->reach->begin() - rules.before) &&
             place.day <= std::chrono::floor<days>(last + rules.after);
    }
    case Touch::kLines:
      break;
  }
  return false;
}

// Of a scope's touches, the last import; lines are told by the plan.
std::uint64_t last_touch(const WorkLook& look, const Scope& scope,
                         const std::optional<PlannedScope>& plan, const WorkRules& rules) {
  std::uint64_t last = 0;
  for (const Touch what : {Touch::kFleet, Touch::kDay, Touch::kCorrections}) {
    const TouchedPlace from{what, scope.cluster, sys_days()};
    for (auto at = look.touched.lower_bound(from); at != look.touched.end(); ++at) {
      if (at->first.what != what || at->first.cluster != scope.cluster) break;
      if (may_touch(at->first, scope, plan, rules)) last = std::max(last, at->second);
    }
  }
  return last;
}

bool is_planned(const WorkLook& look, const WorkPlan* plan, const std::string& month,
                const WorkRules& rules) {
  if (plan == nullptr || plan->join_rules != rules.join_rules) return false;
  const auto lines = look.touched.find(touched_lines(month));
  if (lines != look.touched.end() && lines->second > plan->imports) return false;
  // A machine of any cluster may be what a line means.
  return std::ranges::none_of(look.touched, [&](const auto& touched) {
    return touched.first.what == Touch::kFleet && touched.second > plan->imports;
  });
}

class Judge {
 public:
  Judge(const WorkLook& look, const WorkRules& rules) : look_(look), rules_(rules) {
    for (const WorkDone& done : look.book.done) done_[done.scope] = &done;
    for (const ClaimState& state : look.book.claims) claims_[state.claim.scope] = &state;
  }

  void add_month(const std::string& month, std::vector<WorkItem>& items) const {
    const auto found = std::ranges::find(look_.book.plans, month, &WorkPlan::month);
    const WorkPlan* plan = found == look_.book.plans.end() ? nullptr : &*found;
    const bool planned = is_planned(look_, plan, month, rules_);
    if (!planned) {
      items.push_back({.scope = {ClusterId(""), month}, .state = WorkState::kUnplanned});
      items.back().imports_behind = look_.book.imports - (plan == nullptr ? 0 : plan->imports);
    }
    std::set<ClusterId> clusters;
    if (plan != nullptr) {
      for (const PlannedScope& scope : plan->scopes) clusters.insert(scope.cluster);
    }
    for (const auto& [scope, run] : look_.current) {
      if (scope.month == month) clusters.insert(scope.cluster);
    }
    bool others_are_done = planned;
    std::optional<WorkItem> no_cluster;
    for (const ClusterId& cluster : clusters) {
      WorkItem item = item_of({cluster, month}, plan);
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
  WorkItem item_of(const Scope& scope, const WorkPlan* plan) const {
    WorkItem item{.scope = scope};
    if (plan != nullptr) {
      const auto planned = std::ranges::find(plan->scopes, scope.cluster, &PlannedScope::cluster);
      if (planned != plan->scopes.end()) item.plan = *planned;
    }
    if (const auto done = done_.find(scope); done != done_.end()) item.done = *done->second;
    if (const auto claim = claims_.find(scope); claim != claims_.end()) item.claim = *claim->second;
    if (const auto run = look_.current.find(scope); run != look_.current.end()) {
      item.run = &run->second;
    }
    item.due = why(item);
    if (item.due) {
      item.state = WorkState::kDue;
      item.imports_behind = look_.book.imports - (item.done ? item.done->seen.imports : 0);
    }
    // Nobody else can be at it where the ledger is open to one at a time.
    const bool is_claimed = item.claim && !item.claim->over && !look_.book.is_alone;
    if (is_claimed) item.state = WorkState::kClaimed;
    return item;
  }

  std::optional<DueBecause> why(const WorkItem& item) const {
    if (!item.done || item.run == nullptr) return DueBecause::kNever;
    const Run& run = *item.run;
    const WorkSeen& seen = item.done->seen;
    if (run.policy_version != rules_.policy_version ||
        run.catalog_version != rules_.catalog_version || run.time_zone != rules_.time_zone ||
        seen.join_rules != rules_.join_rules) {
      return DueBecause::kRules;
    }
    if (run.number != item.done->run) return DueBecause::kOtherRun;
    if (seen.lines != (item.plan ? item.plan->lines : Hash128{})) return DueBecause::kLines;
    if (last_touch(look_, item.scope, item.plan, rules_) > seen.imports) return DueBecause::kFacts;
    if (item.scope.cluster.empty() &&
        seen.elsewhere != elsewhere_of(look_, rules_, item.scope.month)) {
      return DueBecause::kElsewhere;
    }
    return std::nullopt;
  }

  const WorkLook& look_;
  const WorkRules& rules_;
  std::map<Scope, const WorkDone*> done_;
  std::map<Scope, const ClaimState*> claims_;
};

}  // namespace

WorkRules work_rules(const Policy& policy, const Catalog& catalog,
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

Result<void> look_at_work(Store& store, WorkLook& look) {
  auto book = store.work();
  if (!book) return std::unexpected(book.error());
  look.book = *std::move(book);
  // What is read after the book may know more than it, and then more is due.
  if (look.imports != look.book.imports) {
    const auto touched = store.touched(look.imports.value_or(0));
    if (!touched) return std::unexpected(touched.error());
    for (const Touched& one : *touched) {
      std::uint64_t& last = look.touched[one.place];
      last = std::max(last, one.last);
      if (one.place.what == Touch::kLines) {
        look.months.insert(
            to_text(Date(one.place.day)).substr(0, std::string_view("2026-03").size()));
      }
    }
    // Of imports before it was written down what they touch.
    if (!look.imports) {
      auto overview = store.overview();
      if (!overview) return std::unexpected(overview.error());
      look.months.insert(overview->months.begin(), overview->months.end());
    }
    look.imports = look.book.imports;
  }
  auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  look.current.clear();
  for (Run& run : *runs) {
    if (run.current) look.current.insert_or_assign(run.scope, std::move(run));
  }
  const auto closings = store.closings();
  if (!closings) return std::unexpected(closings.error());
  for (const Closing& closing : *closings) look.closed.insert(closing.month);
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

std::string_view to_text(DueBecause why) {
  switch (why) {
    case DueBecause::kNever:
      return "never divided by a worker";
    case DueBecause::kOtherRun:
      return "another run took its place";
    case DueBecause::kRules:
      return "other rules or prices";
    case DueBecause::kLines:
      return "other bill lines";
    case DueBecause::kFacts:
      return "further facts";
    case DueBecause::kElsewhere:
      return "runs of other clusters changed";
  }
  CHECK(false, "every reason has its text");
}

std::vector<WorkItem> work_items(const WorkLook& look, const WorkRules& rules) {
  std::set<std::string> months = look.months;
  for (const auto& [scope, run] : look.current) months.insert(scope.month);
  const Judge judge(look, rules);
  std::vector<WorkItem> items;
  for (const std::string& month : months) {
    if (!look.closed.contains(month)) judge.add_month(month, items);
  }
  return items;
}

Result<void> find_behind_since(Store& store, const WorkRules& rules, std::vector<WorkItem>& items) {
  std::map<std::uint64_t, std::vector<WorkItem*>> due;  // by the imports that were seen
  for (WorkItem& item : items) {
    const bool by_import = item.due == DueBecause::kFacts || item.due == DueBecause::kLines ||
                           item.due == DueBecause::kNever || item.state == WorkState::kUnplanned;
    if (by_import) due[item.done ? item.done->seen.imports : 0].push_back(&item);
  }
  std::size_t asked = 0;
  for (auto& [imports, some] : due) {
    if (asked++ == kBehindAskedMax) break;
    const auto touched = store.touched(imports);
    if (!touched) return std::unexpected(touched.error());
    for (WorkItem* item : some) {
      for (const Touched& one : *touched) {
        if (!may_touch(one.place, item->scope, item->plan, rules)) continue;
        item->behind_since = std::min(item->behind_since.value_or(one.first_at), one.first_at);
      }
    }
  }
  return {};
}

Hash128 elsewhere_of(const WorkLook& look, const WorkRules& rules, const std::string& month) {
  if (!rules.spreads) return {};
  Fingerprint print;
  for (const auto& [scope, run] : look.current) {
    if (scope.month != month || scope.cluster.empty()) continue;
    print.add(scope.cluster.text())
        .add(std::optional<std::uint64_t>(run.number))
        .add(to_text(run.postings_digest));
  }
  return print.hash();
}

}  // namespace pennyweight
