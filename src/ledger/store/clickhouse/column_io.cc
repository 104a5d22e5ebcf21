#include "ledger/store/clickhouse/column_io.h"

#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

template <class Fact>
bool in_range(std::span<const Fact* const> facts) {
  for (const Fact* fact : facts) {
    clickhouse_io::RangeCheck<Fact> check(*fact);
    Table<Fact>::list(check);
    if (!check.in_range()) return false;
  }
  return true;
}

std::unexpected<Error> beyond_its_column(const char* table) {
  return fail(ErrorCode::kLimit, std::string("a number for the table ") + table +
                                     " is beyond DECIMAL(38,18) or 127 bits");
}

}  // namespace

std::unexpected<Error> unreadable_column(const char* column, const char* table) {
  return fail(ErrorCode::kStore,
              std::string("the column ") + column + " of the table " + table +
                  " holds a value that no version of pennyweight wrote; the ledger was changed by "
                  "another program");
}

std::vector<clickhouse::ColumnSpec> clickhouse_posting_specs() {
  clickhouse_io::Schema schema;
  schema.add("session", "UInt64");
  Table<Posting>::list(schema);
  return schema.columns();
}

template <class Fact>
Result<void> add_facts(clickhouse::BlockWriter& block, std::uint64_t session,
                       std::span<const Fact* const> facts,
                       std::span<const ClickhouseFactKeys> keys) {
  CHECK(facts.size() == keys.size(), "every fact has its keys");
  if (!in_range(facts)) return beyond_its_column(Table<Fact>::kName);
  clickhouse_io::ColumnFiller<Fact> filler(block, facts);
  filler.each([&](auto& column, auto, const Fact&) { column.add_uint64(session); });
  filler.each([&](auto& column, auto row, const Fact&) { column.add_hash(keys[row].id); });
  filler.each([&](auto& column, auto row, const Fact&) { column.add_hash(keys[row].second); });
  filler.each([&](auto& column, auto, const Fact& fact) { column.add_uint64(fact.source.line); });
  if constexpr (std::is_same_v<Fact, Charge>) {
    std::optional<Instant> begin;  // of the previous line
    std::string month;
    filler.each([&](auto& column, auto, const Charge& charge) {
      if (begin != charge.billing_period.begin()) {
        begin = charge.billing_period.begin();
        month = month_of(*begin);
      }
      column.add_text(month);
    });
    filler.each(
        [&](auto& column, auto row, const Charge&) { column.add_text(keys[row].booked_month); });
    filler.each([&](auto& column, auto row, const Charge&) { column.add_hash(keys[row].content); });
    filler.each(
        [&](auto& column, auto row, const Charge&) { column.add_uint64(keys[row].ordinal); });
    filler.each([&](auto& column, auto row, const Charge&) {
      keys[row].takes_back ? column.add_hash(*keys[row].takes_back) : column.add_null();
    });
  }
  if constexpr (std::is_same_v<Fact, Usage>) {
    filler.each(
        [&](auto& column, auto, const Usage& usage) { column.add_int32(utc_day(usage.at)); });
  }
  if constexpr (std::is_same_v<Fact, Outcome>) {
    filler.each([&](auto& column, auto, const Outcome& outcome) {
      column.add_int32(utc_day(outcome.during.begin()));
    });
  }
  Table<Fact>::list(filler);
  return {};
}

Result<void> add_postings(clickhouse::BlockWriter& block, std::uint64_t session,
                          std::span<const Posting* const> postings) {
  if (!in_range(postings)) return beyond_its_column(Table<Posting>::kName);
  clickhouse_io::ColumnFiller<Posting> filler(block, postings);
  filler.each([&](auto& column, auto, const Posting&) { column.add_uint64(session); });
  Table<Posting>::list(filler);
  return {};
}

