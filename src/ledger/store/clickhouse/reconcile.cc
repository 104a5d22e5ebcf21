#include "ledger/store/clickhouse/reconcile.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using clickhouse::Block;

// The parts that all statements share: the lines of the month, and the sessions of the current
// runs.
struct ReconcileQuery {
  const Scan& scan;
  std::string month;  // empty: all
  // "(1, 2)", of all months, since a line may be posted by a run of any month
  std::string current = {};
  std::string current_of_month = {};
  std::uint64_t lines = 0;
  std::uint64_t postings = 0;  // of current runs
};

// " FROM … WHERE …" of the lines of a slice, each with the sums of its postings in its own currency
// (own_…). If some postings are in another currency, the line cannot reconcile, and
// foreign_currency is the first such currency.
std::string lines_of(const ReconcileQuery& ask, const std::string& slice) {
  const Snapshot& snapshot = ask.scan.snapshot();
  const std::string table = ask.scan.all("charges");
  const std::string where =
      " WHERE " + snapshot.counts(kImportEntry) +
      (ask.month.empty() ? "" : " AND booked_month = " + clickhouse::sql_literal(ask.month)) +
      slice + " AND " + snapshot.is_booked();
  std::string own;
  for (const char* name : {"billed", "effective", "list", "contracted"}) {
    own += std::string(", sumIf(") + name + "_cost, currency = line_currency) AS own_" + name;
  }
  const std::string posted =
      "SELECT charge_id, toUInt64(count()) AS postings, countIf(currency = line_currency) AS "
      "own_postings, minIf(currency, currency != line_currency) AS foreign_currency" +
      own + " FROM " + ask.scan.all("postings") +
      " GLOBAL ANY LEFT JOIN (SELECT charge_id, currency AS line_currency FROM " + table + where +
      ") AS l USING (charge_id) WHERE session IN " + ask.current + slice +
      " AND line_currency != '' GROUP BY charge_id";
  return " FROM " + table + " GLOBAL ANY LEFT JOIN (" + posted + ") AS p USING (charge_id)" + where;
}

constexpr const char* kIsOff =
    "(own_postings = 0 OR foreign_currency != '' OR own_billed != billed_cost OR own_effective != "
    "effective_cost OR own_list != list_cost OR own_contracted != contracted_cost)";

// Reads four columns, starting at `first`.
Result<Costs> costs_of(const Block& block, std::size_t first, std::uint64_t row,
                       std::string_view currency) {
  const Currency code = TRY(Currency::parse(currency));
  const auto money = [&](std::size_t i) {
    return Money::from_ticks(block.columns[first + i].wide(row), code);
  };
  return Costs{money(0), money(1), money(2), money(3)};
}

// Visits rows whose first column is a currency, with add(totals of the currency, block, row) ->
// Result<void>.
template <class Add>
Result<void> add_rows(const ReconcileQuery& ask, const std::string& sql,
                      std::vector<ReconcileTotals>& totals, const Add& add) {
  std::ignore = TRY(ask.scan.visit(sql, [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto place = find_totals(block.columns[0].text(row), totals);
      if (!place) return std::unexpected(place.error());
      TRY(add(**place, block, row));
    }
    return true;
  }));
  return {};
}

std::string totals_overflow() {
  std::vector<SumColumns> names;
  for (const std::string cost : {"billed", "effective", "list", "contracted"}) {
    for (const std::string& column : {cost + "_cost", "own_" + cost}) {
      names.push_back({"sum(" + column + ")", "sum(toFloat64(" + column + "))"});
    }
  }
  return overflow_condition(names);
}

Result<void> add_lines(const ReconcileQuery& ask, const std::string& slice,
                       std::vector<ReconcileTotals>& totals) {
  return add_rows(
      ask,
      std::string("SELECT currency, sum(billed_cost), sum(effective_cost), sum(list_cost), "
                  "sum(contracted_cost), sum(own_billed), sum(own_effective), sum(own_list), "
                  "sum(own_contracted), toUInt64(count()), toUInt64(countIf(") +
          kIsOff + ")), toUInt64(countIf(postings = 0)), " + totals_overflow() +
          lines_of(ask, slice) + " GROUP BY currency",
      totals, [](ReconcileTotals& total, const Block& block, std::uint64_t row) -> Result<void> {
        if (block.columns[12].boolean(row)) return sum_overflow_error();
        const std::string_view currency = block.columns[0].text(row);
        const Costs billed = TRY(costs_of(block, 1, row, currency));
        const Costs posted = TRY(costs_of(block, 5, row, currency));
        total.billed_lines += billed;
        total.posted += posted;
        total.lines += block.columns[9].uint64(row);
        total.lines_off += block.columns[10].uint64(row);
        total.lines_unposted += block.columns[11].uint64(row);
        return {};
      });
}

