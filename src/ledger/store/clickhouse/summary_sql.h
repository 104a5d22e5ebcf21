// ClickhouseSummarySql: a SummaryQuery as SQL for ClickHouse. Every value from outside is escaped.
//
// The shards add up their own postings. Columns of bill lines are joined there, and only if the
// query needs them. Label dimensions are joined to the sums of each workload. Filters by either
// become sets of ids or workloads, which need no join.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ledger/store/clickhouse/scan.h"
#include "ledger/summary.h"

namespace pennyweight {

class ClickhouseSummarySql {
 public:
  // `scan` must outlive this. `runs`: all runs of the scan.
  ClickhouseSummarySql(const Scan& scan, std::span<const LedgerRun> runs,
                       const SummaryQuery& query);

  // The query selects no run, so the result is empty.
  bool is_empty() const { return sessions_.empty(); }
  // Columns: the bucket's day (0 for none), the keys, then currency, four costs, GPU time held and
  // idle, memory time, time observed, the number of postings, and whether a sum overflowed.
  std::string summarise() const;
  // "WHERE … ORDER BY … LIMIT …" of the postings themselves, the largest first.
  std::string largest(std::uint64_t at_most, std::uint64_t skipped) const;

 private:
  struct Run {
    std::uint64_t session;
    std::string cluster, month;
  };
  std::string key_of(const std::string& dimension);
  std::string of_runs(std::string Run::* field) const;
  std::string condition(const SummaryFilter& filter) const;
  std::string bill_line_condition(const std::string& expression,
                                  const std::vector<std::string>& values) const;
  std::string billing_month_condition(const std::vector<std::string>& values) const;
  std::string workload_condition(const SummaryFilter& filter) const;
  std::string session_text() const;
  std::string from() const;

  const Scan& scan_;
  TimeBucket bucket_;
  std::vector<Run> runs_;  // that are asked for
  std::vector<std::uint64_t> sessions_;
  std::string where_;                                       // " AND …"
  std::vector<std::string> keys_;                           // the name of each key's column
  std::vector<std::pair<std::string, std::string>> inner_;  // expression AS name, of postings
  std::vector<std::pair<std::string, std::string>> lines_;  // the same, of bill lines
  std::vector<std::string> labels_;                         // dimensions: column d0, d1, …
};

}  // namespace pennyweight
