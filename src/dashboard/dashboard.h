// Dashboard: the pages, as routes. They are open: what they show comes from the API, behind its
// guard, and nothing in them is secret.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/server.h"

namespace pennyweight::dashboard {

// What every answer of the server bears, for Settings::headers. No script or style stands in a
// page, nothing comes from elsewhere, and nobody may frame us.
inline const std::vector<std::pair<std::string, std::string>> kPageHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
     "frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "same-origin"},
    {"Permissions-Policy",
     "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

// Every file of the pack, and the one page at each address that pages have.
std::vector<server::Route> dashboard_routes();

}  // namespace pennyweight::dashboard
