// The table of what runs now: one row for each workload with its cost per hour and today.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/label.h"
#include "reporting/live/live_rows.h"
#include "reporting/table.h"

namespace pennyweight {

enum class LiveOrder { kPerHour, kToday, kIdle, kGpus, kSince, kBusy, kWorkload };
std::optional<LiveOrder> parse_live_order(std::string_view text);  // "cost", "today", "idle", …
extern const std::vector<std::string> kLiveOrders;

struct LiveQuery {
  LiveOrder order = LiveOrder::kPerHour;
  std::size_t limit = 0;                // rows; 0: all
  std::vector<std::string> shown = {};  // dimensions or labels that have a column
  Labels filter = {};  // dimensions, labels, cluster or workload: all must be equal
  bool ended = false;  // also workloads that ran today and have ended
  // For people: a duration instead of the start, only the first nodes by name, and no more columns
  // than fit the style's width; the least important ones are left out first.
  bool for_people = false;
  TextStyle style = {};
};

// One table for each currency of prices. Rows without a price are in the first one. REQUIRES: all
// of `view` is of one moment.
std::vector<Table> live_tables(const LiveView& view, const LiveQuery& query);

// "45 s", "12 min", "3 h 12 min", "4 d 3 h".
std::string duration_text(std::chrono::milliseconds length);

}  // namespace pennyweight
