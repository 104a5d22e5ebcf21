#include "app/run/allocate_month.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "app/context/version.h"
#include "app/run/reversals.h"
#include "core/try.h"
#include "ledger/store_rules.h"
#include "reporting/queries/telemetry_source.h"
#include "reporting/queries/work_items.h"

namespace pennyweight {
namespace {

using OtherScopeCosts = std::vector<DistributionInput::OtherScopeCost>;

// How a run over some of the charges treats the current run's other postings.
struct UnchangedPostings {
  std::vector<FactId> replaced;   // ids that are posted anew, or belong to another scope now
  std::vector<Posting> postings;  // the others, where they are needed for distribution
  std::vector<WorkloadDimensions> dimensions;
};

// Every charge and transfer id of the current run's postings, grouped by the store.
Result<std::vector<FactId>> posted_ids(Store& store, const Scope& scope) {
  const auto rows = TRY(store.summarise(
      {.group_by = {"charge"},
       .filters = {{"cluster", {scope.cluster.text()}, false}, {"month", {scope.month}, false}}}));
  std::vector<FactId> ids;
  for (const SummaryRow& row : rows) {
    const auto hash = parse_hash(row.keys[0]);
    CHECK(hash, "an id reads back");
    ids.push_back({*hash});
  }
  return ids;
}

Result<UnchangedPostings> read_unchanged(Store& store, const Scope& scope,
                                         const std::vector<Charge>& charges,
                                         const Interval& changed, bool needs_postings) {
  std::set<FactId> stay;
  UnchangedPostings unchanged;
  for (const Charge& charge : charges) {
    // A reversal is always posted as a whole.
    if (charge.takes_back || charge.charge_period.overlap(changed)) {
      unchanged.replaced.push_back(charge.id);
    } else {
      stay.insert(charge.id);
    }
  }
  // Transfers are posted anew, and charges may have moved to another cluster since.
  const auto ids = TRY(posted_ids(store, scope));
  std::ranges::copy_if(ids, std::back_inserter(unchanged.replaced),
                       [&](const FactId& id) { return !stay.contains(id); });
  if (!needs_postings) return unchanged;

  TRY(store.scan_postings(scope, [&](std::span<const Posting> batch) {
    std::ranges::copy_if(batch, std::back_inserter(unchanged.postings),
                         [&](const Posting& posting) { return stay.contains(posting.charge); });
    return true;
  }));
  auto dimensions = TRY(store.dimensions_of(scope));
  std::set<WorkloadId> held;
  for (const Posting& posting : unchanged.postings) held.insert(posting.workload);
  std::ranges::copy_if(
      dimensions, std::back_inserter(unchanged.dimensions),
      [&](const WorkloadDimensions& entry) { return held.contains(entry.workload); });
  return unchanged;
}

// The dimensions of both; for a workload in both, those of the first.
std::vector<WorkloadDimensions> merge_dimensions(const std::vector<WorkloadDimensions>& first,
                                                 const std::vector<WorkloadDimensions>& second) {
  std::vector<WorkloadDimensions> all;
  std::ranges::set_union(first, second, std::back_inserter(all), {}, &WorkloadDimensions::workload,
                         &WorkloadDimensions::workload);
  return all;
}

Result<std::unique_ptr<RunSession>> begin_session(Store& store, const Run& run,
                                                  const ClaimedWork* work) {
  if (work == nullptr) return store.begin_run(run);
  const auto now = TRY(work->before_commit());
  return store.begin_claimed_run(run, work->claim,
                                 {.claim = work->claim.number,
                                  .scope = run.scope,
                                  .run = 0,
                                  .inputs = work->inputs,
                                  .began = work->began,
                                  .at = now});
}

Result<Run> commit_run(Store& store, const Run& run, const ClaimedWork* work,
                       const UnchangedPostings* unchanged, const Allocation& allocation,
                       const Distribution& distribution) {
  auto session = TRY(begin_session(store, run, work));
  if (unchanged != nullptr) TRY(session->keep_previous_except(unchanged->replaced));
  TRY(session->append_postings(allocation.postings));
  TRY(session->append_postings(distribution.transfers));
  TRY(session->append_dimensions(allocation.dimensions));
  TRY(session->append_dimensions(distribution.dimensions));
  return session->commit();
}

// Adds up what transfers moved to owners.
void add_moved(const Distribution& distribution, AllocatedScope& scope) {
  for (const Posting& posting : distribution.transfers) {
    const Money& cost = posting.costs.effective;
    Money& moved =
        scope.moved.try_emplace(cost.currency(), Money::zero(cost.currency())).first->second;
    if (!cost.is_negative()) moved += cost;
  }
}

// Adds up the run as it stands in the ledger. Transfers have no charge, so no category.
Result<void> add_summary(Store& store, AllocatedScope& scope) {
  const auto rows =
      TRY(store.summarise({.group_by = {"kind"},
                           .filters = {{"cluster", {scope.run.scope.cluster.text()}, false},
                                       {"month", {scope.run.scope.month}, false},
                                       {"category", {""}, true}}}));
  for (const SummaryRow& row : rows) {
    const auto kind = parse_posting_kind(row.keys[0]);
    CHECK(kind, "every stored kind is known");
    const Money& cost = row.costs.effective;
    scope.effective[cost.currency()].emplace(*kind, cost);
    scope.gpu_time += row.gpu_time;
    scope.observed_time += row.observed_time;
  }
  return {};
}

bool moves_cost(const Policy& policy) {
  return std::ranges::any_of(policy.spread,
                             [](const SpreadRule& rule) { return rule.how != Spread::kKeep; });
}

// One run of one scope: reads the facts, allocates the charges, distributes and commits.
class ScopeRun {
 public:
  ScopeRun(Store& store, LedgerMonth& month, const ClusterId& cluster, const RunSettings& settings)
      : store_(store),
        month_(month),
        cluster_(cluster),
        settings_(settings),
        outcome_{.run = {.scope = {cluster, month.name()},
                         .policy = settings.policy.text(),
                         .policy_version = settings.policy.version(),
                         .catalog_version = settings.catalog.version(),
                         .time_zone = settings.policy.time_zone.name(),
                         .program_version = kProgramVersion,
                         .at = settings.at,
                         .postings_digest = {}},
                 .effective = {},
                 .moved = {},
                 .gpu_time = {},
                 .observed_time = {},
                 .notes = {}} {}

