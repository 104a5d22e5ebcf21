#include "ledger/store/clickhouse/scan.h"

#include <tuple>

#include "core/try.h"

namespace pennyweight {

Result<std::vector<std::string>> Scan::texts(const std::string& sql) const {
  std::vector<std::string> found;
  std::ignore = TRY(visit(sql, [&](const clickhouse::Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      found.emplace_back(block.columns[0].text(row));
    }
    return true;
  }));
  return found;
}

std::string current_sessions(std::span<const LedgerRun> runs, const std::string& month) {
  std::vector<std::uint64_t> sessions;
  for (const LedgerRun& run : runs) {
    if (run.run.current && (month.empty() || run.run.scope.month == month)) {
      sessions.push_back(run.session);
    }
  }
  return session_list(sessions);
}

std::string overflow_condition(std::span<const SumColumns> columns) {
  // In units of currency: 128 bits hold 1.7e20, and a sum that overflowed is off by 3.4e20.
  std::string text;
  for (const auto& [sum, size] : columns) {
    text += (text.empty() ? "" : " OR ") + ("abs(" + size + " - toFloat64(" + sum + ")) > 1e19");
  }
  return "toUInt8(" + text + ")";
}

std::unexpected<Error> sum_overflow_error() {
  return fail(ErrorCode::kLimit,
              "a sum of costs or of times is beyond 127 bits; ask for a shorter time, or for fewer "
              "lines");
}

std::string clickhouse_posting_order() {
  return "charge_id, indexOf(['gpu', 'cpu', 'memory', 'whole'], component), day, node, gpu, "
         "workload, indexOf(['used', 'held_idle', 'unallocated', 'stranded', 'overhead', "
         "'unavailable', 'shared'], kind), posted_from, posted_to, holding_id ASC NULLS FIRST, "
         "weight, billed_cost, effective_cost, list_cost, contracted_cost, currency, gpu_time, "
         "memory_time, observed_time";
}

}  // namespace pennyweight
