// What is answered where a month can't be stated.
#pragma once

#include <string>

#include "core/error.h"
#include "server/access/principal.h"
#include "server/server.h"

namespace pennyweight::api {

// `error` may name what the whole company pays and the invoices of others, so a client and a scoped
// user are told only that the statement is not ready (409). `month`: as it is named to them.
server::Response statement_refusal(const access::Principal& who, const std::string& month,
                                   const Error& error);

}  // namespace pennyweight::api
