#include "ingest/bills/azure/date_survey.h"

#include <fmt/format.h>

#include <algorithm>

namespace pennyweight::azure {
namespace {

// More months than a delivery has; what decides is whether there is one or several.
constexpr std::size_t kMonthsKeptMax = 64;
constexpr std::size_t kRowsKeptMax = 1'000;

bool is_slashed(std::string_view text) { return text.contains('/'); }

std::optional<std::chrono::sys_days> day_of(std::string_view text, DateOrder order) {
  const auto at = parse_export_date(text, order);
  if (!at) return std::nullopt;
  return std::chrono::floor<std::chrono::days>(*at);
}

std::chrono::year_month month_of_day(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return date.year() / date.month();
}

// "2026-03", or "5 months".
std::string text_of(const std::set<std::chrono::year_month>& months) {
  if (months.size() != 1) return fmt::format("{} months", months.size());
  return fmt::format("{:04}-{:02}", static_cast<int>(months.begin()->year()),
                     static_cast<unsigned>(months.begin()->month()));
}

// Whether the usage can be of the billing period, as far as that is stated.
bool is_in_period(std::string_view date, std::string_view begin, std::string_view end,
                  DateOrder order) {
  const auto day = day_of(date, order);
  const auto first = day_of(begin, order), last = day_of(end, order);
  if (!day || (!begin.empty() && !first) || (!end.empty() && !last)) return false;
  // Where it is stated alone, a period begins with a month.
  if (first && end.empty()) {
    return month_of_day(*first) == month_of_day(*day) &&
           std::chrono::year_month_day(*first).day() == std::chrono::day(1);
  }
  return (!first || *first <= *day) && (!last || *day <= *last);
}

}  // namespace

void DateSurvey::look_at_slashed(std::string_view text) {
  if (!is_slashed(text)) {
    const auto day = day_of(text, DateOrder::kMonthFirst);
    if (day && plain_.size() < kMonthsKeptMax) plain_.insert(month_of_day(*day));
    return;
  }
  const bool month_first = day_of(text, DateOrder::kMonthFirst).has_value();
  const bool day_first = day_of(text, DateOrder::kDayFirst).has_value();
  if (month_first && !day_first && month_first_.date.empty()) month_first_.date = text;
  if (day_first && !month_first && day_first_.date.empty()) day_first_.date = text;
}

void DateSurvey::look_at(std::string_view date, std::string_view period_begin,
                         std::string_view period_end) {
  const bool has_slashes = is_slashed(date);
  if (has_slashes) ++rows_;
  // A month has few different ones.
  std::string row = fmt::format("{}\n{}\n{}", date, period_begin, period_end);
  if (seen_.contains(row)) return;
  if (seen_.size() < kRowsKeptMax) seen_.insert(std::move(row));
  for (const std::string_view text : {date, period_begin, period_end}) look_at_slashed(text);
  if (has_slashes) {
    last_ = date;
    const auto month_first = day_of(date, DateOrder::kMonthFirst);
    const auto day_first = day_of(date, DateOrder::kDayFirst);
    are_orders_different_ |= month_first != day_first;
    const auto keep = [](const auto& day, std::set<Month>& months) {
      if (day && months.size() < kMonthsKeptMax) months.insert(month_of_day(*day));
    };
    keep(month_first, month_first_.months);
    keep(day_first, day_first_.months);
  }
  if (period_begin.empty() && period_end.empty()) return;
  const bool fits_month_first =
      is_in_period(date, period_begin, period_end, DateOrder::kMonthFirst);
  const bool fits_day_first = is_in_period(date, period_begin, period_end, DateOrder::kDayFirst);
  if (fits_month_first == fits_day_first) return;
  std::string& period = (fits_month_first ? month_first_ : day_first_).period;
  if (!period.empty()) return;
  period = fmt::format("{} in the billing period {}{}{}", date, period_begin,
                       period_begin.empty() || period_end.empty() ? "" : " to ", period_end);
}

bool DateSurvey::fits_plain_months(const Evidence& order) const {
  return std::ranges::includes(plain_, order.months);
}

// Each kind of evidence is asked where the one before it says nothing.
const DateSurvey::Evidence* DateSurvey::decisive() const {
  const auto only = [&](bool month_first, bool day_first) -> const Evidence* {
    if (month_first == day_first) return nullptr;
    return month_first ? &month_first_ : &day_first_;
  };
  if (!month_first_.date.empty() || !day_first_.date.empty()) {
    return only(!month_first_.date.empty(), !day_first_.date.empty());
  }
  if (!month_first_.period.empty() || !day_first_.period.empty()) {
    return only(!month_first_.period.empty(), !day_first_.period.empty());
  }
  if (plain_.empty()) return nullptr;
  return only(fits_plain_months(month_first_), fits_plain_months(day_first_));
}

Result<DateSurvey::Inferred> DateSurvey::infer() const {
  if (!are_orders_different_) return Inferred{};
  if (!day_first_.date.empty() && !month_first_.date.empty()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("the date {} can only have the day first and {} only the month, so "
                            "that the order of the others is not known; write all {} dates as "
                            "2026-03-31, or import the files separately",
                            day_first_.date, month_first_.date, rows_));
  }
  const Evidence* const order = decisive();
  if (order == &day_first_) {
    const std::string why =
        order->date.empty() && order->period.empty()
            ? fmt::format("only so are they of {}, as the other dates", text_of(order->months))
            : fmt::format("{} can only be read so",
                          order->date.empty() ? order->period : order->date);
    return Inferred{
        DateOrder::kDayFirst,
        fmt::format("dates were read with the day first, since {}; --azure-dates states it", why)};
  }
  if (order == &month_first_) return Inferred{};
  // An export is of one month, and Azure writes the month first.
  const bool is_one_month = month_first_.months.size() == 1 && day_first_.months.size() > 1;
  if (is_one_month && month_first_.period.empty() && plain_.empty()) return Inferred{};
  return fail(ErrorCode::kBadFile,
              fmt::format("its {}, such as {}, {} of {} if the month is first, as Azure writes it, "
                          "and of {} if the day is first, and nothing says which; state it with "
                          "--azure-dates month-first or day-first (bills[].azure_dates)",
                          rows_ == 1 ? "date" : fmt::format("{} dates", rows_), last_,
                          rows_ == 1 ? "is" : "are", text_of(month_first_.months),
                          text_of(day_first_.months)));
}

}  // namespace pennyweight::azure
