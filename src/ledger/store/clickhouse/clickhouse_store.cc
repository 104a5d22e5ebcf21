#include "ledger/store/clickhouse/clickhouse_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "core/try.h"
#include "ledger/store/clickhouse/closings.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/import_session.h"
#include "ledger/store/clickhouse/reconcile.h"
#include "ledger/store/clickhouse/restatements.h"
#include "ledger/store/clickhouse/run_session.h"
#include "ledger/store/clickhouse/scan.h"
#include "ledger/store/clickhouse/summary_sql.h"
#include "ledger/store/clickhouse/usage_scan.h"
#include "ledger/store/clickhouse/work.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::sql_literal;

class ClickhouseStore : public Store {
 public:
  ClickhouseStore(std::unique_ptr<ClickhouseDatabase> database, bool read_only)
      : database_(std::move(database)), read_only_(read_only) {}

  Result<std::unique_ptr<ImportSession>> begin_import(const ImportSource& source) override {
    if (read_only_) return refuse_to_write();
    return begin_clickhouse_import(*database_, session_open_, source);
  }
  Result<std::unique_ptr<RunSession>> begin_run(const Run& run) override {
    if (read_only_) return refuse_to_write();
    return begin_clickhouse_run(*database_, session_open_, run);
  }
  Result<WorkRecords> work_records() override {
    const Scan scan = TRY(Scan::begin(*database_));
    return read_clickhouse_work(scan);
  }
  Result<std::vector<InvalidatedScope>> invalidated_scopes(std::uint64_t after) override {
    const Scan scan = TRY(Scan::begin(*database_));
    return clickhouse_invalidated_scopes(scan, after);
  }
  Result<std::optional<WorkClaim>> claim_work(const ClaimRequest& request) override {
    if (read_only_) return refuse_to_write();
    return claim_clickhouse_work(*database_, session_open_, request);
  }
  Result<void> renew_claim(const WorkClaim& claim, Instant at) override {
    if (read_only_) return refuse_to_write();
    return record_clickhouse_heartbeat(*database_, claim, at, false);
  }
  Result<void> release_claim(const WorkClaim& claim, Instant at) override {
    if (read_only_) return refuse_to_write();
    return record_clickhouse_heartbeat(*database_, claim, at, true);
  }
  Result<void> save_plan(const WorkPlan& plan) override {
    if (read_only_) return refuse_to_write();
    return save_clickhouse_plan(*database_, plan);
  }
  Result<std::unique_ptr<RunSession>> begin_claimed_run(const Run& run, const WorkClaim& claim,
                                                        const WorkCompletion& done) override {
    if (read_only_) return refuse_to_write();
    return begin_clickhouse_run(*database_, session_open_, run, claim, done);
  }
  Result<void> scan_charges(const std::string& month, const ChargeSink& sink) override;
  Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                             const HoldingSink& sink) override;
  Result<std::vector<Node>> nodes() override {
    auto nodes = TRY(collect<Node>(" ORDER BY cluster, name, valid_from"));
    keep_ended(nodes);
    return nodes;
  }
  Result<std::vector<Gpu>> gpus() override {
    auto gpus = TRY(collect<Gpu>(" ORDER BY cluster, node, gpu_index, uuid, valid_from"));
    keep_ended(gpus);
    return gpus;
  }
  Result<void> scan_usage(const ClusterId& cluster, const Interval& during, UsageDetail detail,
                          const UsageSink& sink) override {
    const Scan scan = TRY(Scan::begin(*database_));
    return scan_clickhouse_usage(scan, cluster, during, detail, sink);
  }
  Result<void> scan_outcomes(const ClusterId& cluster, const Interval& during,
                             const OutcomeSink& sink) override;
  Result<std::vector<Outage>> outages(const ClusterId& cluster, const Interval& during) override;
  Result<std::vector<Correction>> corrections(const ClusterId& cluster,
                                              const Interval& during) override;
  Result<std::optional<Charge>> find_charge(const FactId& id) override { return find<Charge>(id); }
  Result<std::optional<Holding>> find_holding(const FactId& id) override {
    return find<Holding>(id);
  }
  Result<std::vector<Posting>> postings_of(const FactId& charge) override;
  Result<void> scan_postings(const Scope& scope, const PostingSink& sink) override;
  Result<std::vector<WorkloadDimensions>> dimensions_of(const Scope& scope) override;
  Result<std::vector<Posting>> largest_postings(const SummaryQuery& query, std::uint64_t at_most,
                                                std::uint64_t skipped) override;
  Result<std::vector<Run>> runs() override;
  Result<std::vector<ImportRecord>> imports() override;
  Result<std::vector<ImportRecord>> imports_numbered(
      std::span<const std::uint64_t> numbers) override;
  Result<std::uint64_t> last_import_until(Instant at) override;
  Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) override;
  Result<StoreOverview> overview() override;
  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) override;
  Result<void> scan_summary(const SummaryQuery& query, const SummarySink& sink) override;
  Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                 const LineSink& sink) override {
    const Scan scan = TRY(Scan::begin(*database_));
    return reconcile_clickhouse(scan, month, only_off, sink);
  }
  Result<Closing> close_month(const Closing& closing) override {
    if (read_only_) return refuse_to_write();
    return close_clickhouse_month(*database_, session_open_, closing);
  }
  Result<std::vector<Closing>> closings() override;
  Result<std::vector<RetiredCharge>> retired_charges(const std::string& month) override {
    const Scan scan = TRY(Scan::begin(*database_));
    return clickhouse_retired_charges(scan, month);
  }
  Result<std::vector<Charge>> restated_charges(const std::string& month) override {
    const Scan scan = TRY(Scan::begin(*database_));
    return clickhouse_restated_charges(scan, month);
  }
  Result<void> issue_invoices(std::span<const IssuedInvoice> invoices) override {
    if (read_only_) return refuse_to_write();
    return issue_clickhouse_invoices(*database_, session_open_, invoices);
  }
  Result<std::vector<IssuedInvoice>> issued_invoices() override {
    const Scan scan = TRY(Scan::begin(*database_));
    return clickhouse_issued_invoices(scan);
  }

 private:
  static std::unexpected<Error> refuse_to_write() {
    return fail(ErrorCode::kStore, kStoreIsReadOnly);
  }
  template <class Fact>
  Result<std::vector<Fact>> collect(const std::string& rest) {
    const Scan scan = TRY(Scan::begin(*database_));
    return scan.collect<Fact>(rest);
  }
  template <class Fact>
  Result<std::optional<Fact>> find(const FactId& id) {
    std::vector<Fact> found =
        TRY(collect<Fact>(std::string(" AND ") + Table<Fact>::kId + " = " + sql_literal(id.hash)));
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }

  std::unique_ptr<ClickhouseDatabase> database_;
  bool read_only_;
  bool session_open_ = false;
};

