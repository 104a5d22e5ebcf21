#include "store/duckdb/books.h"

#include <iterator>
#include <map>
#include <utility>

#include "ledger/keeping.h"
#include "store/duckdb/fact_table.h"
#include "store/duckdb/reconcile.h"
#include "store/duckdb/run_session.h"

namespace pennyweight {
namespace {

using duckdb::Connection;
using duckdb::Rows;
using duckdb::Statement;

// Prepares, binds the one text that there is, and visits the chunks.
template <class Visit>
Result<void> visit(Connection& connection, const std::string& sql, const std::string& text,
                   const Visit& visit_chunk) {
  Result<Statement> select = connection.prepare(sql);
  if (!select) return std::unexpected(std::move(select.error()));
  return each_chunk(select->bind_text(1, text).query(), visit_chunk);
}

Result<std::vector<Charge>> charges_of(Connection& connection, const std::string& rest,
                                       const std::string& month) {
  std::vector<Charge> found;
  const auto read =
      visit(connection, "SELECT " + fact_columns<Charge>("c.") + " FROM charges c " + rest, month,
            [&](const Rows& chunk) -> Result<bool> {
              auto some = facts_of<Charge>(chunk);
              if (!some) return std::unexpected(std::move(some.error()));
              std::ranges::move(*some, std::back_inserter(found));
              return true;
            });
  if (!read) return std::unexpected(read.error());
  return found;
}

// Lines and current runs of the month, digested and counted.
Result<void> add_inputs(Connection& connection, Closing& closing) {
  SetDigest digest;
  closing.lines = 0;
  closing.runs = 0;
  auto read = visit(connection, "SELECT charge_id FROM booked_charges WHERE booked_month = $1",
                    closing.month, [&](const Rows& chunk) -> Result<bool> {
                      const duckdb::Column ids = chunk.column(0);
                      for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                        digest.add(closing_member(FactId{ids.uuid(row)}));
                      }
                      closing.lines += chunk.size();
                      return true;
                    });
  if (!read) return read;
  read = visit(connection,
               std::string("SELECT ") + kRunColumns + " FROM runs WHERE month = $1 AND is_current",
               closing.month, [&](const Rows& chunk) -> Result<bool> {
                 for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                   digest.add(closing_member(run_of(chunk, row)));
                 }
                 closing.runs += chunk.size();
                 return true;
               });
  if (!read) return read;
  closing.digest = digest.digest();
  const auto last =
      counts_of<1>(connection.query("SELECT coalesce(max(number), 0)::UBIGINT FROM imports"));
  if (!last) return std::unexpected(last.error());
  closing.last_import = (*last)[0];
  return {};
}

}  // namespace

Result<bool> is_closed(Connection& connection, const std::string& month) {
  Result<Statement> select =
      connection.prepare("SELECT count(*)::UBIGINT FROM closings WHERE month = $1");
  if (!select) return std::unexpected(std::move(select.error()));
  const auto found = counts_of<1>(select->bind_text(1, month).query());
  if (!found) return std::unexpected(found.error());
  return (*found)[0] > 0;
}

