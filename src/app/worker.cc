#include "app/worker.h"

#include <algorithm>
#include <utility>

#include "core/hash.h"
#include "ledger/keeping.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// By how much the clocks of workers may differ.
constexpr milliseconds kSkew{600'000};
// Of an item's time between two runs, dividing takes a tenth at most.
constexpr int kRestOfDividing = 9;
// A scope of no cluster that has waited so long for others is divided beside them.
constexpr milliseconds kWaitMax{600'000};
constexpr milliseconds kAgainFirst{2'000}, kAgainMax{600'000};
constexpr std::uint64_t kGivenUpAfter = 3;

std::string name_of(const Scope& scope) {
  return scope.cluster.empty() ? "(no cluster)" : scope.cluster.text();
}

}  // namespace

Worker::Worker(const Config& config, const Catalog& catalog, WorkerOptions options,
               WorkerHooks hooks, Clock& clock, Log& log)
    : config_(config),
      catalog_(catalog),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      clock_(clock),
      log_(log),
      rules_(work_rules(config.policy, catalog, config.join_rules)) {}

// What was heard of others' claims, and since when nothing.
void Worker::listen() {
  const Instant now = clock_.now();
  std::map<std::uint64_t, Heard> heard;
  for (const ClaimState& state : look_.book.claims) {
    if (state.over) continue;
    const auto before = heard_.find(state.claim.number);
    const bool is_silent = before != heard_.end() && before->second.signs == state.signs &&
                           before->second.since <= now;
    heard[state.claim.number] = is_silent ? before->second : Heard{state.signs, now};
  }
  heard_ = std::move(heard);
}

bool Worker::is_dead(const ClaimState& state) const {
  if (look_.book.is_alone) return true;
  const Instant now = clock_.now();
  if (now - state.last_sign > state.claim.lease + kSkew) return true;
  const auto heard = heard_.find(state.claim.number);
  return heard != heard_.end() && now - heard->second.since >= state.claim.lease;
}

bool Worker::rests(Instant began, Instant at) const {
  if (options_.once) return false;
  const Instant now = clock_.now();
  return now >= at && now - at < (at - began) * kRestOfDividing;
}

bool Worker::has_failed(const Scope& scope) const {
  const auto failed = failed_.find(scope);
  if (failed == failed_.end()) return false;
  if (options_.once && failed->second.times >= kGivenUpAfter) return true;
  return clock_.now() < failed->second.again_at;
}

std::size_t Worker::given_up() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      failed_, [](const auto& entry) { return entry.second.times >= kGivenUpAfter; }));
}

void Worker::failed(const Scope& scope, const Error& error) {
  Failed& state = failed_[scope];
  const auto doubled = std::min<std::uint64_t>(state.times, 16);
  state.again_at = clock_.now() + std::min(kAgainMax, kAgainFirst * (std::int64_t{1} << doubled));
  ++state.times;
  log_.error("work", {{"cluster", name_of(scope)}, {"month", scope.month}, {"why", error.message}});
}

// What came after a `once` began is not its work, and neither is what others with other rules
// divide again: it would never end where facts come all the time, or where workers don't agree.
bool Worker::is_for_later(const WorkItem& item) const {
  if (!options_.once || !item.done || !item.due) return false;
  switch (*item.due) {
    case DueBecause::kFacts:
    case DueBecause::kLines:
      return item.done->seen.imports >= *once_imports_;
    case DueBecause::kRules:
    case DueBecause::kOtherRun:
      return divided_.contains(item.scope);
    case DueBecause::kNever:
    case DueBecause::kElsewhere:
      return false;
  }
  return false;
}

bool Worker::waits_for_others(const WorkItem& item, const std::vector<WorkItem>& items) const {
  if (!rules_.spreads || !item.scope.cluster.empty()) return false;
  const auto since = waiting_since_.find(item.scope);
  if (since != waiting_since_.end() && clock_.now() - since->second >= kWaitMax) return false;
  return std::ranges::any_of(items, [&](const WorkItem& other) {
    return other.scope.month == item.scope.month && !other.scope.cluster.empty() &&
           other.state != WorkState::kDone && !is_for_later(other);
  });
}

