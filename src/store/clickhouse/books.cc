#include "store/clickhouse/books.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "ledger/keeping.h"
#include "store/clickhouse/outlet.h"
#include "store/clickhouse/reconcile.h"
#include "store/clickhouse/scan.h"
#include "store/clickhouse/turn.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::quoted;

// What a closing is made of.
constexpr std::array<std::string_view, 3> kDecisive = {kImportEntry, kRunEntry, kClosingEntry};
// So many invoices are asked for in one statement.
constexpr std::size_t kListedMax = 1'000;

// Lines and current runs of the month, digested and counted.
Result<void> add_inputs(const Scan& scan, Closing& closing) {
  SetDigest digest;
  closing.lines = 0;
  closing.runs = 0;
  const Result<bool> read = scan.visit(
      "SELECT charge_id FROM " + scan.snapshot().facts(Table<Charge>::kName) +
          " AND booked_month = " + quoted(closing.month) + " AND " + scan.snapshot().is_booked(),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          digest.add(closing_member(FactId{block.columns[0].hash(row)}));
        }
        closing.lines += block.rows;
        return true;
      });
  if (!read) return std::unexpected(read.error());
  const Result<std::vector<LedgerRun>> runs = scan.runs();
  if (!runs) return std::unexpected(runs.error());
  for (const LedgerRun& kept : *runs) {
    if (kept.run.scope.month != closing.month || !kept.run.current) continue;
    digest.add(closing_member(kept.run));
    ++closing.runs;
  }
  closing.digest = digest.digest();
  closing.last_import = scan.snapshot().imports();
  return {};
}

// What closing the month would say, in one state of the ledger.
Result<Closing> prepare(ClickhouseDatabase& database, const Scan& scan, const Closing& asked) {
  const auto closed = closed_months(database, scan.snapshot());
  if (!closed) return std::unexpected(closed.error());
  if (closed->contains(asked.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(asked.month));
  }
  const auto totals =
      reconcile_clickhouse(scan, asked.month, true, [](const LineCheck&) { return false; });
  if (!totals) return std::unexpected(totals.error());
  if (auto exact = must_be_exact(asked.month, *totals); !exact) {
    return std::unexpected(exact.error());
  }
  Closing closing = asked;
  if (auto added = add_inputs(scan, closing); !added) return std::unexpected(added.error());
  return closing;
}

Result<void> write(ClickhouseDatabase& database, std::uint64_t session, const Closing& closing) {
  Outlet outlet(database, clickhouse_table("closings"));
  clickhouse::BlockWriter& block = outlet.block();
  block.column(0).add_uint64(session);
  block.column(1).add_text(closing.month);
  block.column(2).add_int64(unix_ms(closing.at));
  block.column(3).add_text(closing.by);
  block.column(4).add_text(closing.reason);
  block.column(5).add_uint64(closing.last_import);
  block.column(6).add_uint64(closing.lines);
  block.column(7).add_uint64(closing.runs);
  block.column(8).add_hash(closing.digest);
  Result<void> done = outlet.added(1);
  if (done) done = outlet.flush();
  if (done) done = must_hold(database, "closings", session, 1);
  return done;
}

// The digests of invoices that were issued, of these numbers.
Result<std::map<std::string, Hash128>> issued_digests(const Scan& scan,
                                                      std::span<const IssuedInvoice> invoices) {
  std::map<std::string, Hash128> digests;
  for (std::size_t begin = 0; begin < invoices.size(); begin += kListedMax) {
    std::string numbers;
    for (std::size_t i = begin; i < std::min(begin + kListedMax, invoices.size()); ++i) {
      numbers += (numbers.empty() ? "" : ", ") + quoted(invoices[i].number);
    }
    const Result<bool> read =
        scan.visit("SELECT number, digest FROM " + scan.all("invoices") + " WHERE " +
                       scan.snapshot().counts(kInvoicesEntry) + " AND number IN (" + numbers + ")",
                   [&](const Block& block) -> Result<bool> {
                     for (std::uint64_t row = 0; row < block.rows; ++row) {
                       digests.emplace(block.columns[0].text(row), block.columns[1].hash(row));
                     }
                     return true;
                   });
    if (!read) return std::unexpected(read.error());
  }
  return digests;
}

}  // namespace

Result<std::set<std::string>> closed_months(ClickhouseDatabase& database, const Snapshot& ledger) {
  const ClickhouseDatabase::Loan client = database.lend();
  const auto closings = closings_of(*client, ledger);
  if (!closings) return std::unexpected(closings.error());
  std::set<std::string> months;
  for (const Closing& closing : *closings) months.insert(closing.month);
  return months;
}

Result<Closing> close_clickhouse_month(ClickhouseDatabase& database, bool& open,
                                       const Closing& asked) {
  const Result<OpenMark> mark = OpenMark::set(open);
  if (!mark) return std::unexpected(mark.error());
  const Result<Scan> before = Scan::begin(database);
  if (!before) return std::unexpected(before.error());
  Result<Closing> closing = prepare(database, *before, asked);
  if (!closing) return closing;
  Result<Turn> turn = Turn::begin(database);
  if (!turn) return std::unexpected(std::move(turn.error()));
  if (turn->has_news(before->snapshot().view(), kDecisive)) {
    closing = prepare(database, Scan(database, Snapshot(database, turn->view())), asked);
    if (!closing) return closing;
  }
  const std::uint64_t session = database.fresh_session();
  Result<void> done = turn->alive();
  if (done) done = write(database, session, *closing);
  if (done) done = turn->commit(session, kClosingEntry);
  if (!done) return std::unexpected(done.error().during("cannot close " + asked.month));
  return closing;
}

Result<void> issue_clickhouse_invoices(ClickhouseDatabase& database, bool& open,
                                       std::span<const IssuedInvoice> invoices) {
  const Result<OpenMark> mark = OpenMark::set(open);
  if (!mark) return std::unexpected(mark.error());
  Result<Turn> turn = Turn::begin(database);
  if (!turn) return std::unexpected(std::move(turn.error()));
  const Scan scan(database, Snapshot(database, turn->view()));
  auto digests = issued_digests(scan, invoices);
  if (!digests) return std::unexpected(digests.error());
  const std::uint64_t session = database.fresh_session();
  Outlet outlet(database, clickhouse_table("invoices"));
  for (const IssuedInvoice& invoice : invoices) {
    const auto [there, is_new] = digests->emplace(invoice.number, invoice.digest);
    if (there->second != invoice.digest) {
      return fail(ErrorCode::kConflict, invoice_exists(invoice.number));
    }
    if (!is_new) continue;
    clickhouse::BlockWriter& block = outlet.block();
    block.column(0).add_uint64(session);
    block.column(1).add_text(invoice.number);
    block.column(2).add_text(invoice.month);
    block.column(3).add_text(invoice.customer);
    block.column(4).add_int64(unix_ms(invoice.issued_at));
    block.column(5).add_text(invoice.document);
    block.column(6).add_hash(invoice.digest);
    block.column(7).add_text(invoice.refers_to);
    if (Result<void> done = outlet.added(1); !done) return done;
  }
  if (outlet.rows() == 0) return {};
  Result<void> done = outlet.flush();
  if (done) done = must_hold(database, "invoices", session, outlet.rows());
  if (done) done = turn->commit(session, kInvoicesEntry);
  if (!done) return std::unexpected(done.error().during("cannot issue the invoices"));
  return {};
}

}  // namespace pennyweight