std::string of_cluster(const ClusterId& cluster) {
  return " AND cluster = " + sql_literal(cluster.text());
}

// Facts that last from `from` to `to` and overlap an interval.
std::string overlaps(const char* from, const char* to, const Interval& during) {
  return std::string(" AND ") + from + " < " + std::to_string(unix_ms(during.end())) + " AND " +
         to + " > " + std::to_string(unix_ms(during.begin()));
}

Result<void> done(const Result<bool>& read) {
  if (!read) return std::unexpected(read.error());
  return {};
}

Result<void> ClickhouseStore::scan_charges(const std::string& month, const ChargeSink& sink) {
  const Scan scan = TRY(Scan::begin(*database_));
  const std::string of_month = month.empty() ? "" : " AND booked_month = " + sql_literal(month);
  const std::uint64_t lines = TRY(
      scan.count("SELECT toUInt64(count()) FROM " + scan.snapshot().facts("charges") + of_month));
  if (lines == 0) return {};
  const IdSlices slices(lines);
  for (std::uint64_t i = 0; i < slices.count(); ++i) {
    const Result<bool> more =
        scan.hand_over<Charge>(of_month + slices.condition("charge_id", i) + " AND " +
                                   scan.snapshot().is_booked() + " ORDER BY charge_id",
                               sink);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

Result<void> ClickhouseStore::scan_holdings(const ClusterId& cluster, const Interval& during,
                                            const HoldingSink& sink) {
  const Scan scan = TRY(Scan::begin(*database_));
  // For each attempt, the one fact that ended it; otherwise the latest reading. This is the rule of
  // supersedes(): an end outranks every time.
  const std::string kept =
      "SELECT argMax(holding_id, held_to + ended * 1000000000000000000) FROM " +
      scan.snapshot().facts("holdings") + of_cluster(cluster) + " GROUP BY workload, attempt";
  return done(scan.hand_over<Holding>(
      of_cluster(cluster) + overlaps("held_from", "held_to", during) +
          " AND holding_id GLOBAL IN (" + kept + ") ORDER BY held_from, workload, attempt",
      sink));
}

Result<void> ClickhouseStore::scan_outcomes(const ClusterId& cluster, const Interval& during,
                                            const OutcomeSink& sink) {
  const Scan scan = TRY(Scan::begin(*database_));
  const auto day_of = [](Instant at) {
    return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
  };
  const std::string wanted = of_cluster(cluster) + " AND day BETWEEN " +
                             std::to_string(day_of(during.begin())) + " AND " +
                             std::to_string(day_of(during.end())) +
                             " AND counted_from >= " + std::to_string(unix_ms(during.begin())) +
                             " AND counted_from < " + std::to_string(unix_ms(during.end()));
  // Scanned day by day, since outcomes are ordered by day.
  struct Days {
    std::int32_t first, last;
    std::uint64_t rows;
  };
  std::vector<Days> slices;
  std::ignore =
      TRY(scan.visit("SELECT day, toUInt64(count()) FROM " + scan.snapshot().facts("outcomes") +
                         wanted + " GROUP BY day ORDER BY day",
                     [&](const Block& block) -> Result<bool> {
                       for (std::uint64_t row = 0; row < block.rows; ++row) {
                         const std::int32_t day = block.columns[0].int32(row);
                         if (slices.empty() || slices.back().rows >= kSliceRows) {
                           slices.push_back({day, day, 0});
                         }
                         slices.back().last = day;
                         slices.back().rows += block.columns[1].uint64(row);
                       }
                       return true;
                     }));
  for (const Days& days : slices) {
    const Result<bool> more = scan.hand_over<Outcome>(
        wanted + " AND day BETWEEN " + std::to_string(days.first) + " AND " +
            std::to_string(days.last) + " ORDER BY counted_from, outcome_id",
        sink);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

Result<std::vector<Outage>> ClickhouseStore::outages(const ClusterId& cluster,
                                                     const Interval& during) {
  return collect<Outage>(of_cluster(cluster) + overlaps("out_from", "out_to", during) +
                         " ORDER BY node, gpu, out_from");
}

Result<std::vector<Correction>> ClickhouseStore::corrections(const ClusterId& cluster,
                                                             const Interval& during) {
  return collect<Correction>(of_cluster(cluster) + overlaps("booked_from", "booked_to", during) +
                             " ORDER BY name");
}

Result<std::vector<Posting>> ClickhouseStore::postings_of(const FactId& charge) {
  const Scan scan = TRY(Scan::begin(*database_));
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  std::vector<Posting> postings;
  std::ignore = TRY(scan.hand_over_postings(
      "WHERE session IN " + current_sessions(runs) + " AND charge_id = " + sql_literal(charge.hash),
      [&](std::span<const Posting> some) {
        postings.insert(postings.end(), some.begin(), some.end());
        return true;
      }));
  std::ranges::sort(postings,
                    [](const Posting& a, const Posting& b) { return comes_before(a, b); });
  return postings;
}

// The current run of a scope; absent if there is none.
Result<std::optional<LedgerRun>> current_run(const Scan& scan, const Scope& scope) {
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  for (const LedgerRun& run : runs) {
    if (run.run.current && run.run.scope == scope) return run;
  }
  return std::nullopt;
}

Result<void> ClickhouseStore::scan_postings(const Scope& scope, const PostingSink& sink) {
  const Scan scan = TRY(Scan::begin(*database_));
  const Result<std::optional<LedgerRun>> run = current_run(scan, scope);
  if (!run) return std::unexpected(run.error());
  if (!*run || (*run)->run.postings == 0) return {};
  const IdSlices slices((*run)->run.postings);
  for (std::uint64_t i = 0; i < slices.count(); ++i) {
    const Result<bool> more = scan.hand_over_postings(
        "WHERE session = " + std::to_string((*run)->session) + slices.condition("charge_id", i) +
            " ORDER BY " + clickhouse_posting_order(),
        sink);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

Result<std::vector<WorkloadDimensions>> ClickhouseStore::dimensions_of(const Scope& scope) {
  const Scan scan = TRY(Scan::begin(*database_));
  const Result<std::optional<LedgerRun>> run = current_run(scan, scope);
  if (!run) return std::unexpected(run.error());
  std::vector<WorkloadDimensions> found;
  if (!*run) return found;
  const auto take = [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const std::string_view workload = block.columns[0].text(row);
      if (found.empty() || found.back().workload.text() != workload) {
        found.push_back({WorkloadId(std::string(workload)), {}});
      }
      // A workload without dimensions is stored as one row with an empty dimension.
      const std::string_view name = block.columns[1].text(row);
      if (name.empty()) continue;
      TRY(found.back().dimensions.set(name, block.columns[2].text(row)));
    }
    return true;
  };
  std::ignore = TRY(scan.visit(
      "SELECT workload, dimension, value FROM " + scan.all("run_dimensions") +
          " WHERE session = " + std::to_string((*run)->session) + " ORDER BY workload, dimension",
      take));
  return found;
}

Result<std::vector<Posting>> ClickhouseStore::largest_postings(const SummaryQuery& query,
                                                               std::uint64_t at_most,
                                                               std::uint64_t skipped) {
  const Scan scan = TRY(Scan::begin(*database_));
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  const ClickhouseSummarySql sql(scan, runs, query);
  std::vector<Posting> postings;
  if (sql.is_empty() || at_most == 0) return postings;
  std::ignore = TRY(
      scan.hand_over_postings(sql.largest(at_most, skipped), [&](std::span<const Posting> some) {
        postings.insert(postings.end(), some.begin(), some.end());
        return true;
      }));
  return postings;
}

Result<std::vector<Run>> ClickhouseStore::runs() {
  const Scan scan = TRY(Scan::begin(*database_));
  const std::vector<LedgerRun> kept = TRY(scan.runs());
  std::vector<Run> found;
  for (const LedgerRun& run : kept) found.push_back(run.run);
  return found;
}

// Imports that count and for which `rest`, " AND …", holds, by number.
Result<std::vector<ImportRecord>> import_records(const Scan& scan, const std::string& rest) {
  std::vector<ImportRecord> found;
  std::ignore = TRY(scan.visit("SELECT session, " + clickhouse_record_columns<ImportRecord>() +
                                   " FROM " + scan.snapshot().facts("imports") + rest,
                               [&](const Block& block) -> Result<bool> {
                                 std::vector<ImportRecord> some =
                                     TRY(records_of<ImportRecord>(block, 1));
                                 for (std::uint64_t row = 0; row < block.rows; ++row) {
                                   some[row].number =
                                       scan.snapshot().numbers().of(block.columns[0].uint64(row));
                                   found.push_back(std::move(some[row]));
                                 }
                                 return true;
                               }));
  std::ranges::sort(found, {}, &ImportRecord::number);
  return found;
}

Result<std::vector<ImportRecord>> ClickhouseStore::imports() {
  const Scan scan = TRY(Scan::begin(*database_));
  auto found = TRY(import_records(scan, ""));
  if (found.size() != scan.snapshot().imports()) {
    return fail(ErrorCode::kStore, "the table imports has " + std::to_string(found.size()) +
                                       " of the " + std::to_string(scan.snapshot().imports()) +
                                       " imports that the log counts");
  }
  return found;
}

Result<std::vector<ImportRecord>> ClickhouseStore::imports_numbered(
    std::span<const std::uint64_t> numbers) {
  const Scan scan = TRY(Scan::begin(*database_));
  std::vector<std::uint64_t> sessions;
  for (const std::uint64_t number : numbers) {
    if (number == 0 || number > scan.snapshot().imports()) continue;
    sessions.push_back(scan.snapshot().numbers().session_of(number));
  }
  if (sessions.empty()) return std::vector<ImportRecord>();
  return import_records(scan, " AND session IN " + session_list(sessions));
}

Result<std::uint64_t> ClickhouseStore::last_import_until(Instant at) {
  const Scan scan = TRY(Scan::begin(*database_));
  const Snapshot& snapshot = scan.snapshot();
  if (snapshot.imports() == 0) return std::uint64_t{0};
  // ALL: since 2019 ANY would return only one row of each side.
  const std::uint64_t last = TRY(scan.count(fmt::format(
      "SELECT max(position + 1) FROM {} GLOBAL ALL INNER JOIN (SELECT session, position FROM ({})) "
      "AS s USING (session) WHERE imported_at <= {}",
      scan.all("imports"), snapshot.sessions(kImportEntry), unix_ms(at))));
  std::uint64_t number = 0;
  snapshot.view().entries.each(kImportEntry, [&](std::uint64_t position, std::uint64_t) {
    if (position < last) ++number;
  });
  return number;
}

Result<std::vector<RejectedRow>> ClickhouseStore::rejected_rows(std::uint64_t at_most) {
  const Scan scan = TRY(Scan::begin(*database_));
  if (at_most == 0) return std::vector<RejectedRow>();
  // Positions are in the order of import numbers.
  return scan.records<RejectedRow>(
      "GLOBAL ANY LEFT JOIN (" + scan.snapshot().sessions(kImportEntry) +
      ") AS s USING (session) WHERE " + scan.snapshot().counts(kImportEntry) +
      " ORDER BY position, " + clickhouse_record_columns<RejectedRow>() + " LIMIT " +
      std::to_string(at_most));
}

Result<StoreOverview> ClickhouseStore::overview() {
  StoreOverview view;
  const Scan scan = TRY(Scan::begin(*database_));
  const Snapshot& snapshot = scan.snapshot();
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  for (const LedgerRun& run : runs) {
    if (run.run.current) view.postings += run.run.postings;
  }
  view.imports = snapshot.imports();
  if (view.imports == 0) return view;
  // The number created equals the number stored: each import was counted before its commit.
  std::ignore = TRY(scan.visit(
      "SELECT sum(charges + reversed), sum(holdings), sum(nodes), sum(gpus), sum(usages), "
      "sum(outages), sum(corrections), sum(outcomes) FROM " +
          snapshot.facts("imports"),
      [&](const Block& block) -> Result<bool> {
        std::size_t column = 0;
        for (std::uint64_t* into :
             {&view.charges, &view.holdings, &view.nodes, &view.gpus, &view.usages, &view.outages,
              &view.corrections, &view.outcomes}) {
          *into = block.columns[column++].uint64(0);
        }
        return true;
      }));
  const std::uint64_t rejected =
      TRY(scan.count("SELECT toUInt64(count()) FROM " + snapshot.facts("rejected_rows")));
  view.rejected = rejected;
  for (const char* table : {"nodes", "holdings", "outcomes"}) {
    std::vector<std::string> clusters =
        TRY(scan.texts("SELECT DISTINCT cluster FROM " + snapshot.facts(table)));
    std::ranges::move(clusters, std::back_inserter(view.clusters));
  }
  std::ranges::sort(view.clusters);
  view.clusters.erase(std::ranges::unique(view.clusters).begin(), view.clusters.end());
  std::vector<std::string> months = TRY(scan.texts(
      "SELECT DISTINCT booked_month FROM " + snapshot.facts("charges") + " ORDER BY booked_month"));
  view.months = std::move(months);
  return view;
}

// The rows of a block with the columns of ClickhouseSummarySql.
Result<std::vector<SummaryRow>> summary_rows_of(const Block& block, const SummaryQuery& query) {
  const std::size_t keys = query.group_by.size();
  const auto column = [&](std::size_t i) -> const clickhouse::Column& { return block.columns[i]; };
  std::vector<SummaryRow> rows;
  rows.reserve(block.rows);
  for (std::uint64_t row = 0; row < block.rows; ++row) {
    const Currency currency = TRY(Currency::parse(column(keys + 1).text(row)));
    if (column(keys + 11).boolean(row)) return sum_overflow_error();
    const auto money = [&](std::size_t i) {
      return Money::from_ticks(column(keys + 2 + i).wide(row), currency);
    };
    const auto amount = [&](std::size_t i) {
      return static_cast<UInt128>(column(keys + 6 + i).wide(row));
    };
    std::optional<std::chrono::sys_days> bucket;
    if (query.bucket != TimeBucket::kNone) {
      bucket = std::chrono::sys_days(std::chrono::days(column(0).int32(row)));
    }
    rows.push_back({bucket,
                    {},
                    {money(0), money(1), money(2), money(3)},
                    GpuTime::of(amount(0)),
                    GpuTime::of(amount(1)),
                    MemoryTime::of(amount(2)),
                    GpuTime::of(amount(3)),
                    column(keys + 10).uint64(row)});
    rows.back().keys.reserve(keys);
    for (std::size_t i = 0; i < keys; ++i) {
      rows.back().keys.emplace_back(column(i + 1).text(row));
    }
  }
  return rows;
}

Result<void> ClickhouseStore::scan_summary(const SummaryQuery& query, const SummarySink& sink) {
  const Scan scan = TRY(Scan::begin(*database_));
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  const ClickhouseSummarySql sql(scan, runs, query);
  if (sql.is_empty()) return {};
  return done(scan.visit(sql.summarise(), [&](const Block& block) -> Result<bool> {
    const std::vector<SummaryRow> some = TRY(summary_rows_of(block, query));
    return sink(some);
  }));
}

Result<std::vector<SummaryRow>> ClickhouseStore::summarise(const SummaryQuery& query) {
  std::vector<SummaryRow> rows;
  TRY(scan_summary(query, [&](std::span<const SummaryRow> some) {
    rows.insert(rows.end(), some.begin(), some.end());
    return true;
  }));
  std::ranges::sort(rows,
                    [](const SummaryRow& a, const SummaryRow& b) { return comes_before(a, b); });
  return rows;
}

Result<std::vector<Closing>> ClickhouseStore::closings() {
  const Snapshot snapshot = TRY(Snapshot::of(*database_));
  const ClickhouseDatabase::Loan client = database_->lend();
  return closings_of(*client, snapshot);
}

}  // namespace

Result<std::unique_ptr<Store>> open_clickhouse_store(const ClickhouseOptions& options) {
  Result<std::unique_ptr<ClickhouseDatabase>> database = ClickhouseDatabase::open(options);
  if (!database) {
    return std::unexpected(
        database.error().during("cannot open the store " + clickhouse::shown(options.address)));
  }
  return std::make_unique<ClickhouseStore>(std::move(*database), options.read_only);
}

}  // namespace pennyweight
