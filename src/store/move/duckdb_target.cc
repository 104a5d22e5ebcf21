#include "store/move/duckdb_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "duckdb/appender.h"
#include "store/duckdb/duckdb_store.h"
#include "store/duckdb/fact_table.h"
#include "store/move/duckdb_pages.h"
#include "store/move/notes.h"

namespace pennyweight::move {
namespace {

namespace fs = std::filesystem;
using duckdb::Connection;
using duckdb::Rows;

constexpr const char* kMakeProgress =
    "CREATE TABLE moving (what VARCHAR, stage UBIGINT, table_name VARCHAR, piece UBIGINT, name "
    "VARCHAR, number UBIGINT, hash UUID)";
// Without a table schema_version nobody takes the file for a ledger.
constexpr const char* kHideVersion = "ALTER TABLE schema_version RENAME TO moving_version";
constexpr const char* kShowVersion = "ALTER TABLE moving_version RENAME TO schema_version";
constexpr std::array<std::string_view, 2> kOwnTables = {kMovingTable, "moving_version"};

class DuckdbTarget : public Target {
 public:
  DuckdbTarget(DuckdbPlace place, std::string making)
      : place_(std::move(place)), making_(std::move(making)) {}

  std::string name() const override { return place_.path; }
  const MoveState& found() const override { return found_; }
  Result<void> open();
  Result<void> begin_stage(std::uint64_t number, const Stage& stage) override;
  Result<void> begin_piece(const PieceKey& key, const MovedTable& table) override;
  Result<void> add(const Page& page) override { return appender_->add(page); }
  Result<void> end_piece(const Tally& tally) override;
  Result<void> wait() override { return {}; }
  Result<void> read(const MovedTable& table, const History& history, const PageSink& sink) override;
  Result<void> finish(const History& history) override;

 private:
  Result<void> make_file();
  Result<void> connect();
  Result<void> begin_or_go_on();
  Result<bool> has_table(const std::string& name);
  Result<bool> has_rows();
  Result<void> recall();
  Result<void> note(std::span<const Note> notes);
  Result<void> number_runs();
  Result<void> put_in_place();
  Result<void> in_transaction(const std::function<Result<void>()>& work);

  DuckdbPlace place_;
  std::string making_;
  std::optional<duckdb::Database> database_;
  std::optional<Connection> connection_;
  DuckdbColumns columns_;
  MoveState found_;
  PieceKey key_;
  const MovedTable* table_ = nullptr;
  std::optional<PageAppender> appender_;  // while a piece is written
};

// The tables of a ledger, as this version makes them.
Result<void> DuckdbTarget::make_file() {
  const auto store = open_duckdb_store(
      {.path = making_, .memory_bytes_max = place_.memory_bytes_max, .threads = place_.threads});
  if (!store) return std::unexpected(store.error());
  return {};
}

Result<void> DuckdbTarget::connect() {
  Result<duckdb::Database> database =
      duckdb::Database::open({.path = making_,
                              .memory_bytes_max = place_.memory_bytes_max,
                              .threads = place_.threads,
                              .keeps_insertion_order = false});
  if (!database) return std::unexpected(std::move(database.error()));
  database_.emplace(std::move(*database));
  Result<Connection> connection = database_->connect();
  if (!connection) return std::unexpected(std::move(connection.error()));
  connection_.emplace(std::move(*connection));
  return {};
}

Result<bool> DuckdbTarget::has_table(const std::string& name) {
  const auto found = counts_of<1>(connection_->query(
      "SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE table_name = '" + name + "'"));
  if (!found) return std::unexpected(found.error());
  return (*found)[0] > 0;
}

Result<bool> DuckdbTarget::has_rows() {
  for (const MovedTable& table : moved_tables()) {
    const auto rows = counts_of<1>(
        connection_->query("SELECT count(*)::UBIGINT FROM (FROM " + table.name + " LIMIT 1)"));
    if (!rows) return std::unexpected(rows.error());
    if ((*rows)[0] > 0) return true;
  }
  return false;
}

// An empty ledger is made beside its place, under a name that goes on with this. One that was being
// made when its program was killed is nobody's any more once the file is there, and ours.
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
    if (Result<void> made = make_file(); !made) return made;
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
    return fail(ErrorCode::kBadFile, "it is in the way, and of something else; remove it");
  }
  Result<DuckdbColumns> columns = known_columns(*connection_, kOwnTables);
  if (!columns) return std::unexpected(columns.error());
  columns_ = std::move(*columns);
  if (*moving) return recall();
  const Result<bool> rows = has_rows();
  if (!rows) return std::unexpected(rows.error());
  found_.is_whole = *rows;
  if (*rows) return {};
  return in_transaction([&] {
    Result<void> made = connection_->execute(kMakeProgress);
    if (made) made = connection_->execute(kHideVersion);
    return made;
  });
}

