// Queries which months were last allocated before facts came that may change them, so that no
// report is silently older than its facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"

namespace pennyweight {

// An import that a month's runs have not read.
struct LaterImport {
  std::uint64_t number = 0;
  Instant at;
  std::string name;    // of its file
  std::string format;  // ImportSource::format
};

struct StaleMonth {
  std::string month;
  std::optional<Instant> allocated_at;  // the oldest of its current runs; nothing: it has none
  std::vector<LaterImport> later;       // by number; the first kLaterImportsNamed
  std::uint64_t later_all = 0;          // how many there are
};
inline constexpr std::size_t kLaterImportsNamed = 20;

// By month. Errs on the side of naming a month whose runs would stay as they are: a run that reads
// the facts and changes nothing ends that, too. Closed months don't change, so they are never
// stale. A month that never was allocated is, once it has bill lines.
Result<std::vector<StaleMonth>> query_staleness(Store& store, const Policy& policy);

// "2026-03 was allocated at 2026-04-01T10:00:00Z, and import 5 (bill.csv, aws) came at
// 2026-04-02T08:00:00Z: 'pennyweight allocate --month 2026-03' takes it in".
std::string to_text(const StaleMonth& stale);

}  // namespace pennyweight
