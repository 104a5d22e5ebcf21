// Store: where a ledger is stored. The interface is coarse, so that the database does the heavy
// work.
//
// Every store guarantees, and testing/store_contract tests, that
//   - an import is all or nothing, a run is all or nothing, and what commit() acknowledged survives
//     kill -9;
//   - the same facts in any order and any number of times give the same ledger;
//   - scans and summaries come in a stable order that does not depend on insertion order;
//   - sums are exact.
// One thread at a time uses a Store. At most one session is open at a time. A session that is
// destroyed without commit() leaves nothing behind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/charge.h"
#include "ledger/closing.h"
#include "ledger/correction.h"
#include "ledger/delivery.h"
#include "ledger/holding.h"
#include "ledger/issued_invoice.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/outcome.h"
#include "ledger/posting.h"
#include "ledger/rejected_row.h"
#include "ledger/run.h"
#include "ledger/summary.h"
#include "ledger/usage.h"
#include "ledger/work.h"

namespace pennyweight {

struct ImportSource {
  std::string format;                             // "focus", "slurm", "openb", "nodes", …
  std::string name;                               // the file, as given
  Hash128 file_hash;                              // of its bytes; {} where the caller computed none
  Instant at;                                     // the time of the import
  DeliveryStyle style = DeliveryStyle::kGuarded;  // of charges
  std::string reason = {};                        // why it was sent again, as a person wrote it
};

// What an import is committed with, beyond its facts.
struct CommitTerms {
  // Further scopes (ledger/delivery.h) that a replacement replaces, although no charge of it has
  // them: what an earlier version of the same export held and this one no longer does.
  std::vector<std::string> also_replaced = {};
  // Kept with the import, word for word: the statement of a bill (ledger/bill_statement.h).
  std::string statement = {};
  // A replacement with rejected rows is refused, since what they say would be retired. True: its
  // caller has told how much money that is.
  bool accepts_rejected = false;
};

struct FactCounts {
  std::uint64_t created = 0;
  std::uint64_t existing = 0;   // already in the ledger
  std::uint64_t repeated = 0;   // charges only: identical ones within this import, all stored
  std::uint64_t conflicts = 0;  // set aside as rejected rows
};

// What an import changed of the bill in the ledger.
struct Restated {
  std::uint64_t removed = 0;   // charges retired from the accounts of an open month
  std::uint64_t reversed = 0;  // charges of closed months, reversed in an open one
  std::uint64_t late = 0;      // charges of closed months, booked in an open one
  bool operator==(const Restated&) const = default;
};

struct ImportOutcome {
  std::uint64_t number = 0;  // of the import: 1, 2, …
  FactCounts charges, holdings, nodes, gpus, usages, outages, corrections, outcomes;
  Restated restated;           // of charges
  bool known_file = false;     // of style delta or ledger: imported before, adds nothing
  std::uint64_t rejected = 0;  // rows set aside, conflicts included
  std::vector<RejectedRow> conflict_rows;  // the first 100, for messages
};

// Writes the facts of one file. The append functions may be called in any order, any number of
// times. Conflicts are found at commit(): the conflicting fact is set aside as a RejectedRow whose
// reason says what differs, the ledger keeps the first version, and everything else is committed.
//
// Charges have no id in the file, so identical ones are told apart by counting. A guarded delivery
// of charges with one natural key conflicts exactly when it brings a content that the ledger does
// not have and leaves out one that it has. A replacement retires what it leaves out of its scopes;
// see ledger/delivery.h. The commit refuses a replacement with a rejected row, whose charge would
// be retired, unless CommitTerms::accepts_rejected.
//
// A charge whose billing month is closed is booked in the first open month after it.
class ImportSession {
 public:
  virtual ~ImportSession() = default;
  virtual Result<void> append_charges(std::span<const Charge> charges) = 0;
  virtual Result<void> append_holdings(std::span<const Holding> holdings) = 0;
  virtual Result<void> append_nodes(std::span<const Node> nodes) = 0;
  virtual Result<void> append_gpus(std::span<const Gpu> gpus) = 0;
  virtual Result<void> append_usages(std::span<const Usage> usages) = 0;
  virtual Result<void> append_outages(std::span<const Outage> outages) = 0;
  virtual Result<void> append_corrections(std::span<const Correction> corrections) = 0;
  virtual Result<void> append_outcomes(std::span<const Outcome> outcomes) = 0;
  // At most limits::kRejectedRowsKeptMax are stored; all are counted.
  virtual Result<void> append_rejected(std::span<const RejectedRow> rows) = 0;
  virtual Result<ImportOutcome> commit_on(const CommitTerms& terms) = 0;
  Result<ImportOutcome> commit() { return commit_on({}); }
};

class RunSession {
 public:
  virtual ~RunSession() = default;
  virtual Result<void> append_postings(std::span<const Posting> postings) = 0;
  virtual Result<void> append_dimensions(std::span<const WorkloadDimensions> workloads) = 0;
  // Copies from the scope's current run every posting whose charge or transfer is not among
  // `charges`, and the dimensions of their workloads. Together with what is appended for `charges`
  // they make the same run as a full allocation would, digest included. In a file DuckDB copies
  // them, and only the postings that are left out pass through the program; on ClickHouse, where a
  // copy within the server could not be repeated safely, all of them do. At most once in a session.
  // An Error where the scope has no current run, or one with another policy, catalog or time zone.
  virtual Result<void> keep_previous_except(std::span<const FactId> charges) = 0;
  // Makes this the current run of its scope. Where policy, catalog, time zone, dimensions and
  // postings are those of the current run, nothing changes and the current run is returned.
  virtual Result<Run> commit() = 0;
};

struct ImportRecord {
  std::uint64_t number = 0;
  ImportSource source;
  std::uint64_t charges = 0, holdings = 0, nodes = 0, gpus = 0, usages = 0;  // created
  std::uint64_t outages = 0, corrections = 0, outcomes = 0;
  std::uint64_t rejected = 0;
  Restated restated;
  std::string statement =
      {};  // CommitTerms::statement; empty: of no bill, or of an earlier program
};

// One charge beside the sum of its postings in the current runs.
struct LineCheck {
  Charge charge;
  Costs posted;
  std::uint64_t postings = 0;
  bool exact() const { return postings > 0 && posted == charge.costs; }
};

// Postings of current runs whose id is not a charge's are transfers (ledger/posting.h); those of
// one id sum to zero.
struct ReconcileTotals {
  Costs billed_lines;  // the sum of the charges of one currency
  Costs posted;        // the sum of their postings, without transfers
  std::uint64_t lines = 0;
  std::uint64_t lines_off = 0;       // charges whose postings do not add up to them
  std::uint64_t lines_unposted = 0;  // among them those without any posting: never allocated
  std::uint64_t transfers = 0;       // of this currency, in runs of the month
  std::uint64_t transfers_off = 0;   // that do not sum to zero in all four costs
  // Posted in current runs of the month, and since retired by a delivery: allocate again.
  std::uint64_t lines_gone = 0;
  bool exact() const { return lines_off == 0 && transfers_off == 0 && lines_gone == 0; }
};

// How many facts of each kind there are, and which clusters and months they cover.
struct StoreOverview {
  std::uint64_t charges = 0, holdings = 0, nodes = 0, gpus = 0, usages = 0, outages = 0;
  std::uint64_t corrections = 0, outcomes = 0, postings = 0;
  std::uint64_t imports = 0, rejected = 0;
  std::vector<std::string> clusters;  // of nodes, holdings and outcomes, sorted
  std::vector<std::string> months;    // of charges, sorted
};

// How much of each sample a scan returns.
enum class UsageDetail {
  kShares,  // what decides shares of cost: activity, memory, their times and workloads
  kAll,
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::unique_ptr<ImportSession>> begin_import(const ImportSource& source) = 0;
  // An Error where the month of its scope is closed.
  virtual Result<std::unique_ptr<RunSession>> begin_run(const Run& run) = 0;

