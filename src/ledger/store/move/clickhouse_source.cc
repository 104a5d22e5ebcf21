#include "ledger/store/move/clickhouse_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/try.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/scan.h"
#include "ledger/store/clickhouse/snapshot.h"
#include "ledger/store/move/clickhouse_pages.h"
#include "ledger/store/move/pending_ledger.h"

namespace pennyweight::move {
namespace {

using clickhouse::Block;

// A ledger on ClickHouse has a single list in its watermark: its log.
constexpr const char* kLog = "log";

std::uint64_t position_of(const Watermark& watermark) {
  const auto found = watermark.find(kLog);
  return found == watermark.end() ? 0 : found->second;
}

// A condition that selects neighbouring rows, and their number.
struct Group {
  std::string where;
  std::uint64_t rows = 0;
};

class ClickhouseSource : public LedgerSource {
 public:
  explicit ClickhouseSource(std::unique_ptr<ClickhouseDatabase> database)
      : database_(std::move(database)) {}

  std::string name() const override { return clickhouse::shown(database_->options().address); }
  Result<Watermark> watermark() override;
  Result<Hash128> print(const Watermark& to) override;
  Result<CommitHistory> history(const Watermark& to) override;
  Result<std::vector<TablePiece>> pieces(const MovedTable& table, const Watermark& from,
                                         const Watermark& to) override;
  Result<void> read(const TablePiece& piece, const PageSink& sink) override;

 private:
  const commit_log::Entries& entries() const { return view_.entries; }
  std::string between(EntryKind entry_kind, const Watermark& from, const Watermark& to) const;
  Result<std::vector<Group>> by_session(const MovedTable& table, const std::string& where);
  Result<std::vector<Group>> by_day(const MovedTable& table, const std::string& where);
  Result<std::vector<Group>> at_once(const MovedTable& table, const std::string& where);
  template <class Take>
  Result<void> ask(const std::string& sql, const Take& take);

  std::unique_ptr<ClickhouseDatabase> database_;
  commit_log::View view_;
  EntryNumbers numbers_;  // of all sessions of view_
};

template <class Take>
Result<void> ClickhouseSource::ask(const std::string& sql, const Take& take) {
  const ClickhouseDatabase::Loan client = database_->lend();
  return client->query(
      sql,
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) take(block, row);
        return true;
      },
      database_->reading());
}

Result<Watermark> ClickhouseSource::watermark() {
  commit_log::View view = TRY(database_->view());
  view_ = std::move(view);
  numbers_.clear();
  std::map<EntryKind, std::uint64_t> counted;
  for (const commit_log::Entry& entry : entries()) {
    if (const auto entry_kind = entry_kind_of(entry.what))
      numbers_[entry.session] = ++counted[*entry_kind];
  }
  return Watermark{{kLog, entries().size()}};
}

Result<Hash128> ClickhouseSource::print(const Watermark& to) {
  Fingerprint print;
  for (const commit_log::Entry& entry : entries()) {
    if (entry.position > position_of(to)) break;
    print.add(std::optional(entry.session)).add(entry.what);
  }
  return print.hash();
}

Result<CommitHistory> ClickhouseSource::history(const Watermark& to) {
  CommitHistory history;
  for (const commit_log::Entry& entry : entries()) {
    if (entry.position > position_of(to)) break;
    if (const auto entry_kind = entry_kind_of(entry.what)) {
      history.push_back({*entry_kind, numbers_.at(entry.session), Instant()});
    }
  }
  return history;
}

std::string ClickhouseSource::between(EntryKind entry_kind, const Watermark& from,
                                      const Watermark& to) const {
  return fmt::format(
      "session GLOBAL IN (SELECT session FROM {} WHERE kind = 'sealed' AND what = '{}' AND "
      "position > {} AND position <= {})",
      database_->all(kLog), entry_of(entry_kind), position_of(from), position_of(to));
}

// One group for each session, in the order of the sessions' numbers.
Result<std::vector<Group>> ClickhouseSource::by_session(const MovedTable& table,
                                                        const std::string& where) {
  struct Count {
    std::uint64_t number = 0, session = 0, rows = 0;
  };
  std::vector<Count> counts;
  TRY(ask(fmt::format("SELECT session, toUInt64(count()) FROM {} WHERE {} GROUP BY session",
                      database_->all(table.name), where),
          [&](const Block& block, std::uint64_t row) {
            const std::uint64_t session = block.columns[0].uint64(row);
            counts.push_back({numbers_.at(session), session, block.columns[1].uint64(row)});
          }));
  std::ranges::sort(counts, {}, &Count::number);
  std::vector<Group> groups;
  for (std::size_t i = 0; i < counts.size();) {
    std::vector<std::uint64_t> sessions;
    std::uint64_t rows = 0;
    do {
      sessions.push_back(counts[i].session);
      rows += counts[i].rows;
      ++i;
    } while (i < counts.size() && rows + counts[i].rows <= kSliceRows &&
             sessions.size() < kBlockRows);
    groups.push_back({"session IN " + session_list(sessions), rows});
  }
  return groups;
}

