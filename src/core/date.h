// Date: a calendar date without a time or a zone, as configuration and price files write it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

using Date = std::chrono::sys_days;

// Reads "2026-03-31" and no other form, for the years 1970 to 2199.
Result<Date> parse_date(std::string_view text);
std::string to_text(Date date);

}  // namespace pennyweight
