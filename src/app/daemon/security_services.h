// SecurityServices: the accounts, the audit log and the OpenID Connect provider of a server.
//
// At the first start there are no users: an admin is made, whose one-time password is in a file
// that only its owner can read, and until then the server may only listen on this machine.
#pragma once

#include <memory>
#include <string>

#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "server/access/accounts.h"
#include "server/access/oidc/provider.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {

struct SecurityServices {
  std::unique_ptr<access::Accounts> accounts;
  std::unique_ptr<audit_log::AuditLog> audit_log;
  std::unique_ptr<access::oidc::Provider> openid;  // null: not configured
};

// Removes the file with the first admin's one-time password once that is no longer valid.
Result<void> forget_first_password(access::Accounts& accounts, const Config& config);

// REQUIRES: the live folder is there.
Result<SecurityServices> open_security_services(const Config& config, Clock& clock, Log& log);

}  // namespace pennyweight
