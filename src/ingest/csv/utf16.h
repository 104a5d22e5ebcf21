// Spreadsheets and PowerShell write UTF-16, with a byte order mark or without.
#pragma once

#include <string_view>

namespace pennyweight::csv {

// What a file is that begins so, and what to do: "is UTF-16; …". Empty: it is not UTF-16.
std::string_view utf16_mistake(std::string_view beginning);

}  // namespace pennyweight::csv
