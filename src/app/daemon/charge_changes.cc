#include "app/daemon/charge_changes.h"

#include <algorithm>

#include "core/try.h"
#include "ledger/work.h"

namespace pennyweight {

Result<bool> charges_changed(Store& store, const std::string& month, std::uint64_t after_import) {
  const auto invalidated = TRY(store.invalidated_scopes(after_import));
  const Invalidation of_month = charge_invalidation(month);
  return std::ranges::find(invalidated, of_month, &InvalidatedScope::invalidation) !=
         invalidated.end();
}

}  // namespace pennyweight
