// Keeping: what every keeper of the ledger must do alike, so that two of them never disagree.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/hash.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/delivery.h"
#include "ledger/holding.h"
#include "ledger/posting.h"
#include "ledger/rejected_row.h"
#include "ledger/run.h"
#include "ledger/store.h"
#include "ledger/summary.h"

namespace pennyweight {

Hash128 content_hash(const Posting& posting);
Hash128 content_hash(const WorkloadDimensions& workload);
Hash128 content_hash(const RejectedRow& row);

// The fingerprint of a collection in which order means nothing: the sum of the members'
// fingerprints, so that members may come in any order and are never sorted or kept.
class SetDigest {
 public:
  void add(const Hash128& member);
  void add(const SetDigest& other);
  void remove(const Hash128& member);  // REQUIRES: it was added
  Hash128 digest() const;

  // What a keeper writes down to go on with the set later.
  std::uint64_t count() const { return count_; }
  Hash128 sum() const;
  static SetDigest of(std::uint64_t count, const Hash128& sum);

 private:
  std::uint64_t count_ = 0;
  UInt128 sum_ = 0;
};

// The order of a charge's postings: component, day, node, gpu, workload, then every other field, so
// that equal ones are the same. Postings of several charges come by charge first.
bool comes_before(const Posting& a, const Posting& b);
// The largest effective cost first, whatever its sign; among equals by day, node and workload; then
// as comes_before.
bool is_larger(const Posting& a, const Posting& b);

// Whether two runs divide by the same policy, prices and days.
bool same_rules(const Run& a, const Run& b);
inline constexpr const char* kNothingToKeep =
    "there is no current run of which a part could be kept; make a whole one";
inline constexpr const char* kOtherRules =
    "the policy, the prices or the time zone are not those of the current run, so nothing of it "
    "can be kept; make a whole run";

// Of two readings of one attempt: the ended one, else the later reading.
bool supersedes(const Holding& a, const Holding& b);

// The month, in UTC, in which an instant falls: "2026-03". Bills are named by where they begin.
std::string month_of(Instant at);
// The first day of the bucket. REQUIRES: not kNone.
std::chrono::sys_days bucket_of(std::chrono::sys_days day, TimeBucket bucket);
// Rows by bucket, then keys, then currency.
bool comes_before(const SummaryRow& a, const SummaryRow& b);
bool is_built_in_dimension(std::string_view name);

// Why a month can't be closed, allocated or closed again.
std::string month_is_closed(std::string_view month);
// An error where there is nothing to close, or something does not add up.
Result<void> must_be_exact(std::string_view month, std::span<const ReconcileTotals> totals);
std::string replacement_is_incomplete(std::uint64_t rejected);
std::string invoice_exists(std::string_view number);

// The digest of a closing: of its lines and runs, in any order.
Hash128 closing_member(const FactId& line);
Hash128 closing_member(const Run& run);

// The closed month in which a correction would be booked, if any; and why it is kept aside.
template <class IsClosed>
std::optional<std::string> closed_month_of(const Correction& correction, const IsClosed& is_closed);
RejectedRow late_correction_row(std::string_view file, const Correction& correction,
                                std::string_view month);

// Why a fact was kept aside: `difference` as the fact's own difference() says it.
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
