// Compares the ledger before and after an advice was followed.
#pragma once

#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/advice/life.h"
#include "ledger/store.h"

namespace pennyweight {

inline constexpr int kVerifiedDaysMin = 7;
inline constexpr int kVerifiedDaysMax = 28;

struct AdviceVerification {
  Money realised;  // a month of 730 hours costs so much less for the same work
  Date last_day;   // that was compared
  std::vector<std::string> findings;
};

// Whole weeks, at least one and at most four, before the day since which the advice is in effect,
// and as many after it; the day itself is left out. The cost before is scaled by the amount of
// work: what `done.work` names says which (docs/methods/advice.md).
// Errors: kConflict where there are too few days after or before, a day without a bill between, or
// no work to compare; kBadValue where there are several currencies.
Result<AdviceVerification> verify_advice(Store& store, const AdviceStep& done, const Policy& policy,
                                         Date today);

}  // namespace pennyweight
