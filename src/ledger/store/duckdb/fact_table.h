// Facts to and from the tables of columns.h, in batches.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "core/try.h"
#include "ledger/store/duckdb/column_io.h"

namespace pennyweight {

// What a row of a fact table begins with: its id, a second fingerprint (of a charge its natural
// key, of the others their content), the import that brought it, and the line it stood on.
struct FactKeys {
  Hash128 id;
  Hash128 second;
  // Of charges only. Identical lines have one content and are numbered by `ordinal`, as they came.
  Hash128 content = {};
  std::string_view booked_month = {};  // lives as long as the keys
  std::optional<Hash128> takes_back = {};
};

template <class Fact>
constexpr const char* second_key_name() {
  return std::is_same_v<Fact, Charge> ? "natural_key" : "content";
}

template <class Fact>
std::string table_definition() {
  duckdb_io::Schema schema;
  schema.add(Table<Fact>::kId, "UUID");
  schema.add(second_key_name<Fact>(), "UUID");
  schema.add("import_number", "UBIGINT");
  schema.add("source_line", "UBIGINT");
  if constexpr (std::is_same_v<Fact, Charge>) {
    schema.add("billing_month", "VARCHAR");
    schema.add("booked_month", "VARCHAR");
    schema.add("content", "UUID");
    schema.add("ordinal", "UBIGINT");
    schema.add("takes_back", "UUID");
  }
  Table<Fact>::list(schema);
  return schema.definition();
}

// REQUIRES: at most Appender::kChunkRows facts, and keys for each.
Result<void> append_facts(duckdb::Appender& appender, std::span<const Charge* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Holding* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Node* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Gpu* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Usage* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Outage* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Correction* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_facts(duckdb::Appender& appender, std::span<const Outcome* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import);
Result<void> append_postings(duckdb::Appender& appender, std::span<const Posting* const> postings,
                             std::uint64_t run_id);

// The appender buffers outside the engine's memory limit, so it is flushed after so many rows.
inline constexpr std::uint64_t kFlushRows = 20 * duckdb::Appender::kChunkRows;

// Appends records to a table whose first column is the number of the run or import that wrote them,
// followed by the columns of the record.
template <class Record>
Result<void> append_records(duckdb::Appender& appender, std::span<const Record> records,
                            std::uint64_t number) {
  std::vector<const Record*> chunk;
  for (std::size_t begin = 0; begin < records.size(); begin += duckdb::Appender::kChunkRows) {
    chunk.clear();
    for (const Record& record : records.subspan(
             begin, std::min<std::size_t>(duckdb::Appender::kChunkRows, records.size() - begin))) {
      chunk.push_back(&record);
    }
    duckdb_io::ColumnFiller<Record> filler(appender, chunk);
    filler.each([&](auto& writer, auto row, const Record&) { writer.set_uint64(row, number); });
    Table<Record>::list(filler);
    TRY(appender.append(chunk.size()));
  }
  return {};
}

// "c.charge_id, c.source_line, c.…": what facts_of and postings_of read.
template <class Fact>
std::string fact_columns(const std::string& prefix) {
  std::string columns = prefix + Table<Fact>::kId + ", " + prefix + "source_line, ";
  if constexpr (std::is_same_v<Fact, Charge>) {
    columns += prefix + "import_number, " + prefix + "booked_month, " + prefix + "takes_back, ";
  }
  return columns + duckdb_io::Schema::of<Fact>().names(prefix);
}
// How many columns these are before the fact's own.
template <class Fact>
constexpr std::uint64_t kept_columns() {
  return std::is_same_v<Fact, Charge> ? 5 : 2;
}
inline std::string posting_columns(const std::string& prefix) {
  return duckdb_io::Schema::of<Posting>().names(prefix);
}

// Reads the listed columns, from the result's column `first` on, into records that are there.
template <class Record>
Result<void> read_columns(const duckdb::Rows& chunk, std::uint64_t first,
                          std::span<Record> records) {
  duckdb_io::ColumnReader<Record> reader(chunk, first, records);
  Table<Record>::list(reader);
  if (reader.failed_column() == nullptr) return {};
  return fail(ErrorCode::kStore,
              std::string("the column ") + reader.failed_column() + " of the table " +
                  Table<Record>::kName +
                  " holds a value that no version of pennyweight wrote; the ledger was changed by "
                  "another program");
}

// The facts of the chunk at hand, whose columns begin with fact_columns.
template <class Fact>
Result<std::vector<Fact>> facts_of(const duckdb::Rows& chunk) {
  std::vector<Fact> facts(chunk.size(), Table<Fact>::blank());
  const duckdb::Column ids = chunk.column(0);
  const duckdb::Column lines = chunk.column(1);
  for (std::size_t row = 0; row < facts.size(); ++row) {
    facts[row].id = FactId{ids.uuid(row)};
    facts[row].source.line = lines.uint64(row);
  }
  if constexpr (std::is_same_v<Fact, Charge>) {
    const duckdb::Column imports = chunk.column(2), months = chunk.column(3);
    const duckdb::Column takes_back = chunk.column(4);
    for (std::size_t row = 0; row < facts.size(); ++row) {
      facts[row].import_number = imports.uint64(row);
      facts[row].booked_month = months.text(row);
      if (!takes_back.is_null(row)) facts[row].takes_back = FactId{takes_back.uuid(row)};
    }
  }
  TRY(read_columns(chunk, kept_columns<Fact>(), std::span<Fact>(facts)));
  return facts;
}

// The records of the chunk at hand, whose columns from `first` on are those of Table<Record>.
template <class Record>
Result<std::vector<Record>> records_of(const duckdb::Rows& chunk, std::uint64_t first = 0) {
  std::vector<Record> records(chunk.size(), Table<Record>::blank());
  TRY(read_columns(chunk, first, std::span<Record>(records)));
  return records;
}
// "prefix.month, prefix.closed_at, …": what records_of reads.
template <class Record>
std::string record_columns(const std::string& prefix = {}) {
  return duckdb_io::Schema::of<Record>().names(prefix);
}

Result<std::vector<Posting>> postings_of_chunk(const duckdb::Rows& chunk);

// Visits chunk after chunk; visit(chunk) gives Result<bool>, false to stop.
template <class Visit>
Result<void> each_chunk(Result<duckdb::Rows> rows, const Visit& visit) {
  if (!rows) return std::unexpected(std::move(rows.error()));
  while (true) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    const Result<bool> wants_more = visit(*rows);
    if (!wants_more) return std::unexpected(wants_more.error());
    if (!*wants_more) return {};
  }
}

// Every fact of a result at once: for small ones.
template <class Fact>
Result<std::vector<Fact>> all_facts(Result<duckdb::Rows> rows) {
  std::vector<Fact> facts;
  TRY(each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
    std::vector<Fact> some = TRY(facts_of<Fact>(chunk));
    std::ranges::move(some, std::back_inserter(facts));
    return true;
  }));
  return facts;
}

Result<std::vector<Posting>> all_postings(Result<duckdb::Rows> rows);

// Every record of a result at once: for small ones.
template <class Record>
Result<std::vector<Record>> all_records(Result<duckdb::Rows> rows) {
  std::vector<Record> records;
  TRY(each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
    std::vector<Record> some = TRY(records_of<Record>(chunk));
    std::ranges::move(some, std::back_inserter(records));
    return true;
  }));
  return records;
}

// The UBIGINTs of a result's one row.
template <std::size_t N>
Result<std::array<std::uint64_t, N>> counts_of(Result<duckdb::Rows> rows) {
  std::array<std::uint64_t, N> counts{};
  TRY(each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
    for (std::size_t i = 0; i < N; ++i) counts[i] = chunk.column(i).uint64(0);
    return true;
  }));
  return counts;
}
// The UBIGINT of a result's one row.
inline Result<std::uint64_t> count_of(Result<duckdb::Rows> rows) {
  const auto counts = TRY(counts_of<1>(std::move(rows)));
  return counts[0];
}

}  // namespace pennyweight