// One group for each day, since tables are ordered by day and partitioned by month.
Result<std::vector<Group>> ClickhouseSource::by_day(const MovedTable& table,
                                                    const std::string& where) {
  std::vector<std::pair<std::int32_t, std::uint64_t>> days;
  TRY(ask(fmt::format("SELECT day, toUInt64(count()) FROM {} WHERE {} GROUP BY day ORDER BY day",
                      database_->all(table.name), where),
          [&](const Block& block, std::uint64_t row) {
            days.emplace_back(block.columns[0].int32(row), block.columns[1].uint64(row));
          }));
  constexpr std::int64_t kDayMs = 86'400'000;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < days.size();) {
    const std::int32_t first = days[i].first;
    std::uint64_t rows = 0;
    std::int32_t last = first;
    do {
      last = days[i].first;
      rows += days[i].second;
      ++i;
    } while (i < days.size() && rows + days[i].second <= kSliceRows);
    // The condition also names the time, so that the server skips partitions.
    groups.push_back(
        {fmt::format("{0} AND day BETWEEN {1} AND {2} AND {3} >= {4} AND {3} < {5}", where, first,
                     last, table.day_of, first * kDayMs, (last + 1) * kDayMs),
         rows});
  }
  return groups;
}

Result<std::vector<Group>> ClickhouseSource::at_once(const MovedTable& table,
                                                     const std::string& where) {
  std::uint64_t rows = 0;
  TRY(ask(
      fmt::format("SELECT toUInt64(count()) FROM {} WHERE {}", database_->all(table.name), where),
      [&](const Block& block, std::uint64_t row) { rows = block.columns[0].uint64(row); }));
  if (rows == 0) return std::vector<Group>();
  return std::vector<Group>{{where, rows}};
}

Result<std::vector<TablePiece>> ClickhouseSource::pieces(const MovedTable& table,
                                                         const Watermark& from,
                                                         const Watermark& to) {
  std::vector<TablePiece> found;
  const bool any = std::ranges::any_of(entries(), [&](const commit_log::Entry& entry) {
    return entry_kind_of(entry.what) == table.entry_kind && entry.position > position_of(from) &&
           entry.position <= position_of(to);
  });
  if (!any) return found;
  const std::string where = between(table.entry_kind, from, to);
  const std::vector<Group> groups =
      TRY(table.entry_kind == EntryKind::kRun ? by_session(table, where)
          : !table.day_of.empty()             ? by_day(table, where)
                                              : at_once(table, where));
  for (const Group& group : groups) {
    const IdSlices slices(table.slice_by.empty() ? 0 : group.rows);
    for (std::uint64_t i = 0; i < slices.count(); ++i) {
      found.push_back({.table = &table,
                       .number = found.size(),
                       .rows = group.rows / slices.count(),
                       .where = group.where + slices.condition(table.slice_by, i)});
    }
  }
  return found;
}

Result<void> ClickhouseSource::read(const TablePiece& piece, const PageSink& sink) {
  const MovedTable& table = *piece.table;
  clickhouse::Call call = database_->reading();
  call.settings["max_block_size"] = std::to_string(kBlockRows);
  Page page;
  const ClickhouseDatabase::Loan client = database_->lend();
  return client->query(
      fmt::format("SELECT {} FROM {} WHERE {}", clickhouse_page_columns(table),
                  database_->all(table.name), piece.where),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t begin = 0; begin < block.rows; begin += kPageRows) {
          const std::uint64_t count = std::min(kPageRows, block.rows - begin);
          Result<void> done = page_of(block, begin, count, table, numbers_, page);
          if (done) done = sink(page);
          if (!done) return std::unexpected(std::move(done.error()));
        }
        return true;
      },
      call);
}

}  // namespace

Result<std::unique_ptr<LedgerSource>> open_clickhouse_source(const ClickhouseLocation& place) {
  Result<std::unique_ptr<ClickhouseDatabase>> database = ClickhouseDatabase::open(
      {.address = place.address, .read_only = true, .clock = place.clock, .seed = place.seed});
  if (!database) {
    return std::unexpected(
        database.error().during("cannot open the ledger " + clickhouse::shown(place.address)));
  }
  return std::make_unique<ClickhouseSource>(std::move(*database));
}

}  // namespace pennyweight::move
