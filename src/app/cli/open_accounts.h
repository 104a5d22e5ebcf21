// Opens the accounts of a ledger for the verbs that change them; `serve` may run meanwhile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/verb.h"
#include "core/error.h"
#include "ledger/summary.h"
#include "server/access/accounts.h"

namespace pennyweight {

// An Error if there are none yet.
Result<std::unique_ptr<access::Accounts>> open_accounts(Context& context);
// Creates them if there are none.
Result<std::unique_ptr<access::Accounts>> create_accounts(Context& context);

// An Error if there is no such user.
Result<access::User> find_user_by_name(access::Accounts& accounts, std::string_view name);

// Parses a scope option, "team=nlp,cv" or "everything". The policy must have its dimensions.
Result<std::vector<SummaryFilter>> parse_scope_option(const std::string& text,
                                                      const Policy& policy);

}  // namespace pennyweight
