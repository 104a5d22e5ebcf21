// The service categories of FOCUS, which providers' own bills do not have: each format has a table
// of its provider's services.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace pennyweight::bill {

struct ServiceCategory {
  std::string_view category;     // ServiceCategory
  std::string_view subcategory;  // ServiceSubcategory, of FOCUS 1.1 and later
};

// For a service that no table has.
inline constexpr ServiceCategory kOtherService = {"Other", "Other (Other)"};

// A row of a table. Tables are sorted by name: static_assert(is_sorted_by_name(kTable)).
struct CategorisedService {
  std::string_view name;
  ServiceCategory category;
};

constexpr bool is_sorted_by_name(std::span<const CategorisedService> table) {
  return std::ranges::is_sorted(table, {}, &CategorisedService::name);
}

// Null for a service that the table does not have. REQUIRES: the table is sorted by name.
constexpr const ServiceCategory* find_category(std::span<const CategorisedService> table,
                                               std::string_view service) {
  const auto at = std::ranges::lower_bound(table, service, {}, &CategorisedService::name);
  return at != table.end() && at->name == service ? &at->category : nullptr;
}

}  // namespace pennyweight::bill
