#include "store/clickhouse/log_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using commit_log::Row;
using commit_log::RowKind;
using commit_log::Since;

struct Kind {
  RowKind kind;
  const char* text;
};
constexpr std::array kKinds = {Kind{RowKind::kClaim, "claim"},     Kind{RowKind::kOpen, "open"},
                               Kind{RowKind::kEntry, "entry"},     Kind{RowKind::kSealed, "sealed"},
                               Kind{RowKind::kRelease, "release"}, Kind{RowKind::kAlive, "alive"}};

class LogTable : public commit_log::Register {
 public:
  explicit LogTable(ClickhouseDatabase& database) : database_(database) {}

  Result<void> append(const Row& row) override {
    const auto kind = std::ranges::find(kKinds, row.kind, &Kind::kind);
    CHECK(kind != kKinds.end(), "every kind has its text");
    const TableSpec& table = clickhouse_table("log");
    clickhouse::BlockWriter block(table.columns);
    block.column(0).add_text(kind->text);
    block.column(1).add_uint64(row.turn);
    block.column(2).add_uint64(row.writer);
    block.column(3).add_uint64(row.position);
    block.column(4).add_text(row.prefix);
    block.column(5).add_uint64(row.session);
    block.column(6).add_text(row.what);
    block.column(7).add_int64(unix_ms(row.at));
    const ClickhouseDatabase::Loan client = database_.lend();
    return database_.insert(*client, table, block.take());
  }

  Result<std::vector<Row>> read(const Since& since) override {
    std::vector<Row> rows;
    const auto take = [&](const Block& block) -> Result<bool> {
      for (std::uint64_t i = 0; i < block.rows; ++i) {
        const auto kind =
            std::ranges::find(kKinds, block.columns[0].text(i),
                              [](const Kind& known) { return std::string_view(known.text); });
        if (kind == kKinds.end()) {
          return fail(ErrorCode::kStore, "the log has a row of a kind that no version wrote");
        }
        rows.push_back({.kind = kind->kind,
                        .turn = block.columns[1].uint64(i),
                        .writer = block.columns[2].uint64(i),
                        .position = block.columns[3].uint64(i),
                        .prefix = std::string(block.columns[4].text(i)),
                        .session = block.columns[5].uint64(i),
                        .what = std::string(block.columns[6].text(i)),
                        .at = from_unix_ms(block.columns[7].int64(i))});
      }
      return true;
    };
    const Result<void> read =
        ask(fmt::format("SELECT {} FROM {} WHERE turn >= {} AND NOT (kind = 'sealed' AND "
                        "position < {})",
                        column_names(clickhouse_table("log")), database_.all("log"), since.turn,
                        since.position),
            take);
    if (!read) return std::unexpected(read.error());
    return rows;
  }

  Result<void> seals(const Since& since, const SealSink& sink) override {
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

std::unique_ptr<commit_log::Register> make_log_table(ClickhouseDatabase& database) {
  return std::make_unique<LogTable>(database);
}

}  // namespace pennyweight
