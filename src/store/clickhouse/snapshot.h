// Snapshot: which rows of the tables count, told from one View of the log, so that all that a call
// asks is of one state of the ledger, on whatever shard.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "clickhouse/client.h"
#include "core/error.h"
#include "core/hash.h"
#include "ledger/closing.h"
#include "ledger/run.h"
#include "store/clickhouse/column_io.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/log/commit_log.h"

namespace pennyweight {

// What the log says a session did.
inline constexpr const char* kImportEntry = "import";
inline constexpr const char* kRunEntry = "run";
inline constexpr const char* kClosingEntry = "closing";
inline constexpr const char* kInvoicesEntry = "invoices";
// Nothing: it never will (sweep.h).
inline constexpr const char* kCondemnedEntry = "condemned";

class Snapshot {
 public:
  // `database` lives as long as the snapshot.
  Snapshot(ClickhouseDatabase& database, commit_log::View view);
  static Result<Snapshot> of(ClickhouseDatabase& database);  // of what counts now

  const commit_log::View& view() const { return view_; }
  std::uint64_t imports() const { return imports_; }  // how many count
  // Session → number, of imports that count, and perhaps of later ones. Lives as long as the
  // database.
  const ImportNumbers& numbers() const { return database_->import_numbers(view_); }

  // Conditions on the column `session` (with `prefix`, such as "p."): rows of these tables that
  // count. Facts, imports, rejected_rows and retired_charges are of "import"; runs, run_dimensions
  // and postings of "run"; closings of "closing"; invoices of "invoices".
  std::string counts(const char* what, const std::string& prefix = {}) const;
  // "SELECT session, position FROM …": the sessions that count, some perhaps twice.
  std::string sessions(const char* what) const;
  // "database.charges WHERE session …": to go after FROM.
  std::string facts(std::string_view table) const;
  // A condition on a bill line's id: it is in the accounts of its month; not those that a delivery
  // took back while the month was open.
  std::string is_booked(const std::string& charge_id = "charge_id") const;

  const ClickhouseDatabase& database() const { return *database_; }

 private:
  ClickhouseDatabase* database_;
  commit_log::View view_;
  std::uint64_t imports_;
};

// A run as the tables keep it.
struct LedgerRun {
  Run run;  // number and current are told from the order of commits
  std::uint64_t session = 0;
  Hash128 dimensions_digest;
  Hash128 postings_sum;  // SetDigest::sum() of its postings
};
// By scope, then number.
Result<std::vector<LedgerRun>> runs_of(clickhouse::Client& client, const Snapshot& snapshot);
// By month.
Result<std::vector<Closing>> closings_of(clickhouse::Client& client, const Snapshot& snapshot);

// A query's one row of one UInt64: a count.
Result<std::uint64_t> count_of(clickhouse::Client& client, const ClickhouseDatabase& database,
                               const std::string& sql);
// "(1, 2, 3)", or a list that holds nothing where there are none.
std::string session_list(std::span<const std::uint64_t> sessions);

}  // namespace pennyweight
