// The columns of a line that no field takes, as Charge::other_columns keeps them.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pennyweight::rated {

using OtherColumns = std::map<std::string, std::string>;

// A flat JSON object, keys sorted; values that are empty are left out, and nothing is "".
std::string to_json(const OtherColumns& columns);

// A provider's own name as the name of a custom FOCUS column: "podId" → "x_PodId".
std::string custom_name(std::string_view name);

}  // namespace pennyweight::rated