  // Work that several programs share (ledger/work.h).
  virtual Result<WorkRecords> work_records() = 0;
  // What imports after number `after` invalidated, each scope once, in order.
  virtual Result<std::vector<InvalidatedScope>> invalidated_scopes(std::uint64_t after) = 0;
  // Nothing where another worker has claimed the scope since. An Error where its month is closed.
  virtual Result<std::optional<WorkClaim>> claim_work(const ClaimRequest& request) = 0;
  // Tells other workers that this one is alive.
  virtual Result<void> renew_claim(const WorkClaim& claim, Instant at) = 0;
  // Gives the scope back at once. A claim that is over or lost stays as it is.
  virtual Result<void> release_claim(const WorkClaim& claim, Instant at) = 0;
  virtual Result<void> save_plan(const WorkPlan& plan) = 0;
  // A run that belongs to a claim. Its commit() is an Error of kConflict, and saves nothing, where
  // the claim is not the newest of its scope, or another run of the scope was saved since the
  // claim. It saves `done` with the run, even where the run equals the current one. REQUIRES: the
  // run is of the claim's scope; `done` is of the claim.
  virtual Result<std::unique_ptr<RunSession>> begin_claimed_run(const Run& run,
                                                                const WorkClaim& claim,
                                                                const WorkCompletion& done) = 0;

