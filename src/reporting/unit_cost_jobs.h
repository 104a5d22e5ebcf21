// What jobs cost over all of their attempts, divided into useful and lost cost.
//
// An attempt that completed is useful. One that failed, was cancelled, preempted or requeued, or
// ran into its time limit is lost: as far as the scheduler knows, its work has to be repeated.
// Checkpoints are not known here, so lost cost is an upper bound. An attempt that still runs is
// neither, and where the source does not say how it ended, its end is unknown.
//
// An attempt is a holding. Slurm's attempts of one job share its id; the pods of one Kubernetes job
// (label `job`) are its attempts, whether retries or ranks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/money.h"
#include "core/quantity.h"
#include "ledger/holding.h"
#include "ledger/posting.h"

namespace pennyweight {

enum class AttemptEnd { kUseful, kLost, kRunning, kUnknown };
inline constexpr std::size_t kAttemptEnds = 4;

// Judges by the labels `state` (Slurm) and `phase` (pod), and by whether the holding ended.
AttemptEnd attempt_end(const Holding& holding);

struct AttemptSums {
  Money effective;   // what its holder was charged, used or not
  GpuTime gpu_time;  // held, as in SummaryRow
  std::uint64_t attempts = 0;
  bool operator==(const AttemptSums&) const = default;
};

struct JobCostRow {
  std::string cluster;
  std::string job;    // "12345", "namespace/name"; kOtherWorkloads
  std::string name;   // Slurm's job name
  std::string group;  // namespace or account
  std::string user;
  std::array<AttemptSums, kAttemptEnds> by_end;

  const AttemptSums& sums(AttemptEnd end) const { return by_end[static_cast<std::size_t>(end)]; }
  AttemptSums total() const;
  bool operator==(const JobCostRow&) const = default;
};

// The row of workloads whose holding is not in the ledger. Cost that spreading moved to owners is
// not part of it.
inline constexpr const char* kOtherWorkloads = "(holding unknown)";

struct JobCostReport {
  Currency currency;
  std::vector<JobCostRow> rows;  // the most expensive first, then by cluster and job
  // ENSURES: the sum of the rows, and all that holders were charged.
  JobCostRow total;
};

class JobCosts {
 public:
  using FindHolding = std::function<std::optional<Holding>(const FactId&)>;

  // `find` looks up holdings that add() did not bring: superseded readings, or another month's.
  explicit JobCosts(FindHolding find) : find_(std::move(find)) {}

  // REQUIRES: holdings come before their postings.
  void add(const Holding& holding);
  void add(const ClusterId& cluster, const Posting& posting);

  std::vector<JobCostReport> report() const;

 private:
  using JobKey = std::pair<std::string, std::string>;  // cluster, job
  struct Attempt {
    JobKey job;
    std::string name;  // of the attempt: its holdings count once
    AttemptEnd end;
    std::string job_name, group, user;
  };
  struct Sums {
    JobCostRow row;
    std::array<std::set<std::string>, kAttemptEnds> attempts;
  };
  static Attempt to_attempt(const Holding& holding);
  const Attempt& find_attempt(const ClusterId& cluster, const Posting& posting);

  FindHolding find_;
  std::unordered_map<FactId, Attempt, FactIdHash> attempts_;  // never iterated: its order is random
  Attempt unknown_ = {};
  std::map<Currency, std::map<JobKey, Sums>> sums_;
};

}  // namespace pennyweight
