// RollupState: what is known of the rollup's file at one version, without scanning it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/hash.h"
#include "core/instant.h"
#include "ledger/run.h"
#include "reporting/rollup/dictionary.h"
#include "reporting/rollup/grain.h"

namespace pennyweight::rollup {

// One cluster and month, as of the run whose sums are kept.
struct RolledUpScope {
  Number number = 0;
  Scope scope;
  std::uint64_t run = 0;
  Hash128 postings_digest{};
  Hash128 policy_version{};
  std::uint64_t postings = 0;
  Instant made_at{};
  std::int32_t first_day = 0;  // since 1970, of its postings; a scope without any has first > last
  std::int32_t last_day = -1;

  bool is_of(const Run& other) const {
    return run == other.number && postings_digest == other.postings_digest &&
           policy_version == other.policy_version && postings == other.postings &&
           made_at == other.at;
  }
};

struct RollupState {
  std::uint64_t version = 0;
  bool complete = false;  // the ledger was copied once: before that, nothing can be answered
  Dictionary names;
  std::vector<RolledUpScope> scopes;
  std::array<std::uint64_t, kGrains.size()> rows{};  // of each grain
};

// Months since 1970 of a day since 1970.
inline std::int32_t month_of_day(std::int32_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  return (static_cast<int>(date.year()) - 1970) * 12 +
         static_cast<std::int32_t>(static_cast<unsigned>(date.month())) - 1;
}
inline std::int32_t first_day_of_month(std::int32_t month) {
  const auto years = month >= 0 ? month / 12 : -((11 - month) / 12);
  const std::chrono::sys_days day =
      std::chrono::year(1970 + years) /
      std::chrono::month(static_cast<unsigned>(month - years * 12) + 1) / 1;
  return static_cast<std::int32_t>(day.time_since_epoch().count());
}

}  // namespace pennyweight::rollup
