#include "ledger/store/clickhouse/block_inserter.h"

#include <fmt/format.h>

#include "core/clickhouse/client.h"
#include "core/try.h"
#include "ledger/store/clickhouse/snapshot.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kBlockRowsMax = 65'536;
constexpr std::size_t kBlockBytesMax = 32u << 20;
// Rows are added in batches of this many; the size in bytes is checked after each.
constexpr std::uint64_t kPieceRowsMax = 2'048;
// A replicated table drops a block that equals one of its last blocks (a hundred by default), so
// this many consecutive blocks have different sizes.
constexpr std::uint64_t kSizesOfBlocks = 1'000;

}  // namespace

BlockInserter::BlockInserter(ClickhouseDatabase& database, const TableSpec& table)
    : database_(&database), table_(&table), block_(table.columns) {}

std::uint64_t BlockInserter::block_rows_max() const {
  return kBlockRowsMax - blocks_ % kSizesOfBlocks;
}

std::uint64_t BlockInserter::room() const {
  return std::min(kPieceRowsMax, block_rows_max() - block_.rows());
}

Result<void> BlockInserter::added(std::uint64_t rows) {
  rows_ += rows;
  const bool is_full = block_.rows() >= block_rows_max() || block_.bytes() >= kBlockBytesMax;
  return is_full ? flush() : Result<void>();
}

Result<void> BlockInserter::flush() {
  if (block_.rows() == 0) return {};
  const ClickhouseDatabase::Loan client = database_->lend();
  clickhouse::Call call = database_->writing(*table_);
  // A single server, unlike a cluster, does not recognise a block that it already has.
  call.repeatable = database_->layout().is_cluster();
  ++blocks_;
  const Result<void> sent =
      client->insert(database_->all(table_->name), column_names(*table_), block_.take(), call);
  if (sent) return {};
  return std::unexpected(sent.error().during(
      client->refusal() == clickhouse::Refusal::kUncertain
          ? fmt::format("it is not known whether rows of {} arrived, so nothing is committed; do "
                        "it again",
                        table_->name)
          : fmt::format("rows of {} could not be sent, so nothing is committed", table_->name)));
}

Result<void> verify_row_count(ClickhouseDatabase& database, std::string_view table,
                              std::uint64_t session, std::uint64_t rows,
                              const std::string& within) {
  const ClickhouseDatabase::Loan client = database.lend();
  const std::uint64_t held = TRY(count_of(*client, database,
                                          fmt::format("SELECT count() FROM {} WHERE session = {}{}",
                                                      database.all(table), session, within)));
  if (held == rows) return {};
  return fail(ErrorCode::kStore,
              fmt::format("the table {} holds {} of the {} rows that were sent to it, so nothing "
                          "was committed; try again",
                          table, held, rows));
}

template <class Fact>
void FactRange<Fact>::see(const Fact& fact, std::string_view booked_month) {
  if constexpr (std::is_same_v<Fact, Charge>) {
    if (!booked_months_.contains(booked_month)) booked_months_.emplace(booked_month);
  } else if constexpr (std::is_same_v<Fact, Usage> || std::is_same_v<Fact, Outcome>) {
    Instant at;
    if constexpr (std::is_same_v<Fact, Usage>) {
      at = fact.at;
    } else {
      at = fact.during.begin();
    }
    first_ = first_ ? std::min(*first_, at) : at;
    last_ = last_ ? std::max(*last_, at) : at;
  }
}

template <class Fact>
std::string FactRange<Fact>::condition() const {
  if constexpr (std::is_same_v<Fact, Charge>) {
    std::string months;
    for (const std::string& month : booked_months_) {
      months += (months.empty() ? "" : ", ") + clickhouse::sql_literal(month);
    }
    return months.empty() ? "" : " AND booked_month IN (" + months + ")";
  } else if constexpr (std::is_same_v<Fact, Usage> || std::is_same_v<Fact, Outcome>) {
    if (!first_) return "";
    const auto day = [](Instant at) {
      return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
    };
    return fmt::format(" AND day BETWEEN {} AND {} AND {} BETWEEN {} AND {}", day(*first_),
                       day(*last_), std::is_same_v<Fact, Usage> ? "observed_at" : "counted_from",
                       unix_ms(*first_), unix_ms(*last_));
  } else {
    return "";
  }
}

template class FactRange<Charge>;
template class FactRange<Holding>;
template class FactRange<Node>;
template class FactRange<Gpu>;
template class FactRange<Usage>;
template class FactRange<Outage>;
template class FactRange<Correction>;
template class FactRange<Outcome>;

}  // namespace pennyweight