  Result<AllocatedScope> run(bool wants_other_scopes, OtherScopeCosts& other_scopes) {
    TRY(read_facts());
    compare_with_current_run();
    TRY(allocate_charges());
    const bool distributes = moves_cost(settings_.policy) || !facts_.corrections.empty();
    if (changed_) TRY(join_unchanged(distributes || wants_other_scopes));
    if (distributes) distribute_costs(other_scopes);
    if (wants_other_scopes && !cluster_.empty()) {
      std::ranges::move(sum_costs_by_owner(postings(), dimensions()),
                        std::back_inserter(other_scopes));
    }
    TRY(commit());
    return std::move(outcome_);
  }

 private:
  Result<void> read_facts() {
    facts_ = TRY(month_.take_facts(store_, cluster_));
    reversals_ = extract_reversals(facts_.charges);
    reversed_ = TRY(reverse_postings(store_, reversals_));
    outcome_.lines = facts_.charges.size() + reversals_.size();
    return {};
  }

  // Unchanged postings can be kept only where the current run was made by the same rules.
  void compare_with_current_run() {
    before_ = month_.current_run(outcome_.run.scope);
    changed_ = settings_.changed;
    if (changed_ && (before_ == nullptr || !same_rules(*before_, outcome_.run))) {
      outcome_.notes.emplace_back(
          "allocated in full: there is no current run with the same policy, prices and time zone");
      changed_.reset();
    }
  }

  Result<void> allocate_charges() {
    UtilizationSource utilization;
    if (!cluster_.empty()) {
      utilization = telemetry_source(store_, cluster_, facts_.gpus, settings_.policy.usage);
    }
    allocation_ = TRY(allocate({.cluster = cluster_,
                                .charges = facts_.charges,
                                .nodes = facts_.nodes,
                                .gpus = facts_.gpus,
                                .holdings = facts_.holdings,
                                .outages = facts_.outages,
                                .policy = settings_.policy,
                                .catalog = settings_.catalog,
                                .threads = settings_.threads,
                                .utilization = std::move(utilization),
                                .changed = changed_,
                                .join_rules = settings_.join_rules}));
    std::ranges::copy(reversed_.postings, std::back_inserter(allocation_.postings));
    // Workloads of this month have their dimensions by its rules, not by those of the closed month.
    allocation_.dimensions = merge_dimensions(allocation_.dimensions, reversed_.dimensions);
    std::ranges::copy(reversals_, std::back_inserter(facts_.charges));
    for (const AllocationNote& note : allocation_.notes) {
      outcome_.notes.push_back(
          fmt::format("{} ({} {})", note.what, note.count, note.count == 1 ? "time" : "times"));
    }
    return {};
  }

