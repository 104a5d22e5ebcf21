#include "insight/queries/incident_hour.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/billing_period.h"

namespace pennyweight {
namespace {

using std::chrono::hours;

const Currency kHoursUsd = *Currency::parse("USD");
const Date kDay = *parse_date("2026-03-10");

// A posting of a span of the days' time, at so many dollars an hour.
Posting posting(Instant begin, Instant end, int dollars_an_hour) {
  const auto length = std::chrono::duration_cast<hours>(end - begin).count();
  const Money cost = Money::from_units(dollars_an_hour * length, kHoursUsd);
  return {.charge = FactId{Hash128{}},
          .kind = PostingKind::kUsed,
          .component = Component::kGpu,
          .interval = Interval(begin, end),
          .day = std::chrono::floor<std::chrono::days>(begin),
          .node = NodeId("n"),
          .gpu = GpuId(""),
          .workload = WorkloadId("w"),
          .holding = std::nullopt,
          .weight = 1,
          .costs = Costs{cost, cost, cost, cost},
          .gpu_time = {},
          .memory_time = {},
          .observed_time = {}};
}

enum class Billed { kByHour, kByJob, kByDay };

// Work at 10 dollars an hour all the time, and at 40 more from an hour of the day on.
PostingSource source(Billed billed, Instant from, const TimeZone& zone = TimeZone::utc()) {
  return [=](const SummaryQuery& query, std::uint64_t) -> Result<std::vector<Posting>> {
    std::vector<Posting> found;
    for (Date date = *query.first_day; date <= *query.last_day; date += std::chrono::days(1)) {
      const Interval day =
          day_of(*parse_local_time(to_text(date) + "T12:00:00", zone, Ambiguous::kEarlier), zone);
      const Instant begin = std::max(from, day.begin());
      if (billed != Billed::kByHour) {
        found.push_back(posting(day.begin(), day.end(), 10));
        if (begin >= day.end()) continue;
        const bool is_day = billed == Billed::kByDay;
        found.push_back(posting(is_day ? day.begin() : begin, day.end(), 40));
        continue;
      }
      for (Instant at = day.begin(); at < day.end(); at += hours(1)) {
        found.push_back(posting(at, at + hours(1), at >= from ? 50 : 10));
      }
    }
    return found;
  };
}

std::string hour_of(const PostingSource& postings, const TimeZone& zone = TimeZone::utc()) {
  Policy policy;
  policy.time_zone = zone;
  const auto hour =
      find_incident_hour({.filters = {}, .first = kDay, .is_higher = true}, policy, postings);
  EXPECT_TRUE(hour) << hour.error().message;
  return hour->value_or("nothing");
}

TEST(IncidentHour, IsThatOfBillsByTheHourAndOfJobs) {
  const Instant begin(kDay);
  EXPECT_EQ(hour_of(source(Billed::kByHour, begin + hours(14))), "14:00 UTC");
  EXPECT_EQ(hour_of(source(Billed::kByJob, begin + hours(14))), "14:00 UTC");
  EXPECT_EQ(hour_of(source(Billed::kByHour, begin)), "00:00 UTC");
  const TimeZone berlin = *TimeZone::parse("Europe/Berlin");
  EXPECT_EQ(hour_of(source(Billed::kByHour, begin + hours(13), berlin), berlin),
            "14:00 Europe/Berlin");
}

TEST(IncidentHour, IsNotSaidWhereDaysTellNone) {
  const Instant begin(kDay);
  EXPECT_EQ(hour_of(source(Billed::kByDay, begin + hours(14))), "nothing");
  // A job that began at midnight looks like a day.
  EXPECT_EQ(hour_of(source(Billed::kByJob, begin)), "nothing");
  EXPECT_EQ(hour_of(source(Billed::kByHour, begin - hours(3))), "nothing") << "the day before";
  EXPECT_EQ(hour_of([](const SummaryQuery&, std::uint64_t) -> Result<std::vector<Posting>> {
              return std::vector<Posting>();
            }),
            "nothing");
  EXPECT_EQ(hour_of([](const SummaryQuery&, std::uint64_t most) -> Result<std::vector<Posting>> {
              return std::vector<Posting>(most,
                                          posting(Instant(kDay), Instant(kDay) + hours(1), 1));
            }),
            "nothing")
      << "too many";
}

}  // namespace
}  // namespace pennyweight
