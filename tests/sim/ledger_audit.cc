#include "ledger_audit.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "core/check.h"
#include "deliveries.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store_rules.h"
#include "testing/generate/random.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight::sim {
namespace {

// Turns a store's error into a finding; these checks are full of store calls.
struct StoreError {
  std::string why;
};

template <class T>
T must(Result<T> result) {
  if (!result) throw StoreError{result.error().message};
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <class T>
T must(std::expected<T, std::string> result) {
  if (!result) throw StoreError{result.error()};
  return std::move(*result);
}

// The contents of a ledger as fingerprints: facts by kind, and the postings of the current runs.
struct Contents {
  std::map<std::string, Hash128> facts;
  std::map<Scope, Hash128> runs;
  bool operator==(const Contents&) const = default;
};

template <class Fact>
Hash128 digest(const std::vector<Fact>& facts) {
  SetDigest set;
  for (const Fact& fact : facts) {
    // Stores return samples without their ids, since nothing needs them.
    const bool has_id = !std::is_same_v<Fact, Usage>;
    set.add(Fingerprint()
                .add(has_id ? to_text(fact.id) : std::string())
                .add(to_text(content_hash(fact)))
                .hash());
  }
  return set.digest();
}

Facts facts_in(Store& store, const World& world) {
  Facts facts{.charges = {},
              .nodes = must(store.nodes()),
              .gpus = must(store.gpus()),
              .holdings = {},
              .outages = {},
              .usages = {},
              .corrections = {}};
  must(store.scan_charges(world.month, [&](std::span<const Charge> some) {
    facts.charges.insert(facts.charges.end(), some.begin(), some.end());
    return true;
  }));
  const Interval ever(kInstantMin, kInstantMax);
  for (const ClusterId& cluster : world.clusters) {
    must(store.scan_holdings(cluster, ever, [&](std::span<const Holding> some) {
      facts.holdings.insert(facts.holdings.end(), some.begin(), some.end());
      return true;
    }));
    must(store.scan_usage(cluster, ever, UsageDetail::kAll, [&](std::span<const Usage> some) {
      facts.usages.insert(facts.usages.end(), some.begin(), some.end());
      return true;
    }));
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(facts.outages, must(store.outages(cluster, ever)));
    append(facts.corrections, must(store.corrections(cluster, ever)));
  }
  return facts;
}

std::map<std::string, Hash128> digests(const Facts& facts) {
  return {{"charges", digest(facts.charges)},
          {"nodes", digest(facts.nodes)},
          {"gpus", digest(facts.gpus)},
          {"holdings", digest(facts.holdings)},
          {"outages", digest(facts.outages)},
          {"usages", digest(facts.usages)},
          {"corrections", digest(facts.corrections)}};
}

Run run_of(const World& world, const ClusterId& cluster) {
  return {.scope = {cluster, world.month},
          .policy = world.policy.text(),
          .policy_version = world.policy.version(),
          .catalog_version = world.catalog().version(),
          .time_zone = world.policy.time_zone.name(),
          .program_version = "sim",
          .at = *parse_instant("2025-04-02"),
          .postings_digest = {}};
}

// Allocates every scope of the ledger, as `pennyweight allocate` does.
void allocate_ledger(Store& store, const World& world, bool let_go = false) {
  FactsByCluster split = by_cluster(facts_in(store, world));
  for (const Run& run : must(store.runs())) {
    if (run.current) split[run.scope.cluster];  // a scope that lost its charges is emptied
  }
  for (const auto& [cluster, facts] : split) {
    const Outcome outcome = must(run_engine({{cluster, facts}}, world.policy, {}));
    const auto session = must(store.begin_run(run_of(world, cluster)));
    must(session->append_postings(outcome.postings));
    must(session->append_dimensions(outcome.dimensions));
    if (let_go) continue;  // without a trace
    must(session->commit());
  }
}

Contents contents_of(Store& store, const World& world) {
  Contents contents{.facts = digests(facts_in(store, world)), .runs = {}};
  for (const Run& run : must(store.runs())) {
    // A scope that had charges until their node was known has an empty run in one ledger and none
    // in the other.
    if (run.current && run.postings > 0) contents.runs[run.scope] = run.postings_digest;
  }
  return contents;
}

Finding difference(const Contents& first, const Contents& second, const std::string& when) {
  for (const auto& [kind, hash] : first.facts) {
    if (second.facts.at(kind) != hash) return fmt::format("{}: other {}", when, kind);
  }
  for (const auto& [scope, hash] : first.runs) {
    const auto found = second.runs.find(scope);
    if (found == second.runs.end()) return fmt::format("{}: no run", when);
    if (found->second != hash) {
      return fmt::format("{}: other postings of cluster '{}'", when, scope.cluster.text());
    }
  }
  if (first.runs.size() != second.runs.size()) return fmt::format("{}: more runs", when);
  return std::nullopt;
}

// The expected ledger: filled in good order, and checked against the world on the way.
Contents reference(const World& world) {
  const auto store = make_memory_store();
  for (const Delivery& delivery : ordered_deliveries(world)) must(import(*store, delivery));
  allocate_ledger(*store, world);
  Facts truth = world_facts(world);
  const auto kept = facts_in(*store, world);
  const auto wanted = digests(truth), there = digests(kept);
  for (const auto& [kind, hash] : wanted) {
    if (there.at(kind) == hash) continue;
    throw StoreError{fmt::format("the ledger does not hold the {} of the world", kind)};
  }
  const auto totals =
      must(store->reconcile(world.month, true, [](const LineCheck&) { return true; }));
  for (const ReconcileTotals& total : totals) {
    if (total.lines_off > 0 || !(total.billed_lines == total.posted)) {
      throw StoreError{"reconcile says that lines are off"};
    }
  }
  const Outcome direct = must(run_engine(by_cluster(truth), world.policy, {}));
  SetDigest said, stored;
  for (const Posting& posting : direct.postings) said.add(content_hash(posting));
  for (const BillLine& line : world.bill) {
    for (const Posting& posting : must(store->postings_of(line.charge.id))) {
      stored.add(content_hash(posting));
    }
  }
  if (said.digest() != stored.digest()) throw StoreError{"the ledger holds other postings"};
  return contents_of(*store, world);
}

using Reopen = std::function<void(std::unique_ptr<Store>&)>;

// Everything goes wrong, and the result must be the same.
Finding fill_badly(const World& world, const Contents& expected, std::unique_ptr<Store> store,
                   const Reopen& reopen) {
  Random random(world.seed, "fill");
  const auto deliveries = disturbed_deliveries(world, world.seed);
  for (const Delivery& delivery : deliveries) {
    if (random.between(0, 3) == 0) must(import_and_fail(*store, delivery));
    const ImportOutcome outcome = must(import(*store, delivery));
    if (outcome.rejected < delivery.restated) {
      return "rows that contradict the ledger were not set aside";
    }
    if (delivery.restated == 0 && outcome.rejected > 0) {
      return fmt::format("{} good rows of '{}' were rejected: {}", outcome.rejected, delivery.name,
                         outcome.conflict_rows.front().reason);
    }
    if (random.between(0, 5) == 0) allocate_ledger(*store, world, true);
    if (random.between(0, 3) == 0) allocate_ledger(*store, world);
    if (random.between(0, 3) == 0) reopen(store);
  }
  allocate_ledger(*store, world);
  if (const Finding found =
          difference(expected, contents_of(*store, world), "late, mixed up and repeated")) {
    return found;
  }
  const std::size_t runs = must(store->runs()).size();
  for (const Delivery& delivery : ordered_deliveries(world)) must(import(*store, delivery));
  allocate_ledger(*store, world);
  if (must(store->runs()).size() != runs) return "twice is not once: a run that says the same";
  return difference(expected, contents_of(*store, world), "everything imported twice");
}

template <class Work>
Finding guarded(const Work& work) {
  try {
    return work();
  } catch (const StoreError& refused) {
    return refused.why;
  } catch (const InvariantError& broken) {
    return std::string("a store broke its own promise: ") + broken.what();
  }
}

std::unique_ptr<Store> open_file(const std::string& path) {
  return must(open_duckdb_store({.path = path, .memory_bytes_max = 256u << 20, .threads = 1}));
}

// The child process: continues from a delivery, and reports each one that is in the ledger.
[[noreturn]] void fill_until_killed(const World& world, const std::string& path, std::size_t from,
                                    int acknowledgements) {
  const Finding found = guarded([&]() -> Finding {
    const auto store = open_file(path);
    const auto deliveries = disturbed_deliveries(world, world.seed);
    for (std::size_t i = from; i < deliveries.size(); ++i) {
      must(import(*store, deliveries[i]));
      const char done = '.';
      if (::write(acknowledgements, &done, 1) != 1) ::_exit(2);
      if (i % 3 == 2) allocate_ledger(*store, world);
    }
    return std::nullopt;
  });
  ::_exit(found ? 1 : 0);
}

}  // namespace

Finding audit_ledger(const World& world) {
  return guarded([&] {
    return fill_badly(world, reference(world), make_memory_store(), [](std::unique_ptr<Store>&) {});
  });
}

Finding audit_duckdb(const World& world, const std::string& folder) {
  const std::string path = folder + "/ledger.duckdb";
  return guarded([&] {
    return fill_badly(world, reference(world), open_file(path), [&](std::unique_ptr<Store>& store) {
      store.reset();
      store = open_file(path);
    });
  });
}

Finding audit_kill(const World& world, const std::string& folder) {
  return guarded([&]() -> Finding {
    const std::string path = folder + "/killed.duckdb";
    const Contents expected = reference(world);
    Random random(world.seed, "kill");
    std::size_t acknowledged = 0;
    for (int round = 0; round < 4; ++round) {
      int ends[2];
      if (::pipe(ends) != 0) throw StoreError{"no pipe"};
      const pid_t child = ::fork();
      if (child < 0) throw StoreError{"no process"};
      if (child == 0) {
        ::close(ends[0]);
        fill_until_killed(world, path, acknowledged, ends[1]);
      }
      ::close(ends[1]);
      std::this_thread::sleep_for(std::chrono::milliseconds(random.between(20, 400)));
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      char done = 0;
      while (::read(ends[0], &done, 1) == 1) ++acknowledged;
      ::close(ends[0]);
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return "a process failed by itself";
    }
    const auto store = open_file(path);
    const auto deliveries = disturbed_deliveries(world, world.seed);
    for (std::size_t i = acknowledged; i < deliveries.size(); ++i) {
      must(import(*store, deliveries[i]));
    }
    allocate_ledger(*store, world);
    return difference(expected, contents_of(*store, world), "killed and resumed");
  });
}

}  // namespace pennyweight::sim
