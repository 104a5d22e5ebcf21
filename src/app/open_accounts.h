// The accounts beside the ledger, for the verbs that change them; `serve` may run meanwhile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/accounts.h"
#include "app/verb.h"
#include "core/error.h"
#include "ledger/summary.h"

namespace pennyweight {

// An Error where there are none yet.
Result<std::unique_ptr<access::Accounts>> open_accounts(Context& context);
// Makes them where there are none.
Result<std::unique_ptr<access::Accounts>> create_accounts(Context& context);

// The user of that name, or an Error.
Result<access::User> user_called(access::Accounts& accounts, std::string_view name);

// "team=nlp,cv", or "everything", of an option, by dimensions that the policy has.
Result<std::vector<SummaryFilter>> scope_of_option(const std::string& text, const Policy& policy);

}  // namespace pennyweight
