// Finds out whether dates such as 05/03/2026 have the month first, as Azure writes them, or the
// day, as portals and spreadsheets of other countries do. A number beyond 12 is a day; usage is
// within its billing period, which begins before it ends; and dates that can be read in one way
// only (2026-03-31) say of which month an export is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "ingest/bills/azure/export_date.h"

namespace pennyweight::azure {

class DateSurvey {
 public:
  // A row: the day of the usage, and the first and last day of its billing period, which may be
  // empty.
  void look_at(std::string_view date, std::string_view period_begin, std::string_view period_end);

  struct Inferred {
    DateOrder order = DateOrder::kMonthFirst;
    std::string remark;  // empty: as Azure writes them
  };
  // An Error where some dates can only be read one way and some only the other, or where nothing
  // says which way is meant and both give other months.
  Result<Inferred> infer() const;

 private:
  using Month = std::chrono::year_month;
  // What speaks for one order and against the other one.
  struct Evidence {
    std::string date;        // that can only be read so
    std::string period;      // "01/03/2026 in the billing period 2026-03-01 to 2026-03-31"
    std::set<Month> months;  // of the slashed days of usage, read so
  };

  void look_at_slashed(std::string_view text);
  const Evidence* decisive() const;
  // Whether the dates that can be read in one way are of the months that this order gives.
  bool fits_plain_months(const Evidence& order) const;

  Evidence month_first_, day_first_;
  std::set<Month> plain_;                 // of dates such as 2026-03-31
  std::unordered_set<std::string> seen_;  // rows that were looked at
  std::string last_;                      // slashed day of usage
  bool are_orders_different_ = false;
  std::uint64_t rows_ = 0;  // with a slashed day of usage
};

}  // namespace pennyweight::azure
