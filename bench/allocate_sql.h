// The same allocation as a careful analyst would write it in SQL for DuckDB, for bench/allocate.
//
// It uses what helps SQL: numbers instead of names, telemetry in one narrow table, doubles for
// amounts, holdings cut by charge and spread over hours so that samples are found by a hash join.
// The expensive part (who is on a GPU at the same moment) runs only for devices that are shared.
#pragma once

#include <cstdint>
#include <vector>

#include "allocate_world.h"
#include "core/duckdb/database.h"
#include "core/error.h"

namespace pennyweight::bench {

// What one holder (or kNobody) is charged of one charge, by kind.
struct Amount {
  static constexpr std::int32_t kNobody = -1;
  std::int32_t line;    // an index of World::charges
  std::int32_t holder;  // an index of World::holdings
  PostingKind kind;
  double cost;
};

class SqlAllocation {
 public:
  // REQUIRES: `during` within 49 days.
  static Result<SqlAllocation> load(const World& world, const ObservedUtilization& seen,
                                    std::uint32_t threads);
  Result<std::vector<Amount>> run();
  std::uint64_t usage_rows() const { return usage_rows_; }

 private:
  SqlAllocation(duckdb::Database database, duckdb::Connection connection)
      : database_(std::move(database)), connection_(std::move(connection)) {}
  Result<void> load_lines(const World& world);
  Result<void> load_holdings(const World& world);
  Result<void> load_usage(const World& world, const ObservedUtilization& seen);

  duckdb::Database database_;
  duckdb::Connection connection_;
  std::uint64_t usage_rows_ = 0;
};

}  // namespace pennyweight::bench
