#include "ledger/store/move/duckdb_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/duckdb/appender.h"
#include "core/files/disk.h"
#include "core/try.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/move/duckdb_pages.h"
#include "ledger/store/move/progress.h"

namespace pennyweight::move {
namespace {

namespace fs = std::filesystem;
using duckdb::Connection;
using duckdb::Rows;

// Without a table schema_version, no program accepts the file as a ledger.
constexpr const char* kHideVersion = "ALTER TABLE schema_version RENAME TO moving_version";
constexpr const char* kShowVersion = "ALTER TABLE moving_version RENAME TO schema_version";
constexpr std::array<std::string_view, 2> kOwnTables = {kMovingTable, "moving_version"};

class DuckdbTarget : public LedgerTarget {
 public:
  DuckdbTarget(DuckdbLocation place, std::string making)
      : place_(std::move(place)), making_(std::move(making)) {}

  std::string name() const override { return place_.path; }
  const MoveState& found() const override { return found_; }
  Result<void> open();
  Result<void> begin_stage(std::uint64_t number, const CopyStage& stage) override;
  Result<void> begin_piece(const PieceKey& key, const MovedTable& table) override;
  Result<void> add(const Page& page) override { return appender_->add(page); }
  Result<void> end_piece(const Tally& tally) override;
  Result<void> wait() override { return {}; }
  Result<void> read(const MovedTable& table, const CommitHistory& history,
                    const PageSink& sink) override;
  Result<void> finish(const CommitHistory& history) override;

 private:
  Result<void> make_file();
  Result<void> connect();
  Result<void> begin_or_go_on();
  Result<bool> has_table(const std::string& name);
  Result<bool> has_rows();
  Result<void> read_progress();
  Result<void> add_progress(std::span<const ProgressRow> rows);
  Result<void> number_runs();
  Result<void> put_in_place();
  Result<void> commit();
  Result<void> in_transaction(const std::function<Result<void>()>& work);

