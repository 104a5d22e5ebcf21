#include "ledger/store/duckdb/upgrade.h"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/duckdb/appender.h"
#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/duckdb/schema.h"

namespace pennyweight {
namespace {

// What version 4 stores for each import in addition to version 2.
constexpr const char* kNewImportColumns = R"sql(
ALTER TABLE imports ADD COLUMN style VARCHAR DEFAULT 'guarded';
ALTER TABLE imports ADD COLUMN reason VARCHAR DEFAULT '';
ALTER TABLE imports ADD COLUMN removed UBIGINT DEFAULT 0;
ALTER TABLE imports ADD COLUMN reversed UBIGINT DEFAULT 0;
ALTER TABLE imports ADD COLUMN late UBIGINT DEFAULT 0;
ALTER TABLE imports ADD COLUMN outcomes UBIGINT DEFAULT 0;
)sql";

// The id of an identical line is that of the first plus the number of lines before it (kNumberedId
// in resolution.cc). So the ids show which line was the first, and the number of each.
constexpr const char* kPlaces = R"sql(
CREATE TEMP TABLE upgrade_places AS
  WITH halves AS (
    SELECT charge_id, natural_key, left(replace(charge_id::VARCHAR, '-', ''), 16) AS high,
      ('0x' || right(replace(charge_id::VARCHAR, '-', ''), 16))::UBIGINT::HUGEINT AS low
    FROM charges)
  SELECT charge_id, min(charge_id) OVER alike AS content,
    (low - min(low) OVER alike)::HUGEINT AS place,
    row_number() OVER (alike ORDER BY low) - 1 AS counted
  FROM halves WINDOW alike AS (PARTITION BY natural_key, high);
)sql";

constexpr const char* kMoveCharges = R"sql(
INSERT INTO charges_upgraded BY NAME
  SELECT c.*, c.billing_month AS booked_month, p.content AS content,
    p.place::UBIGINT AS ordinal, NULL::UUID AS takes_back
  FROM charges c JOIN upgrade_places p USING (charge_id);
DROP TABLE upgrade_places;
DROP TABLE charges;
ALTER TABLE charges_upgraded RENAME TO charges;
-- Lines in the accounts of their month: those that a delivery took back while it was open are not.
CREATE VIEW booked_charges AS
  SELECT * FROM charges WHERE charge_id NOT IN (
    SELECT charge_id FROM retired_charges WHERE reversal IS NULL);
)sql";

Result<void> upgrade_charges(duckdb::Connection& connection) {
  TRY(connection.execute(kPlaces));
  const Result<std::array<std::uint64_t, 1>> odd = counts_of<1>(
      connection.query("SELECT (count(*) FILTER (place <> counted))::UBIGINT FROM upgrade_places"));
  if (!odd) return std::unexpected(odd.error());
  if ((*odd)[0] > 0) {
    return fail(ErrorCode::kBadFile,
                std::to_string((*odd)[0]) + " bill lines have ids that no program gave them");
  }
  if (auto made =
          connection.execute("CREATE TABLE charges_upgraded (" + table_definition<Charge>() + ")");
      !made) {
    return made;
  }
  return connection.execute(kMoveCharges);
}

// Adds the listed columns that an earlier version's table lacks. They are numbers: 0 in existing
// rows, or absent where the column allows it.
template <class Fact>
Result<void> add_missing_columns(duckdb::Connection& connection) {
  std::set<std::string, std::less<>> there;
  TRY(each_chunk(connection.query(std::string("SELECT column_name FROM duckdb_columns() WHERE NOT "
                                              "internal AND table_name = '") +
                                  Table<Fact>::kName + "'"),
                 [&](const duckdb::Rows& chunk) -> Result<bool> {
                   const duckdb::Column names = chunk.column(0);
                   for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                     there.emplace(names.text(row));
                   }
                   return true;
                 }));
  std::string sql;
  const duckdb_io::Schema schema = duckdb_io::Schema::of<Fact>();
  for (const auto& column : schema.columns()) {
    if (there.contains(column.name)) continue;
    sql += std::string("ALTER TABLE ") + Table<Fact>::kName + " ADD COLUMN " + column.name + " " +
           column.type + (column.is_optional ? "; " : " DEFAULT 0; ");
  }
  return sql.empty() ? Result<void>() : connection.execute(sql);
}

