// Tokens as JSON.
#pragma once

#include <string>

#include "server/access/accounts.h"

namespace pennyweight::api {

// A token as shown by the API and recorded in the audit log, without its secret.
std::string token_text(const access::Token& token);

}  // namespace pennyweight::api
