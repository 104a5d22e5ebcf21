#include "ingest/schedulers/kubernetes/outage_clock.h"

#include <algorithm>

namespace pennyweight::kubernetes {

void OutageClock::end_spell(Instant end) {
  if (spells_.empty() || spells_.back().end) return;
  spells_.back().end = std::max(end, spells_.back().reported);
}

void OutageClock::set(std::string_view reason, std::optional<Instant> since, Instant at) {
  if (reason.empty()) return clear(since, at);
  Instant begin = since.value_or(at);
  if (begin < at - kOutageAgeMax) begin = at - kOutageAgeMax;
  if (!spells_.empty() && !spells_.back().end) {
    const Spell& now = spells_.back();
    if (now.reason == reason && (!since || begin <= now.begin)) return;
    // The reasons overlap: the later one wins, and no time is reported twice.
    begin = std::max(begin, now.reported);
    end_spell(begin);
  } else if (!spells_.empty()) {
    begin = std::max(begin, *spells_.back().end);
  }
  spells_.push_back({.reason = std::string(reason), .begin = begin, .reported = begin, .end = {}});
}

void OutageClock::clear(std::optional<Instant> since, Instant at) {
  if (spells_.empty() || spells_.back().end) return;
  const bool is_later = since && *since > spells_.back().begin && *since <= at;
  end_spell(is_later ? *since : at);
}

void OutageClock::report(const ClusterId& cluster, const NodeId& node, Instant now,
                         std::vector<Outage>& into) {
  for (Spell& spell : spells_) {
    while (true) {
      const Instant full = std::chrono::floor<std::chrono::hours>(spell.reported) + kOutagePiece;
      const Instant until = spell.end ? std::min(full, *spell.end) : full;
      const auto piece = Interval::of(spell.reported, until);
      if (!piece || until > now) break;
      Outage& outage = into.emplace_back(cluster, node, *piece);
      outage.reason = spell.reason;
      spell.reported = until;
    }
  }
  std::erase_if(spells_,
                [](const Spell& spell) { return spell.end && spell.reported >= *spell.end; });
}

}  // namespace pennyweight::kubernetes
