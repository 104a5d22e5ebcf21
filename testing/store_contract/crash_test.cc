// kill -9 at random moments of imports and runs: nothing acknowledged is lost, nothing is
// duplicated, and nothing is half visible. CRASH_ROUNDS=200 runs more than the usual dozen; a
// failure prints the CRASH_SEED that replays its delays.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "testing/store_contract/sample.h"

namespace pennyweight {
namespace {

using namespace sample;

// The number of facts of import or run number n, so that a half is noticed.
std::uint64_t size_of(std::uint64_t number) { return 500 + number % 3 * 1700; }

std::vector<Charge> bill(std::uint64_t number) {
  std::vector<Charge> lines;
  for (std::uint64_t i = 0; i < size_of(number); ++i) {
    // Every tenth line repeats its neighbour, so that both ways into the table are used.
    const std::uint64_t distinct = i % 10 == 9 ? i - 1 : i;
    lines.push_back(charge("bill-" + std::to_string(number) + "/" + std::to_string(distinct), 1));
  }
  return lines;
}

std::vector<Posting> postings(std::uint64_t number) {
  const std::string workload = "run-" + std::to_string(number);
  return std::vector<Posting>(size_of(number), posting({{1, 1}}, workload, costs(1)));
}

// The child process: imports and runs for ever, and acknowledges each commit.
[[noreturn]] void work(const std::string& path, int acknowledgements) {
  try {
    const auto store = open_file(path);
    std::uint64_t imports = must(store->imports()).size();
    std::uint64_t runs = must(store->runs()).size();
    const auto acknowledge = [&](char what) {
      if (::write(acknowledgements, &what, 1) != 1) ::_exit(2);
    };
    while (true) {
      import_charges(*store, bill(++imports));
      acknowledge('i');
      ++runs;
      keep_run(*store, run("philly", "policy " + std::to_string(runs)), postings(runs));
      acknowledge('r');
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << "the child failed: " << error.what();
    ::_exit(1);
  }
}

struct Acknowledged {
  std::uint64_t imports = 0, runs = 0;
};

// Runs the child, kills it after a delay, and counts what it acknowledged.
Acknowledged crash(const std::string& path, std::chrono::milliseconds delay) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work(path, ends[1]);
  }
  ::close(ends[1]);
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  Acknowledged said;
  char what = 0;
  while (::read(ends[0], &what, 1) == 1) ++(what == 'i' ? said.imports : said.runs);
  ::close(ends[0]);
  return said;
}

// The contents of the file, after a check that they are complete.
Acknowledged check(const std::string& path) {
  const auto store = open_file(path);
  const auto imports = must(store->imports());
  std::map<std::string, std::uint64_t> lines;  // by bill
  std::optional<FactId> last;
  must(store->scan_charges("", [&](std::span<const Charge> some) {
    for (const Charge& line : some) {
      EXPECT_TRUE(!last || *last < line.id) << "a line appears twice";
      last = line.id;
      ++lines[line.resource_id.substr(0, line.resource_id.find('/'))];
    }
    return true;
  }));
  EXPECT_EQ(lines.size(), imports.size());
  for (std::uint64_t number = 1; number <= imports.size(); ++number) {
    EXPECT_EQ(imports[number - 1].number, number);
    EXPECT_EQ(imports[number - 1].charges, size_of(number));
    EXPECT_EQ(lines["bill-" + std::to_string(number)], size_of(number)) << "half an import";
  }
  const auto runs = must(store->runs());
  for (std::uint64_t number = 1; number <= runs.size(); ++number) {
    EXPECT_EQ(runs[number - 1].number, number);
    EXPECT_EQ(runs[number - 1].current, number == runs.size());
  }
  const auto rows = must(store->summarise({.group_by = {"workload"}}));
  EXPECT_EQ(rows.size(), runs.empty() ? 0u : 1u) << "postings of several runs are visible";
  if (!rows.empty()) {
    EXPECT_EQ(rows[0].keys[0], "run-" + std::to_string(runs.size()));
    EXPECT_EQ(rows[0].postings, size_of(runs.size())) << "half a run";
  }
  return {imports.size(), runs.size()};
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Crash, AcknowledgedCommitsSurviveKillMinus9) {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.duckdb");
  const std::uint64_t seed = number_from("CRASH_SEED", std::random_device()());
  const std::uint64_t rounds = number_from("CRASH_ROUNDS", 12);
  std::mt19937_64 random(seed);
  Acknowledged kept;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("CRASH_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    const Acknowledged said = crash(path, std::chrono::milliseconds(random() % 700));
    const Acknowledged found = check(path);
    // A commit that was not yet acknowledged may be there: one at most.
    EXPECT_GE(found.imports, kept.imports + said.imports) << "an acknowledged import is missing";
    EXPECT_LE(found.imports, kept.imports + said.imports + 1);
    EXPECT_GE(found.runs, kept.runs + said.runs) << "an acknowledged run is missing";
    EXPECT_LE(found.runs, kept.runs + said.runs + 1);
    kept = found;
    if (::testing::Test::HasFailure()) return;
  }
  RecordProperty("imports", std::to_string(kept.imports));
  RecordProperty("runs", std::to_string(kept.runs));
}

}  // namespace
}  // namespace pennyweight
