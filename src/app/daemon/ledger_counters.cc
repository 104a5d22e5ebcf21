#include "app/daemon/ledger_counters.h"

namespace pennyweight {

void LedgerCounters::add(const std::string& name, std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  counts_[name] += by;
}

void LedgerCounters::add_failure(std::string_view doing, const Error& error) {
  add("failures");
  log_.error("ledger", {{"doing", std::string(doing)}, {"why", error.message}});
}

std::map<std::string, std::uint64_t> LedgerCounters::all() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace pennyweight