Result<Closing> close_month(Connection& connection, const Closing& asked) {
  const auto closed = is_closed(connection, asked.month);
  if (!closed) return std::unexpected(closed.error());
  if (*closed) return fail(ErrorCode::kConflict, month_is_closed(asked.month));
  const auto totals =
      reconcile(connection, asked.month, true, [](const LineCheck&) { return false; });
  if (!totals) return std::unexpected(totals.error());
  if (auto exact = must_be_exact(asked.month, *totals); !exact) {
    return std::unexpected(exact.error());
  }
  Closing closing = asked;
  if (auto added = add_inputs(connection, closing); !added) return std::unexpected(added.error());
  Result<Statement> insert =
      connection.prepare("INSERT INTO closings VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_text(1, closing.month).bind_timestamp_ms(2, closing.at).bind_text(3, closing.by);
  insert->bind_text(4, closing.reason).bind_uint64(5, closing.last_import);
  insert->bind_uint64(6, closing.lines).bind_uint64(7, closing.runs);
  insert->bind_uuid(8, closing.digest);
  if (auto done = insert->execute(); !done) return std::unexpected(done.error());
  return closing;
}

Result<std::vector<Closing>> closings(Connection& connection) {
  std::vector<Closing> found;
  const auto take = [&](const Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const auto text = [&](std::uint64_t i) { return std::string(chunk.column(i).text(row)); };
      found.push_back({.month = text(0),
                       .at = chunk.column(1).timestamp_ms(row),
                       .by = text(2),
                       .reason = text(3),
                       .last_import = chunk.column(4).uint64(row),
                       .lines = chunk.column(5).uint64(row),
                       .runs = chunk.column(6).uint64(row),
                       .digest = chunk.column(7).uuid(row)});
    }
    return true;
  };
  const auto read = each_chunk(connection.query("SELECT * FROM closings ORDER BY month"), take);
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::vector<RetiredCharge>> retired_charges(Connection& connection,
                                                   const std::string& month) {
  constexpr const char* kOf = "JOIN retired_charges r ON r.charge_id = c.charge_id ";
  constexpr const char* kRest =
      "WHERE ($1 = '' OR c.billing_month = $1) ORDER BY r.import_number, c.charge_id";
  auto lines = charges_of(connection, std::string(kOf) + kRest, month);
  if (!lines) return std::unexpected(lines.error());
  std::vector<RetiredCharge> found;
  for (Charge& line : *lines) found.push_back({std::move(line), 0, std::nullopt});
  std::uint64_t at = 0;
  const auto numbered =
      visit(connection, std::string("SELECT r.import_number FROM charges c ") + kOf + kRest, month,
            [&](const Rows& chunk) -> Result<bool> {
              const duckdb::Column imports = chunk.column(0);
              for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                found[at++].import_number = imports.uint64(row);
              }
              return true;
            });
  if (!numbered) return std::unexpected(numbered.error());
  auto reversals = charges_of(
      connection, "WHERE c.takes_back IS NOT NULL AND ($1 = '' OR c.billing_month = $1)", month);
  if (!reversals) return std::unexpected(reversals.error());
  std::map<FactId, Charge> by_original;
  for (Charge& reversal : *reversals) {
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
                    "WHERE c.takes_back IS NULL AND ($1 = '' OR c.billing_month = $1) AND "
                    "(c.booked_month <> c.billing_month OR c.import_number IN (SELECT "
                    "import_number FROM retired_charges)) ORDER BY c.import_number, c.charge_id",
                    month);
}

Result<void> issue_invoices(Connection& connection, std::span<const IssuedInvoice> invoices) {
  for (const IssuedInvoice& invoice : invoices) {
    Result<Statement> same = connection.prepare(
        "SELECT count(*)::UBIGINT, (count(*) FILTER (digest = $2))::UBIGINT FROM invoices WHERE "
        "number = $1");
    if (!same) return std::unexpected(std::move(same.error()));
    const auto there =
        counts_of<2>(same->bind_text(1, invoice.number).bind_uuid(2, invoice.digest).query());
    if (!there) return std::unexpected(there.error());
    if ((*there)[0] != (*there)[1]) {
      return fail(ErrorCode::kConflict, invoice_exists(invoice.number));
    }
    if ((*there)[0] > 0) continue;
    Result<Statement> insert =
        connection.prepare("INSERT INTO invoices VALUES ($1, $2, $3, $4, $5, $6, $7)");
    if (!insert) return std::unexpected(std::move(insert.error()));
    insert->bind_text(1, invoice.number).bind_text(2, invoice.month);
    insert->bind_text(3, invoice.customer).bind_timestamp_ms(4, invoice.issued_at);
    insert->bind_text(5, invoice.document).bind_uuid(6, invoice.digest);
    insert->bind_text(7, invoice.refers_to);
    if (auto done = insert->execute(); !done) return done;
  }
  return {};
}

Result<std::vector<IssuedInvoice>> issued_invoices(Connection& connection) {
  std::vector<IssuedInvoice> found;
  const auto take = [&](const Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const auto text = [&](std::uint64_t i) { return std::string(chunk.column(i).text(row)); };
      found.push_back({.number = text(0),
                       .month = text(1),
                       .customer = text(2),
                       .issued_at = chunk.column(3).timestamp_ms(row),
                       .document = text(4),
                       .digest = chunk.column(5).uuid(row),
                       .refers_to = text(6)});
    }
    return true;
  };
  const auto read = each_chunk(connection.query("SELECT * FROM invoices ORDER BY number"), take);
  if (!read) return std::unexpected(read.error());
  return found;
}

}  // namespace pennyweight
