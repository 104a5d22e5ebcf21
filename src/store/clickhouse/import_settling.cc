#include "store/clickhouse/import_settling.h"

#include <fmt/format.h>

#include <utility>

#include "store/clickhouse/books.h"
#include "store/clickhouse/charge_settling.h"
#include "store/clickhouse/keyed_settling.h"
#include "store/clickhouse/settling.h"

namespace pennyweight {
namespace {

// Whether facts of a kind are all new, and each comes once.
template <class Fact>
Result<bool> is_new(Settling& settling) {
  const ImportRows& came = settling.delivery().rows;
  const std::uint64_t rows = came.of<Fact>().rows();
  if (rows == 0) return true;
  const std::string table = Table<Fact>::kName;
  const char* content = std::is_same_v<Fact, Charge> ? "content" : Table<Fact>::kId;
  const KeyParts parts(rows);
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    if (Result<void> go_on = settling.between(); !go_on) return std::unexpected(go_on.error());
    const std::string here = settling.of_part<Fact>(parts, part);
    const auto repeated = settling.count(fmt::format(
        "SELECT toUInt64(count() - uniqExact({})) FROM {}{}", content, came.rows_of<Fact>(), here));
    if (!repeated) return std::unexpected(repeated.error());
    if (*repeated > 0) return false;
    const auto known = settling.count(fmt::format(
        "SELECT count() FROM {}{}{} AND {} GLOBAL IN {}", settling.ledger().facts(table),
        settling.of_ledger<Fact>(), here, key_column<Fact>(), settling.keys_of<Fact>(here)));
    if (!known) return std::unexpected(known.error());
    if (*known > 0) return false;
  }
  return true;
}

// Whether all that came is new and comes once, and is booked where it was written down to be.
Result<bool> all_is_new(Settling& settling) {
  const Delivery& delivery = settling.delivery();
  const ImportRows& rows = delivery.rows;
  if (settling.made().outcome.known_file && rows.of<Charge>().rows() > 0) return false;
  // A correction of a closed month can't be made.
  if (settling.is_any_closed() && rows.of<Correction>().rows() > 0) return false;
  for (const auto& [month, lines] : delivery.months) {
    if (settling.booked_month_of(month) != lines.booked) return false;
  }
  if (!delivery.scopes.empty()) {
    const auto there = settling.count(fmt::format("SELECT count() FROM {}{}",
                                                  settling.ledger().facts(Table<Charge>::kName),
                                                  settling.of_ledger<Charge>()));
    if (!there) return std::unexpected(there.error());
    if (*there > 0) return false;
  }
  Result<bool> all = is_new<Charge>(settling);
  if (all && *all) all = is_new<Holding>(settling);
  if (all && *all) all = is_new<Node>(settling);
  if (all && *all) all = is_new<Gpu>(settling);
  if (all && *all) all = is_new<Usage>(settling);
  if (all && *all) all = is_new<Outage>(settling);
  if (all && *all) all = is_new<Correction>(settling);
  if (all && *all) all = is_new<Outcome>(settling);
  return all;
}

void count_all_as_new(const Delivery& delivery, ImportOutcome& outcome) {
  const ImportRows& rows = delivery.rows;
  outcome.charges.created = rows.of<Charge>().rows();
  outcome.holdings.created = rows.of<Holding>().rows();
  outcome.nodes.created = rows.of<Node>().rows();
  outcome.gpus.created = rows.of<Gpu>().rows();
  outcome.usages.created = rows.of<Usage>().rows();
  outcome.outages.created = rows.of<Outage>().rows();
  outcome.corrections.created = rows.of<Correction>().rows();
  outcome.outcomes.created = rows.of<Outcome>().rows();
  for (const auto& [month, lines] : delivery.months) {
    if (lines.booked != month) outcome.restated.late += lines.lines;
  }
}

// Judges what came, and writes what stays of it under a session of its own.
Result<void> write_instead(Settling& settling) {
  Settlement& made = settling.made();
  made.instead = std::make_unique<ImportRows>(settling.database());
  Result<void> done = settle_charges(settling);
  if (done) done = settle_keyed_facts(settling);
  if (done) done = settling.between();
  if (done) done = made.instead->finish();
  if (done && made.retired > 0) {
    done = must_hold(settling.database(), "retired_charges", made.instead->session(), made.retired);
  }
  return done;
}

}  // namespace

Result<Settlement> settle_import(ClickhouseDatabase& database, const Snapshot& ledger,
                                 const Delivery& delivery,
                                 const std::function<Result<void>()>& between) {
  Result<std::set<std::string>> closed = closed_months(database, ledger);
  if (!closed) return std::unexpected(std::move(closed.error()));
  Settling settling(database, ledger, delivery, between, std::move(*closed));
  const Result<bool> known = is_known_file(database, ledger, delivery.source);
  if (!known) return std::unexpected(known.error());
  settling.made().outcome.known_file = *known;
  const Result<bool> all_new = all_is_new(settling);
  if (!all_new) return std::unexpected(all_new.error());
  if (*all_new) {
    count_all_as_new(delivery, settling.made().outcome);
  } else if (const Result<void> written = write_instead(settling); !written) {
    return std::unexpected(written.error());
  }
  return std::move(settling.made());
}

Result<bool> is_known_file(ClickhouseDatabase& database, const Snapshot& ledger,
                           const ImportSource& source) {
  const bool adds = source.style == DeliveryStyle::kDelta || source.style == DeliveryStyle::kLedger;
  if (!adds || source.file_hash == Hash128{}) return false;
  const ClickhouseDatabase::Loan client = database.lend();
  const auto known =
      count_of(*client, database,
               fmt::format("SELECT count() FROM {} AND file_hash = {}", ledger.facts("imports"),
                           clickhouse::quoted(source.file_hash)));
  if (!known) return std::unexpected(known.error());
  return *known > 0;
}

}  // namespace pennyweight
