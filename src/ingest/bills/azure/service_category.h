// The FOCUS categories of Azure's services.
//
// They go by meter category, because FOCUS wants one category for each service name, and by the
// export's service family for the many meter categories that are not in the table.
#pragma once

#include <string_view>

#include "ingest/bills/service_category.h"

namespace pennyweight::azure {

// Other for a service that neither names.
bill::ServiceCategory service_category(std::string_view meter_category,
                                       std::string_view service_family);

}  // namespace pennyweight::azure
