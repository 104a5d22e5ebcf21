#include "core/instant.h"

#include <fmt/format.h>

#include "core/ascii.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Reads fixed-width digits from the front of a text and remembers whether everything fitted.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  int digits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (text_.empty() || text_[0] < '0' || text_[0] > '9') {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void need(char c) { ok_ = take(c) && ok_; }
  bool next_is_digit() const { return !text_.empty() && ascii::is_digit(text_[0]); }
  bool ok() const { return ok_; }
  bool done() const { return text_.empty(); }
  void refuse() { ok_ = false; }

 private:
  std::string_view text_;
  bool ok_ = true;
};

int fraction_ms(Reader& in) {
  int ms = 0;
  for (int digit = 0; in.next_is_digit(); ++digit) {
    const int value = in.digits(1);
    if (digit < 3) {
      ms = ms * 10 + value;
    } else if (value != 0) {
      in.refuse();  // finer than a millisecond
    }
    if (digit > 8) in.refuse();
    if (digit == 0 && !in.next_is_digit()) return ms * 100;
    if (digit == 1 && !in.next_is_digit()) return ms * 10;
  }
  return ms;
}

minutes offset_of(Reader& in) {
  if (in.done() || in.take('Z') || in.take(" UTC")) return minutes{0};
  const bool minus = in.take('-');
  if (!minus) in.need('+');
  const int h = in.digits(2);
  in.take(':');
  const int m = in.digits(2);
  if (m > 59 || h * 60 + m > 14 * 60) in.refuse();  // Line Islands, +14:00
  const minutes offset = hours{h} + minutes{m};
  return minus ? -offset : offset;
}

Error bad_time(std::string_view text) {
  return Error{ErrorCode::kBadValue,
               fmt::format("'{}' is not a time; write it as 2026-03-31T13:45:00Z",
                           printable_text(text, 60))};
}

}  // namespace

Result<Instant> parse_instant(std::string_view text) {
  Reader in(text);
  const int y = in.digits(4);
  in.need('-');
  const int mo = in.digits(2);
  in.need('-');
  const int d = in.digits(2);
  int h = 0, mi = 0, s = 0, ms = 0;
  minutes offset{0};
  if (!in.done() && (in.take('T') || in.take(' '))) {
    h = in.digits(2);
    in.need(':');
    mi = in.digits(2);
    if (in.take(':')) {
      s = in.digits(2);
      if (in.take('.')) {
        if (!in.next_is_digit()) in.refuse();
        ms = fraction_ms(in);
      }
    }
    offset = offset_of(in);
  }
  const std::chrono::year_month_day date{std::chrono::year{y},
                                         std::chrono::month{static_cast<unsigned>(mo)},
                                         std::chrono::day{static_cast<unsigned>(d)}};
  const bool on_the_clock = date.ok() && h <= 23 && mi <= 59 && s <= 59;
  if (!in.ok() || !in.done() || !on_the_clock) return std::unexpected(bad_time(text));
  const Instant at = Instant(std::chrono::sys_days{date} + hours{h} + minutes{mi} + seconds{s} +
                             milliseconds{ms}) -
                     offset;
  if (at < kInstantMin || at > kInstantMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' lies outside the years 1970 to 2199", printable_text(text, 60)));
  }
  return at;
}

std::string to_text(Instant at) {
  const auto day = std::chrono::floor<days>(at);
  const std::chrono::year_month_day date{day};
  const auto ms = (at - day).count();
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60);
  if (ms % 1000 != 0) text += fmt::format(".{:03}", ms % 1000);
  return text + "Z";
}

std::string to_text(const Interval& interval) {
  return to_text(interval.begin()) + "/" + to_text(interval.end());
}

}  // namespace pennyweight
