// Scopes as people write them: "team=nlp,cv; cluster=a", or "everything".
//
// All parts must hold, and of a part's values any one. A backslash takes the next character as it
// is: team=r\,d is the one value "r,d". Blanks around names and values don't count. An empty text
// is no scope: who is to see everything is told so in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ledger/summary.h"

namespace pennyweight::access {

inline constexpr std::size_t kScopePartsMax = 16;
inline constexpr std::size_t kScopeValuesMax = 1000;  // of all parts together
inline constexpr std::size_t kScopeTextBytesMax = 512u << 10;

// Whether it is a scope that somebody can be bound to: no part is negated, no name, no value is
// empty, none is there twice, and there are not too many.
Result<void> check_scope(const std::vector<SummaryFilter>& scope);

Result<std::vector<SummaryFilter>> parse_scope(std::string_view text);
// REQUIRES: check_scope(). ENSURES: parse_scope() gives it back.
std::string format_scope(const std::vector<SummaryFilter>& scope);

}  // namespace pennyweight::access
