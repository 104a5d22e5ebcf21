#include "store/move/clickhouse_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "store/clickhouse/database.h"
#include "store/clickhouse/scan.h"
#include "store/clickhouse/snapshot.h"
#include "store/move/clickhouse_pages.h"
#include "store/move/clickhouse_servers.h"

namespace pennyweight::move {
namespace {

using clickhouse::Block;

// The one list of a ledger on ClickHouse: its log.
constexpr const char* kLog = "log";

std::uint64_t position_of(const Extent& extent) {
  const auto found = extent.find(kLog);
  return found == extent.end() ? 0 : found->second;
}

// Some rows that are near each other, and how many.
struct Group {
  std::string where;
  std::uint64_t rows = 0;
};

class ClickhouseSource : public Source {
 public:
  explicit ClickhouseSource(std::unique_ptr<ClickhouseDatabase> database)
      : database_(std::move(database)) {}

  std::string name() const override { return clickhouse::shown(database_->options().address); }
  Result<Extent> extent() override;
  Result<Hash128> print(const Extent& to) override;
  Result<History> history(const Extent& to) override;
  Result<std::vector<Piece>> pieces(const MovedTable& table, const Extent& from,
                                    const Extent& to) override;
  Result<void> read(const Piece& piece, const PageSink& sink) override;

 private:
  const commit_log::Entries& entries() const { return view_.entries; }
  std::string between(Act act, const Extent& from, const Extent& to) const;
  Result<std::vector<Group>> by_session(const MovedTable& table, const std::string& where);
  Result<std::vector<Group>> by_day(const MovedTable& table, const std::string& where);
  Result<std::vector<Group>> at_once(const MovedTable& table, const std::string& where);
  template <class Take>
  Result<void> ask(const std::string& sql, const Take& take);

  std::unique_ptr<ClickhouseDatabase> database_;
  commit_log::View view_;
  ActNumbers numbers_;  // of every session of view_
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

Result<Extent> ClickhouseSource::extent() {
  Result<commit_log::View> view = database_->view();
  if (!view) return std::unexpected(std::move(view.error()));
  view_ = std::move(*view);
  numbers_.clear();
  std::map<Act, std::uint64_t> counted;
  for (const commit_log::Entry& entry : entries()) {
    if (const auto act = act_of(entry.what)) numbers_[entry.session] = ++counted[*act];
  }
  return Extent{{kLog, entries().size()}};
}

Result<Hash128> ClickhouseSource::print(const Extent& to) {
  Fingerprint print;
  for (const commit_log::Entry& entry : entries()) {
    if (entry.position > position_of(to)) break;
    print.add(std::optional(entry.session)).add(entry.what);
  }
  return print.hash();
}

Result<History> ClickhouseSource::history(const Extent& to) {
  History history;
  for (const commit_log::Entry& entry : entries()) {
    if (entry.position > position_of(to)) break;
    if (const auto act = act_of(entry.what)) {
      history.push_back({*act, numbers_.at(entry.session), Instant()});
    }
  }
  return history;
}

std::string ClickhouseSource::between(Act act, const Extent& from, const Extent& to) const {
  return fmt::format(
      "session GLOBAL IN (SELECT session FROM {} WHERE kind = 'sealed' AND what = '{}' AND "
      "position > {} AND position <= {})",
      database_->all(kLog), entry_of(act), position_of(from), position_of(to));
}

// By session, in the order of their acts.
Result<std::vector<Group>> ClickhouseSource::by_session(const MovedTable& table,
                                                        const std::string& where) {
  struct Count {
    std::uint64_t number = 0, session = 0, rows = 0;
  };
  std::vector<Count> counts;
  const Result<void> asked =
      ask(fmt::format("SELECT session, toUInt64(count()) FROM {} WHERE {} GROUP BY session",
                      database_->all(table.name), where),
          [&](const Block& block, std::uint64_t row) {
            const std::uint64_t session = block.columns[0].uint64(row);
            counts.push_back({numbers_.at(session), session, block.columns[1].uint64(row)});
          });
  if (!asked) return std::unexpected(asked.error());
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

// By day, since tables are in the order of days and are parted by months.
Result<std::vector<Group>> ClickhouseSource::by_day(const MovedTable& table,
                                                    const std::string& where) {
  std::vector<std::pair<std::int32_t, std::uint64_t>> days;
  const Result<void> asked =
      ask(fmt::format("SELECT day, toUInt64(count()) FROM {} WHERE {} GROUP BY day ORDER BY day",
                      database_->all(table.name), where),
          [&](const Block& block, std::uint64_t row) {
            days.emplace_back(block.columns[0].int32(row), block.columns[1].uint64(row));
          });
  if (!asked) return std::unexpected(asked.error());
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
    // The time as well, by which partitions are passed over.
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
  const Result<void> asked = ask(
      fmt::format("SELECT toUInt64(count()) FROM {} WHERE {}", database_->all(table.name), where),
      [&](const Block& block, std::uint64_t row) { rows = block.columns[0].uint64(row); });
  if (!asked) return std::unexpected(asked.error());
  if (rows == 0) return std::vector<Group>();
  return std::vector<Group>{{where, rows}};
}

Result<std::vector<Piece>> ClickhouseSource::pieces(const MovedTable& table, const Extent& from,
                                                    const Extent& to) {
  std::vector<Piece> found;
  const bool any = std::ranges::any_of(entries(), [&](const commit_log::Entry& entry) {
    return act_of(entry.what) == table.act && entry.position > position_of(from) &&
           entry.position <= position_of(to);
  });
  if (!any) return found;
  const std::string where = between(table.act, from, to);
  const Result<std::vector<Group>> groups = table.act == Act::kRun  ? by_session(table, where)
                                            : !table.day_of.empty() ? by_day(table, where)
                                                                    : at_once(table, where);
  if (!groups) return std::unexpected(groups.error());
  for (const Group& group : *groups) {
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

Result<void> ClickhouseSource::read(const Piece& piece, const PageSink& sink) {
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

Result<std::unique_ptr<Source>> open_clickhouse_source(const ClickhousePlace& place) {
  Result<std::unique_ptr<ClickhouseDatabase>> database = ClickhouseDatabase::open(
      {.address = place.address, .read_only = true, .clock = place.clock, .seed = place.seed});
  if (!database) {
    return std::unexpected(
        database.error().during("cannot open the ledger " + clickhouse::shown(place.address)));
  }
  return std::make_unique<ClickhouseSource>(std::move(*database));
}

}  // namespace pennyweight::move
