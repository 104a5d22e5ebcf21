// Measures how long the queries of the pages take when the rollup is asked directly: the part of
// bench/serve.py that needs no server.
//
//   bench_serve_direct --ledger FILE --rollup FILE [--check all|some|none] [--months 12]
//                      [--first 2025-01] [--rounds 3] [--only team,node]
//
// Copies the ledger into the rollup, then queries a month and a year by every dimension, or by one
// of them: all rows, and the first hundred owners of each bucket as pages show them. All queries
// differ, so that none is answered from a cache; `again` is one query repeated. Before anything is
// timed, answers are compared with the ledger's (==), and the ledger with its own bill lines.
// Prints a line of JSON for each group of queries.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/check.h"
#include "ledger/delivery.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "reporting/rollup/rollup.h"

namespace pennyweight::bench {
namespace {

using Clock = std::chrono::steady_clock;
using rollup::Rollup;

struct Options {
  std::string ledger, rollup, first = "2025-01";
  std::string check = "all";
  std::string only;  // of kDimensions, by its name
  std::uint64_t months = 12;
  std::uint64_t rounds = 3;
};

const std::vector<std::vector<std::string>> kDimensions = {{},
                                                           {"cluster"},
                                                           {"month"},
                                                           {"kind"},
                                                           {"component"},
                                                           {"service"},
                                                           {"region"},
                                                           {"pricing"},
                                                           {"instance_type"},
                                                           {"sub_account"},
                                                           {"team"},
                                                           {"user"},
                                                           {"project"},
                                                           {"model"},
                                                           {"cost_center"},
                                                           {"node"},
                                                           {"gpu"},
                                                           {"resource"},
                                                           {"workload"},
                                                           {"team", "user"},
                                                           {"team", "service"},
                                                           {"team", "node"}};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::chrono::sys_days first_of(const std::string& month) {
  const auto at = parse_instant(month + "-01T00:00:00Z");
  CHECK(at.has_value(), "a month is written as 2025-01");
  return std::chrono::floor<std::chrono::days>(*at);
}

// Of this process, all its threads.
double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

struct Period {
  std::chrono::sys_days first, last;
};

std::vector<Period> months_of(const Options& options) {
  std::vector<Period> months;
  std::string month = options.first;
  for (std::uint64_t i = 0; i < options.months; ++i) {
    const std::string next = month_after(month);
    months.push_back({first_of(month), first_of(next) - std::chrono::days(1)});
    month = next;
  }
  return months;
}

class Times {
 public:
  void add(double wall, double cpu, std::size_t rows) {
    wall_.push_back(wall);
    cpu_.push_back(cpu);
    rows_ = std::max(rows_, rows);
  }
  void add(const Times& other) {
    wall_.insert(wall_.end(), other.wall_.begin(), other.wall_.end());
    cpu_.insert(cpu_.end(), other.cpu_.begin(), other.cpu_.end());
    rows_ = std::max(rows_, other.rows_);
  }
  void print(const std::string& what, const std::string& by) {
    std::printf(
        "{\"what\": \"%s\", \"by\": \"%s\", \"questions\": %zu, \"rows\": %zu, \"p50_ms\": %.2f, "
        "\"p99_ms\": %.2f, \"cpu_p50_ms\": %.2f, \"cpu_p99_ms\": %.2f}\n",
        what.c_str(), by.c_str(), wall_.size(), rows_, part(wall_, 50), part(wall_, 99),
        part(cpu_, 50), part(cpu_, 99));
    std::fflush(stdout);
  }

