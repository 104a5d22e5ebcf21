#include "ledger/store/move/clickhouse_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "core/check.h"
#include "core/try.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/log_table.h"
#include "ledger/store/clickhouse/snapshot.h"
#include "ledger/store/move/clickhouse_pages.h"
#include "ledger/store/move/move_lock.h"
#include "ledger/store/move/pending_ledger.h"
#include "ledger/store/move/progress.h"

namespace pennyweight::move {
namespace {

using clickhouse::Block;
using clickhouse::Client;
using commit_log::RowKind;

constexpr int kLooks = 600;
constexpr std::chrono::milliseconds kBetweenLooks{500};

class ClickhouseTarget : public LedgerTarget {
 public:
  explicit ClickhouseTarget(const ClickhouseLocation& place)
      : pending_(place), client_(pending_.address()), sending_client_(pending_.address()) {}
  ~ClickhouseTarget() override {
    if (sending_.valid()) sending_.wait();
  }

  std::string name() const override { return clickhouse::shown(pending_.place().address); }
  const MoveState& found() const override { return found_; }
  Result<void> open();
  Result<void> begin_stage(std::uint64_t number, const CopyStage& stage) override;
  Result<void> begin_piece(const PieceKey& key, const MovedTable& table) override;
  Result<void> add(const Page& page) override;
  Result<void> end_piece(const Tally& tally) override;
  Result<void> wait() override;
  Result<void> read(const MovedTable& table, const CommitHistory& history,
                    const PageSink& sink) override;
  Result<void> finish(const CommitHistory& history) override;

 private:
  // A piece that is ready to be sent.
  struct PendingInsert {
    const TableSpec* table = nullptr;
    std::vector<PartitionedBlocks::Block> blocks;
    std::vector<ProgressRow> progress;
    std::uint64_t there = 0;  // its rows that an earlier attempt sent
  };

  Result<void> refuse_what_is_not_ours(const std::set<std::string>& tables) const;
  Result<void> read_progress();
  Result<void> find_number();
  Result<void> find_doubt();
  Result<void> wait_for_inserts();
  Result<void> send(PendingInsert load);
  std::uint64_t session_of(EntryKind entry_kind, std::uint64_t number) const;
  Result<void> write_log(const CommitHistory& history);
  Result<void> open_as_ledger(const CommitHistory& history);

