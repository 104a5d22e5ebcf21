#include "store/clickhouse/clickhouse_store.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "ledger/keeping.h"
#include "store/clickhouse/accounts.h"
#include "store/clickhouse/books.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/import_session.h"
#include "store/clickhouse/reconcile.h"
#include "store/clickhouse/run_session.h"
#include "store/clickhouse/scan.h"
#include "store/clickhouse/summary_sql.h"
#include "store/clickhouse/usage_scan.h"
#include "store/clickhouse/work.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::quoted;

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
  Result<WorkBook> work() override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return clickhouse_work(*scan);
  }
  Result<std::vector<Touched>> touched(std::uint64_t after) override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return clickhouse_touched(*scan, after);
  }
  Result<std::optional<WorkClaim>> claim_work(const ClaimAsked& asked) override {
    if (read_only_) return refuse_to_write();
    return claim_clickhouse_work(*database_, session_open_, asked);
  }
  Result<void> renew_work(const WorkClaim& claim, Instant at) override {
    if (read_only_) return refuse_to_write();
    return sign_clickhouse_work(*database_, claim, at, false);
  }
  Result<void> give_back_work(const WorkClaim& claim, Instant at) override {
    if (read_only_) return refuse_to_write();
    return sign_clickhouse_work(*database_, claim, at, true);
  }
  Result<void> keep_plan(const WorkPlan& plan) override {
    if (read_only_) return refuse_to_write();
    return keep_clickhouse_plan(*database_, plan);
  }
  Result<std::unique_ptr<RunSession>> begin_claimed_run(const Run& run, const WorkClaim& claim,
                                                        const WorkDone& done) override {
    if (read_only_) return refuse_to_write();
    return begin_clickhouse_run(*database_, session_open_, run, claim, done);
  }
  Result<void> scan_charges(const std::string& month, const ChargeSink& sink) override;
  Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                             const HoldingSink& sink) override;
  Result<std::vector<Node>> nodes() override {
    return collect<Node>(" ORDER BY cluster, name, valid_from");
  }
  Result<std::vector<Gpu>> gpus() override {
    return collect<Gpu>(" ORDER BY cluster, node, gpu_index, uuid, valid_from");
  }
  Result<void> scan_usage(const ClusterId& cluster, const Interval& during, UsageDetail detail,
                          const UsageSink& sink) override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return scan_clickhouse_usage(*scan, cluster, during, detail, sink);
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
  Result<std::vector<Posting>> largest_postings(const SummaryQuery& query,
                                                std::uint64_t at_most) override;
  Result<std::vector<Run>> runs() override;
  Result<std::vector<ImportRecord>> imports() override;
  Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) override;
  Result<StoreOverview> overview() override;
  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) override;
  Result<void> scan_summary(const SummaryQuery& query, const SummarySink& sink) override;
  Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                 const LineSink& sink) override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return reconcile_clickhouse(*scan, month, only_off, sink);
  }
  Result<Closing> close_month(const Closing& closing) override {
    if (read_only_) return refuse_to_write();
    return close_clickhouse_month(*database_, session_open_, closing);
  }
  Result<std::vector<Closing>> closings() override;
  Result<std::vector<RetiredCharge>> retired_charges(const std::string& month) override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return clickhouse_retired_charges(*scan, month);
  }
  Result<std::vector<Charge>> restated_charges(const std::string& month) override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return clickhouse_restated_charges(*scan, month);
  }
  Result<void> issue_invoices(std::span<const IssuedInvoice> invoices) override {
    if (read_only_) return refuse_to_write();
    return issue_clickhouse_invoices(*database_, session_open_, invoices);
  }
  Result<std::vector<IssuedInvoice>> issued_invoices() override {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return clickhouse_issued_invoices(*scan);
  }

 private:
  static std::unexpected<Error> refuse_to_write() {
    return fail(ErrorCode::kStore, "the store was opened to be read only");
  }
  template <class Fact>
  Result<std::vector<Fact>> collect(const std::string& rest) {
    const Result<Scan> scan = Scan::begin(*database_);
    if (!scan) return std::unexpected(scan.error());
    return scan->collect<Fact>(rest);
  }
  template <class Fact>
  Result<std::optional<Fact>> find(const FactId& id) {
    Result<std::vector<Fact>> found =
        collect<Fact>(std::string(" AND ") + Table<Fact>::kId + " = " + quoted(id.hash));
    if (!found) return std::unexpected(std::move(found.error()));
    if (found->empty()) return std::nullopt;
    return std::move(found->front());
  }

  std::unique_ptr<ClickhouseDatabase> database_;
  bool read_only_;
  bool session_open_ = false;
};

