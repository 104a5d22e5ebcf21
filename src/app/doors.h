// Doors: who is let in, and what is written down of it: accounts, the audit log, OpenID Connect.
//
// At the first start there is nobody: an admin is made, whose one-time password lies in a file that
// only its owner can read, and nobody but this machine is listened to until he is there.
#pragma once

#include <memory>
#include <string>

#include "access/accounts.h"
#include "access/oidc/provider.h"
#include "app/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "trail/trail.h"

namespace pennyweight {

// The folder of what `serve` keeps beside the ledger.
std::string live_folder(const Config& config);
// Where the accounts of a ledger are.
std::string accounts_path(const Config& config);

struct Doors {
  std::unique_ptr<access::Accounts> accounts;
  std::unique_ptr<trail::Trail> trail;
  std::unique_ptr<access::oidc::Provider> openid;  // null: not configured
};

// REQUIRES: the live folder is there.
Result<Doors> open_doors(const Config& config, Clock& clock, Log& log);

}  // namespace pennyweight
