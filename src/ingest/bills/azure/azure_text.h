// Compares texts as Azure's exports need it, ignoring case, and parses Azure's resource ids.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ingest/bills/azure/column.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::azure {

// "Savings Plan" equals "SavingsPlan" and "savingsplan".
bool equal_ignoring_case_and_spaces(std::string_view text, std::string_view word);
bool starts_with_ignoring_case(std::string_view text, std::string_view start);
std::size_t find_ignoring_case(std::string_view text, std::string_view part);

// The part after the last '/'; the whole text if it has none.
std::string_view last_segment(std::string_view path);
// "Microsoft.Compute/virtualMachines": the last provider of an Azure resource id and the types
// after it, without the names between them.
std::string resource_type_of(std::string_view id);

bill::RowFault column_fault(Column column, const std::string& reason);

}  // namespace pennyweight::azure
