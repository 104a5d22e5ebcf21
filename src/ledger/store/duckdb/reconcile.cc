#include "ledger/store/duckdb/reconcile.h"

#include <algorithm>

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// Each line with the sums of its postings in its own currency (own). If some postings are in
// another currency, the line cannot reconcile, and foreign_currency is the first such currency.
constexpr const char* kLines = R"sql(
WITH posted AS (
  SELECT p.charge_id, p.currency, count(*) AS postings, sum(p.billed_cost) AS billed,
         sum(p.effective_cost) AS effective, sum(p.list_cost) AS list,
         sum(p.contracted_cost) AS contracted
  FROM postings p JOIN runs r ON r.run_id = p.run_id WHERE r.is_current GROUP BY ALL),
strange AS (
  SELECT p.charge_id, min(p.currency) AS currency, sum(p.postings) AS postings
  FROM posted p JOIN charges c ON c.charge_id = p.charge_id WHERE p.currency <> c.currency
  GROUP BY ALL),
lines AS (
  SELECT c.*, strange.currency AS foreign_currency,
         CAST(coalesce(own.postings, 0) + coalesce(strange.postings, 0) AS UBIGINT) AS postings,
         coalesce(own.billed, 0::DECIMAL(38,18)) AS own_billed,
         coalesce(own.effective, 0::DECIMAL(38,18)) AS own_effective,
         coalesce(own.list, 0::DECIMAL(38,18)) AS own_list,
         coalesce(own.contracted, 0::DECIMAL(38,18)) AS own_contracted,
         own.postings IS NULL OR strange.currency IS NOT NULL OR own.billed <> c.billed_cost OR
         own.effective <> c.effective_cost OR own.list <> c.list_cost OR
         own.contracted <> c.contracted_cost AS is_off
  FROM booked_charges c
  LEFT JOIN posted own ON own.charge_id = c.charge_id AND own.currency = c.currency
  LEFT JOIN strange ON strange.charge_id = c.charge_id
  WHERE $1 = '' OR c.booked_month = $1)
)sql";

// Reads four columns, starting at `first`.
Result<Costs> costs_of(const duckdb::Rows& chunk, std::uint64_t first, std::uint64_t row,
                       std::string_view currency) {
  const Currency code = TRY(Currency::parse(currency));
  const auto money = [&](std::uint64_t i) {
    return Money::from_ticks(chunk.column(first + i).unscaled(row), code);
  };
  return Costs{money(0), money(1), money(2), money(3)};
}

// Postings of ids that no bill line has, by currency.
constexpr const char* kTransfers = R"sql(
WITH sums AS (
  SELECT p.charge_id, p.currency, sum(p.billed_cost) AS billed, sum(p.effective_cost) AS effective,
         sum(p.list_cost) AS list, sum(p.contracted_cost) AS contracted
  FROM postings p JOIN runs r ON r.run_id = p.run_id
  WHERE r.is_current AND ($1 = '' OR r.month = $1)
    AND p.charge_id NOT IN (SELECT charge_id FROM charges)
  GROUP BY ALL)
SELECT currency, count(*)::UBIGINT,
       (count(*) FILTER (billed <> 0 OR effective <> 0 OR list <> 0 OR contracted <> 0))::UBIGINT
FROM sums GROUP BY currency ORDER BY currency)sql";

// Postings to lines that have since left the accounts.
constexpr const char* kGone = R"sql(
SELECT p.currency, (count(DISTINCT p.charge_id))::UBIGINT
FROM postings p JOIN runs r ON r.run_id = p.run_id
WHERE r.is_current AND ($1 = '' OR r.month = $1)
  AND p.charge_id IN (SELECT charge_id FROM retired_charges WHERE reversal IS NULL)
GROUP BY p.currency ORDER BY p.currency)sql";

Result<void> add_gone(duckdb::Connection& connection, const std::string& month,
                      std::vector<ReconcileTotals>& totals) {
  duckdb::Statement select = TRY(connection.prepare(kGone));
  const auto take = [&](const duckdb::Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const auto place = TRY(find_totals(chunk.column(0).text(row), totals));
      place->lines_gone = chunk.column(1).uint64(row);
    }
    return true;
  };
  return each_chunk(select.bind_text(1, month).query(), take);
}

