#include "store/move/clickhouse_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "core/check.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/snapshot.h"
#include "store/move/claim.h"
#include "store/move/clickhouse_pages.h"
#include "store/move/clickhouse_servers.h"
#include "store/move/notes.h"

namespace pennyweight::move {
namespace {

using clickhouse::Block;
using clickhouse::Client;

constexpr int kLooks = 600;
constexpr std::chrono::milliseconds kBetweenLooks{500};

class ClickhouseTarget : public Target {
 public:
  explicit ClickhouseTarget(const ClickhousePlace& place)
      : servers_(place), client_(servers_.address()), sending_client_(servers_.address()) {}
  ~ClickhouseTarget() override {
    if (sending_.valid()) sending_.wait();
  }

  std::string name() const override { return clickhouse::shown(servers_.place().address); }
  const MoveState& found() const override { return found_; }
  Result<void> open();
  Result<void> begin_stage(std::uint64_t number, const Stage& stage) override;
  Result<void> begin_piece(const PieceKey& key, const MovedTable& table) override;
  Result<void> add(const Page& page) override;
  Result<void> end_piece(const Tally& tally) override;
  Result<void> wait() override;
  Result<void> read(const MovedTable& table, const History& history, const PageSink& sink) override;
  Result<void> finish(const History& history) override;

 private:
  // A piece that is ready to be sent.
  struct Load {
    const TableSpec* table = nullptr;
    std::vector<PieceBlocks::Block> blocks;
    std::vector<Note> notes;
    std::uint64_t there = 0;  // rows of it that an earlier attempt sent
  };

  Result<void> refuse_what_is_not_ours(const std::set<std::string>& tables) const;
  Result<void> recall();
  Result<void> find_number();
  Result<void> find_doubt();
  Result<void> wait_for_inserts();
  Result<void> note(Client& client, std::span<const Note> notes);
  Result<void> send(Load load);
  std::uint64_t session_of(Act act, std::uint64_t number) const;
  Result<void> write_log(const History& history);
  Result<void> open_as_ledger(const History& history);

  Servers servers_;
  Client client_, sending_client_;
  std::unique_ptr<Claim> claim_;
  MoveState found_;
  std::uint64_t number_ = 0;                    // of this move
  std::map<std::string, std::uint64_t> doubt_;  // by table: rows beyond the pieces that arrived
  PieceKey key_;
  const MovedTable* table_ = nullptr;
  std::optional<PieceBlocks> blocks_;  // of the piece that is being taken in
  std::future<Result<void>> sending_;  // of the one before
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
  if (Result<void> learnt = servers_.learn(); !learnt) return learnt;
  const auto tables = servers_.tables(client_);
  if (!tables) return std::unexpected(tables.error());
  if (Result<void> ours = refuse_what_is_not_ours(*tables); !ours) return ours;
  if (!tables->contains(kMovingTable) && tables->contains("log")) {
    const auto sealed =
        servers_.count(client_, "SELECT toUInt64(count()) FROM " + servers_.all("log") +
                                    " WHERE kind = 'release'");
    if (!sealed) return std::unexpected(sealed.error());
    found_.is_whole = *sealed > 0;
    if (found_.is_whole) return {};
  }
  if (Result<void> made = servers_.make_tables(); !made) return made;
  auto claim = Claim::take(servers_, servers_.place().seed | 1);
  if (!claim) return std::unexpected(claim.error());
  claim_ = std::move(*claim);
  Result<void> done = find_number();
  if (done) done = recall();
  if (done) done = find_doubt();
  return done;
}

Result<void> ClickhouseTarget::find_number() {
  const auto known = servers_.count(
      client_, "SELECT max(number) FROM " + servers_.all(kMovingTable) + " WHERE what = 'move'");
  if (!known) return std::unexpected(known.error());
  number_ = *known;
  if (number_ != 0) return {};
  number_ = servers_.place().seed | 1;
  const std::vector<Note> notes = {{.what = "move", .number = number_}};
  return note(client_, notes);
}

Result<void> ClickhouseTarget::recall() {
  Recollection all;
  const Result<void> read = client_.query(
      "SELECT " + column_names(servers_.moving()) + " FROM " + servers_.all(kMovingTable) +
          " WHERE what IN ('print', 'list', 'sum', 'piece')",
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          const auto text = [&](std::size_t i) { return std::string(block.columns[i].text(row)); };
          all.take({.what = text(0),
                    .stage = block.columns[1].uint64(row),
                    .table = text(2),
                    .piece = block.columns[3].uint64(row),
                    .name = text(4),
                    .number = block.columns[5].uint64(row),
                    .hash = block.columns[6].hash(row)});
        }
        return true;
      },
      servers_.reading());
  if (read) found_ = all.state();
  return read;
}

