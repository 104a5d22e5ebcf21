// Measures how fast costs are allocated by one-minute usage, beside the same allocation in SQL on
// DuckDB.
//
//   bench_allocate --gpus 10000 --days 1 --runs 5
//   bench_allocate --gpus 10000 --days 30 --big 1 --runs 1
//   bench_allocate --gpus 1000 --days 30 --hourly 1 --sql 0     (one changed hour of a month)
//
// Both sides get the same seeded world (allocate_world.h) in memory, in the form that suits each;
// generating it is not timed. Before anything is timed, the amounts that every holder pays of every
// line, by kind, are compared to 1e-9 relative. A device-minute is one minute of one GPU, however
// many series it has.
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "allocate_sql.h"
#include "allocate_world.h"
#include "core/check.h"
#include "ledger/store_rules.h"

namespace pennyweight::bench {
namespace {

// Whether postings are kept, or passed on as if to a ledger and dropped.
enum class Keep { kAll, kNothing };

struct Options {
  WorldOptions world;
  unsigned threads = 2;  // at most; 1 is always run
  unsigned runs = 3;
  bool sql = true;
  Keep keep = Keep::kAll;  // of the first run, which is compared
};

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Of this thread only: the engine's main thread is idle while its workers run.
double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct Timing {
  double wall = 0;
  double cpu = 0;
  double serial = 0;  // of cpu, the part of the calling thread
};

class Timer {
 public:
  Timing passed() const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
    return {wall.count(), cpu_seconds() - cpu_, thread_cpu_seconds() - serial_};
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double cpu_ = cpu_seconds();
  double serial_ = thread_cpu_seconds();
};

// "VmRSS" or "VmHWM" of this process, in MiB.
std::uint64_t resident_mib(const std::string& which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(which + ":")) {
      return std::strtoull(line.c_str() + which.size() + 1, nullptr, 10) / 1024;
    }
  }
  return 0;
}

// One run of the engine, without the generation of telemetry.
struct EngineRun {
  Timing timing;
  Allocation allocation;
  std::uint64_t series_rows = 0;
  std::uint64_t postings = 0;
};

EngineRun allocate_once(const World& world, unsigned threads, Keep keep,
                        std::optional<Interval> changed = {}, SetDigest* handed_on = nullptr) {
  Timing making;
  EngineRun run;
  PostingSink sink;
  if (keep == Keep::kNothing) {
    sink = [&](std::vector<Posting> postings) -> Result<void> {
      run.postings += postings.size();
      if (handed_on != nullptr) {
        for (const Posting& posting : postings) handed_on->add(content_hash(posting));
      }
      return {};
    };
  }
  const Timer timer;
  auto allocation =
      allocate({.cluster = ClusterId("prod"),
                .charges = world.charges,
                .nodes = world.nodes,
                .gpus = world.gpus,
                .holdings = world.holdings,
                .policy = world.policy,
                .catalog = Catalog::built_in(),
                .threads = threads,
                .utilization = [&](const Interval& during) -> Result<ObservedUtilization> {
                  const Timer made;
                  ObservedUtilization seen = world.observe(during);
                  run.series_rows += seen.samples;
                  making.wall += made.passed().wall;
                  making.cpu += made.passed().cpu;
                  making.serial += made.passed().serial;
                  return seen;
                },
                .changed = changed,
                .postings = sink});
  run.timing = timer.passed();
  run.timing.wall -= making.wall;
  run.timing.cpu -= making.cpu;
  run.timing.serial -= making.serial;
  CHECK(allocation.has_value(), "the world can be allocated");
  run.allocation = std::move(*allocation);
  run.postings += run.allocation.postings.size();
  return run;
}

// A hash of all postings and dimensions in their order, to compare two builds.
Hash128 digest(const Allocation& allocation) {
  Hash128 digest;
  const auto add = [&](const Hash128& next) { digest = hash_of(to_text(digest) + to_text(next)); };
  for (const Posting& posting : allocation.postings) add(content_hash(posting));
  for (const WorkloadDimensions& workload : allocation.dimensions) {
    Fingerprint fields;
    fields.add(workload.workload.text());
    for (const auto& [name, value] : workload.dimensions.entries()) fields.add(name).add(value);
    add(fields.hash());
  }
  return digest;
}

// Postings by line, holder and kind, as the SQL returns them.
std::vector<Amount> owner_amounts(const World& world, std::span<const Posting> postings) {
  std::map<FactId, std::int32_t> lines, holders;
  for (const Charge& charge : world.charges) {
    lines.emplace(charge.id, static_cast<std::int32_t>(lines.size()));
  }
  for (const Holding& holding : world.holdings) {
    holders.emplace(holding.id, static_cast<std::int32_t>(holders.size()));
  }
  std::map<std::tuple<std::int32_t, std::int32_t, PostingKind>, Money> sums;
  for (const Posting& posting : postings) {
    const std::int32_t holder = posting.holding ? holders.at(*posting.holding) : Amount::kNobody;
    const auto [at, is_new] =
        sums.try_emplace({lines.at(posting.charge), holder, posting.kind}, Money::zero(kUsd));
    at->second += posting.costs.effective;
  }
  std::vector<Amount> amounts;
  for (const auto& [key, cost] : sums) {
    amounts.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key),
                       static_cast<double>(cost.ticks()) / Decimal::kTicksPerUnit});
  }
  return amounts;
}

