#include "ingest/schedulers/slurm/recorded_time.h"

#include "ingest/schedulers/slurm/duration.h"

namespace pennyweight::slurm {

std::optional<Result<Instant>> parse_absolute_time(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.empty()) return std::nullopt;
  if (text.find_first_not_of(kDigits) == std::string_view::npos) {
    const auto seconds = parse_count(text);
    constexpr auto kLastSecond = static_cast<std::uint64_t>(unix_ms(kInstantMax) / 1000);
    if (!seconds || *seconds > kLastSecond) {
      return fail(ErrorCode::kBadValue, "it is not a number of seconds before the year 2200");
    }
    return from_unix_seconds(static_cast<std::int64_t>(*seconds));
  }
  // Behind "2026-11-21T15:48:06": 'Z' or an offset.
  constexpr std::size_t kClockBytes = 19;
  if (text.size() <= kClockBytes || text[10] != 'T') return std::nullopt;
  if (std::string_view("Z+-").find(text[kClockBytes]) == std::string_view::npos) {
    return std::nullopt;
  }
  return parse_instant(text);
}

}  // namespace pennyweight::slurm
