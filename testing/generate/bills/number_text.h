// Prints numbers as providers' exports do. Providers compute in floating point, so small numbers
// have an exponent, which each provider writes differently; the value is always exactly the given
// decimal.
#pragma once

#include <string>

#include "core/decimal.h"

namespace pennyweight::bills {

// AWS: "24.0", "0.0416", "5.28E-6".
std::string java_double(Decimal value);
// Google's CSV: "24.0", "2e-06", "1.385e-05".
std::string python_double(Decimal value);
// Azure: "24", "0.011199923", "5.64902E-05".
std::string dotnet_double(Decimal value);
// Oracle, always eighteen digits: "0.083333333333000000", "2.323760000E-9".
std::string eighteen_digits(Decimal value);

}  // namespace pennyweight::bills
