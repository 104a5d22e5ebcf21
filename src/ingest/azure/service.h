// Where a service of Azure belongs among FOCUS's service categories.
//
// By its meter category, since FOCUS wants one category for each service name; by the export's
// service family for the many meter categories that stand in no row.
#pragma once

#include <string_view>

namespace pennyweight::azure {

struct Service {
  std::string_view category;
  std::string_view subcategory;
};

// "Other" for what neither names.
Service service_of(std::string_view meter_category, std::string_view service_family);

}  // namespace pennyweight::azure
