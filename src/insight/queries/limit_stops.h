// The work that hard limits stop while it runs: what of it is due, what its owner knows of, what
// goes on for a reason that was stated.
//
// Nothing here stops anything: a controller or a person takes the list, as commands where it is
// known how. What can't be known (no view of what runs, or an old one) is on no list.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "core/date.h"
#include "core/instant.h"
#include "core/money.h"
#include "insight/guardrails/stop_notice.h"
#include "reporting/live/live_rows.h"
#include "reporting/table.h"

namespace pennyweight {

enum class StopStage { kDue, kAnnounced, kExempt };
inline constexpr std::string_view kStopStageWords[] = {"due", "announced", "exempt"};

// A workload that runs, of a limit that has a notice.
struct LimitStop {
  std::string limit;
  StopStage stage = StopStage::kAnnounced;
  Instant from = {};  // not before; of what is exempt nothing
  std::string cluster;
  std::string workload;
  std::string owner = {};  // "Job train" in Kubernetes, where that is known
  std::uint64_t gpu_milli = 0;
  std::optional<Money> per_hour = {};
  // One line of a shell, only of what is due. Empty: by hand, since it is not known how, or since
  // the command would also end work that is not due.
  std::string command = {};
  std::string exempt_for = {};
};

struct LimitStops {
  std::vector<LimitStop> stops = {};  // by limit, stage, cluster and workload
  std::vector<std::string> notes = {};
};

// `view` may be null. Work that nobody watches now, and of which it is not known whose it is, is
// left alone.
LimitStops list_limit_stops(const guardrails::StopState& state, const ViewRows* view,
                            const Config& config, Instant now);

Table limit_stops_table(const LimitStops& stops);
// The commands of what is due, each once; what has none is a comment.
std::string stop_commands(const LimitStops& stops);

}  // namespace pennyweight