bool Worker::may_be_had(const WorkItem& item, const std::vector<WorkItem>& items) const {
  if (has_failed(item.scope)) return false;
  if (item.claim && !item.claim->over && !is_dead(*item.claim)) return false;
  if (waits_for_others(item, items)) return false;
  return !(item.done && rests(item.done->began, item.done->at));
}

// Who knows the oldest facts comes first; of those that are alike, another one for each worker, so
// that they seldom want the same.
const WorkItem* Worker::next(const std::vector<WorkItem>& items) const {
  const auto rank = [](const WorkItem& item) {
    return std::tuple(item.done ? item.done->seen.imports : 0, item.scope.month);
  };
  std::vector<const WorkItem*> first;
  for (const WorkItem& item : items) {
    if (!item.due || item.state == WorkState::kUnplanned || is_for_later(item)) continue;
    if (!may_be_had(item, items)) continue;
    if (!first.empty() && rank(item) > rank(*first.front())) continue;
    if (!first.empty() && rank(item) < rank(*first.front())) first.clear();
    first.push_back(&item);
  }
  if (first.empty()) return nullptr;
  // The scope of no cluster, which goes by the others, is the last of its month.
  if (first.size() > 1 && first.back()->scope.cluster.empty()) first.pop_back();
  return first[hash_of(options_.name).low % first.size()];
}

Result<void> Worker::load(Store& store, const std::string& month) {
  loaded_.reset();  // two at once would take twice the memory
  auto loaded = LedgerMonth::load(store, month, config_.join_rules);
  if (!loaded) return std::unexpected(loaded.error());
  std::vector<PlannedScope> planned = loaded->planned();
  loaded_.emplace(*std::move(loaded), look_.book.imports, std::move(planned));
  return {};
}

Result<void> Worker::plan(Store& store, const std::string& month) {
  const Instant began = clock_.now();
  if (auto done = load(store, month); !done) return done;
  WorkPlan plan{.month = month,
                .imports = loaded_->imports,
                .join_rules = rules_.join_rules,
                .began = began,
                .at = clock_.now(),
                .scopes = loaded_->planned};
  if (auto done = store.keep_plan(plan); !done) return done;
  log_.info(
      "planned",
      {{"month", month}, {"scopes", std::uint64_t{plan.scopes.size()}}, {"imports", plan.imports}});
  return {};
}

Result<AllocatedScope> Worker::divide(Store& store, const WorkItem& item, const WorkClaim& claim) {
  const Scope& scope = item.scope;
  const Instant began = clock_.now();
  // Which postings of the others are of bill lines, their lines tell.
  const bool needs_all = scope.cluster.empty() && rules_.spreads;
  const bool is_loaded =
      loaded_ && loaded_->month.name() == scope.month && loaded_->imports == look_.book.imports &&
      !loaded_->handed_over.contains(scope.cluster) && (!needs_all || loaded_->handed_over.empty());
  if (!is_loaded) {
    if (auto done = load(store, scope.month); !done) return std::unexpected(done.error());
  }
  WorkSeen seen{
      .imports = loaded_->imports, .lines = {}, .join_rules = rules_.join_rules, .elsewhere = {}};
  const auto planned = std::ranges::find(loaded_->planned, scope.cluster, &PlannedScope::cluster);
  if (planned != loaded_->planned.end()) seen.lines = planned->lines;
  std::vector<DistributionInput::Elsewhere> elsewhere;
  if (scope.cluster.empty()) {
    // Those that are known now, or later ones: then it is due again.
    seen.elsewhere = elsewhere_of(look_, rules_, scope.month);
    if (needs_all) {
      auto found = elsewhere_in(store, loaded_->month);
      if (!found) return std::unexpected(found.error());
      elsewhere = *std::move(found);
    }
  }
  loaded_->handed_over.insert(scope.cluster);
  const ClaimedWork work{
      .claim = claim, .seen = seen, .began = began, .before_keeping = [&]() -> Result<Instant> {
        if (hooks_.may_keep) {
          if (auto may = hooks_.may_keep(); !may) {
            return std::unexpected(may.error());
          }
        }
        return clock_.now();
      }};
  return allocate_scope(store, loaded_->month, scope.cluster,
                        {.policy = config_.policy,
                         .catalog = catalog_,
                         .threads = options_.threads,
                         .join_rules = config_.join_rules,
                         .at = began,
                         .changed = {},
                         .work = &work},
                        false, elsewhere);
}

