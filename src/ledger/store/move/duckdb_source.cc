#include "ledger/store/move/duckdb_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/duckdb/database.h"
#include "core/try.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/move/duckdb_pages.h"

namespace pennyweight::move {
namespace {

using duckdb::Connection;
using duckdb::Rows;

// Rows of a piece: enough for a block of them to be a good part on ClickHouse, and few enough for
// several to fit in little memory. DuckDB stores rows in groups of 122,880.
constexpr std::uint64_t kGroupRows = 122'880;
std::uint64_t piece_rows(const MovedTable& table) {
  if (table.name == "invoices") return 256;  // documents
  if (table.name == "charges" || table.name == "rejected_rows") return kGroupRows / 2;
  if (table.name == "usages" || table.name == "postings") return 2 * kGroupRows;
  return kGroupRows;
}

// The number of the log entry that a row belongs to. Closings and issued invoices have no number in
// the file, so they get the row's position; invoices that were issued together get that of the
// first.
std::string number_of(const MovedTable& table) {
  if (!table.number.empty()) return table.number;
  if (table.entry_kind == EntryKind::kInvoices) {
    return "((SELECT min(i.rowid) FROM invoices i WHERE i.issued_at = invoices.issued_at) + "
           "1)::UBIGINT";
  }
  return "(rowid + 1)::UBIGINT";
}

std::uint64_t rows_of(const Watermark& watermark, const std::string& table) {
  const auto found = watermark.find(table);
  return found == watermark.end() ? 0 : found->second;
}

class DuckdbSource : public LedgerSource {
 public:
  DuckdbSource(std::string path, duckdb::Database database, Connection connection)
      : path_(std::move(path)),
        database_(std::move(database)),
        connection_(std::move(connection)) {}

  std::string name() const override { return path_; }
  Result<Watermark> watermark() override;
  Result<Hash128> print(const Watermark& to) override;
  Result<CommitHistory> history(const Watermark& to) override;
  Result<std::vector<TablePiece>> pieces(const MovedTable& table, const Watermark& from,
                                         const Watermark& to) override;
  Result<void> read(const TablePiece& piece, const PageSink& sink) override;

  // Checks that imports are numbered 1, 2, …, and runs likewise, both overall and within their
  // scope: the other stores assign the numbers again.
  Result<void> check_numbers();

 private:
  Result<void> add_entries(CommitHistory& history, EntryKind entry_kind, const std::string& sql);

  std::string path_;
  duckdb::Database database_;
  Connection connection_;
};

Result<void> DuckdbSource::check_numbers() {
  const auto odd = TRY(counts_of<2>(connection_.query(
      "SELECT (SELECT count(*) FROM (SELECT number, row_number() OVER (ORDER BY number) AS place "
      "FROM imports) WHERE number <> place)::UBIGINT, (SELECT count(*) FROM (SELECT run_id, "
      "number, "
      "is_current, row_number() OVER (ORDER BY run_id) AS place, row_number() OVER (PARTITION BY "
      "cluster, month ORDER BY run_id) AS of_scope, count(*) OVER (PARTITION BY cluster, month) AS "
      "runs FROM runs) WHERE run_id <> place OR number <> of_scope OR is_current <> (of_scope = "
      "runs))::UBIGINT")));
  if (odd[0] == 0 && odd[1] == 0) return {};
  return fail(ErrorCode::kStore, fmt::format("{} are not numbered consecutively, as every version "
                                             "numbers them: the file was changed by hand",
                                             odd[0] > 0 ? "imports" : "runs"));
}

Result<Watermark> DuckdbSource::watermark() {
  Watermark watermark;
  for (const MovedTable& table : moved_tables()) {
    const auto rows = TRY(counts_of<1>(
        connection_.query("SELECT coalesce(max(rowid) + 1, 0)::UBIGINT FROM " + table.name)));
    watermark[table.name] = rows[0];
  }
  return watermark;
}

Result<Hash128> DuckdbSource::print(const Watermark& to) {
  // The short tables identify the long ones: imports name their files, runs their postings.
  Tally all;
  Fingerprint print;
  for (const MovedTable& table : moved_tables()) {
    print.add(table.name).add(std::optional(rows_of(to, table.name)));
    if (!table.slice_by.empty() || table.name == "run_dimensions") continue;
    const auto some = TRY(pieces(table, {}, to));
    Tally tally;
    for (const TablePiece& piece : some) {
      TRY(read(piece, [&](const Page& page) -> Result<void> {
        tally.add(page);
        return {};
      }));
    }
    print.add(to_text(tally.digest()));
  }
  return print.hash();
}

Result<void> DuckdbSource::add_entries(CommitHistory& history, EntryKind entry_kind,
                                       const std::string& sql) {
  return each_chunk(connection_.query(sql), [&](const Rows& chunk) -> Result<bool> {
    const duckdb::Column numbers = chunk.column(0), times = chunk.column(1);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      history.push_back({entry_kind, numbers.uint64(row), times.timestamp_ms(row)});
    }
    return true;
  });
}

Result<CommitHistory> DuckdbSource::history(const Watermark& to) {
  const auto upto = [&](const char* table) {
    return fmt::format(" FROM {0} WHERE rowid < {1}", table, rows_of(to, table));
  };
  std::vector<CommitHistory> lists(4);
  Result<void> done =
      add_entries(lists[0], EntryKind::kImport,
                  "SELECT number, imported_at" + upto("imports") + " ORDER BY number");
  if (done) {
    done = add_entries(lists[1], EntryKind::kRun,
                       "SELECT run_id, made_at" + upto("runs") + " ORDER BY run_id");
  }
  if (done) {
    done = add_entries(lists[2], EntryKind::kClosing,
                       "SELECT (rowid + 1)::UBIGINT, closed_at" + upto("closings") + " ORDER BY 1");
  }
  if (done) {
    done = add_entries(lists[3], EntryKind::kInvoices,
                       "SELECT (min(rowid) + 1)::UBIGINT, issued_at" + upto("invoices") +
                           " GROUP BY issued_at ORDER BY 1");
  }
  if (!done) return std::unexpected(done.error());
  // The file does not record the order between its lists. Times do, as far as the clocks were
  // right, and each list keeps its own order.
  CommitHistory history;
  std::vector<std::size_t> next(lists.size(), 0);
  while (true) {
    const LogEntry* first = nullptr;
    std::size_t from = 0;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (next[i] == lists[i].size()) continue;
      const LogEntry& entry = lists[i][next[i]];
      if (first != nullptr && first->at <= entry.at) continue;
      first = &entry;
      from = i;
    }
    if (first == nullptr) return history;
    history.push_back(*first);
    ++next[from];
  }
}

