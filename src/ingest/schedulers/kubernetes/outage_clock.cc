#include "ingest/schedulers/kubernetes/outage_clock.h"

#include <algorithm>

namespace pennyweight::kubernetes {

void OutageClock::end_outage(Instant end) {
  if (outages_.empty() || outages_.back().end) return;
  outages_.back().end = std::max(end, outages_.back().reported);
}

void OutageClock::set(std::string_view reason, std::optional<Instant> since, Instant at) {
  if (reason.empty()) return clear(since, at);
  Instant begin = since.value_or(at);
  if (begin < at - kOutageAgeMax) begin = at - kOutageAgeMax;
  if (!outages_.empty() && !outages_.back().end) {
    const OpenOutage& now = outages_.back();
    if (now.reason == reason && (!since || begin <= now.begin)) return;
    // The reasons overlap: the later one wins, and no time is reported twice.
    begin = std::max(begin, now.reported);
    end_outage(begin);
  } else if (!outages_.empty()) {
    begin = std::max(begin, *outages_.back().end);
  }
  outages_.push_back({.reason = std::string(reason), .begin = begin, .reported = begin, .end = {}});
}

void OutageClock::clear(std::optional<Instant> since, Instant at) {
  if (outages_.empty() || outages_.back().end) return;
  const bool is_later = since && *since > outages_.back().begin && *since <= at;
  end_outage(is_later ? *since : at);
}

void OutageClock::report(const ClusterId& cluster, const NodeId& node, Instant now,
                         std::vector<Outage>& into) {
  for (OpenOutage& open : outages_) {
    while (true) {
      const Instant full = std::chrono::floor<std::chrono::hours>(open.reported) + kOutagePiece;
      const Instant until = open.end ? std::min(full, *open.end) : full;
      const auto piece = Interval::of(open.reported, until);
      if (!piece || until > now) break;
      Outage& outage = into.emplace_back(cluster, node, *piece);
      outage.reason = open.reason;
      open.reported = until;
    }
  }
  std::erase_if(outages_,
                [](const OpenOutage& open) { return open.end && open.reported >= *open.end; });
}

}  // namespace pennyweight::kubernetes
