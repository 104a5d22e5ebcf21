// Workload names: read from the rollup's file for those that an answer shows or must put in order.
// There may be millions, so they are not kept in memory as other names are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/duckdb/database.h"
#include "core/error.h"
#include "reporting/rollup/dictionary.h"

namespace pennyweight::rollup {

class WorkloadNames {
 public:
  // Of none.
  WorkloadNames() = default;
  // Of `ids`, in any order and as often as they like. An Error of kBadFile where one has no name.
  static Result<WorkloadNames> load(duckdb::Connection& connection, std::vector<Number> ids);

  // REQUIRES: it was loaded. Valid as long as this is.
  std::string_view name(Number id) const;
  // The smaller, the earlier the name comes in the order of its bytes.
  Number rank(Number id) const { return ranks_[index_of(id)]; }

 private:
  std::size_t index_of(Number id) const;
  void put(std::size_t index, std::string_view name);

  std::vector<Number> ids_;       // sorted
  std::vector<Number> index_of_;  // by id from the first on: where it is, one more; few have none
  std::string text_;              // all names
  std::vector<std::pair<std::uint64_t, std::uint32_t>> names_;  // where each begins, and its bytes
  std::vector<Number> ranks_;
};

// Ids of workloads by name: those that are `names`, or that begin with a prefix.
Result<std::vector<Number>> workloads_named(duckdb::Connection& connection,
                                            const std::vector<std::string>& names);
Result<std::vector<Number>> workloads_beginning(duckdb::Connection& connection,
                                                const std::string& prefix);

}  // namespace pennyweight::rollup