  // New postings join the unchanged ones, to be distributed together.
  Result<void> join_unchanged(bool needs_postings) {
    unchanged_ =
        TRY(read_unchanged(store_, outcome_.run.scope, facts_.charges, *changed_, needs_postings));
    std::ranges::copy(allocation_.postings, std::back_inserter(unchanged_->postings));
    unchanged_->dimensions = merge_dimensions(unchanged_->dimensions, allocation_.dimensions);
    return {};
  }

  void distribute_costs(const OtherScopeCosts& other_scopes) {
    std::span<const DistributionInput::OtherScopeCost> of_others;
    if (cluster_.empty()) of_others = other_scopes;
    distribution_ = distribute({.cluster = cluster_,
                                .month = month_.name(),
                                .postings = postings(),
                                .dimensions = dimensions(),
                                .nodes = facts_.nodes,
                                .charges = facts_.charges,
                                .corrections = facts_.corrections,
                                .other_scopes = of_others,
                                .policy = settings_.policy});
    std::ranges::copy(distribution_.notes, std::back_inserter(outcome_.notes));
  }

  Result<void> commit() {
    const UnchangedPostings* unchanged = unchanged_ ? &*unchanged_ : nullptr;
    const ClaimedWork* work = settings_.work;
    auto committed = commit_run(store_, outcome_.run, work, unchanged, allocation_, distribution_);
    if (!committed && work != nullptr && work->may_lose_claim &&
        committed.error().code == ErrorCode::kConflict) {
      committed = commit_run(store_, outcome_.run, nullptr, unchanged, allocation_, distribution_);
    }
    if (!committed) {
      return std::unexpected(
          unchanged_ ? committed.error().during("the rest of the run can't be kept (allocate it "
                                                "without --changed)")
                     : committed.error());
    }
    outcome_.unchanged = before_ != nullptr && before_->number == committed->number;
    outcome_.run = *committed;
    add_moved(distribution_, outcome_);
    return add_summary(store_, outcome_);
  }

  const std::vector<Posting>& postings() const {
    return unchanged_ ? unchanged_->postings : allocation_.postings;
  }
  const std::vector<WorkloadDimensions>& dimensions() const {
    return unchanged_ ? unchanged_->dimensions : allocation_.dimensions;
  }