  PendingLedger pending_;
  Client client_, sending_client_;
  std::unique_ptr<MoveLock> lock_;
  MoveState found_;
  std::uint64_t number_ = 0;  // of this move
  // by table: rows beyond the pieces known to have arrived
  std::map<std::string, std::uint64_t> doubt_;
  PieceKey key_;
  const MovedTable* table_ = nullptr;
  std::optional<PartitionedBlocks> blocks_;  // of the current piece
  std::future<Result<void>> sending_;        // of the previous piece
};

Result<void> ClickhouseTarget::refuse_what_is_not_ours(const std::set<std::string>& tables) const {
  for (const std::string& name : tables) {
    std::string plain = name;
    if (plain.ends_with("_local")) plain.resize(plain.size() - std::string_view("_local").size());
    const bool ours =
        plain == kMovingTable || std::ranges::find(clickhouse_tables(), plain, &TableSpec::name) !=
                                     clickhouse_tables().end();
    if (ours) continue;
    return fail(ErrorCode::kBadFile,
                "it is a ClickHouse database of something else; name another database");
  }
  return {};
}

Result<void> ClickhouseTarget::open() {
  TRY(pending_.learn());
  const auto tables = pending_.tables(client_);
  if (!tables) return std::unexpected(tables.error());
  TRY(refuse_what_is_not_ours(*tables));
  if (!tables->contains(kMovingTable) && tables->contains("log")) {
    const auto sealed =
        TRY(pending_.count(client_, "SELECT toUInt64(count()) FROM " + pending_.all("log") +
                                        " WHERE kind = 'release'"));
    found_.is_whole = sealed > 0;
    if (found_.is_whole) return {};
  }
  TRY(pending_.make_tables());
  auto claim = MoveLock::take(pending_, pending_.place().seed | 1);
  if (!claim) return std::unexpected(claim.error());
  lock_ = std::move(*claim);
  Result<void> done = find_number();
  if (done) done = read_progress();
  if (done) done = find_doubt();
  return done;
}

Result<void> ClickhouseTarget::find_number() {
  const auto known = TRY(pending_.count(
      client_, "SELECT max(number) FROM " + pending_.all(kMovingTable) + " WHERE what = 'move'"));
  number_ = known;
  if (number_ != 0) return {};
  number_ = pending_.place().seed | 1;
  const std::vector<ProgressRow> progress = {{.what = "move", .number = number_}};
  return pending_.add_progress(client_, progress);
}

Result<void> ClickhouseTarget::read_progress() {
  ProgressReader all;
  TRY(client_.query(
      "SELECT " + clickhouse_record_columns<ProgressRow>() + " FROM " + pending_.all(kMovingTable) +
          " WHERE what IN ('print', 'list', 'sum', 'piece')",
      [&](const Block& block) -> Result<bool> {
        const std::vector<ProgressRow> rows = TRY(records_of<ProgressRow>(block));
        for (const ProgressRow& row : rows) all.add(row);
        return true;
      },
      pending_.reading()));
  found_ = all.state();
  return {};
}

// A server that has received a whole block goes on writing it even if the client is gone.
Result<void> ClickhouseTarget::wait_for_inserts() {
  for (int look = 0; look < kLooks; ++look) {
    const auto running = TRY(pending_.count(
        client_, fmt::format("SELECT toUInt64(count()) FROM system.processes WHERE query LIKE "
                             "'INSERT INTO {0}.%' AND query NOT LIKE 'INSERT INTO {0}.moving%'",
                             pending_.layout().database)));
    if (running == 0) return {};
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return fail(ErrorCode::kStore,
              "rows of an earlier attempt are still being written; run the same command later");
}

// Counts the rows beyond those known to have arrived: they belong to the piece during which an
// earlier attempt ended.
Result<void> ClickhouseTarget::find_doubt() {
  if (found_.stages.empty()) return {};
  if (!pending_.layout().is_cluster()) {
    TRY(wait_for_inserts());
  }
  std::map<std::string, std::uint64_t> arrived;
  for (const auto& [key, tally] : found_.arrived) arrived[key.table] += tally.rows();
  for (const MovedTable& table : moved_tables()) {
    const auto rows =
        pending_.count(client_, "SELECT toUInt64(count()) FROM " + pending_.all(table.name));
    if (!rows) return std::unexpected(rows.error());
    if (*rows < arrived[table.name]) {
      return fail(ErrorCode::kStore,
                  fmt::format("the table {} holds {} of {} rows that had arrived; drop the "
                              "database, and begin anew",
                              table.name, *rows, arrived[table.name]));
    }
    doubt_[table.name] = *rows - arrived[table.name];
  }
  return {};
}

Result<void> ClickhouseTarget::begin_stage(std::uint64_t number, const CopyStage& stage) {
  TRY(wait());
  return pending_.add_progress(client_, progress_rows(number, stage));
}

Result<void> ClickhouseTarget::begin_piece(const PieceKey& key, const MovedTable& table) {
  key_ = key;
  table_ = &table;
  blocks_.emplace(table);
  return lock_->holds();
}

std::uint64_t ClickhouseTarget::session_of(EntryKind entry_kind, std::uint64_t number) const {
  Fingerprint print;
  print.add(std::optional(number_)).add(entry_of(entry_kind)).add(std::optional(number));
  return std::max<std::uint64_t>(print.hash().low, 1);
}

Result<void> ClickhouseTarget::add(const Page& page) {
  std::vector<std::uint64_t> sessions;
  sessions.reserve(page.rows);
  std::uint64_t number = 0, session = 0;  // usually those of the next row
  for (const std::uint64_t entry_kind : page.entry_numbers) {
    if (session == 0 || entry_kind != number) {
      number = entry_kind;
      session = session_of(table_->entry_kind, entry_kind);
    }
    sessions.push_back(session);
  }
  blocks_->add(page, sessions);
  return {};
}

// The next piece is read while this one is sent.
Result<void> ClickhouseTarget::end_piece(const Tally& tally) {
  PendingInsert load = {.table = table_->spec,
                        .blocks = blocks_->take(),
                        .progress = progress_rows(key_, *table_, tally),
                        .there = std::exchange(doubt_[key_.table], 0)};
  blocks_.reset();
  TRY(wait());
  sending_ = std::async(std::launch::async, [this, ready = std::move(load)]() mutable {
    return send(std::move(ready));
  });
  return {};
}

Result<void> ClickhouseTarget::wait() { return sending_.valid() ? sending_.get() : Result<void>(); }

Result<void> ClickhouseTarget::send(PendingInsert load) {
  std::uint64_t there = load.there;
  for (const PartitionedBlocks::Block& block : load.blocks) {
    if (there >= block.rows) {
      there -= block.rows;
      continue;
    }
    // On a cluster, one shard may have accepted its part and another not; sending the piece again
    // completes it.
    if (there > 0 && !pending_.layout().is_cluster()) break;
    there = 0;
    const Result<void> sent = pending_.insert(sending_client_, *load.table, block.bytes);
    if (!sent) {
      return std::unexpected(sent.error().during(
          "rows of " + load.table->name +
          " could not be sent; run the same command again, and it goes on from here"));
    }
  }
  if (there > 0) {
    return fail(ErrorCode::kStore,
                fmt::format("the table {} holds rows that this move did not send; drop the "
                            "database, and begin anew",
                            load.table->name));
  }
  return pending_.add_progress(sending_client_, load.progress);
}

Result<void> ClickhouseTarget::read(const MovedTable& table, const CommitHistory& history,
                                    const PageSink& sink) {
  EntryNumbers numbers;
  for (const LogEntry& entry : history) {
    if (entry.entry_kind == table.entry_kind)
      numbers[session_of(entry.entry_kind, entry.number)] = entry.number;
  }
  clickhouse::Call call = pending_.reading();
  call.settings["max_block_size"] = std::to_string(kBlockRows);
  Page page;
  return client_.query(
      fmt::format("SELECT {} FROM {}", clickhouse_page_columns(table), pending_.all(table.name)),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t begin = 0; begin < block.rows; begin += kPageRows) {
          const std::uint64_t count = std::min(kPageRows, block.rows - begin);
          Result<void> done = page_of(block, begin, count, table, numbers, page);
          if (done) done = sink(page);
          if (!done) return std::unexpected(std::move(done.error()));
        }
        return true;
      },
      call);
}

// Writes the log as a single writer with one turn would have written it, fully sealed: see
// log/commit_log.h.
Result<void> ClickhouseTarget::write_log(const CommitHistory& history) {
  const TableSpec& log = clickhouse_table("log");
  const Instant now = pending_.place().clock->now();
  std::vector<commit_log::LogRow> rows;
  const auto add = [&](RowKind kind, std::uint64_t position, std::string prefix,
                       std::uint64_t session, std::string what) {
    rows.push_back({.kind = kind,
                    .turn = 1,
                    .writer = number_,
                    .position = position,
                    .prefix = std::move(prefix),
                    .session = session,
                    .what = std::move(what),
                    .at = now});
  };
  std::set<std::uint64_t> sessions;
  add(RowKind::kClaim, 0, "", 0, "");
  add(RowKind::kOpen, 0, "0", 0, "");
  for (std::size_t i = 0; i < history.size(); ++i) {
    const std::uint64_t session = session_of(history[i].entry_kind, history[i].number);
    CHECK(sessions.insert(session).second, "every commit has a session of its own");
    add(RowKind::kSealed, i + 1, "", session, entry_of(history[i].entry_kind));
  }
  add(RowKind::kRelease, 0, "", 0, "");
  const std::uint64_t there =
      TRY(pending_.count(client_, "SELECT toUInt64(count()) FROM " + pending_.all("log")));
  // It is written in one insert, so it is complete or absent.
  if (there == rows.size()) return {};
  if (there > 0) {
    return fail(ErrorCode::kStore,
                "the log has rows that this move did not write; drop the database, and begin anew");
  }
  clickhouse::BlockWriter block(log.columns);
  std::vector<const commit_log::LogRow*> pointers;
  for (const commit_log::LogRow& row : rows) pointers.push_back(&row);
  clickhouse_io::ColumnFiller<commit_log::LogRow> filler(block, pointers);
  Table<commit_log::LogRow>::list(filler);
  return pending_.insert(client_, log, block.take());
}

Result<void> ClickhouseTarget::open_as_ledger(const CommitHistory& history) {
  auto ledger = TRY(ClickhouseDatabase::open({.address = pending_.place().address,
                                              .clock = pending_.place().clock,
                                              .seed = pending_.place().seed}));
  const auto view = TRY(ledger->view());
  if (found_.is_whole || view.entries.size() == history.size()) return {};
  return fail(ErrorCode::kStore, fmt::format("its log counts {} of {} entry_numbers",
                                             view.entries.size(), history.size()));
}

Result<void> ClickhouseTarget::finish(const CommitHistory& history) {
  if (!found_.is_whole) {
    Result<void> done = lock_->holds();
    if (done) done = write_log(history);
    if (!done) return done;
    lock_->end();
  }
  TRY(pending_.drop_moving());
  return open_as_ledger(history);
}

}  // namespace

Result<bool> is_clickhouse_ledger(const ClickhouseLocation& place) {
  const PendingLedger pending(place);
  Client client(pending.address());
  const auto tables = TRY(pending.tables(client));
  return tables.contains("schema_version") ? pending.is_ledger(client) : Result<bool>(false);
}

Result<std::unique_ptr<LedgerTarget>> open_clickhouse_target(const ClickhouseLocation& place) {
  auto target = std::make_unique<ClickhouseTarget>(place);
  if (Result<void> opened = target->open(); !opened) {
    return std::unexpected(
        opened.error().during("cannot move to " + clickhouse::shown(place.address)));
  }
  return target;
}

}  // namespace pennyweight::move