// A server that was sent a whole block goes on with it although nobody waits for its answer.
Result<void> ClickhouseTarget::wait_for_inserts() {
  for (int look = 0; look < kLooks; ++look) {
    const auto running = servers_.count(
        client_, fmt::format("SELECT toUInt64(count()) FROM system.processes WHERE query LIKE "
                             "'INSERT INTO {0}.%' AND query NOT LIKE 'INSERT INTO {0}.moving%'",
                             servers_.layout().database));
    if (!running) return std::unexpected(running.error());
    if (*running == 0) return {};
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return fail(ErrorCode::kStore,
              "rows of an earlier attempt are still being written; run the same command later");
}

// How many rows there are beyond what is known to have arrived: of the one piece that an attempt
// was ended in.
Result<void> ClickhouseTarget::find_doubt() {
  if (found_.stages.empty()) return {};
  if (!servers_.layout().is_cluster()) {
    if (Result<void> quiet = wait_for_inserts(); !quiet) return quiet;
  }
  std::map<std::string, std::uint64_t> arrived;
  for (const auto& [key, tally] : found_.arrived) arrived[key.table] += tally.rows();
  for (const MovedTable& table : moved_tables()) {
    const auto rows =
        servers_.count(client_, "SELECT toUInt64(count()) FROM " + servers_.all(table.name));
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

Result<void> ClickhouseTarget::note(Client& client, std::span<const Note> notes) {
  clickhouse::BlockWriter block(servers_.moving().columns);
  for (const Note& note : notes) {
    block.column(0).add_text(note.what);
    block.column(1).add_uint64(note.stage);
    block.column(2).add_text(note.table);
    block.column(3).add_uint64(note.piece);
    block.column(4).add_text(note.name);
    block.column(5).add_uint64(note.number);
    block.column(6).add_hash(note.hash);
  }
  // A note that is there twice says the same.
  clickhouse::Call call = servers_.writing(servers_.moving());
  call.repeatable = true;
  return client.insert(servers_.all(kMovingTable), column_names(servers_.moving()), block.take(),
                       call);
}

Result<void> ClickhouseTarget::begin_stage(std::uint64_t number, const Stage& stage) {
  if (Result<void> sent = wait(); !sent) return sent;
  return note(client_, notes_of(number, stage));
}

Result<void> ClickhouseTarget::begin_piece(const PieceKey& key, const MovedTable& table) {
  key_ = key;
  table_ = &table;
  blocks_.emplace(table);
  return claim_->holds();
}

std::uint64_t ClickhouseTarget::session_of(Act act, std::uint64_t number) const {
  Fingerprint print;
  print.add(std::optional(number_)).add(entry_of(act)).add(std::optional(number));
  return std::max<std::uint64_t>(print.hash().low, 1);
}

Result<void> ClickhouseTarget::add(const Page& page) {
  std::vector<std::uint64_t> sessions;
  sessions.reserve(page.rows);
  std::uint64_t number = 0, session = 0;  // mostly those of the next row
  for (const std::uint64_t act : page.acts) {
    if (session == 0 || act != number) {
      number = act;
      session = session_of(table_->act, act);
    }
    sessions.push_back(session);
  }
  blocks_->add(page, sessions);
  return {};
}

// While a piece is sent, the next is read.
Result<void> ClickhouseTarget::end_piece(const Tally& tally) {
  Load load = {.table = table_->spec,
               .blocks = blocks_->take(),
               .notes = notes_of(key_, *table_, tally),
               .there = std::exchange(doubt_[key_.table], 0)};
  blocks_.reset();
  if (Result<void> sent = wait(); !sent) return sent;
  sending_ = std::async(std::launch::async, [this, ready = std::move(load)]() mutable {
    return send(std::move(ready));
  });
  return {};
}

Result<void> ClickhouseTarget::wait() { return sending_.valid() ? sending_.get() : Result<void>(); }

Result<void> ClickhouseTarget::send(Load load) {
  std::uint64_t there = load.there;
  for (const PieceBlocks::Block& block : load.blocks) {
    if (there >= block.rows) {
      there -= block.rows;
      continue;
    }
    // On a cluster one shard may have taken its part and another not; sent again, it is whole.
    if (there > 0 && !servers_.layout().is_cluster()) break;
    there = 0;
    const Result<void> sent = servers_.insert(sending_client_, *load.table, block.bytes);
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
  return note(sending_client_, load.notes);
}

Result<void> ClickhouseTarget::read(const MovedTable& table, const History& history,
                                    const PageSink& sink) {
  ActNumbers numbers;
  for (const Deed& deed : history) {
    if (deed.act == table.act) numbers[session_of(deed.act, deed.number)] = deed.number;
  }
  clickhouse::Call call = servers_.reading();
  call.settings["max_block_size"] = std::to_string(kBlockRows);
  Page page;
  return client_.query(
      fmt::format("SELECT {} FROM {}", clickhouse_page_columns(table), servers_.all(table.name)),
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

// The log as one writer with one turn would have written it, all sealed: see log/commit_log.h.
Result<void> ClickhouseTarget::write_log(const History& history) {
  const TableSpec& log = clickhouse_table("log");
  clickhouse::BlockWriter block(log.columns);
  const std::uint64_t writer = number_;
  const std::int64_t now = unix_ms(servers_.place().clock->now());
  const auto add = [&](const char* kind, std::uint64_t position, const char* prefix,
                       std::uint64_t session, const char* what) {
    block.column(0).add_text(kind);
    block.column(1).add_uint64(1);
    block.column(2).add_uint64(writer);
    block.column(3).add_uint64(position);
    block.column(4).add_text(prefix);
    block.column(5).add_uint64(session);
    block.column(6).add_text(what);
    block.column(7).add_int64(now);
  };
  std::set<std::uint64_t> sessions;
  add("claim", 0, "", 0, "");
  add("open", 0, "0", 0, "");
  for (std::size_t i = 0; i < history.size(); ++i) {
    const std::uint64_t session = session_of(history[i].act, history[i].number);
    CHECK(sessions.insert(session).second, "every act has a session of its own");
    add("sealed", i + 1, "", session, entry_of(history[i].act));
  }
  add("release", 0, "", 0, "");
  const auto rows = servers_.count(client_, "SELECT toUInt64(count()) FROM " + servers_.all("log"));
  if (!rows) return std::unexpected(rows.error());
  // In one insert, so all of it is there or nothing.
  if (*rows == block.rows()) return {};
  if (*rows > 0) {
    return fail(ErrorCode::kStore,
                "the log has rows that this move did not write; drop the database, and begin anew");
  }
  return servers_.insert(client_, log, block.take());
}

Result<void> ClickhouseTarget::open_as_ledger(const History& history) {
  auto ledger = ClickhouseDatabase::open({.address = servers_.place().address,
                                          .clock = servers_.place().clock,
                                          .seed = servers_.place().seed});
  if (!ledger) return std::unexpected(ledger.error());
  const auto view = (*ledger)->view();
  if (!view) return std::unexpected(view.error());
  if (found_.is_whole || view->entries.size() == history.size()) return {};
  return fail(ErrorCode::kStore,
              fmt::format("its log counts {} of {} acts", view->entries.size(), history.size()));
}

Result<void> ClickhouseTarget::finish(const History& history) {
  if (!found_.is_whole) {
    Result<void> done = claim_->holds();
    if (done) done = write_log(history);
    if (!done) return done;
    claim_->end();
  }
  if (Result<void> dropped = servers_.drop_moving(); !dropped) return dropped;
  return open_as_ledger(history);
}

}  // namespace

Result<bool> is_clickhouse_ledger(const ClickhousePlace& place) {
  const Servers servers(place);
  Client client(servers.address());
  const auto tables = servers.tables(client);
  if (!tables) return std::unexpected(tables.error());
  return tables->contains("schema_version") ? servers.is_ledger(client) : Result<bool>(false);
}

Result<std::unique_ptr<Target>> open_clickhouse_target(const ClickhousePlace& place) {
  auto target = std::make_unique<ClickhouseTarget>(place);
  if (Result<void> opened = target->open(); !opened) {
    return std::unexpected(
        opened.error().during("cannot move to " + clickhouse::shown(place.address)));
  }
  return target;
}

}  // namespace pennyweight::move
