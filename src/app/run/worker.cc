#include "app/run/worker.h"

#include <algorithm>
#include <utility>

#include "core/hash.h"
#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// The most that the clocks of workers may differ by.
constexpr milliseconds kSkew{600'000};
// A scope rests for nine times as long as its run took, so allocation takes a tenth of the time.
constexpr int kRestFactor = 9;
// A scope of no cluster that has waited this long for the others is allocated beside them.
constexpr milliseconds kWaitMax{600'000};
constexpr milliseconds kRetryFirst{2'000}, kRetryMax{600'000};
constexpr std::uint64_t kGivenUpAfter = 3;

std::string cluster_name(const Scope& scope) {
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
      criteria_(work_criteria(config.policy, catalog, config.join_rules)) {}

// Records the heartbeats of claims, and since when each has been silent.
void Worker::observe_claims() {
  const Instant now = clock_.now();
  std::map<std::uint64_t, ObservedClaim> observed;
  for (const ClaimState& state : snapshot_.work_records.claims) {
    if (state.is_over) continue;
    const auto before = observed_claims_.find(state.claim.number);
    const bool is_silent = before != observed_claims_.end() &&
                           before->second.heartbeats == state.heartbeats &&
                           before->second.since <= now;
    observed[state.claim.number] =
        is_silent ? before->second : ObservedClaim{state.heartbeats, now};
  }
  observed_claims_ = std::move(observed);
}

bool Worker::is_abandoned(const ClaimState& state) const {
  if (snapshot_.work_records.is_alone) return true;
  const Instant now = clock_.now();
  if (now - state.last_heartbeat > state.claim.lease + kSkew) return true;
  const auto observed = observed_claims_.find(state.claim.number);
  return observed != observed_claims_.end() && now - observed->second.since >= state.claim.lease;
}

bool Worker::is_resting(Instant began, Instant at) const {
  if (options_.once) return false;
  const Instant now = clock_.now();
  return now >= at && now - at < (at - began) * kRestFactor;
}

bool Worker::has_failed(const Scope& scope) const {
  const auto failure = failures_.find(scope);
  if (failure == failures_.end()) return false;
  if (options_.once && failure->second.times >= kGivenUpAfter) return true;
  return clock_.now() < failure->second.again_at;
}

std::size_t Worker::given_up() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      failures_, [](const auto& entry) { return entry.second.times >= kGivenUpAfter; }));
}

void Worker::record_failure(const Scope& scope, const Error& error) {
  Failure& state = failures_[scope];
  const auto doubled = std::min<std::uint64_t>(state.times, 16);
  state.again_at = clock_.now() + std::min(kRetryMax, kRetryFirst * (std::int64_t{1} << doubled));
  ++state.times;
  log_.error("work",
             {{"cluster", cluster_name(scope)}, {"month", scope.month}, {"why", error.message}});
}

// Facts that arrived after a `once` began are not its work, and neither is a scope that others
// allocate again by other rules. Otherwise it would never end while facts keep coming or workers
// disagree.
bool Worker::is_for_later(const WorkItem& item) const {
  if (!options_.once || !item.done || !item.due) return false;
  switch (*item.due) {
    case DueReason::kFacts:
    case DueReason::kLines:
      return item.done->inputs.imports >= *once_imports_;
    case DueReason::kRules:
    case DueReason::kOtherRun:
      return allocated_.contains(item.scope);
    case DueReason::kNever:
    case DueReason::kOtherClusters:
      return false;
  }
  return false;
}

bool Worker::waits_for_others(const WorkItem& item, const std::vector<WorkItem>& items) const {
  if (!criteria_.spreads || !item.scope.cluster.empty()) return false;
  const auto since = waiting_since_.find(item.scope);
  if (since != waiting_since_.end() && clock_.now() - since->second >= kWaitMax) return false;
  return std::ranges::any_of(items, [&](const WorkItem& other) {
    return other.scope.month == item.scope.month && !other.scope.cluster.empty() &&
           other.state != WorkState::kDone && !is_for_later(other);
  });
}