// The largest relative difference. An amount that one side lacks is 0 there. Amounts below a
// hundred-millionth of the currency are rounding errors of doubles that cancel out.
double compare(std::vector<Amount> ours, std::vector<Amount> theirs) {
  const auto key = [](const Amount& amount) {
    return std::tuple(amount.line, amount.holder, amount.kind);
  };
  const auto by_key = [&](const Amount& a, const Amount& b) { return key(a) < key(b); };
  std::sort(ours.begin(), ours.end(), by_key);
  std::sort(theirs.begin(), theirs.end(), by_key);
  double worst = 0;
  const auto meet = [&](const Amount* a, const Amount* b) {
    const double x = a == nullptr ? 0 : a->cost, y = b == nullptr ? 0 : b->cost;
    const double apart = std::abs(x - y);
    const double larger = std::max(std::abs(x), std::abs(y));
    if (larger < 1e-8) return;
    const double relative = apart / larger;
    if (relative > 1e-9 && relative > worst) {
      const Amount& any = a == nullptr ? *b : *a;
      std::printf("line %d, holder %d, %s: %.15g here, %.15g in SQL\n", any.line, any.holder,
                  std::string(to_text(any.kind)).c_str(), x, y);
    }
    worst = std::max(worst, relative);
  };
  std::size_t i = 0, j = 0;
  while (i < ours.size() || j < theirs.size()) {
    if (j == theirs.size() || (i < ours.size() && by_key(ours[i], theirs[j]))) {
      meet(&ours[i++], nullptr);
    } else if (i == ours.size() || by_key(theirs[j], ours[i])) {
      meet(nullptr, &theirs[j++]);
    } else {
      meet(&ours[i++], &theirs[j++]);
    }
  }
  return worst;
}

// Memory bandwidth: a = b + s·c over arrays that fit in no cache, best of five.
double stream_gb_per_second(unsigned threads) {
  const std::size_t count = std::size_t{1} << 24;
  std::vector<double> a(count, 1), b(count, 2), c(count, 3);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const Timer timer;
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        const std::size_t begin = count / threads * t, end = begin + count / threads;
        for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + 0.5 * c[i];
      });
    }
    for (std::thread& thread : pool) thread.join();
    best = std::max(best, 3e-9 * sizeof(double) * static_cast<double>(count) / timer.passed().wall);
  }
  CHECK(a[count / 2] == 3.5, "the sum was made");
  return best;
}

void print(const char* what, const World& world, const Timing& timing, unsigned threads) {
  const auto minutes = static_cast<double>(world.device_minutes());
  std::printf("%-24s wall %9.3f s   cpu %9.3f s   %8.1f M device-minutes/s, %7.1f a core\n", what,
              timing.wall, timing.cpu, minutes / timing.wall / 1e6,
              minutes / (timing.wall * threads) / 1e6);
  std::fflush(stdout);
}

Timing fastest(const Timing& a, const Timing& b) {
  return {std::min(a.wall, b.wall), std::min(a.cpu, b.cpu), std::min(a.serial, b.serial)};
}

// Whether several threads pass on the same postings as one thread keeps.
bool streams_same_postings(const World& world, const EngineRun& kept, unsigned threads) {
  SetDigest expected, handed_on;
  for (const Posting& posting : kept.allocation.postings) expected.add(content_hash(posting));
  const EngineRun run = allocate_once(world, threads, Keep::kNothing, {}, &handed_on);
  if (handed_on.digest() == expected.digest() &&
      run.allocation.dimensions == kept.allocation.dimensions) {
    return true;
  }
  std::printf("what is handed on differs from what is kept\n");
  return false;
}

// One changed hour in the middle: its postings must be those of the full run.
bool run_changed_hour(const World& world, const EngineRun& full, unsigned runs) {
  const Instant begin = world.during().begin() + std::chrono::hours(world.options.days * 12);
  const Interval hour(begin, begin + std::chrono::hours(1));
  std::map<FactId, bool> of_hour;
  for (const Charge& charge : world.charges) {
    of_hour[charge.id] = charge.charge_period.overlap(hour).has_value();
  }
  std::vector<Posting> expected;
  for (const Posting& posting : full.allocation.postings) {
    if (of_hour.at(posting.charge)) expected.push_back(posting);
  }
  Timing best{1e9, 1e9, 1e9};
  for (unsigned i = 0; i < runs; ++i) {
    const EngineRun part = allocate_once(world, 1, Keep::kAll, hour);
    if (part.allocation.postings != expected) {
      std::printf("one changed hour gives other postings than the full run\n");
      return false;
    }
    best = fastest(best, part.timing);
  }
  std::printf("one changed hour         wall %9.3f s   cpu %9.3f s   %zu postings, the same\n",
              best.wall, best.cpu, expected.size());
  return true;
}