Result<void> DuckdbTarget::recall() {
  Recollection all;
  const Result<void> read = each_chunk(
      connection_->query("SELECT what, stage, table_name, piece, name, number, hash FROM moving"),
      [&](const Rows& chunk) -> Result<bool> {
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          const auto text = [&](std::uint64_t i) { return std::string(chunk.column(i).text(row)); };
          all.take({.what = text(0),
                    .stage = chunk.column(1).uint64(row),
                    .table = text(2),
                    .piece = chunk.column(3).uint64(row),
                    .name = text(4),
                    .number = chunk.column(5).uint64(row),
                    .hash = chunk.column(6).uuid(row)});
        }
        return true;
      });
  if (read) found_ = all.state();
  return read;
}

Result<void> DuckdbTarget::in_transaction(const std::function<Result<void>()>& work) {
  if (Result<void> begun = connection_->execute("BEGIN"); !begun) return begun;
  Result<void> done = work();
  if (done) return connection_->execute("COMMIT");
  static_cast<void>(connection_->execute("ROLLBACK"));  // its own Error says more
  return done;
}

Result<void> DuckdbTarget::note(std::span<const Note> notes) {
  Result<duckdb::Appender> appender = duckdb::Appender::open(*connection_, "", kMovingTable);
  if (!appender) return std::unexpected(std::move(appender.error()));
  for (const Note& note : notes) {
    appender->column(0).set_text(0, note.what);
    appender->column(1).set_uint64(0, note.stage);
    appender->column(2).set_text(0, note.table);
    appender->column(3).set_uint64(0, note.piece);
    appender->column(4).set_text(0, note.name);
    appender->column(5).set_uint64(0, note.number);
    appender->column(6).set_uuid(0, note.hash);
    if (Result<void> done = appender->append(1); !done) return done;
  }
  return appender->close();
}

Result<void> DuckdbTarget::begin_stage(std::uint64_t number, const Stage& stage) {
  return in_transaction([&] { return note(notes_of(number, stage)); });
}

Result<void> DuckdbTarget::begin_piece(const PieceKey& key, const MovedTable& table) {
  key_ = key;
  table_ = &table;
  if (Result<void> begun = connection_->execute("BEGIN"); !begun) return begun;
  Result<PageAppender> appender = PageAppender::open(*connection_, table, columns_.at(table.name));
  if (!appender) return std::unexpected(std::move(appender.error()));
  appender_.emplace(std::move(*appender));
  return {};
}

Result<void> DuckdbTarget::end_piece(const Tally& tally) {
  Result<void> done = appender_->close();
  appender_.reset();
  if (!done) return done;
  done = note(notes_of(key_, *table_, tally));
  if (done) done = connection_->execute("COMMIT");
  return done;
}

Result<void> DuckdbTarget::read(const MovedTable& table, const History&, const PageSink& sink) {
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

// On disk before anybody can find it: what a directory says of its files, too.
Result<void> sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && ::fsync(opened) == 0;
  if (opened >= 0) ::close(opened);
  if (synced) return {};
  return fail(ErrorCode::kIo, "cannot write the directory " + folder.string());
}

Result<void> DuckdbTarget::put_in_place() {
  connection_.reset();
  database_.reset();
  // Unlike a renaming, a link never takes the place of what is there.
  std::error_code code;
  fs::create_hard_link(making_, place_.path, code);
  if (code && !fs::exists(place_.path)) fs::rename(making_, place_.path, code);
  if (code) {
    return fail(ErrorCode::kIo, fmt::format("{} is whole, and can't be put at {}: {}", making_,
                                            place_.path, code.message()));
  }
  if (Result<void> synced = sync_folder(place_.path); !synced) return synced;
  fs::remove(making_, code);
  for (const char* end : {".wal", ".tmp"}) fs::remove(making_ + end, code);
  return {};
}

Result<void> DuckdbTarget::finish(const History&) {
  Result<void> done = {};
  if (!found_.is_whole) {
    done = in_transaction([&] {
      Result<void> ready = number_runs();
      if (ready) ready = connection_->execute(std::string("DROP TABLE ") + kMovingTable);
      if (ready) ready = connection_->execute(kShowVersion);
      return ready;
    });
  }
  if (done) done = connection_->execute("CHECKPOINT");
  if (done) done = put_in_place();
  return done;
}

}  // namespace

Result<std::unique_ptr<Target>> open_duckdb_target(const DuckdbPlace& place) {
  std::error_code code;
  CHECK(!fs::exists(place.path, code), "whoever moves a ledger has looked whether one is there");
  auto target = std::make_unique<DuckdbTarget>(place, place.path + ".moving");
  if (Result<void> opened = target->open(); !opened) return std::unexpected(opened.error());
  return target;
}

}  // namespace pennyweight::move
