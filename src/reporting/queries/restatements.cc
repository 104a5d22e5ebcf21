#include "reporting/queries/restatements.h"

#include <utility>

#include "core/try.h"
#include "reporting/queries/selection.h"

namespace pennyweight {

Result<RestatementResult> query_restatements(Store& store, const std::string& month) {
  if (!month.empty()) {
    TRY(check_month(month));
  }
  const auto retired = TRY(store.retired_charges(month));
  const auto restated = TRY(store.restated_charges(month));
  auto imports = TRY(store.imports());
  return RestatementResult{.lines = pair_restatements(retired, restated),
                           .imports = std::move(imports)};
}

}  // namespace pennyweight