// Later versions store more values of a sample, and its fingerprint covers all of them, including
// absent ones. So the fingerprints are computed again.
Result<void> upgrade_usages(duckdb::Connection& connection) {
  TRY(add_missing_columns<Usage>(connection));
  TRY(connection.execute("CREATE TEMP TABLE upgrade_contents (usage_id UUID, content UUID)"));
  const Result<std::array<std::uint64_t, 1>> rows =
      counts_of<1>(connection.query("SELECT coalesce(max(rowid) + 1, 0)::UBIGINT FROM usages"));
  if (!rows) return std::unexpected(rows.error());
  constexpr std::uint64_t kPiece = duckdb::Appender::kChunkRows;
  for (std::uint64_t from = 0; from < (*rows)[0]; from += kPiece) {
    const auto usages = TRY(all_facts<Usage>(
        connection.query("SELECT " + fact_columns<Usage>("u.") + " FROM usages u WHERE rowid >= " +
                         std::to_string(from) + " AND rowid < " + std::to_string(from + kPiece))));
    auto appender = TRY(duckdb::Appender::open(connection, "temp", "upgrade_contents"));
    duckdb::ColumnWriter ids = appender.column(0);
    duckdb::ColumnWriter contents = appender.column(1);
    for (std::size_t row = 0; row < usages.size(); ++row) {
      ids.set_uuid(row, usages[row].id.hash);
      contents.set_uuid(row, content_hash(usages[row]));
    }
    Result<void> done = appender.append(usages.size());
    if (done) done = appender.close();
    if (!done) return done;
  }
  return connection.execute(
      "UPDATE usages SET content = n.content FROM upgrade_contents n WHERE usages.usage_id = "
      "n.usage_id; DROP TABLE upgrade_contents");
}

Result<void> upgrade_from_2(duckdb::Connection& connection) {
  // Version 4 distinguishes deliveries, closes months, issues invoices, and counts outcomes.
  Result<void> done =
      connection.execute(create_retired_charges() + duckdb_io::create_table<Closing>() +
                         duckdb_io::create_table<IssuedInvoice>() + kNewImportColumns +
                         "CREATE TABLE outcomes (" + table_definition<Outcome>() + ")");
  if (done) done = upgrade_charges(connection);
  if (done) done = upgrade_usages(connection);
  return done;
}

}  // namespace

Result<void> upgrade_schema(duckdb::Connection& connection, std::uint64_t version) {
  CHECK(can_upgrade(version), "the caller has asked");
  TRY(connection.execute("BEGIN"));
  Result<void> done = {};
  if (version == 2) done = upgrade_from_2(connection);
  // Version 5 stores what workers share. No worker has run yet, so what earlier imports invalidated
  // need not be known: every scope is due.
  if (done && version < 5) done = connection.execute(create_work_tables());
  // Version 6 keeps the statement of a bill with its import.
  if (done) {
    done = connection.execute("ALTER TABLE imports ADD COLUMN statement VARCHAR DEFAULT ''");
  }
  if (done) {
    done =
        connection.execute("UPDATE schema_version SET version = " + std::to_string(kSchemaVersion));
  }
  if (done) done = connection.execute("COMMIT");
  if (done) return {};
  static_cast<void>(connection.execute("ROLLBACK"));  // its own Error says more
  return std::unexpected(done.error().during("cannot bring the ledger from version " +
                                             std::to_string(version) + " to " +
                                             std::to_string(kSchemaVersion)));
}

}  // namespace pennyweight
