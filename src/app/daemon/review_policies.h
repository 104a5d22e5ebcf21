// ReviewPolicies: by what the webhook and the socket for Slurm judge, as it is now: the rules and
// prices of the configuration, the time, and what LimitWatch last measured.
#pragma once

#include <memory>

#include "allocation/pricing/catalog.h"
#include "app/daemon/limit_watch.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/date.h"
#include "insight/guardrails/admission.h"
#include "insight/guardrails/offers.h"

namespace pennyweight {

class ReviewPolicies {
 public:
  // All arguments outlive it.
  ReviewPolicies(const Config& config, const Catalog& catalog, guardrails::ApprovalDesk& approvals,
                 const LimitWatch& limits, Clock& clock);

  struct Current {
    guardrails::AdmissionPolicy policy;
    Date today;  // UTC: for exemptions
    // What the policy points to.
    std::shared_ptr<const LimitUses> limits;
    std::shared_ptr<const BudgetUses> budgets;
  };
  // What it says of namespaces, controllers and unknown work is left to whoever asks. Thread-safe.
  Current current() const;

 private:
  const Config& config_;
  const Catalog& catalog_;
  const guardrails::OfferLists offers_;
  const bool looks_at_hours_;
  guardrails::ApprovalDesk& approvals_;
  const LimitWatch& limits_;
  Clock& clock_;
};

}  // namespace pennyweight
