// The estimate of workloads as the rules with the effect mutate leave them, which is what all other
// rules judge, before admission as at it.
//
// The GPUs of a claim of its own (a ResourceClaim) are judged with each workload that uses them, by
// that workload's labels and kind; they are priced once in `arrived`, and with each of them here.
#pragma once

#include <span>

#include "allocation/pricing/catalog.h"
#include "core/date.h"
#include "core/error.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/rules.h"

namespace pennyweight::guardrails {

// REQUIRES: `arrived` was made with this catalog and these options.
Result<Estimate> estimate_changed(const Estimate& arrived, std::span<const GuardrailRule> rules,
                                  const Catalog& catalog, const EstimateOptions& options,
                                  const RuleContext& context);

}  // namespace pennyweight::guardrails