std::string of_cluster(const ClusterId& cluster) {
  return " AND cluster = " + quoted(cluster.text());
}

// What lasts from `from` to `to` and overlaps an interval.
std::string overlaps(const char* from, const char* to, const Interval& during) {
  return std::string(" AND ") + from + " < " + std::to_string(unix_ms(during.end())) + " AND " +
         to + " > " + std::to_string(unix_ms(during.begin()));
}

Result<void> done(const Result<bool>& read) {
  if (!read) return std::unexpected(read.error());
  return {};
}

Result<void> ClickhouseStore::scan_charges(const std::string& month, const ChargeSink& sink) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const std::string of_month = month.empty() ? "" : " AND booked_month = " + quoted(month);
  const Result<std::uint64_t> lines =
      scan->count("SELECT toUInt64(count()) FROM " + scan->snapshot().facts("charges") + of_month);
  if (!lines) return std::unexpected(lines.error());
  if (*lines == 0) return {};
  const IdSlices slices(*lines);
  for (std::uint64_t i = 0; i < slices.count(); ++i) {
    const Result<bool> more =
        scan->hand_over<Charge>(of_month + slices.condition("charge_id", i) + " AND " +
                                    scan->snapshot().is_booked() + " ORDER BY charge_id",
                                sink);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

Result<void> ClickhouseStore::scan_holdings(const ClusterId& cluster, const Interval& during,
                                            const HoldingSink& sink) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  // Of each attempt the ended fact, of which there is one, else the latest reading, as supersedes()
  // has it: an end outweighs every time.
  const std::string kept =
      "SELECT argMax(holding_id, held_to + ended * 1000000000000000000) FROM " +
      scan->snapshot().facts("holdings") + of_cluster(cluster) + " GROUP BY workload, attempt";
  return done(scan->hand_over<Holding>(
      of_cluster(cluster) + overlaps("held_from", "held_to", during) +
          " AND holding_id GLOBAL IN (" + kept + ") ORDER BY held_from, workload, attempt",
      sink));
}

