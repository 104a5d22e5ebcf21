// Finds out whether dates such as 05/03/2026 have the month first, as Azure writes them, or the
// day, as portals and spreadsheets of other countries do: a number beyond 12 is a day, and an
// export is of one month.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bills/azure/export_date.h"

namespace pennyweight::azure {

class DateSurvey {
 public:
  // A date of the usage.
  void look_at_date(std::string_view text);
  // The first or last day of a billing period.
  void look_at_period(std::string_view text);

  struct Inferred {
    DateOrder order = DateOrder::kMonthFirst;
    std::string remark;  // empty: as Azure writes them
  };
  // An Error where some dates can only be read one way and some only the other, or where nothing
  // says which way is meant and both give other months.
  Result<Inferred> infer() const;

 private:
  struct Slashed {
    unsigned first = 0, second = 0, year = 0;
    bool operator==(const Slashed&) const = default;
  };
  static bool read(std::string_view text, Slashed& date);
  void count(const Slashed& date, std::string_view text);

  std::string last_;                                          // of look_at_date()
  bool is_last_slashed_ = false;                              // so that it only adds to rows_
  std::uint64_t rows_ = 0;                                    // with such a date
  std::string day_first_, month_first_;                       // a date that can only be read so
  std::set<std::pair<unsigned, unsigned>> firsts_, seconds_;  // with the year, of usage
};

}  // namespace pennyweight::azure
