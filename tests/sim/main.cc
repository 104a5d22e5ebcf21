// sim: worlds from seeds, and an auditor who knows the truth.
//
//   sim --seeds N [--from SEED] [--threads N] [--fault NAME]   audits worlds
//   sim --prove-faults [--seeds N]     each planted fault must be found within so many seeds
//   sim --properties N [--from SEED] [--threads N]             property cases on small worlds
//
// Exit codes: 0 all well, 1 something was found, 2 wrong usage.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "allocation/parallel.h"
#include "audit.h"
#include "ledger_audit.h"
#include "properties.h"
#include "transfers_audit.h"

namespace pennyweight::sim {
namespace {

struct Options {
  std::uint64_t from = 1;
  std::uint64_t seeds = 0;
  std::uint64_t properties = 0;
  unsigned threads = 1;
  // Every so many seeds are also checked with a DuckDB file and a killed process.
  std::uint64_t duckdb_every = 50;
  std::uint64_t kill_every = 200;
  Fault fault = Fault::kNone;
  bool prove_faults = false;
};

class Stopwatch {
 public:
  std::uint64_t ms() const {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(passed).count());
  }
  std::uint64_t per_second(std::uint64_t count) const {
    return count * 1000 / std::max<std::uint64_t>(ms(), 1);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A folder for one seed's files, removed with the object.
class Folder {
 public:
  explicit Folder(std::uint64_t seed)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("pennyweight_sim_{}_{}", ::getpid(), seed)) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;  // a folder left behind is no finding
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string text() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

bool falls_on(std::uint64_t seed, std::uint64_t every) { return every > 0 && seed % every == 0; }

Finding audit(std::uint64_t seed, const Options& options) {
  const World world = make_world(seed);
  if (const Finding found = audit_engine(world, options.fault)) return found;
  if (options.fault != Fault::kNone) return std::nullopt;
  if (const Finding found = audit_transfers(world)) return found;
  if (const Finding found = audit_ledger(world)) return found;
  if (!falls_on(seed, options.duckdb_every)) return std::nullopt;
  const Folder folder(seed);
  return audit_duckdb(world, folder.text());
}

// The first seed, in ascending order, with a finding.
template <class Check>
std::optional<std::pair<std::uint64_t, std::string>> first_finding(std::uint64_t from,
                                                                   std::uint64_t count,
                                                                   unsigned threads,
                                                                   const Check& check) {
  constexpr std::uint64_t kBatch = 200;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t batch = std::min(kBatch, count - done);
    std::vector<Finding> findings(batch);
    for_each_index(batch, threads, [&](std::size_t i) { findings[i] = check(from + done + i); });
    for (std::size_t i = 0; i < batch; ++i) {
      if (findings[i]) return {{from + done + i, *findings[i]}};
    }
    done += batch;
    if (done % 2000 == 0) {
      std::printf("%llu of %llu\n", static_cast<unsigned long long>(done),
                  static_cast<unsigned long long>(count));
      std::fflush(stdout);
    }
  }
  return std::nullopt;
}

void print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

bool report(const std::optional<std::pair<std::uint64_t, std::string>>& finding,
            const std::string& replay) {
  if (!finding) return false;
  print(fmt::format("seed {}: {}", finding->first, finding->second));
  print(fmt::format("replay: sim {} --from {}", replay, finding->first));
  return true;
}

int run_seeds(const Options& options) {
  const Stopwatch watch;
  const std::string fault =
      options.fault == Fault::kNone ? "" : fmt::format(" --fault {}", fault_name(options.fault));
  const auto finding = first_finding(options.from, options.seeds, options.threads,
                                     [&](std::uint64_t seed) { return audit(seed, options); });
  const std::string replay = fmt::format("--seeds 1 --duckdb-every {} --kill-every {}{}",
                                         options.duckdb_every, options.kill_every, fault);
  if (report(finding, replay)) return 1;
  std::uint64_t killed = 0;
  if (options.fault == Fault::kNone) {
    // Forks, so it runs alone.
    for (std::uint64_t seed = options.from; seed < options.from + options.seeds; ++seed) {
      if (!falls_on(seed, options.kill_every)) continue;
      ++killed;
      const Folder folder(seed);
      if (const Finding found = audit_kill(make_world(seed), folder.text())) {
        report({{seed, *found}}, replay);
        return 1;
      }
    }
  }
  print(fmt::format("{} seeds from {}{}: nothing found; {} of them killed and resumed; {} seeds/s",
                    options.seeds, options.from, fault, killed, watch.per_second(options.seeds)));
  return 0;
}

// If a fault is not found the auditor does not work.
int prove_faults(const Options& options) {
  bool all_found = true;
  for (const Fault fault : {Fault::kDropPosting, Fault::kSwapShares, Fault::kFloat}) {
    Options planted = options;
    planted.fault = fault;
    std::uint64_t found = 0, first = 0;
    std::string words;
    std::vector<Finding> findings(options.seeds);
    for_each_index(options.seeds, options.threads,
                   [&](std::size_t i) { findings[i] = audit(options.from + i, planted); });
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (!findings[i]) continue;
      if (found++ == 0) {
        first = options.from + i;
        words = *findings[i];
      }
    }
    all_found = all_found && found > 0;
    print(fmt::format("{}: found in {} of {} seeds, first in seed {}: {}", fault_name(fault), found,
                      options.seeds, first, words));
  }
  return all_found ? 0 : 1;
}

int run_properties(const Options& options) {
  const Stopwatch watch;
  std::mutex mutex;  // guards counts
  std::vector<PropertyCount> counts;
  std::uint64_t cases = 0, next = options.from;
  while (cases < options.properties) {
    std::vector<PropertyCount> batch_counts;
    const std::uint64_t worlds = 2000;
    const auto finding = first_finding(next, worlds, options.threads, [&](std::uint64_t seed) {
      std::vector<PropertyCount> mine;
      const Finding found = check_properties(seed, mine);
      const std::lock_guard lock(mutex);
      if (counts.empty())
        counts = mine;
      else
        for (std::size_t i = 0; i < mine.size(); ++i) counts[i].cases += mine[i].cases;
      return found;
    });
    if (report(finding, "--properties 1")) return 1;
    next += worlds;
    cases = 0;
    for (const PropertyCount& count : counts) cases += count.cases;
  }
  for (const PropertyCount& count : counts) {
    print(fmt::format("{:24} {:>9}", count.name, count.cases));
  }
  print(fmt::format("{} cases on {} worlds from {}: none failed; {} cases/s", cases,
                    next - options.from, options.from, watch.per_second(cases)));
  return 0;
}

std::optional<Options> parse(int count, char** arguments) {
  Options options;
  const auto number = [](const char* text) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const std::string_view all(text);
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (error != std::errc() || end != all.data() + all.size()) return std::nullopt;
    return value;
  };
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--prove-faults") {
      options.prove_faults = true;
      continue;
    }
    if (i + 1 >= count) return std::nullopt;
    const char* text = arguments[++i];
    if (name == "--fault") {
      const auto fault = parse_fault(text);
      if (!fault) return std::nullopt;
      options.fault = *fault;
      continue;
    }
    const auto value = number(text);
    if (!value) return std::nullopt;
    if (name == "--seeds")
      options.seeds = *value;
    else if (name == "--from")
      options.from = *value;
    else if (name == "--properties")
      options.properties = *value;
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(*value);
    else if (name == "--duckdb-every")
      options.duckdb_every = *value;
    else if (name == "--kill-every")
      options.kill_every = *value;
    else
      return std::nullopt;
  }
  if (options.seeds == 0 && options.properties == 0) return std::nullopt;
  return options;
}

int run(int count, char** arguments) {
  const auto options = parse(count, arguments);
  if (!options) {
    std::fputs(
        "usage: sim --seeds N [--from SEED] [--threads N] [--fault "
        "drop_posting|swap_shares|float]\n"
        "           [--duckdb-every N] [--kill-every N]\n"
        "       sim --prove-faults --seeds N [--from SEED] [--threads N]\n"
        "       sim --properties N [--from SEED] [--threads N]\n",
        stderr);
    return 2;
  }
  if (options->properties > 0) return run_properties(*options);
  return options->prove_faults ? prove_faults(*options) : run_seeds(*options);
}

}  // namespace
}  // namespace pennyweight::sim

int main(int count, char** arguments) { return pennyweight::sim::run(count, arguments); }
