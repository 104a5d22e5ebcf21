// ScopedQueries: answers queries about costs, limited to the user's scope.
//
// It adds the scope to every query, so that no handler can forget it: handlers of scoped data use
// neither the ledger, the rollup nor the live view themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/id.h"
#include "core/money.h"
#include "insight/queries/advice_decisions.h"
#include "insight/queries/advice_query.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/summary.h"
#include "ledger/usage.h"
#include "reporting/live/live_rows.h"
#include "reporting/queries/activity_query.h"
#include "reporting/queries/coverage.h"
#include "reporting/queries/currency.h"
#include "reporting/queries/explain.h"
#include "reporting/queries/explain_sum.h"
#include "reporting/queries/unit_costs.h"
#include "reporting/queries/usage_query.h"
#include "reporting/rollup/rollup.h"
#include "reporting/table.h"
#include "server/access/principal.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// What one workload held in a month, and the cost of lost attempts.
struct WorkloadFacts {
  std::vector<Holding> holdings;  // by start
  std::vector<Gpu> gpus;          // of its cluster
  // The cost of its lost attempts, by currency; nothing: it has too many postings to compute it.
  std::optional<std::vector<Money>> lost;
};

// The current fleet. Users with a scope see it without the names of others.
struct FleetFacts {
  std::vector<Node> nodes;        // the latest fact of each, by cluster and name
  std::vector<Gpu> gpus;          // the same, by cluster, node and index
  std::vector<Holding> holdings;  // those that had not ended when they were last read
  std::vector<Usage> usages;      // of the last minutes
  // Unscoped; null: none yet. Callers must not name workloads that ScopedQueries::sees() hides.
  std::shared_ptr<const LiveView> view;
};

class ScopedQueries {
 public:
  // REQUIRES: both outlive this.
  ScopedQueries(const Services& services, const access::Principal& who)
      : services_(services), who_(who), conversion_() {}
  // For a request that the guard has accepted.
  ScopedQueries(const Services& services, const server::Request& request);

  const access::Principal& who() const { return who_; }
  bool is_scoped() const { return who_.is_scoped(); }

  // From now on every sum of this object is in `currency`; nothing: as billed. Bill lines, postings
  // and what runs now keep their own currency.
  void convert_to(std::optional<Currency> currency);
  std::optional<Currency> currency() const;
  // The exchange rates used so far: "1 EUR = 1.08 USD (2026-03-31, ecb)".
  std::vector<std::string> rates() const;
  // An amount booked in `month`; unchanged if nothing is to be converted.
  Result<Money> in_currency(const Money& amount, const std::string& month) const;

  // Asks the rollup, or else the ledger.
  Result<std::vector<SummaryRow>> summarise(SummaryQuery query) const;
  // The same as billed, whatever convert_to() says.
  Result<std::vector<SummaryRow>> summarise_as_billed(SummaryQuery query) const;
  // The same if there are at most `rows_max` rows; otherwise only their number.
  struct Counted {
    std::vector<SummaryRow> rows;
    std::uint64_t all = 0;
  };
  Result<Counted> summarise(SummaryQuery query, std::uint64_t rows_max) const;
  // The last day of a month that has costs, in or outside the scope: scopes do not hide how far a
  // month has come. Nothing: the month has none.
  Result<std::optional<std::chrono::sys_days>> last_day(const std::string& month) const;
  // The last complete day before `today` of all costs, as a history without a scope ends with it.
  Result<std::optional<Date>> last_complete_day(Date today) const;
  // The first owners or rows of what summarise() would return; nothing if the rollup can't tell, as
  // where amounts have to be converted.
  Result<std::optional<rollup::TopOwners>> owners(SummaryQuery query,
                                                  const rollup::OwnersRequest& asked) const;
  Result<std::optional<rollup::RowPage>> page(SummaryQuery query,
                                              const rollup::PageRequest& asked) const;
  Result<std::vector<rollup::Rollup::Value>> values_of(SummaryQuery query,
                                                       const std::string& dimension,
                                                       const std::string& prefix,
                                                       std::size_t at_most) const;
  // The postings behind a row of a report, or behind a charge, with an explanation of one.
  // kNotFound: none is in the scope.
  Result<ExplainResult> explain(ExplainQuery query) const;
  // The postings within a row of a summary, the largest first; at most so many. As billed.
  Result<std::vector<Posting>> postings(SummaryQuery query, std::uint64_t at_most) const;
  // What their amounts add up to, as billed and in the currency of convert_to().
  Result<ExplainedSum> explain_sum(const ExplainQuery& query) const;
  // The bucket that a transfer moved. kNotFound with a scope, whatever the transfer is.
  Result<SpreadBucket> bucket(const std::string& transfer) const;
  // Jobs and hours of holdings, and what telemetry saw of them. Without a scope, also of capacity
  // that nobody held.
  Result<Table> activity(ActivityQuery query) const;
  Result<Table> usage(UsageQuery query) const;
  Result<std::vector<Table>> units(UnitCostQuery query) const;
  Result<CoverageResult> coverage(CoverageQuery query) const;
  // With a scope: advice about whole workloads in it, and none about the fleet.
  Result<AdviceResult> advice(const AdviceQuery& query) const;
  // What was decided about advice, by id; with a scope, about whole workloads in it.
  Result<std::map<std::string, advising::AdviceLife>> advice_lives(Date today) const;
  // With a scope, kNotFound for advice that the user does not see.
  Result<AdviceStep> prepare_advice_step(const AdviceDecision& decision,
                                         const AdviceQuery& query) const;
  // The facts of a workload in a month. REQUIRES: summarise() has shown that it is in the scope.
  Result<WorkloadFacts> workload(const ClusterId& cluster, const WorkloadId& workload,
                                 const std::string& month) const;

  // Null before the first update, and without live data.
  std::shared_ptr<const LiveView> live() const;
  // The nodes on which workloads in the scope hold something now; without a scope, all nodes. Of
  // one cluster, or of all (empty).
  Result<FleetFacts> fleet(const std::string& cluster) const;
  // The last day of each cluster in the ledger on which a workload in the scope held something; for
  // clusters that no source watches.
  Result<std::map<std::string, std::chrono::sys_days>> last_held() const;
  // Whether a running workload may be named.
  bool sees(const ClusterId& cluster, const LiveShare& share) const;

  // The ETag of an answer: it changes with the costs, the request and the scope.
  std::string etag(const server::Request& request) const;

 private:
  void apply_scope(SummaryQuery& query) const;
  // The same as summarise(), without the scope.
  Result<std::vector<SummaryRow>> summarise_all(const SummaryQuery& query) const;
  // Whether an amount of the query is in another currency than convert_to() says. REQUIRES: the
  // query has its scope.
  Result<bool> is_foreign(SummaryQuery query) const;
  // An Error if the scope can't be applied exactly.
  Result<void> check_scope_is_exact() const;
  bool sees_step(const AdviceStep& step) const;

  const Services& services_;
  const access::Principal& who_;
  // Remembers the rates that an answer used. One object serves one request, in one thread.
  mutable std::optional<CurrencyConversion> conversion_;
};

// The configured exchange rates. An Error says what to configure; it names `foreign`.
Result<ExchangeRates> configured_rates(const Services& services, const Currency& foreign);

// Whether the client already has the answer of this ETag, so that it need not be computed.
bool client_has(const server::Request& request, const std::string& etag);
// An answer that the server turns into a 304, by its ETag.
server::Response not_modified(const std::string& etag);

}  // namespace pennyweight::api
