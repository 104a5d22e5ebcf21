#include "ingest/manifests/cron_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cctype>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight::manifests {
namespace {

struct CronField {
  std::string_view name;
  std::uint64_t min;
  std::uint64_t max;
  std::span<const std::string_view> words;  // of `min`, and those after it
};
constexpr std::string_view kMonthWords[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                            "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::string_view kDayWords[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
constexpr CronField kCronFields[] = {{"minute", 0, 59, {}},
                                     {"hour", 0, 23, {}},
                                     {"day of the month", 1, 31, {}},
                                     {"month", 1, 12, kMonthWords},
                                     {"day of the week", 0, 7, kDayWords}};

using CronSet = std::bitset<64>;

struct CronValues {
  CronSet values;
  bool is_any = false;  // '*' or '?'
};

std::optional<std::uint64_t> cron_number(std::string_view text, const CronField& field) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (std::size_t i = 0; i < field.words.size(); ++i) {
    if (field.words[i] == upper) return field.min + i;
  }
  const auto number = pennyweight::parse_count(text, field.max);
  if (!number || *number < field.min) return std::nullopt;
  return *number;
}

// One element of a list: "*", "5", "1-5", "*/15", "10-40/5".
bool add_cron_range(std::string_view text, const CronField& field, CronValues& into) {
  std::uint64_t step = 1;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto read = pennyweight::parse_count(text.substr(slash + 1), 100);
    if (!read || *read == 0) return false;
    step = *read;
    text = text.substr(0, slash);
  }
  std::uint64_t begin = field.min;
  std::uint64_t end = field.max;
  if (text == "*" || text == "?") {
    if (step == 1) into.is_any = true;
  } else {
    const std::size_t dash = text.find('-');
    const auto first = cron_number(text.substr(0, dash), field);
    if (!first) return false;
    begin = *first;
    if (dash != std::string_view::npos) {
      const auto last = cron_number(text.substr(dash + 1), field);
      if (!last || *last < begin) return false;
      end = *last;
    } else if (slash == std::string_view::npos) {
      end = begin;
    }
  }
  for (std::uint64_t value = begin; value <= end; value += step) into.values.set(value);
  return true;
}

Result<CronValues> read_cron_field(std::string_view text, const CronField& field) {
  CronValues values;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    if (!add_cron_range(rest.substr(0, comma), field, values)) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}' is no {} of a cron schedule, from {} to {}",
                              printable_text(text, 60), field.name, field.min, field.max));
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (field.max == 7 && values.values.test(7)) values.values.set(0);
  return values;
}

std::string_view expand_macro(std::string_view schedule) {
  if (schedule == "@yearly" || schedule == "@annually") return "0 0 1 1 *";
  if (schedule == "@monthly") return "0 0 1 * *";
  if (schedule == "@weekly") return "0 0 * * 0";
  if (schedule == "@daily" || schedule == "@midnight") return "0 0 * * *";
  if (schedule == "@hourly") return "0 * * * *";
  return schedule;
}

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  while (words.size() <= std::size(kCronFields)) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
  return words;
}

}  // namespace

Result<std::uint64_t> runs_in_month(std::string_view schedule, int year, unsigned month) {
  const auto words = split_blanks(expand_macro(schedule));
  if (words.size() != std::size(kCronFields)) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is not a cron schedule of five fields",
                                                  printable_text(schedule, 120)));
  }
  std::vector<CronValues> fields;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CronValues values = TRY(read_cron_field(words[i], kCronFields[i]));
    fields.push_back(values);
  }
  if (!fields[3].values.test(month)) return 0;
  using std::chrono::sys_days;
  using std::chrono::year_month_day_last;
  const std::chrono::year_month in_month{std::chrono::year(year), std::chrono::month(month)};
  const sys_days last{in_month / std::chrono::last};
  std::uint64_t days = 0;
  for (sys_days day{in_month / 1}; day <= last; day += std::chrono::days(1)) {
    const auto date = static_cast<unsigned>(std::chrono::year_month_day(day).day());
    const unsigned weekday = std::chrono::weekday(day).c_encoding();
    const bool fits_date = fields[2].values.test(date);
    const bool fits_weekday = fields[4].values.test(weekday);
    const bool is_either = !fields[2].is_any && !fields[4].is_any;
    if (is_either ? fits_date || fits_weekday : fits_date && fits_weekday) ++days;
  }
  CronSet hours = fields[1].values;
  CronSet minutes = fields[0].values;
  return days * hours.count() * minutes.count();
}

}  // namespace pennyweight::manifests
