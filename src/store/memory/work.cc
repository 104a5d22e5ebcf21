#include "store/memory/work.h"

#include <utility>

#include "ledger/keeping.h"

namespace pennyweight {
namespace {

std::uint64_t current_number(MemoryBook& book, const Scope& scope) {
  const KeptRun* current = current_run(book, scope);
  return current == nullptr ? 0 : current->run.number;
}

}  // namespace

WorkBook work_of(const MemoryBook& book) {
  WorkBook work;
  work.imports = book.imports.size();
  for (const auto& [scope, state] : book.claims) {
    ClaimState& claim = work.claims.emplace_back(state);
    const auto done = book.done.find(scope);
    claim.over =
        claim.over || (done != book.done.end() && done->second.claim == claim.claim.number);
  }
  for (const auto& [scope, done] : book.done) work.done.push_back(done);
  for (const auto& [month, plan] : book.plans) work.plans.push_back(plan);
  return work;
}

std::vector<Touched> touched_since(const MemoryBook& book, std::uint64_t after) {
  std::map<TouchedPlace, Touched> found;
  for (const auto& [number, places] : book.touched) {
    if (number <= after) continue;
    for (const TouchedPlace& place : places) {
      const Instant at = book.imports[number - 1].source.at;
      found.try_emplace(place, Touched{place, number, number, at}).first->second.last = number;
    }
  }
  std::vector<Touched> all;
  for (const auto& [place, touched] : found) all.push_back(touched);
  return all;
}

Result<std::optional<WorkClaim>> claim_work(MemoryBook& book, const ClaimAsked& asked) {
  if (book.is_closed(asked.scope.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(asked.scope.month));
  }
  const auto newest = book.claims.find(asked.scope);
  const std::uint64_t known = newest == book.claims.end() ? 0 : newest->second.claim.number;
  if (known != asked.known) return std::nullopt;
  const WorkClaim claim = {.number = ++book.claims_made,
                           .scope = asked.scope,
                           .worker = asked.worker,
                           .at = asked.at,
                           .lease = asked.lease,
                           .run = current_number(book, asked.scope)};
  book.claims[asked.scope] = {.claim = claim, .last_sign = asked.at};
  return claim;
}

void sign_work(MemoryBook& book, const WorkClaim& claim, Instant at, bool over) {
  const auto newest = book.claims.find(claim.scope);
  if (newest == book.claims.end() || newest->second.claim.number != claim.number) return;
  ++newest->second.signs;
  newest->second.last_sign = std::max(newest->second.last_sign, at);
  newest->second.over = newest->second.over || over;
}

Result<void> check_claim(MemoryBook& book, const WorkClaim& claim) {
  const auto newest = book.claims.find(claim.scope);
  if (newest == book.claims.end() || newest->second.claim.number != claim.number) {
    const WorkClaim none;
    return fail(ErrorCode::kConflict,
                claim_is_lost(claim, newest == book.claims.end() ? none : newest->second.claim));
  }
  const std::uint64_t current = current_number(book, claim.scope);
  if (current != claim.run) return fail(ErrorCode::kConflict, run_came_between(claim, current));
  return {};
}

void keep_done(MemoryBook& book, WorkDone done, std::uint64_t run) {
  done.run = run;
  book.done[done.scope] = std::move(done);
}

}  // namespace pennyweight
