// Parses and writes scopes as people type them: "team=nlp,cv; cluster=a", or "everything".
//
// Every part applies, and within a part any one of its values. A backslash quotes the next
// character: team=r\,d is the one value "r,d". Blanks around names and values are ignored. An empty
// text is refused: seeing everything must be written out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ledger/summary.h"

namespace pennyweight::access {

inline constexpr std::size_t kScopePartsMax = 16;
inline constexpr std::size_t kScopeValuesMax = 1000;  // in all parts together
inline constexpr std::size_t kScopeTextBytesMax = 512u << 10;

// Checks that a scope can be given to a user: no part is negated, no name or value is empty or
// repeated, and the limits hold.
Result<void> check_scope(const std::vector<SummaryFilter>& scope);

Result<std::vector<SummaryFilter>> parse_scope(std::string_view text);
// REQUIRES: check_scope() accepts it. ENSURES: parse_scope() returns it.
std::string format_scope(const std::vector<SummaryFilter>& scope);

}  // namespace pennyweight::access