  Store& store_;
  LedgerMonth& month_;
  const ClusterId& cluster_;
  const RunSettings& settings_;
  ClusterFacts facts_;
  std::vector<Charge> reversals_;
  ReversalPostings reversed_;
  const Run* before_ = nullptr;  // the scope's current run
  std::optional<Interval> changed_;
  Allocation allocation_;
  std::optional<UnchangedPostings> unchanged_;
  Distribution distribution_;
  AllocatedScope outcome_;
};

}  // namespace

Result<AllocatedScope> allocate_scope(
    Store& store, LedgerMonth& month, const ClusterId& cluster, const RunSettings& settings,
    bool wants_other_scopes, std::vector<DistributionInput::OtherScopeCost>& other_scopes) {
  return ScopeRun(store, month, cluster, settings).run(wants_other_scopes, other_scopes);
}

Result<std::vector<DistributionInput::OtherScopeCost>> other_scope_costs(Store& store,
                                                                         const LedgerMonth& month) {
  using OtherScopeCost = DistributionInput::OtherScopeCost;
  std::vector<OtherScopeCost> all;
  for (const ClusterId& cluster : month.clusters()) {
    if (cluster.empty()) continue;
    std::unordered_set<FactId, FactIdHash> lines;  // postings of none of them are transfers
    for (const Charge& charge : month.charges(cluster)) lines.insert(charge.id);
    const auto dimensions = TRY(store.dimensions_of({cluster, month.name()}));
    // In the order of sum_costs_by_owner().
    std::map<std::tuple<Labels, std::chrono::sys_days, Component, Currency>, OtherScopeCost> sums;
    std::vector<Posting> postings;
    TRY(store.scan_postings({cluster, month.name()}, [&](std::span<const Posting> batch) {
      postings.clear();
      std::ranges::copy_if(batch, std::back_inserter(postings),
                           [&](const Posting& posting) { return lines.contains(posting.charge); });
      for (OtherScopeCost& paid : sum_costs_by_owner(postings, dimensions)) {
        const auto [sum, is_new] = sums.try_emplace(
            {paid.owner, paid.day, paid.component, paid.effective.currency()}, paid);
        if (is_new) continue;
        sum->second.effective += paid.effective;
        sum->second.gpu_time += paid.gpu_time;
        sum->second.memory_time += paid.memory_time;
      }
      return true;
    }));
    for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  }
  return all;
}

namespace {

// Claims a scope for a run that nobody asked a worker for. Nothing where a worker is at it, or
// where the run reads only a part of the facts: then the run is made without a claim.
class ScopeClaim {
 public:
  static Result<ScopeClaim> of(Store& store, const Scope& scope, const RunSettings& rules,
                               const std::vector<PlannedScope>& planned) {
    ScopeClaim made(store);
    if (!rules.imports_read || rules.changed) return made;
    const auto records = TRY(store.work_records());
    const auto newest = std::ranges::find(
        records.claims, scope, [](const ClaimState& state) { return state.claim.scope; });
    const bool is_there = newest != records.claims.end();
    if (is_there && !newest->is_over && !records.is_alone) return made;
    constexpr std::chrono::milliseconds kLease(600'000);
    const auto claim = store.claim_work({.scope = scope,
                                         .worker = "allocate",
                                         .at = rules.at,
                                         .lease = kLease,
                                         .newest_known = is_there ? newest->claim.number : 0});
    if (!claim || !*claim) return made;  // the run itself says why not
    made.claim_ = **claim;
    const WorkCriteria criteria = work_criteria(rules.policy, rules.catalog, rules.join_rules);
    RunInputs inputs{.imports = *rules.imports_read,
                     .lines = {},
                     .join_rules = criteria.join_rules,
                     .elsewhere = {}};
    const auto plan = std::ranges::find(planned, scope.cluster, &PlannedScope::cluster);
    if (plan != planned.end()) inputs.lines = plan->lines;
    if (scope.cluster.empty()) {
      WorkSnapshot snapshot;
      TRY(refresh_work(store, snapshot));
      inputs.elsewhere = other_runs_hash(snapshot, criteria, scope.month);
    }
    made.inputs_ = inputs;
    return made;
  }

  bool is_claimed() const { return claim_.has_value(); }
  ClaimedWork work(Instant at) const {
    return {.claim = *claim_,
            .inputs = inputs_,
            .began = at,
            .before_commit = [at]() { return Result<Instant>(at); },
            .may_lose_claim = true};
  }
  void give_back(Instant at) const {
    if (claim_) std::ignore = store_.release_claim(*claim_, at);
  }

 private:
  explicit ScopeClaim(Store& store) : store_(store) {}

  Store& store_;
  std::optional<WorkClaim> claim_ = {};
  RunInputs inputs_;
};

}  // namespace

Result<std::vector<AllocatedScope>> allocate_whole_month(Store& store, LedgerMonth& month,
                                                         const RunSettings& rules) {
  std::vector<ClusterId> clusters = month.clusters();
  const auto no_cluster = std::ranges::find_if(clusters, &ClusterId::empty);
  const bool wants_other_scopes = no_cluster != clusters.end() && !rules.policy.spread.empty();
  if (no_cluster != clusters.end()) std::rotate(no_cluster, no_cluster + 1, clusters.end());
  std::vector<AllocatedScope> all;
  std::vector<DistributionInput::OtherScopeCost> other_scopes;
  const std::vector<PlannedScope> planned = month.planned();
  for (const ClusterId& cluster : clusters) {
    const auto claim = TRY(ScopeClaim::of(store, {cluster, month.name()}, rules, planned));
    std::optional<ClaimedWork> work;
    if (claim.is_claimed()) work.emplace(claim.work(rules.at));
    RunSettings settings = rules;
    settings.work = work ? &*work : nullptr;
    auto done = allocate_scope(store, month, cluster, settings, wants_other_scopes, other_scopes);
    if (!done) {
      claim.give_back(rules.at);
      return std::unexpected(
          done.error().during(fmt::format("cannot allocate {} {}", month.name(), cluster.text())));
    }
    all.push_back(std::move(*done));
  }
  return all;
}

}  // namespace pennyweight