int run(const Options& options) {
  const World world(options.world);
  std::printf(
      "%llu GPUs, %u days, %s lines: %llu device-minutes, %zu lines, %zu holdings; facts "
      "%llu MiB\n",
      static_cast<unsigned long long>(options.world.gpus), options.world.days,
      options.world.hourly ? "hourly" : "daily",
      static_cast<unsigned long long>(world.device_minutes()), world.charges.size(),
      world.holdings.size(), static_cast<unsigned long long>(resident_mib("VmRSS")));
  EngineRun first = allocate_once(world, 1, options.keep);
  std::printf("%llu postings from %llu rows of usage; peak resident %llu MiB\n",
              static_cast<unsigned long long>(first.postings),
              static_cast<unsigned long long>(first.series_rows),
              static_cast<unsigned long long>(resident_mib("VmHWM")));
  std::printf("digest %s\n", to_text(digest(first.allocation)).c_str());
  for (const AllocationNote& note : first.allocation.notes) {
    std::printf("note: %s: %llu\n", note.what.c_str(), static_cast<unsigned long long>(note.count));
  }
  std::fflush(stdout);
  if (options.keep == Keep::kAll && !streams_same_postings(world, first, options.threads)) return 1;
  if (options.world.hourly && !run_changed_hour(world, first, options.runs)) return 1;

  std::optional<SqlAllocation> sql;
  if (options.sql) {
    auto loaded = SqlAllocation::load(world, world.observe(world.during()), options.threads);
    const auto theirs =
        loaded ? loaded->run() : Result<std::vector<Amount>>(std::unexpected(loaded.error()));
    if (!theirs) {
      std::printf("SQL: %s\n", theirs.error().message.c_str());
      return 1;
    }
    const auto ours = owner_amounts(world, first.allocation.postings);
    const double apart = compare(ours, *theirs);
    std::printf("%zu amounts by line, holder and kind (SQL: %zu), at most %.1e apart\n",
                ours.size(), theirs->size(), apart);
    if (apart > 1e-9) return 1;
    sql.emplace(std::move(*loaded));
  }

  Timing one{1e9, 1e9, 1e9}, two{1e9, 1e9, 1e9}, in_sql{1e9, 1e9, 1e9};
  first = {};
  for (unsigned i = 0; i < options.runs; ++i) {
    one = fastest(one, allocate_once(world, 1, Keep::kNothing).timing);
    if (options.threads > 1)
      two = fastest(two, allocate_once(world, options.threads, Keep::kNothing).timing);
    if (!sql) continue;
    const Timer timer;
    if (!sql->run()) return 1;
    in_sql = fastest(in_sql, timer.passed());
  }
  print("pennyweight, 1 thread", world, one, 1);
  if (options.threads > 1) {
    print(fmt::format("pennyweight, {} threads", options.threads).c_str(), world, two,
          options.threads);
    // The first figure depends on how much of the second core other programs leave. The second is
    // derived from processor times, as if on two free cores.
    const double each = (two.cpu - two.serial) / options.threads;
    std::printf("%-24s %.2f x wall; by processor times %.2f x (%.3f s are one thread's)\n",
                "threads help", one.wall / two.wall, one.cpu / (two.serial + each), two.serial);
  }
  if (sql) {
    print(fmt::format("SQL, {} threads", options.threads).c_str(), world, in_sql, options.threads);
    std::printf("%-24s %.1f x wall, %.1f x cpu\n", "SQL / pennyweight",
                in_sql.wall / std::min(one.wall, two.wall), in_sql.cpu / one.cpu);
  }
  std::printf("memory bandwidth: %.1f GB/s on one thread, %.1f on two\n", stream_gb_per_second(1),
              stream_gb_per_second(2));
  return 0;
}

}  // namespace
}  // namespace pennyweight::bench

int main(int argc, char** argv) {
  pennyweight::bench::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--gpus") options.world.gpus = value;
    if (name == "--days") options.world.days = static_cast<std::uint32_t>(value);
    if (name == "--hourly") options.world.hourly = value != 0;
    if (name == "--whole_node") options.world.whole_node = value != 0;
    if (name == "--seed") options.world.seed = value;
    if (name == "--threads") options.threads = static_cast<unsigned>(value);
    if (name == "--runs") options.runs = static_cast<unsigned>(value);
    if (name == "--sql") options.sql = value != 0;
    // A month of many GPUs: nothing is compared, and postings are not kept.
    if (name == "--big" && value != 0) {
      options.sql = false;
      options.keep = pennyweight::bench::Keep::kNothing;
    }
  }
  return pennyweight::bench::run(options);
}
