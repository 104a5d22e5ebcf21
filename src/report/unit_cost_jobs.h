// What jobs cost, over all of their attempts: what was useful and what was lost.
//
// An attempt that did what it was for is useful. One that failed, was cancelled, preempted,
// requeued, or ran into its time limit is lost: it has to be done again, as far as the scheduler
// knows. Checkpoints are not known here, so lost is the most that can have been. What still runs is
// neither, and where the source says nothing of the end it is not guessed.
//
// An attempt is a holding. Slurm's attempts of one job share its id; pods of one Kubernetes job
// (label `job`) are its attempts, be they retries or ranks.
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

// By the labels `state` (Slurm's) and `phase` (of a pod), and by whether it ended.
AttemptEnd attempt_end(const Holding& holding);

struct AttemptSums {
  Money effective;   // what its holder was charged, used or not
  GpuTime gpu_time;  // held, as of SummaryRow
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

  const AttemptSums& of(AttemptEnd end) const { return by_end[static_cast<std::size_t>(end)]; }
  AttemptSums total() const;
  bool operator==(const JobCostRow&) const = default;
};

// Workloads whose holding is not in the ledger: what rules moved to owners is not among them.
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

  // For holdings that no add() brought: those of an earlier reading, or another month.
  explicit JobCosts(FindHolding find) : find_(std::move(find)) {}

  // REQUIRES: holdings come before the postings they made.
  void add(const Holding& holding);
  void add(const ClusterId& cluster, const Posting& posting);

  std::vector<JobCostReport> report() const;

 private:
  using JobKey = std::pair<std::string, std::string>;  // cluster, job
  struct Attempt {
    JobKey job;
    std::string name;  // of the attempt, so that its parts count once
    AttemptEnd end;
    std::string job_name, group, user;
  };
  struct Sums {
    JobCostRow row;
    std::array<std::set<std::string>, kAttemptEnds> attempts;
  };
  static Attempt attempt_of(const Holding& holding);
  const Attempt& attempt_of(const ClusterId& cluster, const Posting& posting);

  FindHolding find_;
  std::unordered_map<FactId, Attempt, FactIdHash> attempts_;  // only looked into
  Attempt unknown_ = {};
  std::map<Currency, std::map<JobKey, Sums>> sums_;
};

}  // namespace pennyweight
