// The FOCUS categories of Google Cloud's services.
#pragma once

#include <string_view>

#include "ingest/bills/service_category.h"

namespace pennyweight::gcp {

// By service.description, such as "Compute Engine"; Other for a service that is not in the table.
bill::ServiceCategory service_category(std::string_view service);

}  // namespace pennyweight::gcp
