// Numbers as bills write them, fast: the common shape (at most 18 digits, no exponent) in one loop,
// everything else by core/decimal.h. Both give the same answer for every text; a property test says
// so.
#pragma once

#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight::bill {

Result<ParsedDecimal> parse_number(std::string_view text);

// The same, and with a '+' before the digits of an exponent: most programs print 1e+16.
Result<ParsedDecimal> parse_printed_number(std::string_view text);

// Whether a text is written as a number and says more than a Decimal can hold: 2.6e21
// byte-seconds. What it means is clear, and a row is not lost for such a quantity.
bool is_number_out_of_range(std::string_view text);

}  // namespace pennyweight::bill
