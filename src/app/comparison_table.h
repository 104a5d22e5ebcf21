// A comparison as a table: who pays how much under which method, who gains, who loses, and why.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "report/table.h"

namespace pennyweight {

// One for each currency. `title` is what they are about: "2026-03". `by` are the dimensions of the
// rows.
std::vector<Table> comparison_tables(std::span<const Comparison> comparisons,
                                     std::span<const Method> methods,
                                     std::span<const std::string> by, const std::string& title);

}  // namespace pennyweight
