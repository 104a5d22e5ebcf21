#include "ledger/store/duckdb/closings.h"

#include <iterator>
#include <map>
#include <utility>

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/duckdb/reconcile.h"
#include "ledger/store/duckdb/run_session.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using duckdb::Connection;
using duckdb::Rows;
using duckdb::Statement;

// Prepares the statement, binds its only parameter (a text), and visits the chunks.
template <class Visit>
Result<void> visit(Connection& connection, const std::string& sql, const std::string& text,
                   const Visit& visit_chunk) {
  Statement select = TRY(connection.prepare(sql));
  return each_chunk(select.bind_text(1, text).query(), visit_chunk);
}

Result<std::vector<Charge>> charges_of(Connection& connection, const std::string& rest,
                                       const std::string& month) {
  std::vector<Charge> found;
  TRY(visit(connection, "SELECT " + fact_columns<Charge>("c.") + " FROM charges c " + rest, month,
            [&](const Rows& chunk) -> Result<bool> {
              auto some = facts_of<Charge>(chunk);
              if (!some) return std::unexpected(std::move(some.error()));
              std::ranges::move(*some, std::back_inserter(found));
              return true;
            }));
  return found;
}

// Digests and counts the lines and current runs of the month.
Result<void> add_inputs(Connection& connection, Closing& closing) {
  SetDigest digest;
  closing.lines = 0;
  closing.runs = 0;
  TRY(visit(connection, "SELECT charge_id FROM booked_charges WHERE booked_month = $1",
            closing.month, [&](const Rows& chunk) -> Result<bool> {
              const duckdb::Column ids = chunk.column(0);
              for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                digest.add(closing_member(FactId{ids.uuid(row)}));
              }
              closing.lines += chunk.size();
              return true;
            }));
  Statement select = TRY(
      connection.prepare("SELECT " + run_columns() + " FROM runs WHERE month = $1 AND is_current"));
  const std::vector<NumberedRun> runs = TRY(read_runs(select.bind_text(1, closing.month).query()));
  for (const NumberedRun& run : runs) digest.add(closing_member(run.record.run));
  closing.runs = runs.size();
  closing.digest = digest.digest();
  closing.last_import =
      TRY(count_of(connection.query("SELECT coalesce(max(number), 0)::UBIGINT FROM imports")));
  return {};
}

}  // namespace

Result<bool> is_closed(Connection& connection, const std::string& month) {
  Statement select =
      TRY(connection.prepare("SELECT count(*)::UBIGINT FROM closings WHERE month = $1"));
  const std::uint64_t found = TRY(count_of(select.bind_text(1, month).query()));
  return found > 0;
}

Result<Closing> close_month(Connection& connection, const Closing& asked) {
  const auto closed = TRY(is_closed(connection, asked.month));
  if (closed) return fail(ErrorCode::kConflict, month_is_closed(asked.month));
  const auto totals =
      TRY(reconcile(connection, asked.month, true, [](const LineCheck&) { return false; }));
  TRY(must_be_exact(asked.month, totals));
  Closing closing = asked;
  TRY(add_inputs(connection, closing));
  TRY(duckdb_io::RowInsert(Table<Closing>::kName).add(closing).execute(connection));
  return closing;
}

Result<std::vector<Closing>> closings(Connection& connection) {
  return all_records<Closing>(
      connection.query("SELECT " + record_columns<Closing>() + " FROM closings ORDER BY month"));
}

Result<std::vector<RetiredCharge>> retired_charges(Connection& connection,
                                                   const std::string& month) {
  constexpr const char* kOf = "JOIN retired_charges r ON r.charge_id = c.charge_id ";
  constexpr const char* kRest =
      "WHERE ($1 = '' OR c.billing_month = $1) ORDER BY r.import_number, c.charge_id";
  auto lines = TRY(charges_of(connection, std::string(kOf) + kRest, month));
  std::vector<RetiredCharge> found;
  for (Charge& line : lines) found.push_back({std::move(line), 0, std::nullopt});
  std::uint64_t at = 0;
  TRY(visit(connection, std::string("SELECT r.import_number FROM charges c ") + kOf + kRest, month,
            [&](const Rows& chunk) -> Result<bool> {
              const duckdb::Column imports = chunk.column(0);
              for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                found[at++].import_number = imports.uint64(row);
              }
              return true;
            }));
  auto reversals = TRY(charges_of(
      connection, "WHERE c.takes_back IS NOT NULL AND ($1 = '' OR c.billing_month = $1)", month));
  std::map<FactId, Charge> by_original;
  for (Charge& reversal : reversals) {
    const FactId original = *reversal.takes_back;
    by_original.emplace(original, std::move(reversal));
  }
  for (RetiredCharge& retired : found) {
    const auto reversal = by_original.find(retired.charge.id);
    if (reversal != by_original.end()) retired.taken_back = reversal->second;
  }
  return found;
}

Result<std::vector<Charge>> restated_charges(Connection& connection, const std::string& month) {
  return charges_of(connection,
                    "LEFT JOIN (SELECT o.natural_key, min(r.import_number) AS first FROM "
                    "retired_charges r JOIN charges o ON o.charge_id = r.charge_id GROUP BY "
                    "o.natural_key) gone ON gone.natural_key = c.natural_key "
                    "WHERE c.takes_back IS NULL AND ($1 = '' OR c.billing_month = $1) AND "
                    "(c.booked_month <> c.billing_month OR c.import_number > gone.first OR "
                    "c.import_number IN (SELECT import_number FROM retired_charges)) "
                    "ORDER BY c.import_number, c.charge_id",
                    month);
}

Result<void> issue_invoices(Connection& connection, std::span<const IssuedInvoice> invoices) {
  for (const IssuedInvoice& invoice : invoices) {
    Statement same = TRY(connection.prepare(
        "SELECT count(*)::UBIGINT, (count(*) FILTER (digest = $2))::UBIGINT FROM invoices WHERE "
        "number = $1"));
    const auto there =
        TRY(counts_of<2>(same.bind_text(1, invoice.number).bind_uuid(2, invoice.digest).query()));
    if (there[0] != there[1]) {
      return fail(ErrorCode::kConflict, invoice_exists(invoice.number));
    }
    if (there[0] > 0) continue;
    TRY(duckdb_io::RowInsert(Table<IssuedInvoice>::kName).add(invoice).execute(connection));
  }
  return {};
}

Result<std::vector<IssuedInvoice>> issued_invoices(Connection& connection) {
  return all_records<IssuedInvoice>(connection.query("SELECT " + record_columns<IssuedInvoice>() +
                                                     " FROM invoices ORDER BY number"));
}

}  // namespace pennyweight
