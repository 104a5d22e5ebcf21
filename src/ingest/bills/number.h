// Parses the numbers of bills, fast: the common form (at most 18 digits, no exponent) in one loop,
// everything else with core/decimal.h. A property test shows that both agree on every text.
#pragma once

#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight::bill {

Result<ParsedDecimal> parse_number(std::string_view text);

// The same, and accepts a '+' in an exponent: most programs print 1e+16.
Result<ParsedDecimal> parse_printed_number(std::string_view text);

// True for a number that is too large for a Decimal, such as 2.6e21 byte-seconds. Its meaning is
// clear, so a row is not set aside for such a quantity.
bool is_number_out_of_range(std::string_view text);

}  // namespace pennyweight::bill
