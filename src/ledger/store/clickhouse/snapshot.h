// Snapshot: which rows of the tables count, by one View of the commit log. All queries of a call
// use the same snapshot, so they see one state of the ledger on every shard.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/clickhouse/client.h"
#include "core/error.h"
#include "core/hash.h"
#include "ledger/closing.h"
#include "ledger/run.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/log/commit_log.h"

namespace pennyweight {

// The kinds of entries in the commit log.
inline constexpr const char* kImportEntry = "import";
inline constexpr const char* kRunEntry = "run";
inline constexpr const char* kClosingEntry = "closing";
inline constexpr const char* kInvoicesEntry = "invoices";
// The session never counts (sweep.h).
inline constexpr const char* kCondemnedEntry = "condemned";

class Snapshot {
 public:
  // `database` must outlive the snapshot.
  Snapshot(ClickhouseDatabase& database, commit_log::View view);
  static Result<Snapshot> of(ClickhouseDatabase& database);  // what counts now

  const commit_log::View& view() const { return view_; }
  std::uint64_t imports() const { return imports_; }  // how many imports count
  // Session → number of the imports that count, and perhaps of later ones. Lives as long as the
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
  // A condition on a bill line's id: the line is in the books of its month, so no delivery took it
  // back while the month was open.
  std::string is_booked(const std::string& charge_id = "charge_id") const;

  const ClickhouseDatabase& database() const { return *database_; }

 private:
  ClickhouseDatabase* database_;
  commit_log::View view_;
  std::uint64_t imports_;
};

// A run with the session that wrote it. Its number, and whether it is current, follow from the
// order of commits.
struct LedgerRun : RunRecord {
  std::uint64_t session = 0;
};
// By scope, then number.
Result<std::vector<LedgerRun>> runs_of(clickhouse::Client& client, const Snapshot& snapshot);
// By month.
Result<std::vector<Closing>> closings_of(clickhouse::Client& client, const Snapshot& snapshot);

// The result of a query for one UInt64.
Result<std::uint64_t> count_of(clickhouse::Client& client, const ClickhouseDatabase& database,
                               const std::string& sql);
// "(1, 2, 3)"; "(0)" if there are none, which no session has.
std::string session_list(std::span<const std::uint64_t> sessions);

}  // namespace pennyweight
