// A quantity as Kubernetes writes it: "8", "3k", "500m", "16Gi", "1.5", "2e3".
//
// The API server rewrites quantities into the shortest form, so that a request of 3000 MiB of
// nvidia.com/gpumem comes back as "3k" (kubernetes.io, API reference "Quantity").
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// The quantity as a count of 1/units: parse_quantity("500m", 1000) is 500, parse_quantity("1Ki", 1)
// is 1024. An Error when it is malformed, negative, not a whole count, or too large.
Result<std::uint64_t> parse_quantity(std::string_view text, std::uint64_t units);

}  // namespace pennyweight
