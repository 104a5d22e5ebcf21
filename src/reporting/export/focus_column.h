// The columns of the FOCUS dataset Cost and Usage, for the versions 1.2 to 1.4.
//
// Source: the specification's column tables (focus.finops.org). Null rules are in null_rules.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pennyweight {

enum class FocusVersion { k1_2, k1_3, k1_4 };

std::string_view to_text(FocusVersion version);  // "1.2"
std::optional<FocusVersion> parse_focus_version(std::string_view text);

enum class FocusType { kString, kDecimal, kDateTime, kJson };

struct FocusColumn {
  std::string name;
  FocusType type;
  bool operator==(const FocusColumn&) const = default;
};

// The columns of a version, by name.
std::span<const FocusColumn> focus_columns(FocusVersion version);
// Null for a name that the version does not have.
const FocusColumn* find_focus_column(FocusVersion version, std::string_view name);

// A valid custom column name for any `name`: x_ and a Pascal case name of letters and digits, at
// most 50 characters in all (attribute Custom Column Handling). "ProviderName" → "x_ProviderName",
// "odd, name" → "x_OddName". A valid name stays as it is.
std::string custom_column_name(std::string_view name);

}  // namespace pennyweight
