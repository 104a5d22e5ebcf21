#include "ledger/store/clickhouse/closings.h"

#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/store/clickhouse/block_inserter.h"
#include "ledger/store/clickhouse/commit_turn.h"
#include "ledger/store/clickhouse/reconcile.h"
#include "ledger/store/clickhouse/scan.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::sql_literal;

// The entry kinds that a closing depends on.
constexpr std::array<std::string_view, 3> kClosingInputs = {kImportEntry, kRunEntry, kClosingEntry};
// The most invoices that one statement lists.
constexpr std::size_t kInvoicesListedMax = 1'000;

// Digests and counts the lines and current runs of the month.
Result<void> add_inputs(const Scan& scan, Closing& closing) {
  SetDigest digest;
  closing.lines = 0;
  closing.runs = 0;
  std::ignore =
      TRY(scan.visit("SELECT charge_id FROM " + scan.snapshot().facts(Table<Charge>::kName) +
                         " AND booked_month = " + sql_literal(closing.month) + " AND " +
                         scan.snapshot().is_booked(),
                     [&](const Block& block) -> Result<bool> {
                       for (std::uint64_t row = 0; row < block.rows; ++row) {
                         digest.add(closing_member(FactId{block.columns[0].hash(row)}));
                       }
                       closing.lines += block.rows;
                       return true;
                     }));
  const std::vector<LedgerRun> runs = TRY(scan.runs());
  for (const LedgerRun& kept : runs) {
    if (kept.run.scope.month != closing.month || !kept.run.current) continue;
    digest.add(closing_member(kept.run));
    ++closing.runs;
  }
  closing.digest = digest.digest();
  closing.last_import = scan.snapshot().imports();
  return {};
}

// Builds the closing of a month from one state of the ledger.
Result<Closing> prepare(ClickhouseDatabase& database, const Scan& scan, const Closing& asked) {
  const auto closed = TRY(closed_months(database, scan.snapshot()));
  if (closed.contains(asked.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(asked.month));
  }
  const auto totals =
      TRY(reconcile_clickhouse(scan, asked.month, true, [](const LineCheck&) { return false; }));
  TRY(must_be_exact(asked.month, totals));
  Closing closing = asked;
  TRY(add_inputs(scan, closing));
  return closing;
}

// The digests of the issued invoices with these numbers.
Result<std::map<std::string, Hash128>> issued_digests(const Scan& scan,
                                                      std::span<const IssuedInvoice> invoices) {
  std::map<std::string, Hash128> digests;
  for (std::size_t begin = 0; begin < invoices.size(); begin += kInvoicesListedMax) {
    std::string numbers;
    for (std::size_t i = begin; i < std::min(begin + kInvoicesListedMax, invoices.size()); ++i) {
      numbers += (numbers.empty() ? "" : ", ") + sql_literal(invoices[i].number);
    }
    std::ignore = TRY(
        scan.visit("SELECT number, digest FROM " + scan.all("invoices") + " WHERE " +
                       scan.snapshot().counts(kInvoicesEntry) + " AND number IN (" + numbers + ")",
                   [&](const Block& block) -> Result<bool> {
                     for (std::uint64_t row = 0; row < block.rows; ++row) {
                       digests.emplace(block.columns[0].text(row), block.columns[1].hash(row));
                     }
                     return true;
                   }));
  }
  return digests;
}

}  // namespace

Result<std::set<std::string>> closed_months(ClickhouseDatabase& database, const Snapshot& ledger) {
  const ClickhouseDatabase::Loan client = database.lend();
  const auto closings = TRY(closings_of(*client, ledger));
  std::set<std::string> months;
  for (const Closing& closing : closings) months.insert(closing.month);
  return months;
}

Result<Closing> close_clickhouse_month(ClickhouseDatabase& database, bool& open,
                                       const Closing& asked) {
  const SessionGuard guard = TRY(SessionGuard::set(open));
  const Scan before = TRY(Scan::begin(database));
  Result<Closing> closing = prepare(database, before, asked);
  if (!closing) return closing;
  CommitTurn turn = TRY(CommitTurn::begin(database));
  if (turn.has_new_entries(before.snapshot().view(), kClosingInputs)) {
    closing = prepare(database, Scan(database, Snapshot(database, turn.view())), asked);
    if (!closing) return closing;
  }
  const std::uint64_t session = database.fresh_session();
  Result<void> done = turn.alive();
  if (done) done = insert_record(database, session, *closing);
  if (done) done = turn.commit(session, kClosingEntry);
  if (!done) return std::unexpected(done.error().during("cannot close " + asked.month));
  return closing;
}

Result<void> issue_clickhouse_invoices(ClickhouseDatabase& database, bool& open,
                                       std::span<const IssuedInvoice> invoices) {
  const SessionGuard guard = TRY(SessionGuard::set(open));
  CommitTurn turn = TRY(CommitTurn::begin(database));
  const Scan scan(database, Snapshot(database, turn.view()));
  auto digests = TRY(issued_digests(scan, invoices));
  const std::uint64_t session = database.fresh_session();
  BlockInserter inserter(database, clickhouse_table("invoices"));
  for (const IssuedInvoice& invoice : invoices) {
    const auto [there, is_new] = digests.emplace(invoice.number, invoice.digest);
    if (there->second != invoice.digest) {
      return fail(ErrorCode::kConflict, invoice_exists(invoice.number));
    }
    if (!is_new) continue;
    add_record(inserter.block(), session, invoice);
    TRY(inserter.added(1));
  }
  if (inserter.rows() == 0) return {};
  Result<void> done = inserter.flush();
  if (done) done = verify_row_count(database, "invoices", session, inserter.rows());
  if (done) done = turn.commit(session, kInvoicesEntry);
  if (!done) return std::unexpected(done.error().during("cannot issue the invoices"));
  return {};
}

}  // namespace pennyweight
