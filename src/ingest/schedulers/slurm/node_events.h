// Reads `sacctmgr --parsable2 show event`: when the nodes of a Slurm cluster were out of use, as
// slurmdbd has recorded it.
//
// Columns NodeName, TimeStart, TimeEnd and State are needed, Cluster and Reason are used. An event
// counts if its state says that no new job could use the node (is_out_of_use in scontrol_nodes.h);
// those of the cluster as a whole, and of nodes that were powered down, are passed over. A reason
// is the first that was given, since Slurm records no change of it, and may contain the delimiter.
// Without an end the node is still out of use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"
#include "ledger/outage.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kNodeEventsMax = 1'000'000;  // rows of one file
// An event that lasts longer is set aside: nobody pays for a node that is down for years.
inline constexpr std::chrono::hours kNodeEventMax{24 * 400};

struct NodeEventOptions {
  ClusterId cluster;  // whatever Slurm calls it
  std::string file;   // the name to put into rejected rows
  Instant now;        // until which events that have no end are known
  // The zone of the machine that ran sacctmgr, where it did not write epoch seconds
  // (recorded_time.h).
  TimeZone zone = TimeZone::utc();
};

struct NodeEvent {
  NodeId node;
  Interval during;  // until `now` if it goes on
  bool has_ended;
  std::string reason;  // the state, where none was given
  SourceLine source;
  bool operator==(const NodeEvent&) const = default;
};

struct NodeEvents {
  std::vector<NodeEvent> events;  // in the order of the file
  std::vector<RejectedRow> rejected;
  std::uint64_t going_on = 0;  // events without an end
  std::uint64_t passed = 0;    // events of which no time out of use comes
};

// An Error when the text is not sacctmgr's, has events of several clusters, or is beyond a limit.
Result<NodeEvents> parse_node_events(std::string_view text, const NodeEventOptions& options);
// Whether a file that begins so is one.
bool is_node_events(std::string_view beginning);

inline constexpr std::size_t kOutagePiecesMax = 10'000'000;  // of one file
using OutageSink = std::function<Result<void>(std::span<const Outage>)>;
// In pieces, as a reading of scontrol gives them (outage_pieces.h), some at a time. kLimit: there
// are too many.
Result<void> give_outages(const NodeEvents& events, const ClusterId& cluster,
                          const OutageSink& sink);

}  // namespace pennyweight::slurm
