#include "app/allocate_month.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "app/reversals.h"
#include "app/version.h"
#include "ledger/keeping.h"
#include "questions/telemetry.h"

namespace pennyweight {
namespace {

// What a run over some of the bill lines does with the others.
struct Kept {
  std::vector<FactId> left_out;   // ids whose postings are made anew, or belong here no more
  std::vector<Posting> postings;  // that stay, where they are needed for distribution
  std::vector<WorkloadDimensions> dimensions;
};

// Every id that the current run posts under, counted out by the engine.
Result<std::vector<FactId>> ids_in(Store& store, const Scope& scope) {
  const auto rows = store.summarise(
      {.group_by = {"charge"},
       .filters = {{"cluster", {scope.cluster.text()}, false}, {"month", {scope.month}, false}}});
  if (!rows) return std::unexpected(rows.error());
  std::vector<FactId> ids;
  for (const SummaryRow& row : *rows) {
    const auto hash = parse_hash(row.keys[0]);
    CHECK(hash, "an id reads back");
    ids.push_back({*hash});
  }
  return ids;
}

Result<Kept> keep(Store& store, const Scope& scope, const std::vector<Charge>& charges,
                  const Interval& changed, bool postings_wanted) {
  std::set<FactId> stay;
  Kept kept;
  for (const Charge& charge : charges) {
    // What takes a line back is posted whole, whenever it was.
    if (charge.takes_back || charge.charge_period.overlap(changed)) {
      kept.left_out.push_back(charge.id);
    } else {
      stay.insert(charge.id);
    }
  }
  // Transfers are made anew, and bill lines may have moved to another cluster since.
  const auto ids = ids_in(store, scope);
  if (!ids) return std::unexpected(ids.error());
  std::ranges::copy_if(*ids, std::back_inserter(kept.left_out),
                       [&](const FactId& id) { return !stay.contains(id); });
  if (!postings_wanted) return kept;

  const auto scanned = store.scan_postings(scope, [&](std::span<const Posting> batch) {
    std::ranges::copy_if(batch, std::back_inserter(kept.postings),
                         [&](const Posting& posting) { return stay.contains(posting.charge); });
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  auto dimensions = store.dimensions_of(scope);
  if (!dimensions) return std::unexpected(dimensions.error());
  std::set<WorkloadId> held;
  for (const Posting& posting : kept.postings) held.insert(posting.workload);
  std::ranges::copy_if(
      *dimensions, std::back_inserter(kept.dimensions),
      [&](const WorkloadDimensions& entry) { return held.contains(entry.workload); });
  return kept;
}

// The dimensions of both; of a workload of both, those of the first.
std::vector<WorkloadDimensions> merged(const std::vector<WorkloadDimensions>& kept,
                                       const std::vector<WorkloadDimensions>& made) {
  std::vector<WorkloadDimensions> all;
  std::ranges::set_union(kept, made, std::back_inserter(all), {}, &WorkloadDimensions::workload,
                         &WorkloadDimensions::workload);
  return all;
}

Result<std::unique_ptr<RunSession>> begin(Store& store, const Run& run, const ClaimedWork* work) {
  if (work == nullptr) return store.begin_run(run);
  const auto now = work->before_keeping();
  if (!now) return std::unexpected(now.error());
  return store.begin_claimed_run(run, work->claim,
                                 {.claim = work->claim.number,
                                  .scope = run.scope,
                                  .run = 0,
                                  .seen = work->seen,
                                  .began = work->began,
                                  .at = *now});
}

Result<Run> commit(Store& store, const Run& run, const ClaimedWork* work, const Kept* kept,
                   const Allocation& allocation, const Distribution& distribution) {
  auto session = begin(store, run, work);
  if (!session) return std::unexpected(session.error());
  Result<void> done;
  if (kept != nullptr) done = (*session)->keep_previous_except(kept->left_out);
  if (done) done = (*session)->append_postings(allocation.postings);
  if (done) done = (*session)->append_postings(distribution.transfers);
  if (done) done = (*session)->append_dimensions(allocation.dimensions);
  if (done) done = (*session)->append_dimensions(distribution.dimensions);
  if (!done) return std::unexpected(done.error());
  return (*session)->commit();
}

void add_moved(const Distribution& distribution, AllocatedScope& scope) {
  for (const Posting& posting : distribution.transfers) {
    const Money& cost = posting.costs.effective;
    Money& moved =
        scope.moved.try_emplace(cost.currency(), Money::zero(cost.currency())).first->second;
    if (!cost.is_negative()) moved += cost;
  }
}

// What the run says as it stands in the ledger. Transfers are of no bill line, so of no category.
Result<void> add_summary(Store& store, AllocatedScope& scope) {
  const auto rows =
      store.summarise({.group_by = {"kind"},
                       .filters = {{"cluster", {scope.run.scope.cluster.text()}, false},
                                   {"month", {scope.run.scope.month}, false},
                                   {"category", {""}, true}}});
  if (!rows) return std::unexpected(rows.error());
  for (const SummaryRow& row : *rows) {
    const auto kind = parse_posting_kind(row.keys[0]);
    CHECK(kind, "the ledger knows its kinds");
    const Money& cost = row.costs.effective;
    scope.effective[cost.currency()].emplace(*kind, cost);
    scope.gpu_time += row.gpu_time;
    scope.observed_time += row.observed_time;
  }
  return {};
}

bool has_rules_for_distribution(const Policy& policy) {
  return std::ranges::any_of(policy.spread,
                             [](const SpreadRule& rule) { return rule.how != Spread::kKeep; });
}

}  // namespace

Result<AllocatedScope> allocate_scope(Store& store, LedgerMonth& month, const ClusterId& cluster,
                                      const ScopeRules& rules, bool elsewhere_wanted,
                                      std::vector<DistributionInput::Elsewhere>& elsewhere) {
  auto facts = month.facts_of(store, cluster);
  if (!facts) return std::unexpected(facts.error());
  const std::vector<Charge> reversals = take_reversals(facts->charges);
  const auto reversed = postings_of_reversals(store, reversals);
  if (!reversed) return std::unexpected(reversed.error());
  AllocatedScope done{.run = {.scope = {cluster, month.name()},
                              .policy = rules.policy.text(),
                              .policy_version = rules.policy.version(),
                              .catalog_version = rules.catalog.version(),
                              .time_zone = rules.policy.time_zone.name(),
                              .program_version = kProgramVersion,
                              .at = rules.at,
                              .postings_digest = {}},
                      .lines = facts->charges.size() + reversals.size(),
                      .effective = {},
                      .moved = {},
                      .gpu_time = {},
                      .observed_time = {},
                      .notes = {}};
  const Run* before = month.current_run(done.run.scope);
  std::optional<Interval> changed = rules.changed;
  if (changed && (before == nullptr || !same_rules(*before, done.run))) {
    done.notes.emplace_back(
        "divided as a whole: there is no current run of the same policy, prices and time zone");
    changed.reset();
  }
  SeenSource seen;
  if (!cluster.empty()) seen = telemetry_of(store, cluster, facts->gpus, rules.policy.usage);
  auto allocation = allocate({.cluster = cluster,
                              .charges = facts->charges,
                              .nodes = facts->nodes,
                              .gpus = facts->gpus,
                              .holdings = facts->holdings,
                              .outages = facts->outages,
                              .policy = rules.policy,
                              .catalog = rules.catalog,
                              .threads = rules.threads,
                              .seen = std::move(seen),
                              .changed = changed,
                              .join_rules = rules.join_rules});
  if (!allocation) return std::unexpected(allocation.error());
  allocation->postings.insert(allocation->postings.end(), reversed->postings.begin(),
                              reversed->postings.end());
  // Whom this month's rules know is told by them.
  allocation->dimensions = merged(allocation->dimensions, reversed->dimensions);
  facts->charges.insert(facts->charges.end(), reversals.begin(), reversals.end());
  for (const AllocationNote& note : allocation->notes) {
    done.notes.push_back(fmt::format("{} ({} times)", note.what, note.count));
  }

  const bool distributes = has_rules_for_distribution(rules.policy) || !facts->corrections.empty();
  std::optional<Kept> kept;
  if (changed) {
    auto found =
        keep(store, done.run.scope, facts->charges, *changed, distributes || elsewhere_wanted);
    if (!found) return std::unexpected(found.error());
    kept = std::move(*found);
    // What is made anew joins what stays, to be distributed together.
    kept->postings.insert(kept->postings.end(), allocation->postings.begin(),
                          allocation->postings.end());
    kept->dimensions = merged(kept->dimensions, allocation->dimensions);
  }
  const auto& postings = kept ? kept->postings : allocation->postings;
  const auto& dimensions = kept ? kept->dimensions : allocation->dimensions;
  std::span<const DistributionInput::Elsewhere> of_others;
  if (cluster.empty()) of_others = elsewhere;
  Distribution distribution;
  if (distributes) {
    distribution = distribute({.cluster = cluster,
                               .month = month.name(),
                               .postings = postings,
                               .dimensions = dimensions,
                               .nodes = facts->nodes,
                               .charges = facts->charges,
                               .corrections = facts->corrections,
                               .elsewhere = of_others,
                               .policy = rules.policy});
  }
  if (elsewhere_wanted && !cluster.empty()) {
    std::ranges::move(owners_of(postings, dimensions), std::back_inserter(elsewhere));
  }
  std::ranges::copy(distribution.notes, std::back_inserter(done.notes));

  const auto committed =
      commit(store, done.run, rules.work, kept ? &*kept : nullptr, *allocation, distribution);
  if (!committed) {
    return std::unexpected(
        kept ? committed.error().during("the rest of the run can't be kept (allocate it without "
                                        "--changed)")
             : committed.error());
  }
  done.unchanged = before != nullptr && before->number == committed->number;
  done.run = *committed;
  add_moved(distribution, done);
  if (const auto added = add_summary(store, done); !added) return std::unexpected(added.error());
  return done;
}

Result<std::vector<DistributionInput::Elsewhere>> elsewhere_in(Store& store,
                                                               const LedgerMonth& month) {
  using Elsewhere = DistributionInput::Elsewhere;
  std::vector<Elsewhere> all;
  for (const ClusterId& cluster : month.clusters()) {
    if (cluster.empty()) continue;
    std::unordered_set<FactId, FactIdHash> lines;  // what is of none of them is a transfer
    for (const Charge& charge : month.lines_of(cluster)) lines.insert(charge.id);
    const auto dimensions = store.dimensions_of({cluster, month.name()});
    if (!dimensions) return std::unexpected(dimensions.error());
    // In the order in which owners_of() gives them.
    std::map<std::tuple<Labels, std::chrono::sys_days, Component, Currency>, Elsewhere> sums;
    std::vector<Posting> postings;
    const auto scanned =
        store.scan_postings({cluster, month.name()}, [&](std::span<const Posting> batch) {
          postings.clear();
          std::ranges::copy_if(batch, std::back_inserter(postings), [&](const Posting& posting) {
            return lines.contains(posting.charge);
          });
          for (Elsewhere& paid : owners_of(postings, *dimensions)) {
            const auto [sum, is_new] = sums.try_emplace(
                {paid.owner, paid.day, paid.component, paid.effective.currency()}, paid);
            if (is_new) continue;
            sum->second.effective += paid.effective;
            sum->second.gpu_time += paid.gpu_time;
            sum->second.memory_time += paid.memory_time;
          }
          return true;
        });
    if (!scanned) return std::unexpected(scanned.error());
    for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  }
  return all;
}

Result<std::vector<AllocatedScope>> allocate_whole_month(Store& store, LedgerMonth& month,
                                                         const ScopeRules& rules) {
  std::vector<ClusterId> clusters = month.clusters();
  const auto no_cluster = std::ranges::find_if(clusters, &ClusterId::empty);
  const bool elsewhere_wanted = no_cluster != clusters.end() && !rules.policy.spread.empty();
  if (no_cluster != clusters.end()) std::rotate(no_cluster, no_cluster + 1, clusters.end());
  std::vector<AllocatedScope> all;
  std::vector<DistributionInput::Elsewhere> elsewhere;
  for (const ClusterId& cluster : clusters) {
    auto done = allocate_scope(store, month, cluster, rules, elsewhere_wanted, elsewhere);
    if (!done) {
      return std::unexpected(
          done.error().during(fmt::format("cannot allocate {} {}", month.name(), cluster.text())));
    }
    all.push_back(std::move(*done));
  }
  return all;
}

}  // namespace pennyweight
