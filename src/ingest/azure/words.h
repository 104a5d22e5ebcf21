// Words as Azure's exports write them: compared without regard to case, and columns at fault.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ingest/azure/column.h"
#include "ingest/bill/bill_reader.h"

namespace pennyweight::azure {

// Without case and spaces, as "Savings Plan" and "SavingsPlan" are one.
bool same_word(std::string_view text, std::string_view word);
// Without case.
bool starts_with_letters(std::string_view text, std::string_view start);
std::size_t find_letters(std::string_view text, std::string_view part);

// What follows the last '/'; all of a text without one.
std::string_view last_segment(std::string_view path);
// "Microsoft.Compute/virtualMachines" of an Azure resource id: its last provider and the types
// after it, without the names between them.
std::string resource_type_of(std::string_view id);

bill::Fault bad(Column column, const std::string& reason);

}  // namespace pennyweight::azure