// Postings of ids that no bill line has.
Result<void> add_transfers(const ReconcileQuery& ask, const std::string& slice,
                           std::vector<ReconcileTotals>& totals) {
  return add_rows(
      ask,
      "SELECT currency, toUInt64(count()), toUInt64(countIf(billed != 0 OR effective != 0 OR list "
      "!= 0 OR contracted != 0)) FROM (SELECT charge_id, currency, sum(billed_cost) AS billed, "
      "sum(effective_cost) AS effective, sum(list_cost) AS list, sum(contracted_cost) AS "
      "contracted FROM " +
          ask.scan.all("postings") + " WHERE session IN " + ask.current_of_month + slice +
          " AND charge_id GLOBAL NOT IN (SELECT charge_id FROM " +
          ask.scan.snapshot().facts("charges") + slice +
          ") GROUP BY charge_id, currency) GROUP BY currency",
      totals, [](ReconcileTotals& total, const Block& block, std::uint64_t row) -> Result<void> {
        total.transfers += block.columns[1].uint64(row);
        total.transfers_off += block.columns[2].uint64(row);
        return {};
      });
}

// Postings to lines that have since left the accounts.
Result<void> add_gone(const ReconcileQuery& ask, std::vector<ReconcileTotals>& totals) {
  return add_rows(
      ask,
      "SELECT currency, toUInt64(uniqExact(charge_id)) FROM " + ask.scan.all("postings") +
          " WHERE session IN " + ask.current_of_month + " AND NOT (" +
          ask.scan.snapshot().is_booked() + ") GROUP BY currency",
      totals, [](ReconcileTotals& total, const Block& block, std::uint64_t row) -> Result<void> {
        total.lines_gone += block.columns[1].uint64(row);
        return {};
      });
}

Result<std::vector<ReconcileTotals>> totals(const ReconcileQuery& ask, const IdSlices& slices) {
  std::vector<ReconcileTotals> found;
  for (std::uint64_t i = 0; i < slices.count(); ++i) {
    const std::string slice = slices.condition("charge_id", i);
    if (ask.lines > 0) {
      TRY(add_lines(ask, slice, found));
    }
    if (ask.postings > 0) {
      TRY(add_transfers(ask, slice, found));
    }
  }
  if (ask.postings > 0) {
    TRY(add_gone(ask, found));
  }
  return found;
}

Result<bool> hand_over(const ReconcileQuery& ask, const Block& block, RowRange rows,
                       const Store::LineSink& sink) {
  auto charges = TRY(facts_of<Charge>(block, ask.scan.snapshot().numbers(), rows));
  const std::size_t first = block.columns.size() - 6;
  const clickhouse::Column& foreign = block.columns[first];
  const clickhouse::Column& postings = block.columns[first + 1];
  for (std::uint64_t i = 0; i < rows.count; ++i) {
    const std::uint64_t row = rows.begin + i;
    Charge& charge = charges[i];
    Result<Costs> posted = costs_of(block, first + 2, row, charge.costs.currency().text());
    if (posted && !foreign.text(row).empty()) {
      const Currency currency = TRY(Currency::parse(foreign.text(row)));
      posted = Costs::zero(currency);
    }
    if (!posted) return std::unexpected(posted.error());
    if (!sink({std::move(charge), *posted, postings.uint64(row)})) return false;
  }
  return true;
}

Result<bool> hand_over(const ReconcileQuery& ask, const Block& block, const Store::LineSink& sink) {
  for (std::uint64_t begin = 0; begin < block.rows; begin += kBatchRows) {
    Result<bool> more =
        hand_over(ask, block, {begin, std::min(kBatchRows, block.rows - begin)}, sink);
    if (!more || !*more) return more;
  }
  return true;
}

Result<ReconcileQuery> prepare_query(const Scan& scan, const std::string& month) {
  ReconcileQuery ask = {.scan = scan, .month = month};
  if (scan.snapshot().imports() > 0) {
    const std::uint64_t lines = TRY(
        scan.count("SELECT toUInt64(count()) FROM " + scan.snapshot().facts("charges") +
                   (month.empty() ? "" : " AND booked_month = " + clickhouse::sql_literal(month))));
    ask.lines = lines;
  }
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  for (const LedgerRun& run : runs) {
    if (run.run.current) ask.postings += run.run.postings;
  }
  ask.current = current_sessions(runs);
  ask.current_of_month = current_sessions(runs, month);
  return ask;
}

}  // namespace

Result<std::vector<ReconcileTotals>> reconcile_clickhouse(const Scan& scan,
                                                          const std::string& month, bool only_off,
                                                          const Store::LineSink& sink) {
  const ReconcileQuery ask = TRY(prepare_query(scan, month));
  const IdSlices slices(std::max(ask.lines, ask.postings));
  Result<std::vector<ReconcileTotals>> sums = totals(ask, slices);
  if (!sums) return sums;
  std::uint64_t lines = 0;
  for (const ReconcileTotals& total : *sums) lines += only_off ? total.lines_off : total.lines;
  if (lines == 0) return sums;
  for (std::uint64_t i = 0; i < slices.count(); ++i) {
    const Result<bool> more = scan.visit(
        "SELECT " + clickhouse_fact_columns<Charge>() +
            ", foreign_currency, postings, own_billed, own_effective, own_list, own_contracted" +
            lines_of(ask, slices.condition("charge_id", i)) +
            (only_off ? std::string(" AND ") + kIsOff : "") + " ORDER BY charge_id",
        [&](const Block& block) { return hand_over(ask, block, sink); });
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  return sums;
}

}  // namespace pennyweight
