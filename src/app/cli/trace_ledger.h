// TraceLedger: what `replay --jobs` replays: jobs of a trace on a fleet with prices, in a ledger
// that is gone afterwards.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/context/context.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct TraceFiles {
  std::vector<std::string> jobs;   // traces, or whatever `import` knows of jobs
  std::vector<std::string> fleet;  // inventories of nodes
  std::vector<std::string> bills;
  std::string rate_card;  // prices of nodes, instead of bills
  bool is_any() const {
    return !jobs.empty() || !fleet.empty() || !bills.empty() || !rate_card.empty();
  }
};

class TraceLedger {
 public:
  // Imports the files as a ledger would; rows that are set aside are warned of, each file's first
  // ones. A usage error where jobs, fleet or prices are missing, or none of the jobs can be used.
  // `month`: which is priced by a rate card; empty: that of the first node day of the jobs.
  static Result<TraceLedger> make(const TraceFiles& files, const std::string& cluster,
                                  const std::string& month, Context& context);
  TraceLedger(TraceLedger&& other) noexcept;
  TraceLedger& operator=(TraceLedger&&) = delete;
  ~TraceLedger();  // removes it

  Store& store() { return *store_; }
  // Warns of jobs that a replay of the period leaves out, whole or in part.
  Result<void> warn_of_others(const ClusterId& cluster, const Interval& period,
                              const std::string& month, const Context& context);
  // Whether any job says when it was submitted and when it started, so that there is something to
  // calibrate by.
  bool says_waits() const { return says_waits_; }

 private:
  TraceLedger() = default;
  std::string folder_;
  std::unique_ptr<Store> store_;
  bool says_waits_ = false;
};

}  // namespace pennyweight
