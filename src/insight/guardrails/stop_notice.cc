#include "insight/guardrails/stop_notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/int128.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::string_view kStopHeader = "pennyweight stop notices 1";
constexpr std::size_t kAboutBytesMax = 2'000;
constexpr std::size_t kStopFields = 9;

bool is_of_money_used_up(const LimitUse& use) {
  return use.limit.per_month && use.spent && use.spent->ticks() >= use.limit.per_month->ticks();
}

// What a notice is about: with anything else of it, it is another one.
std::string notice_about(const UsageLimit& limit, bool is_of_money, Instant month) {
  const auto ticks = [](const std::optional<Money>& amount) {
    return amount ? pennyweight::to_text(amount->ticks()) : std::string("none");
  };
  return printable_text(
      fmt::format("{} of {}={} in the month from {}: {} ticks of money, {} of GPU-hours, grace {} "
                  "ms",
                  is_of_money ? "money" : "GPU-hours", limit.dimension, limit.selected(),
                  pennyweight::to_text(month), ticks(limit.per_month), ticks(limit.gpu_hours),
                  limit.stop_running->grace_ms),
      kAboutBytesMax);
}

std::string why_used_up(const LimitUse& use, bool is_of_money) {
  const Money& used = is_of_money ? *use.spent : *use.gpu_hours;
  const Money& limit = is_of_money ? *use.limit.per_month : *use.limit.gpu_hours;
  const std::string unit = is_of_money ? limit.currency().text() : "GPU-hours";
  return fmt::format("{} {} of {} {} are {} this month", format_minor(used), unit,
                     format_minor(limit), unit, is_of_money ? "spent" : "used");
}

std::uint64_t observed_gap_ms(Instant seen, Instant now) {
  if (now <= seen) return 0;  // the clock went back
  const auto gap = std::chrono::duration_cast<std::chrono::milliseconds>(now - seen);
  return static_cast<std::uint64_t>(std::min<std::chrono::milliseconds>(gap, kStopGapMax).count());
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t cut = line.find('\t');
    fields.push_back(line.substr(0, cut));
    if (cut == std::string_view::npos) return fields;
    line.remove_prefix(cut + 1);
  }
}

}  // namespace

std::string StopNotice::scope() const {
  return fmt::format("{} {}", limit, pennyweight::to_text(since));
}

StopChanges step_stop_notices(StopState& state, std::span<const LimitUse> uses,
                              const Interval& month, Instant now) {
  StopNotices& notices = state.notices;
  StopChanges changes;
  StopNotices next;
  for (const LimitUse& use : uses) {
    const UsageLimit& limit = use.limit;
    if (!limit.is_hard || !limit.stop_running) continue;
    const auto former = notices.find(limit.name);
    const bool is_of_money = is_of_money_used_up(use);
    if (use.is_exhausted()) {
      const std::string about = notice_about(limit, is_of_money, month.begin());
      if (former != notices.end() && former->second.about == about) {
        StopNotice& notice = next.emplace(limit.name, former->second).first->second;
        const auto told = state.told.find(notice.scope());
        const bool is_told = told != state.told.end() && told->second <= notice.seen;
        if (notice.is_measured && is_told) notice.observed_ms += observed_gap_ms(notice.seen, now);
        notice.is_measured = true;
        notice.month = month.begin();
        notice.month_end = month.end();
        notice.seen = now;
        notice.because = why_used_up(use, is_of_money);
        continue;
      }
      const StopNotice notice{.limit = limit.name,
                              .about = about,
                              .is_of_money = is_of_money,
                              .because = why_used_up(use, is_of_money),
                              .month = month.begin(),
                              .month_end = month.end(),
                              .since = now,
                              .seen = now};
      changes.begun.push_back(next.emplace(limit.name, notice).first->second);
    } else if (use.state() == "unknown" && former != notices.end() &&
               former->second.about ==
                   notice_about(limit, former->second.is_of_money, month.begin())) {
      // Nothing is known of it now: the grace stands still.
      StopNotice& notice = next.emplace(limit.name, former->second).first->second;
      notice.seen = now;
      notice.is_measured = false;
      notice.month = month.begin();
      notice.month_end = month.end();
    }
  }
  for (const auto& [name, notice] : notices) {
    const auto at = next.find(name);
    if (at == next.end() || at->second.about != notice.about) changes.withdrawn.push_back(notice);
  }
  notices = std::move(next);
  return changes;
}

bool is_grace_over(const StopNotice& notice, const StopTerms& terms, const StopState& state,
                   Instant now) {
  const auto told = state.told.find(notice.scope());
  if (told == state.told.end() || !notice.is_measured || !notice.is_of_month(now)) return false;
  const std::chrono::milliseconds grace{terms.grace_ms};
  const bool is_fresh = notice.seen <= now && now - notice.seen <= kStopAgeMax;
  return is_fresh && notice.observed_ms >= terms.grace_ms && now - told->second >= grace &&
         now - notice.since >= grace;
}

Instant stops_from(const StopNotice& notice, const StopTerms& terms, const StopState& state,
                   Instant now) {
  const std::chrono::milliseconds grace{terms.grace_ms};
  const std::chrono::milliseconds observed{
      std::min<std::uint64_t>(notice.observed_ms, terms.grace_ms)};
  const auto told = state.told.find(notice.scope());
  const Instant from = told == state.told.end() ? now + grace : told->second + grace;
  return std::max({from, now + (grace - observed), notice.since + grace});
}

std::string stop_notices_text(const StopNotices& notices) {
  std::string text = std::string(kStopHeader) + "\n";
  for (const auto& [name, notice] : notices) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", notice.limit, notice.about,
                        notice.is_of_money ? "money" : "hours", notice.because,
                        pennyweight::to_text(notice.since), pennyweight::to_text(notice.seen),
                        notice.observed_ms, pennyweight::to_text(notice.month),
                        pennyweight::to_text(notice.month_end));
  }
  return text;
}

Result<StopNotices> parse_stop_notices(std::string_view text) {
  const Error broken{ErrorCode::kBadFile, "the stop notices can't be read"};
  StopNotices notices;
  bool is_header = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::unexpected(broken);  // cut off
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (std::exchange(is_header, false)) {
      if (line != kStopHeader) return std::unexpected(broken);
      continue;
    }
    const auto fields = fields_of(line);
    if (fields.size() != kStopFields) return std::unexpected(broken);
    const auto observed = parse_count(fields[6], std::numeric_limits<std::int64_t>::max());
    if (!observed) return std::unexpected(broken);
    const StopNotice notice{.limit = std::string(fields[0]),
                            .about = std::string(fields[1]),
                            .is_of_money = fields[2] == "money",
                            .because = std::string(fields[3]),
                            .month = TRY(parse_instant(fields[7])),
                            .month_end = TRY(parse_instant(fields[8])),
                            .since = TRY(parse_instant(fields[4])),
                            .seen = TRY(parse_instant(fields[5])),
                            .observed_ms = *observed,
                            .is_measured = false};
    if (!notices.emplace(notice.limit, notice).second) return std::unexpected(broken);
  }
  if (is_header) return std::unexpected(broken);
  return notices;
}

}  // namespace pennyweight::guardrails