bool Worker::is_available(const WorkItem& item, const std::vector<WorkItem>& items) const {
  if (has_failed(item.scope)) return false;
  if (item.claim && !item.claim->is_over && !is_abandoned(*item.claim)) return false;
  if (waits_for_others(item, items)) return false;
  return !(item.done && is_resting(item.done->began, item.done->at));
}

// The scope whose run knows the oldest facts comes first. Among equals each worker picks another
// one, so that they seldom claim the same.
const WorkItem* Worker::choose_item(const std::vector<WorkItem>& items) const {
  const auto rank = [](const WorkItem& item) {
    return std::tuple(item.done ? item.done->inputs.imports : 0, item.scope.month);
  };
  std::vector<const WorkItem*> first;
  for (const WorkItem& item : items) {
    if (!item.due || item.state == WorkState::kUnplanned || is_for_later(item)) continue;
    if (!is_available(item, items)) continue;
    if (!first.empty() && rank(item) > rank(*first.front())) continue;
    if (!first.empty() && rank(item) < rank(*first.front())) first.clear();
    first.push_back(&item);
  }
  if (first.empty()) return nullptr;
  // The scope of no cluster depends on the others, so it is the last of its month.
  if (first.size() > 1 && first.back()->scope.cluster.empty()) first.pop_back();
  return first[hash_of(options_.name).low % first.size()];
}

Result<void> Worker::load(Store& store, const std::string& month) {
  loaded_.reset();  // two at once would take twice the memory
  auto loaded = TRY(LedgerMonth::load(store, month, config_.join_rules));
  std::vector<PlannedScope> planned = loaded.planned();
  loaded_.emplace(std::move(loaded), snapshot_.work_records.imports, std::move(planned));
  return {};
}

Result<void> Worker::plan(Store& store, const std::string& month) {
  const Instant began = clock_.now();
  TRY(load(store, month));
  WorkPlan plan{.month = month,
                .imports = loaded_->imports,
                .join_rules = criteria_.join_rules,
                .began = began,
                .at = clock_.now(),
                .scopes = loaded_->planned};
  TRY(store.save_plan(plan));
  log_.info(
      "planned",
      {{"month", month}, {"scopes", std::uint64_t{plan.scopes.size()}}, {"imports", plan.imports}});
  return {};
}

