// Numbers as bills write them, fast: the common shape (at most 18 digits, no exponent) in one loop,
// everything else by core/decimal.h. Both give the same answer for every text; a property test says
// so.
#pragma once

#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight::bill {

Result<ParsedDecimal> parse_number(std::string_view text);

}  // namespace pennyweight::bill
