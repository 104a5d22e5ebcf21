#include "testing/memory_store/work.h"

#include <utility>

#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

std::uint64_t current_number(MemoryLedger& ledger, const Scope& scope) {
  const StoredRun* current = current_run(ledger, scope);
  return current == nullptr ? 0 : current->run.number;
}

}  // namespace

WorkRecords work_records_of(const MemoryLedger& ledger) {
  WorkRecords work;
  work.imports = ledger.imports.size();
  for (const auto& [scope, state] : ledger.claims) {
    ClaimState& claim = work.claims.emplace_back(state);
    const auto done = ledger.done.find(scope);
    claim.is_over =
        claim.is_over || (done != ledger.done.end() && done->second.claim == claim.claim.number);
  }
  for (const auto& [scope, done] : ledger.done) work.done.push_back(done);
  for (const auto& [month, plan] : ledger.plans) work.plans.push_back(plan);
  return work;
}

std::vector<InvalidatedScope> invalidated_since(const MemoryLedger& ledger, std::uint64_t after) {
  std::map<Invalidation, InvalidatedScope> found;
  for (const auto& [number, invalidations] : ledger.invalidated) {
    if (number <= after) continue;
    const Instant at = ledger.imports[number - 1].source.at;
    for (const Invalidation& invalidation : invalidations) {
      const InvalidatedScope scope = {invalidation, number, number, at};
      found.try_emplace(invalidation, scope).first->second.last_import = number;
    }
  }
  std::vector<InvalidatedScope> all;
  for (const auto& [invalidation, scope] : found) all.push_back(scope);
  return all;
}

Result<std::optional<WorkClaim>> claim_work(MemoryLedger& ledger, const ClaimRequest& request) {
  if (ledger.is_closed(request.scope.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(request.scope.month));
  }
  const auto newest = ledger.claims.find(request.scope);
  const std::uint64_t known = newest == ledger.claims.end() ? 0 : newest->second.claim.number;
  if (known != request.newest_known) return std::nullopt;
  const WorkClaim claim = {.number = ++ledger.claims_made,
                           .scope = request.scope,
                           .worker = request.worker,
                           .at = request.at,
                           .lease = request.lease,
                           .run = current_number(ledger, request.scope)};
  ledger.claims[request.scope] = {.claim = claim, .last_heartbeat = request.at};
  return claim;
}

void record_heartbeat(MemoryLedger& ledger, const WorkClaim& claim, Instant at, bool over) {
  const auto newest = ledger.claims.find(claim.scope);
  if (newest == ledger.claims.end() || newest->second.claim.number != claim.number) return;
  ++newest->second.heartbeats;
  newest->second.last_heartbeat = std::max(newest->second.last_heartbeat, at);
  newest->second.is_over = newest->second.is_over || over;
}

Result<void> check_claim(MemoryLedger& ledger, const WorkClaim& claim) {
  const auto newest = ledger.claims.find(claim.scope);
  if (newest == ledger.claims.end() || newest->second.claim.number != claim.number) {
    const WorkClaim none;
    return fail(
        ErrorCode::kConflict,
        claim_lost_message(claim, newest == ledger.claims.end() ? none : newest->second.claim));
  }
  const std::uint64_t current = current_number(ledger, claim.scope);
  if (current != claim.run)
    return fail(ErrorCode::kConflict, run_superseded_message(claim, current));
  return {};
}

void save_completion(MemoryLedger& ledger, WorkCompletion done, std::uint64_t run) {
  done.run = run;
  ledger.done[done.scope] = std::move(done);
}

}  // namespace pennyweight
