// FOCUS asks for a category of every service, and Google's export has none: a table of services.
#pragma once

#include <string_view>

namespace pennyweight::gcp {

struct ServiceCategory {
  std::string_view category;
  std::string_view subcategory;
};

// By service.description, "Compute Engine"; Other for a service that the table does not have.
ServiceCategory service_category(std::string_view service);

}  // namespace pennyweight::gcp
