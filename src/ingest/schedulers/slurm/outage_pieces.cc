#include "ingest/schedulers/slurm/outage_pieces.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ratio>

namespace pennyweight::slurm {
namespace {

using Quarters = std::chrono::duration<std::int64_t, std::ratio<900>>;

}  // namespace

Instant append_outage_pieces(const ClusterId& cluster, const NodeId& node,
                             const std::string& reason, const Interval& during, bool has_ended,
                             std::vector<Outage>& pieces) {
  Instant begin = during.begin();
  while (begin < during.end()) {
    const Instant quarter = std::chrono::floor<Quarters>(begin) + Quarters(1);
    if (quarter > during.end() && !has_ended) break;
    const Instant end = std::min<Instant>(quarter, during.end());
    Outage& piece = pieces.emplace_back(cluster, node, Interval(begin, end));
    piece.reason = reason;
    begin = end;
  }
  return begin;
}

}  // namespace pennyweight::slurm
