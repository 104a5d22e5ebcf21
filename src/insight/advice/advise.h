// advise(): what to change about a cluster's month, ranked by what it saves, and what all of it
// would save together.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/proposal.h"
#include "insight/compare/collect_windows.h"
#include "ledger/outage.h"

namespace pennyweight::advising {

// Adds all samples of the period, those of a reading before that holds into it too.
using UsageSource = std::function<Result<void>(ActivityProfiles&)>;

struct AdviceInput {
  ClusterMonth facts;
  std::span<const Outage> outages = {};
  const Policy& policy;
  Interval period;    // what the month's bill covers
  Instant prices_at;  // at which list prices are taken for what could be bought
  Money Costs::* cost = &Costs::effective;
  WorkManager manager = WorkManager::kUnknown;  // of the cluster, as configured
  std::string_view team_dimension = {};         // whose values stand for teams
  UsageSource telemetry = {};                   // empty: there is none
};

struct Advice {
  std::vector<Proposal> proposals;  // the largest expected saving first, then by id
  // What advice is missing for, and what to connect or give.
  std::vector<std::string> gaps;
  std::set<std::string> teams = {};  // whose jobs or pods the month has
};

// An Error is that of the telemetry.
Result<Advice> advise(const AdviceInput& input);

// The largest expected saving first; then the largest high end, then by id.
void rank(std::vector<Proposal>& proposals);

}  // namespace pennyweight::advising
