#include "store/duckdb/schema.h"

#include "store/duckdb/fact_table.h"
#include "store/duckdb/upgrade.h"

namespace pennyweight {
namespace {

template <class Fact>
std::string create_fact_table() {
  return std::string("CREATE TABLE ") + Table<Fact>::kName + " (" + table_definition<Fact>() + ");";
}

std::string create_tables() {
  return "BEGIN;" + create_fact_table<Charge>() + create_fact_table<Holding>() +
         create_fact_table<Node>() + create_fact_table<Gpu>() + create_fact_table<Usage>() +
         create_fact_table<Outage>() + create_fact_table<Correction>() +
         create_fact_table<Outcome>() + "CREATE TABLE postings (run_id UBIGINT, " +
         Schema::of<Posting>().definition() + ");" +
         R"sql(
CREATE TABLE runs (
  run_id UBIGINT, cluster VARCHAR, month VARCHAR, number UBIGINT, is_current BOOLEAN,
  policy VARCHAR, policy_version UUID, catalog_version UUID, time_zone VARCHAR,
  program_version VARCHAR, made_at TIMESTAMP_MS, postings UBIGINT, postings_digest UUID,
  dimensions_digest UUID, postings_sum UUID);
CREATE TABLE run_dimensions (run_id UBIGINT, workload VARCHAR, dimension VARCHAR, value VARCHAR);
CREATE TABLE imports (
  number UBIGINT, format VARCHAR, name VARCHAR, file_hash UUID, imported_at TIMESTAMP_MS,
  charges UBIGINT, holdings UBIGINT, nodes UBIGINT, gpus UBIGINT, usages UBIGINT,
  outages UBIGINT, corrections UBIGINT, rejected UBIGINT, style VARCHAR, reason VARCHAR,
  removed UBIGINT, reversed UBIGINT, late UBIGINT, outcomes UBIGINT);
CREATE TABLE retired_charges (charge_id UUID, import_number UBIGINT, reversal UUID);
CREATE TABLE closings (
  month VARCHAR, closed_at TIMESTAMP_MS, closed_by VARCHAR, reason VARCHAR, last_import UBIGINT,
  lines UBIGINT, runs UBIGINT, digest UUID);
CREATE TABLE invoices (
  number VARCHAR, month VARCHAR, customer VARCHAR, issued_at TIMESTAMP_MS, document VARCHAR,
  digest UUID, refers_to VARCHAR);
CREATE TABLE rejected_rows (
  row_id UUID, import_number UBIGINT, file VARCHAR, line UBIGINT, column_name VARCHAR,
  reason VARCHAR, row_text VARCHAR);
-- Lines in the accounts of their month: those that a delivery took back while it was open are not.
CREATE VIEW booked_charges AS
  SELECT * FROM charges WHERE charge_id NOT IN (
    SELECT charge_id FROM retired_charges WHERE reversal IS NULL);
CREATE VIEW current_postings AS
  SELECT r.cluster, r.month, p.* FROM postings p JOIN runs r USING (run_id) WHERE r.is_current;
)sql" + kWorkTables +
         R"sql(
CREATE TABLE schema_version (version UBIGINT);
INSERT INTO schema_version VALUES ()sql" +
         std::to_string(kSchemaVersion) + "); COMMIT";
}

Result<std::uint64_t> count(duckdb::Connection& connection, const std::string& sql) {
  const Result<std::array<std::uint64_t, 1>> counted = counts_of<1>(connection.query(sql));
  if (!counted) return std::unexpected(counted.error());
  return (*counted)[0];
}

}  // namespace

Result<void> prepare_schema(duckdb::Connection& connection, bool read_only) {
  const Result<std::uint64_t> tables =
      count(connection, "SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE NOT internal");
  if (!tables) return std::unexpected(tables.error());
  if (*tables == 0) {
    if (read_only) {
      return fail(ErrorCode::kBadFile, "it is an empty database; import something first");
    }
    return connection.execute(create_tables());
  }
  const Result<std::uint64_t> ours =
      count(connection,
            "SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE table_name = 'schema_version'");
  if (!ours) return std::unexpected(ours.error());
  if (*ours == 0) {
    return fail(ErrorCode::kBadFile,
                "it is a DuckDB database of something else; name another file");
  }
  const Result<std::uint64_t> version =
      count(connection, "SELECT max(version)::UBIGINT FROM schema_version");
  if (!version) return std::unexpected(version.error());
  if (*version == kSchemaVersion) return {};
  if (can_upgrade(*version)) {
    if (!read_only) return upgrade_schema(connection, *version);
    return fail(ErrorCode::kStore, "its tables have the earlier version " +
                                       std::to_string(*version) +
                                       "; open it once for writing, and they are brought to this");
  }
  return fail(ErrorCode::kStore, "its tables have version " + std::to_string(*version) +
                                     ", this program knows version " +
                                     std::to_string(kSchemaVersion) +
                                     "; use the pennyweight that wrote it, or a newer one");
}

}  // namespace pennyweight
