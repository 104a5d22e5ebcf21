// How an explanation writes amounts and fractions.
#pragma once

#include <string>

#include "core/card_share.h"
#include "core/int128.h"
#include "core/money.h"

namespace pennyweight {

std::string money(const Money& amount);  // "USD 1.5", every digit
// "3/28": a fraction in lowest terms.
std::string fraction(UInt128 part, UInt128 whole);
// A fraction in percent with six digits, cut off; for reading only.
std::string percent(UInt128 part, UInt128 whole);
// Four digits, half-even, as reports show them.
std::string gpu_hours(GpuTime time);
// "1", or a fraction of a GPU.
std::string share_text(CardShare share);

}  // namespace pennyweight