Result<void> ClickhouseStore::scan_outcomes(const ClusterId& cluster, const Interval& during,
                                            const OutcomeSink& sink) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const auto day_of = [](Instant at) {
    return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
  };
  const std::string wanted = of_cluster(cluster) + " AND day BETWEEN " +
                             std::to_string(day_of(during.begin())) + " AND " +
                             std::to_string(day_of(during.end())) +
                             " AND counted_from >= " + std::to_string(unix_ms(during.begin())) +
                             " AND counted_from < " + std::to_string(unix_ms(during.end()));
  // Days, in slices: an outcome of an earlier day comes earlier.
  struct Days {
    std::int32_t first, last;
    std::uint64_t rows;
  };
  std::vector<Days> slices;
  const Result<bool> counted =
      scan->visit("SELECT day, toUInt64(count()) FROM " + scan->snapshot().facts("outcomes") +
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
                  });
  if (!counted) return std::unexpected(counted.error());
  for (const Days& days : slices) {
    const Result<bool> more = scan->hand_over<Outcome>(
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
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Result<std::vector<LedgerRun>> runs = scan->runs();
  if (!runs) return std::unexpected(runs.error());
  std::vector<Posting> postings;
  const Result<bool> read = scan->hand_over_postings(
      "WHERE session IN " + current_sessions(*runs) + " AND charge_id = " + quoted(charge.hash),
      [&](std::span<const Posting> some) {
        postings.insert(postings.end(), some.begin(), some.end());
        return true;
      });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(postings,
                    [](const Posting& a, const Posting& b) { return comes_before(a, b); });
  return postings;
}

// The current run of a scope; nothing where there is none.
Result<std::optional<LedgerRun>> current_run(const Scan& scan, const Scope& scope) {
  const Result<std::vector<LedgerRun>> runs = scan.runs();
  if (!runs) return std::unexpected(runs.error());
  for (const LedgerRun& run : *runs) {
    if (run.run.current && run.run.scope == scope) return run;
  }
  return std::nullopt;
}

Result<void> ClickhouseStore::scan_postings(const Scope& scope, const PostingSink& sink) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Result<std::optional<LedgerRun>> run = current_run(*scan, scope);
  if (!run) return std::unexpected(run.error());
  if (!*run || (*run)->run.postings == 0) return {};
  const IdSlices slices((*run)->run.postings);
  for (std::uint64_t i = 0; i < slices.count(); ++i) {
    const Result<bool> more = scan->hand_over_postings(
        "WHERE session = " + std::to_string((*run)->session) + slices.condition("charge_id", i) +
            " ORDER BY " + clickhouse_posting_order(),
        sink);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return {};
}

Result<std::vector<WorkloadDimensions>> ClickhouseStore::dimensions_of(const Scope& scope) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Result<std::optional<LedgerRun>> run = current_run(*scan, scope);
  if (!run) return std::unexpected(run.error());
  std::vector<WorkloadDimensions> found;
  if (!*run) return found;
  const auto take = [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const std::string_view workload = block.columns[0].text(row);
      if (found.empty() || found.back().workload.text() != workload) {
        found.push_back({WorkloadId(std::string(workload)), {}});
      }
      // A workload without dimensions stands there with an empty one.
      const std::string_view name = block.columns[1].text(row);
      if (name.empty()) continue;
      const Result<void> set = found.back().dimensions.set(name, block.columns[2].text(row));
      if (!set) return std::unexpected(set.error());
    }
    return true;
  };
  const Result<bool> read = scan->visit(
      "SELECT workload, dimension, value FROM " + scan->all("run_dimensions") +
          " WHERE session = " + std::to_string((*run)->session) + " ORDER BY workload, dimension",
      take);
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::vector<Posting>> ClickhouseStore::largest_postings(const SummaryQuery& query,
                                                               std::uint64_t at_most) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Result<std::vector<LedgerRun>> runs = scan->runs();
  if (!runs) return std::unexpected(runs.error());
  const ClickhouseSummarySql sql(*scan, *runs, query);
  std::vector<Posting> postings;
  if (sql.is_empty() || at_most == 0) return postings;
  const Result<bool> read =
      scan->hand_over_postings(sql.largest(at_most), [&](std::span<const Posting> some) {
        postings.insert(postings.end(), some.begin(), some.end());
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return postings;
}

Result<std::vector<Run>> ClickhouseStore::runs() {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Result<std::vector<LedgerRun>> kept = scan->runs();
  if (!kept) return std::unexpected(kept.error());
  std::vector<Run> found;
  for (const LedgerRun& run : *kept) found.push_back(run.run);
  return found;
}

Result<std::vector<ImportRecord>> ClickhouseStore::imports() {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  std::vector<ImportRecord> found;
  const auto take = [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto count = [&](std::size_t i) { return block.columns[i].uint64(row); };
      const auto text = [&](std::size_t i) { return std::string(block.columns[i].text(row)); };
      const auto style = parse_delivery_style(block.columns[14].text(row));
      if (!style) return fail(ErrorCode::kStore, "an import is of a style that no version wrote");
      found.push_back({.number = scan->snapshot().numbers().of(count(0)),
                       .source = {.format = text(1),
                                  .name = text(2),
                                  .file_hash = block.columns[3].hash(row),
                                  .at = from_unix_ms(block.columns[4].int64(row)),
                                  .style = *style,
                                  .reason = text(15)},
                       .charges = count(5),
                       .holdings = count(6),
                       .nodes = count(7),
                       .gpus = count(8),
                       .usages = count(9),
                       .outages = count(10),
                       .corrections = count(11),
                       .outcomes = count(12),
                       .rejected = count(13),
                       .restated = {count(16), count(17), count(18)}});
    }
    return true;
  };
  const Result<bool> read = scan->visit("SELECT " + column_names(clickhouse_table("imports")) +
                                            " FROM " + scan->snapshot().facts("imports"),
                                        take);
  if (!read) return std::unexpected(read.error());
  if (found.size() != scan->snapshot().imports()) {
    return fail(ErrorCode::kStore, "the table imports has " + std::to_string(found.size()) +
                                       " of the " + std::to_string(scan->snapshot().imports()) +
                                       " imports that the log counts");
  }
  std::ranges::sort(found, {}, &ImportRecord::number);
  return found;
}

