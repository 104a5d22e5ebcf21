// Store: where the ledger is kept. Coarse on purpose, so that heavy work happens in the engine.
//
// Promises of every keeper (store/contract holds them to it):
//   - an import is all or nothing, a run is all or nothing, and what commit() acknowledged survives
//     kill -9;
//   - the same facts in any order and any number of times give the same ledger;
//   - scans and summaries come in a stable order that does not depend on insertion order;
//   - sums are exact.
// One Store object is used by one thread at a time. At most one session is open at a time. A
// session that is destroyed without commit() leaves no trace.
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
  std::string format;  // "focus", "slurm", "openb", "nodes", …
  std::string name;    // the file, as given
  Hash128 file_hash;   // of its bytes; {} where the caller did not take one
  Instant at;          // when it is imported
  DeliveryStyle style = DeliveryStyle::kGuarded;  // of bill lines
  std::string reason = {};                        // why it was sent again, in somebody's words
};

struct FactCounts {
  std::uint64_t created = 0;
  std::uint64_t existing = 0;   // the same fact was there already
  std::uint64_t repeated = 0;   // charges only: identical lines within this import, each kept
  std::uint64_t conflicts = 0;  // kept aside as rejected rows
};

// What an import changed of the bill that was there.
struct Restated {
  std::uint64_t removed = 0;   // lines that left the accounts of an open month
  std::uint64_t reversed = 0;  // lines of closed months, taken back in an open one
  std::uint64_t late = 0;      // lines of closed months, booked in an open one
  bool operator==(const Restated&) const = default;
};

struct ImportOutcome {
  std::uint64_t number = 0;  // of the import: 1, 2, …
  FactCounts charges, holdings, nodes, gpus, usages, outages, corrections, outcomes;
  Restated restated;                       // of charges
  bool known_file = false;                 // of style delta or ledger: taken before, adds nothing
  std::uint64_t rejected = 0;              // rows kept aside in all, conflicts among them
  std::vector<RejectedRow> conflict_rows;  // the first 100, for messages
};

// Facts of one file on their way in. append_* may be called in any order, any number of times.
// Conflicts are found at commit(): the conflicting fact is kept aside as a RejectedRow whose reason
// says what differs, the ledger keeps the first version, and everything else is committed.
//
// Charges have no id in the file, so identical lines are told apart by counting. A guarded delivery
// of lines under one natural key conflicts exactly when it brings a content that the ledger does
// not have while leaving out one that it has; a replacement takes what it leaves out of its scope
// back; see ledger/delivery.h. A replacement with a rejected row is refused at commit(): what it
// could not say would be taken for gone.
//
// A line whose billing month is closed is booked in the first open month after it.
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
  // At most limits::kRejectedRowsKeptMax are kept; all are counted.
  virtual Result<void> append_rejected(std::span<const RejectedRow> rows) = 0;
  virtual Result<ImportOutcome> commit() = 0;
};

class RunSession {
 public:
  virtual ~RunSession() = default;
  virtual Result<void> append_postings(std::span<const Posting> postings) = 0;
  virtual Result<void> append_dimensions(std::span<const WorkloadDimensions> workloads) = 0;
  // Takes over from the current run of the scope every posting whose charge, or transfer, is not
  // among `charges`, and the dimensions of the workloads in them. Together with what is appended
  // for `charges` they make the run that a full one would make, digest included. In a file the
  // engine copies them, and only what is left out passes through the program; on ClickHouse, where
  // a copy within the engine can't be sent again until it certainly arrived, all of it does. At
  // most once in a session. An error where the scope has no current run, or one of another policy,
  // catalog or time zone.
  virtual Result<void> keep_previous_except(std::span<const FactId> charges) = 0;
  // Makes this the current run of its scope. When policy, catalog, zone, dimensions and postings
  // are the same as the current run's, nothing changes and the current run is returned.
  virtual Result<Run> commit() = 0;
};

struct ImportRecord {
  std::uint64_t number = 0;
  ImportSource source;
  std::uint64_t charges = 0, holdings = 0, nodes = 0, gpus = 0, usages = 0;  // created
  std::uint64_t outages = 0, corrections = 0, outcomes = 0;
  std::uint64_t rejected = 0;
  Restated restated;
};

// One bill line beside the sum of its postings in the current runs.
struct LineCheck {
  Charge charge;
  Costs posted;
  std::uint64_t postings = 0;
  bool exact() const { return postings > 0 && posted == charge.costs; }
};

// Postings of current runs whose id is no bill line's are transfers (ledger/posting.h), and those
// of one id add up to zero.
struct ReconcileTotals {
  Costs billed_lines;  // the sum of the lines of one currency
  Costs posted;        // to these lines; transfers are not among them
  std::uint64_t lines = 0;
  std::uint64_t lines_off = 0;       // not exact
  std::uint64_t lines_unposted = 0;  // among them, without any posting: never allocated
  std::uint64_t transfers = 0;       // of this currency, in runs of the month
  std::uint64_t transfers_off = 0;   // that do not add up to zero in all four costs
  // Posted in current runs of the month, and since taken back by a delivery: allocate it again.
  std::uint64_t lines_gone = 0;
  bool exact() const { return lines_off == 0 && transfers_off == 0 && lines_gone == 0; }
};

// How many facts of each kind there are, and what they span.
struct StoreOverview {
  std::uint64_t charges = 0, holdings = 0, nodes = 0, gpus = 0, usages = 0, outages = 0;
  std::uint64_t corrections = 0, outcomes = 0, postings = 0;
  std::uint64_t imports = 0, rejected = 0;
  std::vector<std::string> clusters;  // of nodes and holdings, sorted
  std::vector<std::string> months;    // of charges, sorted
};

