// StopNotice: announces that work which runs is to be stopped, since a hard limit is used up.
//
// Nothing here stops anything: whoever runs the cluster asks which work is due. A limit without
// StopTerms never has a notice. The grace counts from when somebody was told, and only while the
// limit is measured and seen to be used up, so neither a message that arrives late, nor a clock
// that jumps, nor a `serve` that is down, nor a ledger that can't be read shortens it. A limit that
// is raised or has something left again, another month, and other terms take the notice back; the
// next one begins anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight::guardrails {

struct StopNotice {
  std::string limit;
  std::string about = {};  // the month and the terms; of others it would be another notice
  bool is_of_money =
      false;  // money is used up; else GPU-hours alone, so only work with GPUs counts
  std::string because = {};  // "20,400.00 USD of 20,000.00 USD are spent this month"
  // The month whose limit is used up: from and until then.
  Instant month = {};
  Instant month_end = {};
  Instant since = {};  // when the limit was first seen to be used up
  Instant seen = {};   // when that was last looked at
  // For how long it was seen to be used up since somebody was told.
  std::uint64_t observed_ms = 0;
  // Whether the last look could measure the limit; after a restart it has not yet.
  bool is_measured = true;
  bool operator==(const StopNotice&) const = default;

  // "nlp 2026-03-27T10:00:00Z": no other notice has it.
  std::string scope() const;
  // Whether it is of the month of `now`; of another month nothing is due or announced.
  bool is_of_month(Instant now) const { return month <= now && now < month_end; }
};
using StopNotices = std::map<std::string, StopNotice>;  // by the names of limits

// Between two looks at most so long counts as observed.
inline constexpr std::chrono::minutes kStopGapMax{3};

// What is known of notices, besides them.
struct StopState {
  StopNotices notices = {};
  // By their scopes, when somebody was told of a notice; those of which nobody was are not there.
  std::map<std::string, Instant> told = {};
};

// The notices of one look that began, and those that are taken back.
struct StopChanges {
  std::vector<StopNotice> begun = {};
  std::vector<StopNotice> withdrawn = {};
};

// Brings the notices of `state` up to `now`. `uses`: as just measured, without what was known
// earlier. `month`: that of `now`.
StopChanges step_stop_notices(StopState& state, std::span<const LimitUse> uses,
                              const Interval& month, Instant now);

// What was looked at longer ago than that stops nothing.
inline constexpr std::chrono::minutes kStopAgeMax{5};

// Whether the grace is over: it was observed, and somebody was told that long ago. False while the
// limit can't be measured, and in another month.
bool is_grace_over(const StopNotice& notice, const StopTerms& terms, const StopState& state,
                   Instant now);
// From when on work may be stopped, at the earliest, as far as that is known now.
Instant stops_from(const StopNotice& notice, const StopTerms& terms, const StopState& state,
                   Instant now);

// Lines of text, for the next `serve`. An Error where the text is none of ours: then nothing is
// known, and every grace begins anew.
std::string stop_notices_text(const StopNotices& notices);
Result<StopNotices> parse_stop_notices(std::string_view text);

}  // namespace pennyweight::guardrails