Result<Worker::Step> Worker::claim_and_divide(Store& store, const WorkItem& item) {
  const Scope& scope = item.scope;
  const auto claim = store.claim_work({.scope = scope,
                                       .worker = options_.name,
                                       .at = clock_.now(),
                                       .lease = options_.lease,
                                       .known = item.claim ? item.claim->claim.number : 0});
  if (!claim) {
    if (claim.error().code != ErrorCode::kConflict) return std::unexpected(claim.error());
    failed(scope, claim.error());  // its month was closed
    return Step::kDivided;
  }
  if (!*claim) return Step::kDivided;  // somebody was faster
  const bool takes_over = item.claim && !item.claim->over;
  log_.info("claimed", {{"claim", (*claim)->number},
                        {"cluster", name_of(scope)},
                        {"month", scope.month},
                        {"because", std::string(to_text(*item.due))},
                        {"taken_over_from", takes_over ? item.claim->claim.worker : ""}});
  if (hooks_.holds) hooks_.holds(&**claim);
  const Instant begun = clock_.now();
  const auto done = divide(store, item, **claim);
  if (hooks_.holds) hooks_.holds(nullptr);
  if (!done) {
    failed(scope, done.error());
    // What can't be given back ends with its lease.
    static_cast<void>(store.give_back_work(**claim, clock_.now()));
    return Step::kDivided;
  }
  failed_.erase(scope);
  divided_.insert(scope);
  log_.info("divided", {{"claim", (*claim)->number},
                        {"cluster", name_of(scope)},
                        {"month", scope.month},
                        {"run", done->run.number},
                        {"unchanged", std::string(done->unchanged ? "yes" : "no")},
                        {"lines", done->lines},
                        {"postings", done->run.postings},
                        {"took_ms", std::int64_t{(clock_.now() - begun).count()}}});
  if (hooks_.divided) {
    if (auto told = hooks_.divided(*done); !told) return std::unexpected(told.error());
  }
  return Step::kDivided;
}

Result<Worker::Step> Worker::step(Store& store) {
  if (auto looked = look_at_work(store, look_); !looked) return std::unexpected(looked.error());
  if (options_.once && !once_imports_) once_imports_ = look_.book.imports;
  listen();
  const std::vector<WorkItem> items = work_items(look_, rules_);
  bool waits = false;
  for (const WorkItem& item : items) {
    if (item.state != WorkState::kUnplanned) continue;
    const auto before = std::ranges::find(look_.book.plans, item.scope.month, &WorkPlan::month);
    const bool is_planned = before != look_.book.plans.end();
    if (options_.once && is_planned && before->imports >= *once_imports_ &&
        before->join_rules == rules_.join_rules) {
      continue;
    }
    if (is_planned && rests(before->began, before->at)) {
      waits = true;
      continue;
    }
    if (auto done = plan(store, item.scope.month); !done) return std::unexpected(done.error());
    return Step::kPlanned;
  }
  const Instant now = clock_.now();
  for (const WorkItem& item : items) {
    if (item.state == WorkState::kWaiting) {
      waiting_since_.try_emplace(item.scope, now);
    } else {
      waiting_since_.erase(item.scope);
    }
    waits = waits || (item.due && item.state != WorkState::kUnplanned && !is_for_later(item));
  }
  const WorkItem* item = next(items);
  if (item != nullptr) return claim_and_divide(store, *item);
  loaded_.reset();  // nobody knows for how long
  return waits ? Step::kWaits : Step::kNothing;
}

}  // namespace pennyweight
