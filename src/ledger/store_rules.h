// Rules that every store follows in the same way, so that two stores of one ledger never disagree.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hash.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/delivery.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/posting.h"
#include "ledger/rejected_row.h"
#include "ledger/run.h"
#include "ledger/store.h"
#include "ledger/summary.h"

namespace pennyweight {

Hash128 content_hash(const Posting& posting);
Hash128 content_hash(const WorkloadDimensions& workload);
Hash128 content_hash(const RejectedRow& row);

// The fingerprint of a set: the sum of its members' fingerprints, so that members may come in any
// order and need not be sorted or stored.
class SetDigest {
 public:
  void add(const Hash128& member);
  void add(const SetDigest& other);
  void remove(const Hash128& member);  // REQUIRES: it was added
  Hash128 digest() const;

  // What a store saves to continue with the set later.
  std::uint64_t count() const { return count_; }
  Hash128 sum() const;
  static SetDigest of(std::uint64_t count, const Hash128& sum);

 private:
  std::uint64_t count_ = 0;
  UInt128 sum_ = 0;
};

// The order of postings: charge, component, day, node, GPU, workload, then every other field, so
// that only identical postings are equal.
bool comes_before(const Posting& a, const Posting& b);
// Orders by effective cost, the largest absolute value first; among equal ones by day, node and
// workload, then as comes_before(). Costs are equal here if they are so when rounded to 10^-12 of
// the currency: what a division can't divide evenly is given out in units of 10^-18, and who gets
// them depends on everybody who shares. The order of one tenant's postings must not tell.
bool is_larger(const Posting& a, const Posting& b);

// Whether two runs have the same policy, prices and time zone.
bool same_rules(const Run& a, const Run& b);
// Whether two runs say the same, so that the later one need not be saved.
bool is_same_run(const RunRecord& a, const RunRecord& b);
// Adds the dimensions of workloads to those of a run. An Error where a workload has others already.
Result<void> add_dimensions(std::map<WorkloadId, Labels>& dimensions,
                            std::span<const WorkloadDimensions> workloads);
Hash128 dimensions_digest(const std::map<WorkloadId, Labels>& dimensions);
inline constexpr const char* kNothingToKeep =
    "there is no current run of which a part could be kept; make a whole one";
inline constexpr const char* kOtherRules =
    "the policy, the prices or the time zone are not those of the current run, so nothing of it "
    "can be kept; make a whole run";

// Whether reading `a` of an attempt replaces reading `b`: the ended one wins, else the later one.
bool supersedes(const Holding& a, const Holding& b);

// Of facts about one node or GPU from one instant on, keeps the one with an end (end_keys.h). The
// order stays.
void keep_ended(std::vector<Node>& nodes);
void keep_ended(std::vector<Gpu>& gpus);

// The month in UTC that an instant falls in: "2026-03". A bill belongs to the month in which it
// begins.
std::string month_of(Instant at);
// The first day of the bucket that contains `day`. REQUIRES: not kNone.
std::chrono::sys_days bucket_of(std::chrono::sys_days day, TimeBucket bucket);
// Rows by bucket, then keys, then currency.
bool comes_before(const SummaryRow& a, const SummaryRow& b);
bool is_built_in_dimension(std::string_view name);

// Why a month can't be closed, allocated or closed again.
std::string month_is_closed(std::string_view month);
// An Error where there is nothing to close, or the postings do not add up.
Result<void> must_be_exact(std::string_view month, std::span<const ReconcileTotals> totals);
std::string replacement_is_incomplete(std::uint64_t rejected);
std::string invoice_exists(std::string_view number);

// The members of a closing's digest: its charges and runs, in any order.
Hash128 closing_member(const FactId& line);
Hash128 closing_member(const Run& run);

// The closed month that a correction would be booked in, if any; and why the correction is set
// aside.
template <class IsClosed>
std::optional<std::string> closed_month_of(const Correction& correction, const IsClosed& is_closed);
RejectedRow late_correction_row(std::string_view file, const Correction& correction,
                                std::string_view month);

// How many conflicts of an import are shown; all are counted.
inline constexpr std::size_t kConflictRowsShown = 100;
// What an import leaves in the list of imports.
ImportRecord import_record(const ImportSource& source, const ImportOutcome& outcome,
                           std::string statement);
// What the new facts of an import invalidate, without its charges.
std::vector<Invalidation> invalidations_by(const InvalidationCollector& collected,
                                           const ImportOutcome& outcome);
// Whether every line of such a delivery adds: it replaces nothing, and a file counts once.
bool adds_every_line(DeliveryStyle style);

// The totals of a currency, added where there are none yet. `totals` is sorted by currency.
Result<ReconcileTotals*> find_totals(std::string_view currency,
                                     std::vector<ReconcileTotals>& totals);

// Why a store refuses a session.
inline constexpr const char* kSessionIsOpen =
    "an import or a run is already open in this store; finish it first";
inline constexpr const char* kStoreIsReadOnly = "the store was opened to be read only";

// Why a fact was set aside; `difference` is what the fact's difference() returned.
RejectedRow conflict_row(std::string_view file, std::uint64_t line, std::string_view fact,
                         std::string_view difference);

template <class IsClosed>
std::optional<std::string> closed_month_of(const Correction& correction,
                                           const IsClosed& is_closed) {
  const std::string last = month_of(correction.during.end() - std::chrono::milliseconds(1));
  for (std::string month = month_of(correction.during.begin());; month = month_after(month)) {
    if (is_closed(month)) return month;
    if (month >= last) return std::nullopt;
  }
}

}  // namespace pennyweight
