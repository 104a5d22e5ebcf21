// LedgerCounters: what the ledger thread of `serve` did and what failed, by name, for /metrics.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "app/context/log.h"
#include "core/error.h"

namespace pennyweight {

// Every function may be called from any thread.
class LedgerCounters {
 public:
  // `log` outlives this.
  explicit LedgerCounters(Log& log) : log_(log) {}

  void add(const std::string& name, std::uint64_t by = 1);
  // Counts a failure and logs it with what was being done.
  void add_failure(std::string_view doing, const Error& error);
  std::map<std::string, std::uint64_t> all() const;

 private:
  Log& log_;
  mutable std::mutex mutex_;  // guards counts_
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace pennyweight