Result<AllocatedScope> Worker::allocate_item(Store& store, const WorkItem& item,
                                             const WorkClaim& claim) {
  const Scope& scope = item.scope;
  const Instant began = clock_.now();
  // The charges of the other clusters tell which of their postings are of charges.
  const bool needs_all = scope.cluster.empty() && criteria_.spreads;
  const bool is_loaded = loaded_ && loaded_->month.name() == scope.month &&
                         loaded_->imports == snapshot_.work_records.imports &&
                         !loaded_->taken.contains(scope.cluster) &&
                         (!needs_all || loaded_->taken.empty());
  if (!is_loaded) {
    TRY(load(store, scope.month));
  }
  RunInputs seen{.imports = loaded_->imports,
                 .lines = {},
                 .join_rules = criteria_.join_rules,
                 .elsewhere = {}};
  const auto planned = std::ranges::find(loaded_->planned, scope.cluster, &PlannedScope::cluster);
  if (planned != loaded_->planned.end()) seen.lines = planned->lines;
  std::vector<DistributionInput::OtherScopeCost> other_scopes;
  if (scope.cluster.empty()) {
    // The runs known now, or later ones: then the scope is due again.
    seen.elsewhere = other_runs_hash(snapshot_, criteria_, scope.month);
    if (needs_all) {
      auto found = TRY(other_scope_costs(store, loaded_->month));
      other_scopes = std::move(found);
    }
  }
  loaded_->taken.insert(scope.cluster);
  const ClaimedWork work{
      .claim = claim, .inputs = seen, .began = began, .before_commit = [&]() -> Result<Instant> {
        if (hooks_.before_commit) {
          TRY(hooks_.before_commit());
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
                        false, other_scopes);
}

Result<Worker::Step> Worker::claim_and_allocate(Store& store, const WorkItem& item) {
  const Scope& scope = item.scope;
  const auto claim = store.claim_work({.scope = scope,
                                       .worker = options_.name,
                                       .at = clock_.now(),
                                       .lease = options_.lease,
                                       .newest_known = item.claim ? item.claim->claim.number : 0});
  if (!claim) {
    if (claim.error().code != ErrorCode::kConflict) return std::unexpected(claim.error());
    record_failure(scope, claim.error());  // its month was closed
    return Step::kAllocated;
  }
  if (!*claim) return Step::kAllocated;  // another worker was faster
  const bool takes_over = item.claim && !item.claim->is_over;
  log_.info("claimed", {{"claim", (*claim)->number},
                        {"cluster", cluster_name(scope)},
                        {"month", scope.month},
                        {"because", std::string(to_text(*item.due))},
                        {"taken_over_from", takes_over ? item.claim->claim.worker : ""}});
  if (hooks_.on_claim) hooks_.on_claim(&**claim);
  const Instant begun = clock_.now();
  const auto done = allocate_item(store, item, **claim);
  if (hooks_.on_claim) hooks_.on_claim(nullptr);
  if (!done) {
    record_failure(scope, done.error());
    // A claim that can't be given back ends with its lease.
    static_cast<void>(store.release_claim(**claim, clock_.now()));
    return Step::kAllocated;
  }
  failures_.erase(scope);
  allocated_.insert(scope);
  log_.info("divided", {{"claim", (*claim)->number},
                        {"cluster", cluster_name(scope)},
                        {"month", scope.month},
                        {"run", done->run.number},
                        {"unchanged", std::string(done->unchanged ? "yes" : "no")},
                        {"lines", done->lines},
                        {"postings", done->run.postings},
                        {"took_ms", std::int64_t{(clock_.now() - begun).count()}}});
  if (hooks_.on_run) {
    TRY(hooks_.on_run(*done));
  }
  return Step::kAllocated;
}

// Plans the first month that is due to be planned. False: none is.
Result<bool> Worker::plan_next(Store& store, const std::vector<WorkItem>& items, bool& waits) {
  for (const WorkItem& item : items) {
    if (item.state != WorkState::kUnplanned) continue;
    const auto before =
        std::ranges::find(snapshot_.work_records.plans, item.scope.month, &WorkPlan::month);
    const bool is_planned = before != snapshot_.work_records.plans.end();
    if (options_.once && is_planned && before->imports >= *once_imports_ &&
        before->join_rules == criteria_.join_rules) {
      continue;
    }
    if (is_planned && is_resting(before->began, before->at)) {
      waits = true;
      continue;
    }
    TRY(plan(store, item.scope.month));
    return true;
  }
  return false;
}

void Worker::note_waiting(const std::vector<WorkItem>& items) {
  const Instant now = clock_.now();
  for (const WorkItem& item : items) {
    if (item.state == WorkState::kWaiting) {
      waiting_since_.try_emplace(item.scope, now);
    } else {
      waiting_since_.erase(item.scope);
    }
  }
}

Result<Worker::Step> Worker::step(Store& store) {
  TRY(refresh_work(store, snapshot_));
  if (options_.once && !once_imports_) once_imports_ = snapshot_.work_records.imports;
  observe_claims();
  const std::vector<WorkItem> items = work_items(snapshot_, criteria_);
  bool waits = false;
  if (TRY(plan_next(store, items, waits))) return Step::kPlanned;
  note_waiting(items);
  if (const WorkItem* item = choose_item(items)) return claim_and_allocate(store, *item);
  loaded_.reset();  // the next work may be long in coming, and a month takes much memory
  waits = waits || std::ranges::any_of(items, [&](const WorkItem& item) {
            return item.due && item.state != WorkState::kUnplanned && !is_for_later(item);
          });
  return waits ? Step::kWaiting : Step::kNothingDue;
}

}  // namespace pennyweight
