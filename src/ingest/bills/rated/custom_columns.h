// Columns that no field of a charge takes, as Charge::other_columns stores them.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pennyweight::rated {

using OtherColumns = std::map<std::string, std::string>;

// A flat JSON object with sorted keys and without empty values; "" if there are none.
std::string to_json(const OtherColumns& columns);

// The name of a custom FOCUS column for a provider's own name: "podId" → "x_PodId".
std::string custom_name(std::string_view name);

}  // namespace pennyweight::rated