// How much of a sample is wanted.
enum class UsageDetail {
  kShares,  // what cost is divided by: activity, memory, their times and whose they are
  kAll,
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::unique_ptr<ImportSession>> begin_import(const ImportSource& source) = 0;
  // An error where the month of its scope is closed.
  virtual Result<std::unique_ptr<RunSession>> begin_run(const Run& run) = 0;

  // Work that several programs share (ledger/work.h).
  virtual Result<WorkBook> work() = 0;
  // What imports after the Nth touched; by place.
  virtual Result<std::vector<Touched>> touched(std::uint64_t after) = 0;
  // Nothing where somebody has claimed the scope since. An Error where its month is closed.
  virtual Result<std::optional<WorkClaim>> claim_work(const ClaimAsked& asked) = 0;
  // A sign of life, which others go by that may want to take over.
  virtual Result<void> renew_work(const WorkClaim& claim, Instant at) = 0;
  // Lets others have the scope at once. A claim that is over, or lost, stays as it is.
  virtual Result<void> give_back_work(const WorkClaim& claim, Instant at) = 0;
  virtual Result<void> keep_plan(const WorkPlan& plan) = 0;
  // A run that belongs to a claim. Its commit() is an Error of kConflict, and nothing is kept,
  // where the claim is not the newest of its scope, or another run of the scope was kept since it
  // was made. It keeps `done` with the run; also where the run is the same as the current one.
  // REQUIRES: the run is of the claim's scope; `done` of the claim.
  virtual Result<std::unique_ptr<RunSession>> begin_claimed_run(const Run& run,
                                                                const WorkClaim& claim,
                                                                const WorkDone& done) = 0;

  // Scans hand over batches; the sink returns false to stop. Order: charges by id; holdings by
  // (begin, cluster, workload, attempt), each attempt once: the ended fact, else the latest
  // reading; nodes by (cluster, name, from); gpus by (cluster, node, index, uuid, from).
  using ChargeSink = std::function<bool(std::span<const Charge>)>;
  using HoldingSink = std::function<bool(std::span<const Holding>)>;
  using PostingSink = std::function<bool(std::span<const Posting>)>;
  using UsageSink = std::function<bool(std::span<const Usage>)>;
  using OutcomeSink = std::function<bool(std::span<const Outcome>)>;
  // Charges booked in `month` ("2026-03"; empty: all): those whose billing period begins in it, in
  // UTC, but for what came when it was closed. Without those that a delivery took back while the
  // month was open.
  virtual Result<void> scan_charges(const std::string& month, const ChargeSink& sink) = 0;
  // Holdings of a cluster that overlap an interval.
  virtual Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                                     const HoldingSink& sink) = 0;
  virtual Result<std::vector<Node>> nodes() = 0;
  virtual Result<std::vector<Gpu>> gpus() = 0;
  // What was seen of a cluster at an instant of an interval, by (gpu, mig_instance, workload, at,
  // span, part). Made for millions of rows: they come in a stream, in memory that depends on the
  // samples of one card only, and without their `id` and `source`, for which nobody asks at that
  // rate. All samples of a card come in one batch.
  virtual Result<void> scan_usage(const ClusterId& cluster, const Interval& during,
                                  UsageDetail detail, const UsageSink& sink) = 0;
  // Outcomes of a cluster that begin in an interval, by (begin, id).
  virtual Result<void> scan_outcomes(const ClusterId& cluster, const Interval& during,
                                     const OutcomeSink& sink) = 0;
  // Those of a cluster that overlap an interval: outages by (node, gpu, begin), corrections by
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
  // What the label rules gave to the workloads of a scope's current run, by workload.
  virtual Result<std::vector<WorkloadDimensions>> dimensions_of(const Scope& scope) = 0;
  // The largest postings of current runs that a summary row is made of, by effective cost.
  virtual Result<std::vector<Posting>> largest_postings(const SummaryQuery& query,
                                                        std::uint64_t at_most) = 0;

  virtual Result<std::vector<Run>> runs() = 0;  // by scope, then number
  virtual Result<std::vector<ImportRecord>> imports() = 0;
  virtual Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) = 0;
  virtual Result<StoreOverview> overview() = 0;

  // Closes a month for ever. An error where it is closed already, or a line that is booked in it
  // is not posted exactly.
  virtual Result<Closing> close_month(const Closing& closing) = 0;
  virtual Result<std::vector<Closing>> closings() = 0;  // by month
  // Lines that deliveries took back, by billing month (empty: all) of the lines; by import, then
  // id.
  virtual Result<std::vector<RetiredCharge>> retired_charges(const std::string& month) = 0;
  // Lines of a billing month (empty: all) that came with a delivery which took lines back, or when
  // the month was closed, whichever month they are booked in; not those that take back. By import,
  // then id.
  virtual Result<std::vector<Charge>> restated_charges(const std::string& month) = 0;

  // All or nothing. An error where a number is there already with another document.
  virtual Result<void> issue_invoices(std::span<const IssuedInvoice> invoices) = 0;
  virtual Result<std::vector<IssuedInvoice>> issued_invoices() = 0;  // by number

  // Rows by bucket, then keys, then currency. Unknown dimensions give "" (no error).
  virtual Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) = 0;
  // The same rows in batches and in no order, for answers too large to hold: whoever copies sums
  // asks for every dimension at once.
  using SummarySink = std::function<bool(std::span<const SummaryRow>)>;
  virtual Result<void> scan_summary(const SummaryQuery& query, const SummarySink& sink) = 0;

  // Each line of the month (empty: all) beside its postings, by charge id; totals by currency.
  using LineSink = std::function<bool(const LineCheck&)>;
  virtual Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                         const LineSink& sink) = 0;
};

}  // namespace pennyweight
