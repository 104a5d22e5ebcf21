#include "ledger/store/duckdb/schema.h"

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/duckdb/upgrade.h"

namespace pennyweight {
namespace {

template <class Fact>
std::string create_fact_table() {
  return std::string("CREATE TABLE ") + Table<Fact>::kName + " (" + table_definition<Fact>() + ");";
}

// A table of a run's rows: the run's number, then the listed columns.
template <class Record>
std::string create_run_table() {
  duckdb_io::Schema schema;
  schema.add("run_id", duckdb_io::kNumber);
  Table<Record>::list(schema);
  return std::string("CREATE TABLE ") + Table<Record>::kName + " (" + schema.definition() + ");";
}

std::string create_runs() {
  duckdb_io::Schema schema;
  schema.add("run_id", duckdb_io::kNumber);
  Table<RunRecord>::list_scope(schema);
  schema.add("number", duckdb_io::kNumber);
  schema.add("is_current", "BOOLEAN");
  Table<RunRecord>::list_rest(schema);
  return "CREATE TABLE runs (" + schema.definition() + ");";
}

std::string create_imports() {
  duckdb_io::Schema schema;
  schema.add("number", duckdb_io::kNumber);
  Table<ImportRecord>::list_source(schema);
  Table<ImportRecord>::list_rest(schema);
  Table<ImportRecord>::list_outcomes(schema);
  Table<ImportRecord>::list_statement(schema);
  return "CREATE TABLE imports (" + schema.definition() + ");";
}

std::string create_tables() {
  return "BEGIN;" + create_fact_table<Charge>() + create_fact_table<Holding>() +
         create_fact_table<Node>() + create_fact_table<Gpu>() + create_fact_table<Usage>() +
         create_fact_table<Outage>() + create_fact_table<Correction>() +
         create_fact_table<Outcome>() + create_run_table<Posting>() + create_runs() +
         create_run_table<DimensionRecord>() + create_imports() + create_retired_charges() +
         duckdb_io::create_table<Closing>() + duckdb_io::create_table<IssuedInvoice>() +
         "CREATE TABLE rejected_rows (" + rejected_row_definition() + ");" +
         R"sql(
-- Lines in the accounts of their month: those that a delivery took back while it was open are not.
CREATE VIEW booked_charges AS
  SELECT * FROM charges WHERE charge_id NOT IN (
    SELECT charge_id FROM retired_charges WHERE reversal IS NULL);
CREATE VIEW current_postings AS
  SELECT r.cluster, r.month, p.* FROM postings p JOIN runs r USING (run_id) WHERE r.is_current;
)sql" + create_work_tables() +
         R"sql(
CREATE TABLE schema_version (version UBIGINT);
INSERT INTO schema_version VALUES ()sql" +
         std::to_string(kSchemaVersion) + "); COMMIT";
}

}  // namespace

std::string create_retired_charges() {
  duckdb_io::Schema schema;
  Table<RetirementRecord>::list_charge(schema);
  schema.add("import_number", duckdb_io::kNumber);
  Table<RetirementRecord>::list_reversal(schema);
  return "CREATE TABLE retired_charges (" + schema.definition() + ");";
}

std::string rejected_row_definition() {
  duckdb_io::Schema schema;
  schema.add("row_id", duckdb_io::kHash);
  schema.add("import_number", duckdb_io::kNumber);
  Table<RejectedRow>::list(schema);
  return schema.definition();
}

std::string create_work_tables() {
  duckdb_io::Schema invalidations;
  invalidations.add("import_number", duckdb_io::kNumber);
  Table<Invalidation>::list(invalidations);
  duckdb_io::Schema planned_scopes;
  planned_scopes.add("month", duckdb_io::kText);
  Table<PlannedScope>::list(planned_scopes);
  return "CREATE TABLE import_touches (" + invalidations.definition() + ");" +
         duckdb_io::create_table<ClaimState>() + duckdb_io::create_table<WorkCompletion>() +
         duckdb_io::create_table<WorkPlan>() + "CREATE TABLE work_plan_scopes (" +
         planned_scopes.definition() + ");";
}

Result<void> prepare_schema(duckdb::Connection& connection, bool read_only) {
  const std::uint64_t tables = TRY(count_of(
      connection.query("SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE NOT internal")));
  if (tables == 0) {
    if (read_only) {
      return fail(ErrorCode::kBadFile, "it is an empty database; import something first");
    }
    return connection.execute(create_tables());
  }
  const std::uint64_t ours = TRY(count_of(connection.query(
      "SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE table_name = 'schema_version'")));
  if (ours == 0) {
    return fail(ErrorCode::kBadFile,
                "it is a DuckDB database of something else; name another file");
  }
  const std::uint64_t version =
      TRY(count_of(connection.query("SELECT max(version)::UBIGINT FROM schema_version")));
  if (version == kSchemaVersion) return {};
  if (can_upgrade(version)) {
    if (!read_only) return upgrade_schema(connection, version);
    return fail(ErrorCode::kStore, "its tables have the earlier version " +
                                       std::to_string(version) +
                                       "; open it once for writing, and they are brought to this");
  }
  return fail(ErrorCode::kStore, "its tables have version " + std::to_string(version) +
                                     ", this program knows version " +
                                     std::to_string(kSchemaVersion) +
                                     "; use the pennyweight that wrote it, or a newer one");
}

}  // namespace pennyweight
