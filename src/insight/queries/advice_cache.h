// AdviceCache: advice of a month as it was worked out, kept while the facts behind it stay the
// same.
//
// Working it out reads every sample of the month, while pages ask for it again and again. Imports
// of other months' days leave it as it is, so a past month is worked out once however much
// telemetry comes in. Decisions are not kept here: they are read anew for each answer.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "core/money.h"
#include "insight/advice/proposal.h"
#include "insight/queries/activity_windows.h"
#include "ledger/store.h"

namespace pennyweight {

struct WorkedOutAdvice {
  std::vector<std::string> clusters;  // that the month has
  std::vector<advising::Proposal> proposals;
  std::vector<std::string> gaps;
  std::set<std::string> teams = {};  // whose jobs or pods the month has
};

// What proposals that can be followed together save a month, by kind and team.
struct SavingsKey {
  std::string kind;
  std::string team;  // empty: about the fleet
  Currency currency = kUsd;
  auto operator<=>(const SavingsKey&) const = default;
};
using SavingsByTeam = std::map<SavingsKey, Money>;

// Any thread may use it.
class AdviceCache {
 public:
  struct Key {
    std::string month;
    std::string cluster;  // empty: all
    std::string cost;
    Instant prices_at;
    auto operator<=>(const Key&) const = default;
  };
  using WorkOut = std::function<Result<WorkedOutAdvice>()>;

  // What is kept for this state of the ledger, else what `work_out` returns.
  Result<std::shared_ptr<const WorkedOutAdvice>> get(Store& store, const Key& key,
                                                     const WorkOut& work_out);

  // What was counted of samples, to go on from when the month is worked out again.
  ActivityKeep& activity() { return activity_; }

  // Those of the newest month that were last asked for; empty before.
  SavingsByTeam savings() const;
  void keep_savings(SavingsByTeam savings);

 private:
  static constexpr std::size_t kKeptMax = 16;
  struct Kept {
    ImportRecord last_import;  // when it was worked out
    std::shared_ptr<const WorkedOutAdvice> advice;
  };
  mutable std::mutex mutex_;  // guards kept_ and savings_
  std::map<Key, Kept> kept_;
  SavingsByTeam savings_;
  ActivityKeep activity_;  // has a lock of its own
};

}  // namespace pennyweight
