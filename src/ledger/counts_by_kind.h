// counts_by_kind: what an import brought, by the kinds of facts, under the names that programs
// read.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "ledger/store.h"

namespace pennyweight {

// REQUIRES: the outcome outlives what is returned.
inline std::array<std::pair<std::string_view, const FactCounts&>, 8> counts_by_kind(
    const ImportOutcome& outcome) {
  return {{{"charges", outcome.charges},
           {"holdings", outcome.holdings},
           {"nodes", outcome.nodes},
           {"gpus", outcome.gpus},
           {"usages", outcome.usages},
           {"outages", outcome.outages},
           {"corrections", outcome.corrections},
           {"outcomes", outcome.outcomes}}};
}
std::array<std::pair<std::string_view, const FactCounts&>, 8> counts_by_kind(ImportOutcome&&) =
    delete;

}  // namespace pennyweight
