// Desk: where a route gets its answers about money from. It adds the scope of who asks to every
// question, so that no route can forget to: routes of scoped data hold no ledger, no rollup and no
// live view of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/principal.h"
#include "api/parts.h"
#include "core/error.h"
#include "core/id.h"
#include "core/money.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/summary.h"
#include "ledger/usage.h"
#include "live/view/live_lines.h"
#include "questions/coverage.h"
#include "questions/explain.h"
#include "questions/units.h"
#include "report/table.h"
#include "rollup/rollup.h"
#include "server/server.h"

namespace pennyweight::api {

// What one workload held in a month, and what of it was lost.
struct WorkloadFacts {
  std::vector<Holding> holdings;  // by begin
  std::vector<Gpu> gpus;          // of its cluster
  // What its attempts that were lost cost, by currency; nothing: it has too many postings to tell.
  std::optional<std::vector<Money>> lost;
};

// The machines of now, whoever has them: told without names by who is bound to a scope.
struct FleetFacts {
  std::vector<Node> nodes;        // the latest fact of each, by cluster and name
  std::vector<Gpu> gpus;          // the same, by cluster, node and index
  std::vector<Holding> holdings;  // that were not over when they were last read
  std::vector<Usage> usages;      // of the last minutes
  // As a whole; null: nobody has looked. Name nobody whom Desk::sees() does not.
  std::shared_ptr<const LiveView> view;
};

class Desk {
 public:
  // Both outlive it.
  Desk(const Parts& parts, const access::Principal& who) : parts_(parts), who_(who) {}
  // Of a request that the guard has let through.
  Desk(const Parts& parts, const server::Request& request);

  const access::Principal& who() const { return who_; }
  bool is_scoped() const { return who_.is_scoped(); }

  // From the rollup, else the ledger.
  Result<std::vector<SummaryRow>> summarise(SummaryQuery query) const;
  // The same where there are not more; else only how many there are.
  struct Counted {
    std::vector<SummaryRow> rows;
    std::uint64_t all = 0;
  };
  Result<Counted> summarise(SummaryQuery query, std::uint64_t rows_max) const;
  // The last day of a month that has costs, whoever's: which days there are is nothing that a scope
  // hides, and how far a month has come is the same for everybody. Nothing: it has none.
  Result<std::optional<std::chrono::sys_days>> last_day(const std::string& month) const;
  // The first owners or rows of what summarise() gives; nothing where only that can tell.
  Result<std::optional<rollup::Owners>> owners(SummaryQuery query,
                                               const rollup::OwnersAsked& asked) const;
  Result<std::optional<rollup::PageOfRows>> page(SummaryQuery query,
                                                 const rollup::PageAsked& asked) const;
  Result<std::vector<rollup::Rollup::Value>> values_of(SummaryQuery query,
                                                       const std::string& dimension,
                                                       const std::string& prefix,
                                                       std::size_t at_most) const;
  // Postings behind a row of a report, or a bill line, and why the first is what it is. An Error of
  // kNotFound where none is in the scope.
  Result<ExplainAnswer> explain(ExplainQuestion question) const;
  Result<std::vector<Table>> units(UnitQuestion question) const;
  Result<CoverageAnswer> coverage(CoverageQuestion question) const;
  // Of a month. REQUIRES: it is in the scope, which summarise() told.
  Result<WorkloadFacts> workload(const ClusterId& cluster, const WorkloadId& workload,
                                 const std::string& month) const;

  // Null before the first look, and where nobody looks.
  std::shared_ptr<const LiveView> live() const;
  // Nodes on which somebody in the scope holds something now; unscoped: all. Of a cluster, or of
  // all (empty).
  Result<FleetFacts> fleet(const std::string& cluster) const;
  // Whether a workload of now may be named.
  bool sees(const ClusterId& cluster, const LiveShare& share) const;

  // For conditional requests: differs where the costs, the question or who may see what do.
  std::string etag(const server::Request& request) const;

 private:
  void narrow(SummaryQuery& query) const;
  // From the rollup, else the ledger, and of no scope.
  Result<std::vector<SummaryRow>> summarise_all(const SummaryQuery& query) const;
  // What can't be cut exactly is refused rather than shown.
  Result<void> check_cut() const;

  const Parts& parts_;
  const access::Principal& who_;
};

// Whether who asks has the answer of this ETag: then nothing needs to be worked out.
bool has_already(const server::Request& request, const std::string& etag);
// 304 for who has it; the server makes it of the ETag.
server::Response unchanged(const std::string& etag);

}  // namespace pennyweight::api
