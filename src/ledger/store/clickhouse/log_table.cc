#include "ledger/store/clickhouse/log_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/try.h"
#include "ledger/store/clickhouse/column_io.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using commit_log::LogPosition;
using commit_log::LogRow;

class LogTable : public commit_log::LogStorage {
 public:
  explicit LogTable(ClickhouseDatabase& database) : database_(database) {}

  Result<void> append(const LogRow& row) override {
    const TableSpec& table = clickhouse_table(Table<LogRow>::kName);
    clickhouse::BlockWriter block(table.columns);
    const LogRow* const pointer = &row;
    clickhouse_io::ColumnFiller<LogRow> filler(block, {&pointer, 1});
    Table<LogRow>::list(filler);
    const ClickhouseDatabase::Loan client = database_.lend();
    return database_.insert(*client, table, block.take());
  }

  Result<std::vector<LogRow>> read(const LogPosition& since) override {
    std::vector<LogRow> rows;
    TRY(ask(fmt::format("SELECT {} FROM {} WHERE turn >= {} AND NOT (kind = 'sealed' AND "
                        "position < {})",
                        clickhouse_record_columns<LogRow>(), database_.all("log"), since.turn,
                        since.position),
            [&](const Block& block) -> Result<bool> {
              std::vector<LogRow> some = TRY(records_of<LogRow>(block));
              std::ranges::move(some, std::back_inserter(rows));
              return true;
            }));
    return rows;
  }

  Result<void> seals(const LogPosition& since, const SealSink& sink) override {
    return ask(fmt::format("SELECT position, turn, session, what FROM {} WHERE kind = 'sealed' AND "
                           "turn >= {} AND position >= {}",
                           database_.all("log"), since.turn, since.position),
               [&](const Block& block) -> Result<bool> {
                 for (std::uint64_t i = 0; i < block.rows; ++i) {
                   sink({.position = block.columns[0].uint64(i),
                         .turn = block.columns[1].uint64(i),
                         .session = block.columns[2].uint64(i),
                         .what = block.columns[3].text(i)});
                 }
                 return true;
               });
  }

 private:
  Result<void> ask(const std::string& sql, const clickhouse::Client::Sink& sink) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return client->query(sql, sink, database_.reading());
  }

  ClickhouseDatabase& database_;
};

}  // namespace

std::unique_ptr<commit_log::LogStorage> make_log_table(ClickhouseDatabase& database) {
  return std::make_unique<LogTable>(database);
}

}  // namespace pennyweight
