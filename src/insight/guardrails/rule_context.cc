#include "insight/guardrails/rule_context.h"

#include "core/int128.h"

namespace pennyweight::guardrails {

bool BudgetUse::is_used_above(std::uint32_t permille) const {
  const Int128 spent = (amount - *left).ticks();
  // Both are at most 10^31 ticks, and the products stay below 2^127.
  return spent * 1000 > amount.ticks() * Int128{permille};
}

}  // namespace pennyweight::guardrails
