// UnknownEnds: workloads that ended while nobody watched, and the money that is uncertain.
//
// Such a workload is charged up to its last reading. What it may have cost after that stays with
// nobody, and is said: in the log, among the rows that `reconcile` shows, and beside the live view.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "app/daemon/live_inventory.h"
#include "ledger/rejected_row.h"

namespace pennyweight {

// `cost`: what it would have cost until it was gone; nothing where a node has no price.
RejectedRow unknown_end_row(const UnknownEnd& end, const std::optional<Money>& cost);

// The sums since the program started; used by one thread.
class UnknownEnds {
 public:
  void add(const UnknownEnd& end, const std::optional<Money>& cost);
  // One sentence for each cluster.
  std::map<ClusterId, std::string> notes() const;

 private:
  struct Sums {
    std::uint64_t count = 0;
    std::map<Currency, Money> costs;
  };
  std::map<ClusterId, Sums> by_cluster_;
};

}  // namespace pennyweight