// Adds to the totals of their currency.
Result<void> add_transfers(duckdb::Connection& connection, const std::string& month,
                           std::vector<ReconcileTotals>& totals) {
  duckdb::Statement select = TRY(connection.prepare(kTransfers));
  const auto take = [&](const duckdb::Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const auto place = TRY(find_totals(chunk.column(0).text(row), totals));
      place->transfers = chunk.column(1).uint64(row);
      place->transfers_off = chunk.column(2).uint64(row);
    }
    return true;
  };
  return each_chunk(select.bind_text(1, month).query(), take);
}

Result<std::vector<ReconcileTotals>> totals(duckdb::Connection& connection,
                                            const std::string& month) {
  duckdb::Statement select = TRY(connection.prepare(
      std::string(kLines) +
      "SELECT currency, sum(billed_cost), sum(effective_cost), sum(list_cost), "
      "sum(contracted_cost), sum(own_billed), sum(own_effective), sum(own_list), "
      "sum(own_contracted), count(*)::UBIGINT, (count(*) FILTER (is_off))::UBIGINT, "
      "(count(*) FILTER (postings = 0))::UBIGINT FROM lines GROUP BY currency ORDER BY currency"));
  std::vector<ReconcileTotals> found;
  TRY(each_chunk(
      select.bind_text(1, month).query(), [&](const duckdb::Rows& chunk) -> Result<bool> {
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          const std::string_view currency = chunk.column(0).text(row);
          const Result<Costs> billed = costs_of(chunk, 1, row, currency);
          if (!billed) return std::unexpected(billed.error());
          const Result<Costs> posted = costs_of(chunk, 5, row, currency);
          if (!posted) return std::unexpected(posted.error());
          found.push_back({*billed, *posted, chunk.column(9).uint64(row),
                           chunk.column(10).uint64(row), chunk.column(11).uint64(row), 0, 0});
        }
        return true;
      }));
  TRY(add_transfers(connection, month, found));
  TRY(add_gone(connection, month, found));
  return found;
}

Result<bool> hand_over_lines(const duckdb::Rows& chunk, const Store::LineSink& sink) {
  std::vector<Charge> charges = TRY(facts_of<Charge>(chunk));
  const std::uint64_t first = chunk.column_count() - 6;
  const duckdb::Column foreign = chunk.column(first), postings = chunk.column(first + 1);
  for (std::uint64_t row = 0; row < chunk.size(); ++row) {
    Charge& charge = charges[row];
    Result<Costs> posted = costs_of(chunk, first + 2, row, charge.costs.currency().text());
    if (posted && !foreign.is_null(row)) {
      const Currency currency = TRY(Currency::parse(foreign.text(row)));
      posted = Costs::zero(currency);
    }
    if (!posted) return std::unexpected(posted.error());
    if (!sink({std::move(charge), *posted, postings.uint64(row)})) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<ReconcileTotals>> reconcile(duckdb::Connection& connection,
                                               const std::string& month, bool only_off,
                                               const Store::LineSink& sink) {
  Result<std::vector<ReconcileTotals>> sums = totals(connection, month);
  if (!sums) return sums;
  std::uint64_t lines = 0;
  for (const ReconcileTotals& total : *sums) lines += only_off ? total.lines_off : total.lines;
  if (lines == 0) return sums;
  duckdb::Statement select = TRY(connection.prepare(
      std::string(kLines) + "SELECT " + fact_columns<Charge>("") +
      ", foreign_currency, postings, own_billed, own_effective, own_list, own_contracted "
      "FROM lines" +
      (only_off ? " WHERE is_off" : "") + " ORDER BY charge_id"));
  TRY(each_chunk(select.bind_text(1, month).query(),
                 [&](const duckdb::Rows& chunk) { return hand_over_lines(chunk, sink); }));
  return sums;
}

}  // namespace pennyweight