Result<std::vector<TablePiece>> DuckdbSource::pieces(const MovedTable& table, const Watermark& from,
                                                     const Watermark& to) {
  std::vector<TablePiece> found;
  const std::uint64_t end = rows_of(to, table.name);
  for (std::uint64_t begin = rows_of(from, table.name); begin < end;) {
    // Pieces end where row groups do, so that each group is read once.
    const std::uint64_t next = std::min(end, (begin / piece_rows(table) + 1) * piece_rows(table));
    found.push_back({.table = &table,
                     .number = found.size(),
                     .rows = next - begin,
                     .where = fmt::format("rowid >= {} AND rowid < {}", begin, next)});
    begin = next;
  }
  return found;
}

Result<void> DuckdbSource::read(const TablePiece& piece, const PageSink& sink) {
  const MovedTable& table = *piece.table;
  Page page;
  return each_chunk(connection_.query(fmt::format("SELECT {} FROM {} WHERE {}",
                                                  duckdb_page_columns(table, number_of(table)),
                                                  table.name, piece.where)),
                    [&](const Rows& chunk) -> Result<bool> {
                      Result<void> done = page_of(chunk, table, page);
                      if (done) done = sink(page);
                      if (!done) return std::unexpected(std::move(done.error()));
                      return true;
                    });
}

Result<std::unique_ptr<LedgerSource>> open(const DuckdbLocation& place) {
  {
    // Explains what is wrong with a file that is not a ledger of this version.
    std::ignore = TRY(open_duckdb_store({.path = place.path,
                                         .memory_bytes_max = place.memory_bytes_max,
                                         .threads = place.threads,
                                         .read_only = true}));
  }
  duckdb::Database database =
      TRY(duckdb::Database::open({.path = place.path,
                                  .read_only = true,
                                  .memory_bytes_max = place.memory_bytes_max,
                                  .threads = place.threads,
                                  .keeps_insertion_order = true}));
  Connection connection = TRY(database.connect());
  if (const auto columns = known_columns(connection, {}); !columns) {
    return std::unexpected(columns.error().during(place.path));
  }
  auto source =
      std::make_unique<DuckdbSource>(place.path, std::move(database), std::move(connection));
  if (Result<void> good = source->check_numbers(); !good) {
    return std::unexpected(good.error().during(place.path));
  }
  return source;
}

}  // namespace

Result<std::unique_ptr<LedgerSource>> open_duckdb_source(const DuckdbLocation& place) {
  return open(place);
}

}  // namespace pennyweight::move