template <class Fact>
Result<std::vector<Fact>> facts_of(const clickhouse::Block& block, const ImportNumbers& numbers,
                                   RowRange rows) {
  std::vector<Fact> facts(rows.count, Table<Fact>::blank());
  const clickhouse::Column& ids = block.columns[0];
  const clickhouse::Column& lines = block.columns[1];
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i].id = FactId{ids.hash(rows.begin + i)};
    facts[i].source.line = lines.uint64(rows.begin + i);
  }
  std::uint64_t first = 2;
  if constexpr (std::is_same_v<Fact, Charge>) {
    const clickhouse::Column& sessions = block.columns[2];
    const clickhouse::Column& months = block.columns[3];
    const clickhouse::Column& takes_back = block.columns[4];
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const std::uint64_t row = rows.begin + i;
      facts[i].import_number = numbers.of(sessions.uint64(row));
      facts[i].booked_month = months.text(row);
      if (!takes_back.is_null(row)) facts[i].takes_back = FactId{takes_back.hash(row)};
    }
    first = 5;
  }
  clickhouse_io::ColumnReader<Fact> reader(block, first, rows.begin, facts);
  Table<Fact>::list(reader);
  if (reader.failed_column() != nullptr) {
    return unreadable_column(reader.failed_column(), Table<Fact>::kName);
  }
  return facts;
}

Result<std::vector<Posting>> postings_of(const clickhouse::Block& block, RowRange rows) {
  std::vector<Posting> postings(rows.count, Table<Posting>::blank());
  clickhouse_io::ColumnReader<Posting> reader(block, 0, rows.begin, postings);
  Table<Posting>::list(reader);
  if (reader.failed_column() != nullptr) {
    return unreadable_column(reader.failed_column(), Table<Posting>::kName);
  }
  return postings;
}

template Result<void> add_facts<Charge>(clickhouse::BlockWriter&, std::uint64_t,
                                        std::span<const Charge* const>,
                                        std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Holding>(clickhouse::BlockWriter&, std::uint64_t,
                                         std::span<const Holding* const>,
                                         std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Node>(clickhouse::BlockWriter&, std::uint64_t,
                                      std::span<const Node* const>,
                                      std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Gpu>(clickhouse::BlockWriter&, std::uint64_t,
                                     std::span<const Gpu* const>,
                                     std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Usage>(clickhouse::BlockWriter&, std::uint64_t,
                                       std::span<const Usage* const>,
                                       std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Outage>(clickhouse::BlockWriter&, std::uint64_t,
                                        std::span<const Outage* const>,
                                        std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Correction>(clickhouse::BlockWriter&, std::uint64_t,
                                            std::span<const Correction* const>,
                                            std::span<const ClickhouseFactKeys>);
template Result<void> add_facts<Outcome>(clickhouse::BlockWriter&, std::uint64_t,
                                         std::span<const Outcome* const>,
                                         std::span<const ClickhouseFactKeys>);
template Result<std::vector<Charge>> facts_of<Charge>(const clickhouse::Block&,
                                                      const ImportNumbers&, RowRange);
template Result<std::vector<Holding>> facts_of<Holding>(const clickhouse::Block&,
                                                        const ImportNumbers&, RowRange);
template Result<std::vector<Node>> facts_of<Node>(const clickhouse::Block&, const ImportNumbers&,
                                                  RowRange);
template Result<std::vector<Gpu>> facts_of<Gpu>(const clickhouse::Block&, const ImportNumbers&,
                                                RowRange);
template Result<std::vector<Usage>> facts_of<Usage>(const clickhouse::Block&, const ImportNumbers&,
                                                    RowRange);
template Result<std::vector<Outage>> facts_of<Outage>(const clickhouse::Block&,
                                                      const ImportNumbers&, RowRange);
template Result<std::vector<Correction>> facts_of<Correction>(const clickhouse::Block&,
                                                              const ImportNumbers&, RowRange);
template Result<std::vector<Outcome>> facts_of<Outcome>(const clickhouse::Block&,
                                                        const ImportNumbers&, RowRange);

}  // namespace pennyweight
