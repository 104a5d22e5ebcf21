// The date of headers of HTTP and mail.
#pragma once

#include <string>
#include <string_view>

#include "core/instant.h"

namespace pennyweight {

// "Thu, 05 Mar 2026 10:11:12" and the zone: "GMT" in HTTP (RFC 9110, IMF-fixdate), "+0000" in mail
// (RFC 5322). Whole seconds, in UTC.
std::string internet_date(Instant at, std::string_view zone);

}  // namespace pennyweight
