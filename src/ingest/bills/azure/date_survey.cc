#include "ingest/bills/azure/date_survey.h"

#include <fmt/format.h>

#include <charconv>

#include "core/ascii.h"

namespace pennyweight::azure {
namespace {

constexpr unsigned kMonths = 12;

bool take_number(std::string_view& text, char end, unsigned& value) {
  const std::size_t at = end == '\0' ? text.size() : text.find(end);
  if (at == std::string_view::npos || at > 4 || !ascii::is_all_digits(text.substr(0, at))) {
    return false;
  }
  std::from_chars(text.data(), text.data() + at, value);
  text.remove_prefix(end == '\0' ? at : at + 1);
  return true;
}

}  // namespace

bool DateSurvey::read(std::string_view text, Slashed& date) {
  return take_number(text, '/', date.first) && take_number(text, '/', date.second) &&
         take_number(text, '\0', date.year);
}

void DateSurvey::count(const Slashed& date, std::string_view text) {
  if (date.first > kMonths && date.second <= kMonths && day_first_.empty()) day_first_ = text;
  if (date.second > kMonths && date.first <= kMonths && month_first_.empty()) month_first_ = text;
}

void DateSurvey::look_at_period(std::string_view text) {
  Slashed date;
  if (read(text, date)) count(date, text);
}

void DateSurvey::look_at_date(std::string_view text) {
  if (text == last_) {
    if (is_last_slashed_) ++rows_;
    return;
  }
  last_ = text;
  Slashed date;
  is_last_slashed_ = read(text, date);
  if (!is_last_slashed_) return;
  ++rows_;
  count(date, text);
  constexpr std::size_t kKeptMax = 64;
  if (firsts_.size() < kKeptMax) firsts_.emplace(date.year, date.first);
  if (seconds_.size() < kKeptMax) seconds_.emplace(date.year, date.second);
}

Result<DateSurvey::Inferred> DateSurvey::infer() const {
  if (!day_first_.empty() && !month_first_.empty()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("the date {} can only have the day first and {} only the month, so "
                            "that the order of the others is not known; write all {} dates as "
                            "2026-03-31, or import the files separately",
                            day_first_, month_first_, rows_));
  }
  if (!day_first_.empty()) {
    return Inferred{DateOrder::kDayFirst,
                    fmt::format("dates were read with the day first, since {} can only be read so; "
                                "--azure-dates states it",
                                day_first_)};
  }
  if (!month_first_.empty() || firsts_.size() <= 1) return Inferred{};
  return fail(ErrorCode::kBadFile,
              fmt::format("its {} dates, such as {}, are of {} months if the month is first, as "
                          "Azure writes it, and of {} if the day is first, and nothing says which; "
                          "state it with --azure-dates month-first or day-first",
                          rows_, last_, firsts_.size(),
                          seconds_.size() == 1 ? "one" : std::to_string(seconds_.size())));
}

}  // namespace pennyweight::azure