  DuckdbLocation place_;
  std::string making_;
  std::optional<duckdb::Database> database_;
  std::optional<Connection> connection_;
  DuckdbColumns columns_;
  MoveState found_;
  PieceKey key_;
  const MovedTable* table_ = nullptr;
  std::optional<PageAppender> appender_;  // while a piece is written
};

// The tables of a ledger, as this version creates them.
Result<void> DuckdbTarget::make_file() {
  std::ignore = TRY(open_duckdb_store(
      {.path = making_, .memory_bytes_max = place_.memory_bytes_max, .threads = place_.threads}));
  return {};
}

Result<void> DuckdbTarget::connect() {
  duckdb::Database database =
      TRY(duckdb::Database::open({.path = making_,
                                  .memory_bytes_max = place_.memory_bytes_max,
                                  .threads = place_.threads,
                                  .keeps_insertion_order = false,
                                  .survives_kill = true}));
  database_.emplace(std::move(database));
  Connection connection = TRY(database_->connect());
  connection_.emplace(std::move(connection));
  return {};
}

Result<bool> DuckdbTarget::has_table(const std::string& name) {
  const auto found = TRY(counts_of<1>(connection_->query(
      "SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE table_name = '" + name + "'")));
  return found[0] > 0;
}

Result<bool> DuckdbTarget::has_rows() {
  for (const MovedTable& table : moved_tables()) {
    const auto rows = TRY(counts_of<1>(
        connection_->query("SELECT count(*)::UBIGINT FROM (FROM " + table.name + " LIMIT 1)")));
    if (rows[0] > 0) return true;
  }
  return false;
}

// Removes unfinished files. An empty ledger is created beside its destination, under a name with
// this suffix. Once the destination exists and is ours, such a file was left by a program that was
// killed.
void remove_what_was_being_made(const fs::path& file) {
  const std::string begin = file.filename().string() + ".making-";
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code code;
  std::vector<fs::path> left;
  for (auto entry = fs::directory_iterator(folder, code);
       !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (entry->path().filename().string().starts_with(begin)) left.push_back(entry->path());
  }
  for (const fs::path& one : left) fs::remove(one, code);
}

Result<void> DuckdbTarget::open() {
  std::error_code code;
  if (!fs::exists(making_, code)) {
    TRY(make_file());
  }
  Result<void> done = connect();
  if (done) remove_what_was_being_made(making_);
  if (done) done = begin_or_go_on();
  if (!done) return std::unexpected(done.error().during(making_));
  return done;
}

Result<void> DuckdbTarget::begin_or_go_on() {
  const Result<bool> moving = has_table(kMovingTable), versioned = has_table("schema_version");
  if (!moving || !versioned) return std::unexpected((moving ? versioned : moving).error());
  if (!*moving && !*versioned) {
    return fail(ErrorCode::kBadFile, "another file is in the way; remove it");
  }
  DuckdbColumns columns = TRY(known_columns(*connection_, kOwnTables));
  columns_ = std::move(columns);
  if (*moving) return read_progress();
  const bool rows = TRY(has_rows());
  found_.is_whole = rows;
  if (rows) return {};
  return in_transaction([&] {
    Result<void> made = connection_->execute(duckdb_io::create_table<ProgressRow>());
    if (made) made = connection_->execute(kHideVersion);
    return made;
  });
}

Result<void> DuckdbTarget::read_progress() {
  ProgressReader all;
  const std::vector<ProgressRow> rows = TRY(all_records<ProgressRow>(
      connection_->query("SELECT " + record_columns<ProgressRow>() + " FROM moving")));
  for (const ProgressRow& row : rows) all.add(row);
  found_ = all.state();
  return {};
}

Result<void> DuckdbTarget::commit() {
  TRY(connection_->execute("COMMIT"));
  database_->checkpoint_if_due();
  return {};
}

Result<void> DuckdbTarget::in_transaction(const std::function<Result<void>()>& work) {
  TRY(connection_->execute("BEGIN"));
  Result<void> done = work();
  if (done) return commit();
  static_cast<void>(connection_->execute("ROLLBACK"));  // its own Error says more
  return done;
}

Result<void> DuckdbTarget::add_progress(std::span<const ProgressRow> rows) {
  for (const ProgressRow& row : rows) {
    TRY(duckdb_io::RowInsert(kMovingTable).add(row).execute(*connection_));
  }
  return {};
}

Result<void> DuckdbTarget::begin_stage(std::uint64_t number, const CopyStage& stage) {
  return in_transaction([&] { return add_progress(progress_rows(number, stage)); });
}

Result<void> DuckdbTarget::begin_piece(const PieceKey& key, const MovedTable& table) {
  key_ = key;
  table_ = &table;
  TRY(connection_->execute("BEGIN"));
  Result<PageAppender> appender = PageAppender::open(*connection_, table, columns_.at(table.name));
  if (!appender) return std::unexpected(std::move(appender.error()));
  appender_.emplace(std::move(*appender));
  return {};
}

Result<void> DuckdbTarget::end_piece(const Tally& tally) {
  Result<void> done = appender_->close();
  appender_.reset();
  if (!done) return done;
  done = add_progress(progress_rows(key_, *table_, tally));
  if (done) done = commit();
  return done;
}

Result<void> DuckdbTarget::read(const MovedTable& table, const CommitHistory&,
                                const PageSink& sink) {
  Page page;
  const std::string number = table.number.empty() ? "0::UBIGINT" : table.number;
  return each_chunk(connection_->query(fmt::format("SELECT {} FROM {}",
                                                   duckdb_page_columns(table, number), table.name)),
                    [&](const Rows& chunk) -> Result<bool> {
                      Result<void> done = page_of(chunk, table, page);
                      if (done) done = sink(page);
                      if (!done) return std::unexpected(std::move(done.error()));
                      return true;
                    });
}

// A run's number in its scope, and whether it is the current one, follow from the order of runs.
Result<void> DuckdbTarget::number_runs() {
  return connection_->execute(
      "UPDATE runs SET number = n.place, is_current = n.place = n.runs FROM (SELECT run_id, "
      "row_number() OVER (PARTITION BY cluster, month ORDER BY run_id) AS place, count(*) OVER "
      "(PARTITION BY cluster, month) AS runs FROM runs) n WHERE runs.run_id = n.run_id");
}

Result<void> DuckdbTarget::put_in_place() {
  connection_.reset();
  database_.reset();
  // Unlike a rename, a link never replaces an existing file.
  std::error_code code;
  fs::create_hard_link(making_, place_.path, code);
  if (code && !fs::exists(place_.path)) fs::rename(making_, place_.path, code);
  if (code) {
    return fail(ErrorCode::kIo, fmt::format("{} is complete, but can't be renamed to {}: {}",
                                            making_, place_.path, code.message()));
  }
  TRY(sync_folder(folder_of(place_.path)));
  fs::remove(making_, code);
  for (const char* end : {".wal", ".tmp", ".rescue"}) fs::remove(making_ + end, code);
  return {};
}

Result<void> DuckdbTarget::finish(const CommitHistory&) {
  Result<void> done = {};
  if (!found_.is_whole) {
    done = in_transaction([&] {
      Result<void> ready = number_runs();
      if (ready) ready = connection_->execute(std::string("DROP TABLE ") + kMovingTable);
      if (ready) ready = connection_->execute(kShowVersion);
      return ready;
    });
  }
  if (done) done = database_->checkpoint();
  if (done) done = put_in_place();
  return done;
}

}  // namespace

Result<std::unique_ptr<LedgerTarget>> open_duckdb_target(const DuckdbLocation& place) {
  std::error_code code;
  CHECK(!fs::exists(place.path, code), "the caller has checked that no ledger exists there");
  auto target = std::make_unique<DuckdbTarget>(place, place.path + ".moving");
  TRY(target->open());
  return target;
}

}  // namespace pennyweight::move