 private:
  static double part(std::vector<double>& seconds, std::size_t percent) {
    std::sort(seconds.begin(), seconds.end());
    return 1000 * seconds[std::min(seconds.size() * percent / 100, seconds.size() - 1)];
  }
  std::vector<double> wall_, cpu_;
  std::size_t rows_ = 0;
};

std::string name_of(const std::vector<std::string>& dimensions) {
  std::string name;
  for (const std::string& dimension : dimensions) name += (name.empty() ? "" : ",") + dimension;
  return name.empty() ? "(all)" : name;
}

bool ask(Rollup& rollup, const SummaryQuery& query, Times& times) {
  const auto begin = Clock::now();
  const double cpu = cpu_seconds();
  const auto answer = rollup.summarise(query);
  if (!answer || !*answer) {
    std::fprintf(stderr, "no answer\n");
    return false;
  }
  times.add(seconds_since(begin), cpu_seconds() - cpu, (*answer)->size());
  return true;
}

constexpr std::uint64_t kFirst = 100;

// The rows that a page shows.
bool ask_first(Rollup& rollup, SummaryQuery query, Times& times) {
  query.group_by.emplace_back("kind");
  const auto begin = Clock::now();
  const double cpu = cpu_seconds();
  const auto answer = rollup.owners(query, {.count = kFirst});
  if (!answer || !*answer) {
    std::fprintf(stderr, "no answer\n");
    return false;
  }
  times.add(seconds_since(begin), cpu_seconds() - cpu, (*answer)->rows.size());
  return true;
}

// What is shown and what is not add up to the ledger's total.
bool adds_up(Rollup& rollup, Store& store, SummaryQuery query) {
  const auto total = [](auto& sums, const SummaryRow& row) {
    const Money cost = row.costs.effective;
    sums.try_emplace(cost.currency(), Money::zero(cost.currency())).first->second += cost;
  };
  std::map<Currency, Money> ours, theirs;
  SummaryQuery whole = query;
  whole.group_by.clear();
  const auto rows = store.summarise(whole);
  query.group_by.emplace_back("kind");
  const auto first = rollup.owners(query, {.count = kFirst});
  if (!rows || !first || !*first) return false;
  for (const SummaryRow& row : *rows) total(theirs, row);
  for (const SummaryRow& row : (*first)->rows) total(ours, row);
  for (const auto& others : (*first)->others) total(ours, others.sum);
  if (ours == theirs) return true;
  std::fprintf(stderr, "the first and the others are not the total, by %s\n",
               name_of(query.group_by).c_str());
  return false;
}

bool same(Rollup& rollup, Store& store, const SummaryQuery& query) {
  const auto ours = rollup.summarise(query);
  const auto theirs = store.summarise(query);
  if (ours && *ours && theirs && **ours == *theirs) return true;
  std::fprintf(stderr, "the rollup does not say what the ledger says, by %s\n",
               name_of(query.group_by).c_str());
  return false;
}

bool check(Rollup& rollup, Store& store, const Options& options) {
  if (options.check == "none") return true;
  const auto months = months_of(options);
  if (options.check == "some") {
    return adds_up(rollup, store, {.bucket = TimeBucket::kMonth, .group_by = {"workload"}}) &&
           same(rollup, store, {.group_by = {"team", "kind", "month"}}) &&
           same(rollup, store,
                {.first_day = months[0].first,
                 .last_day = months[0].first + std::chrono::days(9),
                 .bucket = TimeBucket::kDay,
                 .group_by = {"user"},
                 .filters = {{"kind", {"used", "held_idle"}, false}}});
  }
  const auto totals = store.reconcile("", false, [](const LineCheck&) { return true; });
  if (!totals) {
    std::fprintf(stderr, "%s\n", totals.error().message.c_str());
    return false;
  }
  for (const ReconcileTotals& total : *totals) {
    if (total.exact() && total.lines > 0) continue;
    std::fprintf(stderr, "%llu of %llu lines are not what was posted of them\n",
                 static_cast<unsigned long long>(total.lines_off),
                 static_cast<unsigned long long>(total.lines));
    return false;
  }
  for (const auto& dimensions : kDimensions) {
    for (const TimeBucket bucket : {TimeBucket::kNone, TimeBucket::kMonth, TimeBucket::kWeek}) {
      if (!same(rollup, store, {.bucket = bucket, .group_by = dimensions})) return false;
      if (!adds_up(rollup, store, {.bucket = bucket, .group_by = dimensions})) return false;
    }
    if (!same(rollup, store,
              {.first_day = months[0].first,
               .last_day = months[0].first + std::chrono::days(4),
               .bucket = TimeBucket::kDay,
               .group_by = dimensions,
               .filters = {{"team", {"team-00", "team-03", ""}, false}}})) {
      return false;
    }
  }
  return true;
}

bool refresh(Rollup& rollup, Store& store, const Options& options, const char* what) {
  const auto begin = Clock::now();
  const double cpu = cpu_seconds();
  const auto changed = rollup.refresh(store);
  if (!changed) {
    std::fprintf(stderr, "%s\n", changed.error().message.c_str());
    return false;
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf(
      "{\"what\": \"%s\", \"changed\": %s, \"seconds\": %.2f, \"cpu\": %.2f, \"bytes\": %llu, "
      "\"peak_mib\": "
      "%ld}\n",
      what, *changed ? "true" : "false", seconds_since(begin), cpu_seconds() - cpu,
      static_cast<unsigned long long>(std::filesystem::file_size(options.rollup)),
      use.ru_maxrss / 1024);
  std::fflush(stdout);
  return true;
}

// The queries of the pages for a month: its sums, by day, and for some teams; months by either of
// their names. A salt makes each round's queries new: a filter that excludes nothing.
bool measure(Rollup& rollup, const Options& options) {
  const auto months = months_of(options);
  std::uint64_t salt = 0;
  const auto salted = [&](SummaryQuery query) {
    query.filters.push_back({"kind", {"no kind " + std::to_string(salt++)}, true});
    return query;
  };
  Times all_months, all_years, all_first_months, all_first_years, again;
  for (const auto& dimensions : kDimensions) {
    if (!options.only.empty() && name_of(dimensions) != options.only) continue;
    Times month, year, first_month, first_year;
    for (std::uint64_t round = 0; round < options.rounds; ++round) {
      for (const auto& [first, last] : months) {
        const SummaryQuery plain{.first_day = first, .last_day = last, .group_by = dimensions};
        SummaryQuery by_day = plain, of_team = plain, to_date = plain;
        by_day.bucket = TimeBucket::kDay;
        if (dimensions.size() == 1 && dimensions[0] == "workload")
          by_day.bucket = TimeBucket::kNone;
        of_team.filters = {{"team", {"team-0" + std::to_string(round % 10)}, false}};
        to_date.last_day = first + std::chrono::days(17);
        for (const SummaryQuery& query : {plain, by_day, of_team, to_date}) {
          if (!ask(rollup, salted(query), month)) return false;
          if (!ask_first(rollup, salted(query), first_month)) return false;
        }
        Times first_time;
        if (!ask(rollup, plain, round == 0 ? month : first_time)) return false;
        if (!ask(rollup, plain, again)) return false;
      }
      const SummaryQuery plain{.first_day = months.front().first,
                               .last_day = months.back().last,
                               .group_by = dimensions};
      SummaryQuery by_month = plain, by_week = plain, of_team = plain;
      by_month.bucket = TimeBucket::kMonth;
      by_week.bucket = TimeBucket::kWeek;
      of_team.bucket = TimeBucket::kMonth;
      of_team.filters = {{"team", {"team-1" + std::to_string(round % 10)}, false}};
      for (const SummaryQuery& query : {plain, by_month, by_week, of_team}) {
        if (!ask(rollup, salted(query), year)) return false;
        if (!ask_first(rollup, salted(query), first_year)) return false;
      }
    }
    month.print("month", name_of(dimensions));
    year.print("year", name_of(dimensions));
    first_month.print("first of a month", name_of(dimensions));
    first_year.print("first of a year", name_of(dimensions));
    all_months.add(month);
    all_years.add(year);
    all_first_months.add(first_month);
    all_first_years.add(first_year);
  }
  all_months.print("month", "every dimension");
  all_years.print("year", "every dimension");
  all_first_months.print("first of a month", "every dimension");
  all_first_years.print("first of a year", "every dimension");
  again.print("again", "every dimension");
  return true;
}

int run(const Options& options) {
  auto store = open_duckdb_store({.path = options.ledger,
                                  .threads = 2,
                                  .temp_directory = options.rollup + ".ledger.tmp",
                                  .read_only = true});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  auto rollup = Rollup::open({.path = options.rollup});
  if (!rollup) {
    std::fprintf(stderr, "%s\n", rollup.error().message.c_str());
    return 1;
  }
  if (!refresh(**rollup, **store, options, "refresh")) return 1;
  if (!refresh(**rollup, **store, options, "nothing new")) return 1;
  if (!check(**rollup, **store, options)) return 1;
  // As after a start: only the system's page cache may contain parts of the file.
  rollup->reset();
  const auto begin = Clock::now();
  rollup = Rollup::open({.path = options.rollup});
  if (!rollup) return 1;
  std::printf("{\"what\": \"open\", \"seconds\": %.3f}\n", seconds_since(begin));
  return measure(**rollup, options) ? 0 : 1;
}

}  // namespace
}  // namespace pennyweight::bench

int main(int argc, char** argv) {
  pennyweight::bench::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--ledger") options.ledger = value;
    if (name == "--rollup") options.rollup = value;
    if (name == "--first") options.first = value;
    if (name == "--check") options.check = value;
    if (name == "--only") options.only = value;
    if (name == "--months") options.months = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--rounds") options.rounds = std::strtoull(value.c_str(), nullptr, 10);
  }
  if (options.ledger.empty() || options.rollup.empty() || options.months == 0) {
    std::fprintf(stderr,
                 "bench_serve_direct --ledger FILE --rollup FILE [--check all|some|none]\n");
    return 2;
  }
  return pennyweight::bench::run(options);
}
