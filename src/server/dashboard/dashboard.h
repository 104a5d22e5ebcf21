// Routes of the dashboard's files. They are open: the pages hold nothing secret, and what they show
// comes from the API, behind its guard.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/server.h"

namespace pennyweight::dashboard {

// Headers of every answer of the server, for Settings::headers: no inline script or style, nothing
// from other origins, no framing.
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

// For Settings::missing_page: the pages' own "not found", with the status 404.
server::Response missing_page();

// A route for every file of the pack. web/build.mjs puts the one HTML file at the address of every
// page.
std::vector<server::Route> dashboard_routes();

}  // namespace pennyweight::dashboard
