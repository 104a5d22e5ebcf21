// Queries which months were last allocated before facts came that may change them, so that no
// report is silently older than its facts.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/id.h"
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

// Clusters whose nodes and jobs a running `serve` reports. It shows the days from `first_day` on
// live, and allocates them when they are over.
struct LiveClusters {
  std::set<ClusterId> clusters;
  std::chrono::sys_days first_day;
};

// By month. Errs on the side of naming a month whose runs would stay as they are: a run that reads
// the facts and changes nothing ends that, too. Closed months don't change, so they are never
// stale. A month that never was allocated is, once it has bill lines. Of the clusters in `live`,
// what holds from `first_day` on makes nothing stale, and nor do nodes that come and go.
Result<std::vector<StaleMonth>> query_staleness(Store& store, const Policy& policy,
                                                const LiveClusters& live = {});

// "2026-03 was allocated at 2026-04-01T10:00:00Z, and import 5 (bill.csv, aws) came at
// 2026-04-02T08:00:00Z: 'pennyweight allocate --month 2026-03' takes it in".
std::string to_text(const StaleMonth& stale);

}  // namespace pennyweight
