#include "ledger/store/clickhouse/import_resolution.h"

#include <fmt/format.h>

#include <utility>

#include "core/try.h"
#include "ledger/store/clickhouse/charge_resolver.h"
#include "ledger/store/clickhouse/closings.h"
#include "ledger/store/clickhouse/import_resolver.h"
#include "ledger/store/clickhouse/keyed_fact_resolver.h"

namespace pennyweight {
namespace {

// Whether all facts of a kind are new and occur once.
template <class Fact>
Result<bool> is_new(ImportResolver& resolver) {
  const ImportRows& came = resolver.delivery().rows;
  const std::uint64_t rows = came.of<Fact>().rows();
  if (rows == 0) return true;
  const std::string table = Table<Fact>::kName;
  const char* content = std::is_same_v<Fact, Charge> ? "content" : Table<Fact>::kId;
  const KeyRanges parts(rows);
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    TRY(resolver.between());
    const std::string here = resolver.of_part<Fact>(parts, part);
    const auto repeated =
        TRY(resolver.count(fmt::format("SELECT toUInt64(count() - uniqExact({})) FROM {}{}",
                                       content, came.rows_of<Fact>(), here)));
    if (repeated > 0) return false;
    const auto known = TRY(resolver.count(fmt::format(
        "SELECT count() FROM {}{}{} AND {} GLOBAL IN {}", resolver.ledger().facts(table),
        resolver.of_ledger<Fact>(), here, key_column<Fact>(), resolver.keys_of<Fact>(here))));
    if (known > 0) return false;
  }
  return true;
}

// Whether everything delivered is new, occurs once, and is booked in the month that was recorded
// for it.
Result<bool> all_is_new(ImportResolver& resolver) {
  const StagedDelivery& delivery = resolver.delivery();
  const ImportRows& rows = delivery.rows;
  if (resolver.result().outcome.known_file && rows.of<Charge>().rows() > 0) return false;
  // A correction of a closed month is not allowed.
  if (resolver.is_any_closed() && rows.of<Correction>().rows() > 0) return false;
  for (const auto& [month, lines] : delivery.months) {
    if (resolver.booked_month_of(month) != lines.booked) return false;
  }
  if (!delivery.scopes.empty()) {
    const auto there = TRY(resolver.count(fmt::format("SELECT count() FROM {}{}",
                                                      resolver.ledger().facts(Table<Charge>::kName),
                                                      resolver.of_ledger<Charge>())));
    if (there > 0) return false;
  }
  Result<bool> all = is_new<Charge>(resolver);
  if (all && *all) all = is_new<Holding>(resolver);
  if (all && *all) all = is_new<Node>(resolver);
  if (all && *all) all = is_new<Gpu>(resolver);
  if (all && *all) all = is_new<Usage>(resolver);
  if (all && *all) all = is_new<Outage>(resolver);
  if (all && *all) all = is_new<Correction>(resolver);
  if (all && *all) all = is_new<Outcome>(resolver);
  return all;
}

void count_all_as_new(const StagedDelivery& delivery, ImportOutcome& outcome) {
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

// Resolves the delivery and writes what remains of it under a session of its own.
Result<void> write_instead(ImportResolver& resolver) {
  ImportResolution& result = resolver.result();
  result.instead = std::make_unique<ImportRows>(resolver.database());
  Result<void> done = resolve_charges(resolver);
  if (done) done = resolve_keyed_facts(resolver);
  if (done) done = resolver.between();
  if (done) done = result.instead->finish();
  if (done && result.retired > 0) {
    done = verify_row_count(resolver.database(), "retired_charges", result.instead->session(),
                            result.retired);
  }
  return done;
}

}  // namespace

Result<ImportResolution> resolve_import(ClickhouseDatabase& database, const Snapshot& ledger,
                                        const StagedDelivery& delivery,
                                        const std::function<Result<void>()>& between) {
  std::set<std::string> closed = TRY(closed_months(database, ledger));
  ImportResolver resolver(database, ledger, delivery, between, std::move(closed));
  const bool known = TRY(is_known_file(database, ledger, delivery.source));
  resolver.result().outcome.known_file = known;
  const bool all_new = TRY(all_is_new(resolver));
  if (all_new) {
    count_all_as_new(delivery, resolver.result().outcome);
  } else
    TRY(write_instead(resolver));
  return std::move(resolver.result());
}

Result<bool> is_known_file(ClickhouseDatabase& database, const Snapshot& ledger,
                           const ImportSource& source) {
  if (!adds_every_line(source.style) || source.file_hash == Hash128{}) return false;
  const ClickhouseDatabase::Loan client = database.lend();
  const auto known =
      TRY(count_of(*client, database,
                   fmt::format("SELECT count() FROM {} AND file_hash = {}", ledger.facts("imports"),
                               clickhouse::sql_literal(source.file_hash))));
  return known > 0;
}

}  // namespace pennyweight
