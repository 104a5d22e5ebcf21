// How many digits people write of a currency: two of dollars and euros, none of yen, three of
// Kuwaiti dinars.
#pragma once

#include <string>

#include "core/money.h"

namespace pennyweight {

// The digits of the currency's minor unit, by ISO 4217 list one; 2 where the list does not say.
int minor_digits(Currency currency);

// In minor units, rounded half to even: "1,234.50", "-0.07", for yen "1,234".
std::string format_minor(Money amount);

}  // namespace pennyweight
