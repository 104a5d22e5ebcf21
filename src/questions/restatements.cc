#include "questions/restatements.h"

#include <utility>

#include "questions/selection.h"

namespace pennyweight {

Result<RestatementAnswer> ask_restatements(Store& store, const std::string& month) {
  if (!month.empty()) {
    if (const auto checked = check_month(month); !checked) {
      return std::unexpected(checked.error());
    }
  }
  const auto retired = store.retired_charges(month);
  if (!retired) return std::unexpected(retired.error());
  const auto restated = store.restated_charges(month);
  if (!restated) return std::unexpected(restated.error());
  auto imports = store.imports();
  if (!imports) return std::unexpected(imports.error());
  return RestatementAnswer{.lines = restated_lines(*retired, *restated),
                           .imports = *std::move(imports)};
}

}  // namespace pennyweight
