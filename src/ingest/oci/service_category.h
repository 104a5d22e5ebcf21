// FOCUS asks for a category of every service, and OCI's own report has none: a table of services.
#pragma once

#include <string_view>

namespace pennyweight::oci {

struct ServiceCategory {
  std::string_view category;
  std::string_view subcategory;
};

// By product/service, "COMPUTE"; Other for a service that the table does not have.
ServiceCategory service_category(std::string_view service);

}  // namespace pennyweight::oci
