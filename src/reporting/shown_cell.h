// A cell of a table as a person reads it.
#pragma once

#include <optional>
#include <string>

#include "reporting/table.h"

namespace pennyweight {

// Absent digits of money: those of its currency.
std::string shown_cell(const Cell& cell, std::optional<int> money_digits = std::nullopt);

}  // namespace pennyweight
