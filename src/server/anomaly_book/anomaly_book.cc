#include "server/anomaly_book/anomaly_book.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/decimal.h"
#include "core/files/file_lock.h"
#include "core/json_text.h"
#include "core/money.h"
#include "core/try.h"
#include "insight/anomalies/anomaly.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kVerdictBytesMax = 8u << 20;
// One person may have so many, so that nobody fills the book for all.
constexpr std::size_t kVerdictsOfAuthorMax = 2'000;
// A verdict is kept so long: it teaches for half a year, and its days are shown for longer. The
// audit log keeps all that was ever said.
constexpr std::chrono::days kVerdictKept{2 * 366};

std::string verdict_line(const AnomalyVerdict& one) {
  const auto& per_day = one.size.per_day;
  const std::string money =
      per_day ? fmt::format("\"per_day\": \"{}\", \"currency\": \"{}\", ",
                            to_text(per_day->amount()), per_day->currency().text())
              : "";
  return fmt::format(
      "{{\"at\": {}, \"who\": {}, \"by\": {}, \"key\": {}, \"first\": {}, \"score\": {}, {}"
      "\"expected\": {}, \"teaches\": {}, \"reason\": {}}}\n",
      json_string(to_text(one.at)), json_string(one.who), json_string(one.incident.by),
      json_string(one.incident.key), json_string(to_text(one.incident.first)), one.size.score_milli,
      money, one.is_expected, one.teaches, json_string(one.reason));
}

Result<AnomalyVerdict> parse_verdict(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(line);
  AnomalyVerdict one;
  bool is_sound = parser.parse(padded).get(object) == simdjson::SUCCESS;
  const auto text = [&](std::string_view name) {
    std::string_view value;
    is_sound = is_sound && object[name].get(value) == simdjson::SUCCESS;
    return std::string(value);
  };
  const std::string at = text("at");
  one.who = text("who");
  one.incident.by = text("by");
  one.incident.key = text("key");
  const std::string first = text("first");
  one.reason = text("reason");
  is_sound = is_sound && object["score"].get(one.size.score_milli) == simdjson::SUCCESS &&
             object["expected"].get(one.is_expected) == simdjson::SUCCESS;
  // Books that are older say neither; such a verdict teaches nothing.
  const bool has_money = !object["per_day"].error() || !object["currency"].error();
  const std::string amount = is_sound && has_money ? text("per_day") : "";
  const std::string currency = is_sound && has_money ? text("currency") : "";
  is_sound = is_sound && one.size.score_milli <= kScoreBound &&
             one.size.score_milli >= -kScoreBound &&
             (object["teaches"].error() == simdjson::NO_SUCH_FIELD ||
              object["teaches"].get(one.teaches) == simdjson::SUCCESS);
  if (!is_sound) return fail(ErrorCode::kBadFile, "this is no verdict on unusual days");
  one.at = TRY(parse_instant(at));
  one.incident.first = TRY(parse_date(first));
  if (has_money) {
    const Decimal exact = TRY(parse_exact_decimal(amount));
    one.size.per_day = Money::from_decimal(exact, TRY(Currency::parse(currency)));
  }
  return one;
}

// Whether a verdict says nothing any more beside a newer one. One that teaches still teaches after
// somebody who may not teach has said something of the same days.
bool is_over(const AnomalyVerdict& one, const AnomalyVerdict& newer) {
  if (one.at + kVerdictKept < newer.at) return true;
  return one.incident == newer.incident && (newer.teaches || !one.teaches);
}

}  // namespace

AnomalyBook::AnomalyBook(std::string path)
    : list_(std::move(path), kVerdictBytesMax, parse_verdict) {}

Result<std::vector<AnomalyVerdict>> AnomalyBook::verdicts() {
  const std::lock_guard lock(mutex_);
  std::ignore = TRY(list_.read());
  return list_.records();
}

Result<void> AnomalyBook::add(const AnomalyVerdict& verdict,
                              const std::function<Result<void>()>& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(list_.path()));
  std::ignore = TRY(list_.read());
  std::string text;
  std::size_t of_author = 0;
  for (const AnomalyVerdict& one : list_.records()) {
    if (is_over(one, verdict)) continue;
    text += verdict_line(one);
    of_author += one.who == verdict.who ? 1 : 0;
  }
  if (of_author >= kVerdictsOfAuthorMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} has commented on {} incidents, the most that one person may; "
                            "comments lapse after two years, or somebody else can add this one",
                            verdict.who, of_author));
  }
  text += verdict_line(verdict);
  if (!list_.has_room_for(text)) {
    return fail(ErrorCode::kLimit, fmt::format("{} is full", list_.path()));
  }
  TRY(record());
  std::ignore = TRY(list_.replace(text));
  return {};
}

}  // namespace pennyweight
