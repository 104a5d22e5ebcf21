// The page behind the link that an approver is sent: it shows a request, and decides on it.
//
// It needs no session: the link itself, which is signed, says who decides on what, until when.
// Opening it decides nothing, since programs that scan mail open links too; the page's form does.
#pragma once

#include <vector>

#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// GET and POST /approve/{link}.
std::vector<server::Route> approval_link_routes(const Services& services);

}  // namespace pennyweight::api