  // Scans pass batches to a sink, which returns false to stop. The order is: charges by id;
  // holdings by (begin, cluster, workload, attempt), each attempt once, as ended or else by its
  // latest reading; nodes by (cluster, name, from); GPUs by (cluster, node, index, uuid, from).
  using ChargeSink = std::function<bool(std::span<const Charge>)>;
  using HoldingSink = std::function<bool(std::span<const Holding>)>;
  using PostingSink = std::function<bool(std::span<const Posting>)>;
  using UsageSink = std::function<bool(std::span<const Usage>)>;
  using OutcomeSink = std::function<bool(std::span<const Outcome>)>;
  // The charges booked in `month` ("2026-03"; empty: all): those whose billing period begins in it,
  // in UTC, unless they came after it was closed. Without those that a delivery retired while the
  // month was open.
  virtual Result<void> scan_charges(const std::string& month, const ChargeSink& sink) = 0;
  // Holdings of a cluster that overlap an interval.
  virtual Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                                     const HoldingSink& sink) = 0;
  virtual Result<std::vector<Node>> nodes() = 0;
  virtual Result<std::vector<Gpu>> gpus() = 0;
  // The usage of a cluster at an instant of an interval, by (gpu, mig_instance, workload, at, span,
  // part). It is made for millions of rows: they are streamed, in memory that depends only on the
  // samples of one GPU, and without `id` and `source`. All samples of a GPU come in one batch.
  virtual Result<void> scan_usage(const ClusterId& cluster, const Interval& during,
                                  UsageDetail detail, const UsageSink& sink) = 0;
  // Outcomes of a cluster that begin in an interval, by (begin, id).
  virtual Result<void> scan_outcomes(const ClusterId& cluster, const Interval& during,
                                     const OutcomeSink& sink) = 0;
  // The facts of a cluster that overlap an interval: outages by (node, gpu, begin), corrections by
  // name.
  virtual Result<std::vector<Outage>> outages(const ClusterId& cluster, const Interval& during) = 0;
  virtual Result<std::vector<Correction>> corrections(const ClusterId& cluster,
                                                      const Interval& during) = 0;

  virtual Result<std::optional<Charge>> find_charge(const FactId& id) = 0;
  virtual Result<std::optional<Holding>> find_holding(const FactId& id) = 0;
  // Postings of current runs, by charge id; ordered by (component, day, node, gpu, workload, …).
  virtual Result<std::vector<Posting>> postings_of(const FactId& charge) = 0;
  // All postings of a scope's current run, by charge, then as postings_of; nothing where there is
  // no run.
  virtual Result<void> scan_postings(const Scope& scope, const PostingSink& sink) = 0;
  // The dimensions that label rules gave to the workloads of a scope's current run, by workload.
  virtual Result<std::vector<WorkloadDimensions>> dimensions_of(const Scope& scope) = 0;
  // The postings of current runs with the largest effective cost within a summary row, without the
  // first `skipped`. The order is total, so pages of a listing neither overlap nor leave any out.
  virtual Result<std::vector<Posting>> largest_postings(const SummaryQuery& query,
                                                        std::uint64_t at_most,
                                                        std::uint64_t skipped = 0) = 0;

  virtual Result<std::vector<Run>> runs() = 0;  // by scope, then number
  virtual Result<std::vector<ImportRecord>> imports() = 0;
  // The records of a few imports, by number, each once; numbers that no import has are left out.
  virtual Result<std::vector<ImportRecord>> imports_numbered(
      std::span<const std::uint64_t> numbers) = 0;
  // The largest number of an import that was made at `at` or before; 0: there is none.
  virtual Result<std::uint64_t> last_import_until(Instant at) = 0;
  virtual Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) = 0;
  virtual Result<StoreOverview> overview() = 0;

  // Closes a month for good. An Error where it is closed already, or the postings of a charge that
  // is booked in it do not add up to the charge.
  virtual Result<Closing> close_month(const Closing& closing) = 0;
  virtual Result<std::vector<Closing>> closings() = 0;  // by month
  // The charges of a billing month (empty: all) that deliveries retired or reversed; by import,
  // then id.
  virtual Result<std::vector<RetiredCharge>> retired_charges(const std::string& month) = 0;
  // The charges of a billing month (empty: all) that came with a delivery that retired charges,
  // after a charge of the same natural key was retired (it comes back), or after the month was
  // closed, whichever month they are booked in; without reversals. By import, then id.
  virtual Result<std::vector<Charge>> restated_charges(const std::string& month) = 0;

  // All or nothing. An Error where a number was issued with another document.
  virtual Result<void> issue_invoices(std::span<const IssuedInvoice> invoices) = 0;
  virtual Result<std::vector<IssuedInvoice>> issued_invoices() = 0;  // by number

  // Rows by bucket, then keys, then currency. Unknown dimensions give "" (no error).
  virtual Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) = 0;
  // The same rows in batches and in no order, for answers too large for memory: a copy of all sums
  // asks for every dimension at once.
  using SummarySink = std::function<bool(std::span<const SummaryRow>)>;
  virtual Result<void> scan_summary(const SummaryQuery& query, const SummarySink& sink) = 0;

  // Each charge of the month (empty: all) beside its postings, by charge id; totals by currency.
  using LineSink = std::function<bool(const LineCheck&)>;
  virtual Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                         const LineSink& sink) = 0;
};

}  // namespace pennyweight
