// The columns of FOCUS, dataset Cost and Usage, that we write: versions 1.2 to 1.4.
//
// Source: the specification's column tables (focus.finops.org). Names, data types and whether a
// column is summable decide how a row is written and split; null rules are in null_rules.h.
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

// Of one version, by name.
std::span<const FocusColumn> focus_columns(FocusVersion version);
// Nothing for a name that the version does not have.
const FocusColumn* find_focus_column(FocusVersion version, std::string_view name);

// Custom columns are x_ and then a name in Pascal case of letters and digits, at most 50 characters
// in all (attribute Custom Column Handling). Whatever `name` is, this is such a name for it:
// "ProviderName" → "x_ProviderName", "odd, name" → "x_OddName". One that is right stays.
std::string custom_column_name(std::string_view name);

}  // namespace pennyweight
