// The names and FOCUS categories of AWS's services, by product code.
#pragma once

#include <string_view>

#include "ingest/bills/service_category.h"

namespace pennyweight::aws {

struct Service {
  std::string_view name;
  bill::ServiceCategory category;
};

// A service of an unknown code has no name, and is "Other".
const Service& find_service(std::string_view product_code);

}  // namespace pennyweight::aws
