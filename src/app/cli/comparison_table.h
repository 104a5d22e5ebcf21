// Tables of a comparison: what each owner pays under each method, who gains, who loses, and why.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "insight/compare/comparison.h"
#include "reporting/table.h"

namespace pennyweight {

// One per currency. `title` is the period, such as "2026-03"; `by` are the dimensions of the rows.
std::vector<Table> comparison_tables(std::span<const Comparison> comparisons,
                                     std::span<const Method> methods,
                                     std::span<const std::string> by, const std::string& title);

}  // namespace pennyweight
