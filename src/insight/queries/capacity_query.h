// Queries the capacity of a fleet: for each GPU model and region, how many GPUs there are, how many
// of them are held at the peak of each day, when they run out, and how many nobody needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/date.h"
#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "core/instant.h"
#include "insight/forecast/capacity.h"
#include "insight/queries/reserved_capacity.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

inline constexpr int kCapacityDaysAhead = 90;

struct CapacityQuery {
  Instant now;
  TimeZone zone;
  std::vector<JoinRule> join_rules = {};
  std::vector<ReservationEnd> ends = {};
  std::vector<std::string> clusters = {};  // empty: all that have nodes
  int days_back = 400;
};

struct ModelCapacity {
  std::string model;   // as nodes report it; empty: they don't
  std::string region;  // may be empty
  std::uint64_t nodes = 0;
  std::uint64_t gpus = 0;
  std::vector<std::int64_t> peaks_milli = {};  // by day, up to yesterday, in thousandths of GPUs
  forecasting::CapacityOutlook outlook = {};
  bool has_outlook = false;
  std::vector<std::int64_t> without_renewal_milli = {};  // by day ahead, where reservations end
};

struct CapacityResult {
  Date today;
  std::vector<ModelCapacity> models;       // by GPUs, the most first
  std::vector<ReservedGpus> reservations;  // by end
  std::vector<std::string> notes;          // what was left out, in sentences
};

// Errors: kNotFound where there is no node with GPUs.
Result<CapacityResult> query_capacity(Store& store, const CapacityQuery& query);

std::vector<Table> capacity_tables(const CapacityResult& result);

}  // namespace pennyweight
