// Pages to and from DuckDB's tables.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "ledger/store/move/page.h"

namespace pennyweight::move {

// The columns of each table of a ledger, in their order. Fails if it lacks one, or has a table or
// column that a move would silently leave out. `besides`: tables that may be there too.
using DuckdbColumns = std::map<std::string, std::vector<std::string>>;
Result<DuckdbColumns> known_columns(duckdb::Connection& connection,
                                    std::span<const std::string_view> besides);

// "number, a, b, c": what page_of reads, where `number` is an expression for the commit's
// number.
std::string duckdb_page_columns(const MovedTable& table, const std::string& number);
// The current chunk, which has those columns.
Result<void> page_of(const duckdb::Rows& chunk, const MovedTable& table, Page& page);

// Appends pages to one table; each may have any number of rows.
class PageAppender {
 public:
  // `columns`: the table's, in its order. `connection` must outlive this.
  static Result<PageAppender> open(duckdb::Connection& connection, const MovedTable& table,
                                   const std::vector<std::string>& columns);
  Result<void> add(const Page& page);
  Result<void> close() { return appender_.close(); }

 private:
  PageAppender(duckdb::Appender appender, const MovedTable& table,
               const std::vector<std::string>& columns);
  void set(const Page& page, std::size_t column, std::uint64_t place, std::uint64_t begin,
           std::uint64_t count);

  duckdb::Appender appender_;
  const MovedTable* table_;
  std::vector<std::uint64_t> places_;  // of the table's columns, where they are in DuckDB's
  std::uint64_t number_place_ = 0;
  std::uint64_t run_number_place_ = 0, current_place_ = 0;  // of runs alone
};

}  // namespace pennyweight::move
