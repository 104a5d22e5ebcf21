// Tables of the single jobs of a replay: when each waited and ran, and which node held what when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/instant.h"
#include "insight/queries/what_if_query.h"
#include "insight/what_if/what_if.h"
#include "reporting/table.h"

namespace pennyweight {

// What a workload held of a node.
struct NodeSpan {
  Interval held;
  std::string workload;
  std::string owner;  // its value of the query's dimension; empty: none
  std::uint64_t milli_gpus = 0;
};
struct NodeSpans {
  std::string node;
  std::vector<NodeSpan> spans;  // by begin, then end
};
// By node. `by` is the query's dimension.
std::vector<NodeSpans> node_spans(const what_if::WhatIf& result, const std::string& by);

inline constexpr std::size_t kGanttRows = 2'000;  // of a table that a page draws

// What each node held, by node and time. With more rows than `rows_max` it has the first nodes
// only, and says so.
Table gantt_table(const WhatIfQuery& query, const WhatIfMonth& month, const what_if::WhatIf& result,
                  std::size_t rows_max);

// Each job of the scenario, in the order of the ledger.
Table workload_table(const WhatIfQuery& query, const WhatIfMonth& month,
                     const what_if::WhatIf& result);

}  // namespace pennyweight
