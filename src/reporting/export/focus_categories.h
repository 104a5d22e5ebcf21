// The service categories of FOCUS and their subcategories: the same 82 pairs in 1.2, 1.3 and 1.4
// (focus.finops.org, ServiceSubcategory, "Allowed values"). Every category X has "Other (X)".
#pragma once

#include <string_view>

namespace pennyweight {

bool is_focus_category(std::string_view category);
bool is_focus_subcategory(std::string_view category, std::string_view subcategory);

}  // namespace pennyweight
