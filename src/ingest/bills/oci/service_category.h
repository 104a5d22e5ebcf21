// The FOCUS categories of OCI's services.
#pragma once

#include <string_view>

#include "ingest/bills/service_category.h"

namespace pennyweight::oci {

// By product/service, such as "COMPUTE"; Other for a service that is not in the table.
bill::ServiceCategory service_category(std::string_view service);

}  // namespace pennyweight::oci