Result<std::vector<RejectedRow>> ClickhouseStore::rejected_rows(std::uint64_t at_most) {
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  std::vector<RejectedRow> found;
  if (at_most == 0) return found;
  const auto take = [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto text = [&](std::size_t i) { return std::string(block.columns[i].text(row)); };
      found.push_back({text(0), block.columns[1].uint64(row), text(2), text(3), text(4)});
    }
    return true;
  };
  // Positions are in the order of the numbers of imports.
  const Result<bool> read = scan->visit(
      "SELECT file, line, column_name, reason, row_text FROM " + scan->all("rejected_rows") +
          " GLOBAL ANY LEFT JOIN (" + scan->snapshot().sessions(kImportEntry) +
          ") AS s USING (session) WHERE " + scan->snapshot().counts(kImportEntry) +
          " ORDER BY position, file, line, column_name, reason, row_text LIMIT " +
          std::to_string(at_most),
      take);
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<StoreOverview> ClickhouseStore::overview() {
  StoreOverview view;
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Snapshot& snapshot = scan->snapshot();
  const Result<std::vector<LedgerRun>> runs = scan->runs();
  if (!runs) return std::unexpected(runs.error());
  for (const LedgerRun& run : *runs) {
    if (run.run.current) view.postings += run.run.postings;
  }
  view.imports = snapshot.imports();
  if (view.imports == 0) return view;
  // What was created is what is there: each import was counted before it was committed.
  const Result<bool> read = scan->visit(
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
      });
  if (!read) return std::unexpected(read.error());
  const Result<std::uint64_t> rejected =
      scan->count("SELECT toUInt64(count()) FROM " + snapshot.facts("rejected_rows"));
  if (!rejected) return std::unexpected(rejected.error());
  view.rejected = *rejected;
  for (const char* table : {"nodes", "holdings"}) {
    Result<std::vector<std::string>> clusters =
        scan->texts("SELECT DISTINCT cluster FROM " + snapshot.facts(table));
    if (!clusters) return std::unexpected(std::move(clusters.error()));
    std::ranges::move(*clusters, std::back_inserter(view.clusters));
  }
  std::ranges::sort(view.clusters);
  view.clusters.erase(std::ranges::unique(view.clusters).begin(), view.clusters.end());
  Result<std::vector<std::string>> months = scan->texts(
      "SELECT DISTINCT booked_month FROM " + snapshot.facts("charges") + " ORDER BY booked_month");
  if (!months) return std::unexpected(std::move(months.error()));
  view.months = std::move(*months);
  return view;
}

// The rows of a block, whose columns are those of ClickhouseSummarySql.
Result<std::vector<SummaryRow>> summary_rows_of(const Block& block, const SummaryQuery& query) {
  const std::size_t keys = query.group_by.size();
  const auto column = [&](std::size_t i) -> const clickhouse::Column& { return block.columns[i]; };
  std::vector<SummaryRow> rows;
  rows.reserve(block.rows);
  for (std::uint64_t row = 0; row < block.rows; ++row) {
    const Result<Currency> currency = Currency::parse(column(keys + 1).text(row));
    if (!currency) return std::unexpected(currency.error());
    if (column(keys + 11).boolean(row)) return sum_is_beyond();
    const auto money = [&](std::size_t i) {
      return Money::from_ticks(column(keys + 2 + i).wide(row), *currency);
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
  const Result<Scan> scan = Scan::begin(*database_);
  if (!scan) return std::unexpected(scan.error());
  const Result<std::vector<LedgerRun>> runs = scan->runs();
  if (!runs) return std::unexpected(runs.error());
  const ClickhouseSummarySql sql(*scan, *runs, query);
  if (sql.is_empty()) return {};
  return done(scan->visit(sql.summarise(), [&](const Block& block) -> Result<bool> {
    const Result<std::vector<SummaryRow>> some = summary_rows_of(block, query);
    if (!some) return std::unexpected(some.error());
    return sink(*some);
  }));
}

Result<std::vector<SummaryRow>> ClickhouseStore::summarise(const SummaryQuery& query) {
  std::vector<SummaryRow> rows;
  const Result<void> read = scan_summary(query, [&](std::span<const SummaryRow> some) {
    rows.insert(rows.end(), some.begin(), some.end());
    return true;
  });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(rows,
                    [](const SummaryRow& a, const SummaryRow& b) { return comes_before(a, b); });
  return rows;
}

Result<std::vector<Closing>> ClickhouseStore::closings() {
  const Result<Snapshot> snapshot = Snapshot::of(*database_);
  if (!snapshot) return std::unexpected(snapshot.error());
  const ClickhouseDatabase::Loan client = database_->lend();
  return closings_of(*client, *snapshot);
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
