#include "app/import/share_names.h"

#include <utility>

#include "core/ascii.h"
#include "ledger/account_in_scope.h"

namespace pennyweight {

ShareNames::ShareNames(const DeliveredLines& lines) {
  for (const auto& [key, group] : lines.groups()) {
    if (key.cloud == kAzureCloud) azure_accounts_.insert(key.account);
  }
}

GroupName ShareNames::name_of(const DeliveredShare& share) const {
  std::string account = ascii::lower_case(share.account);
  if (!azure_accounts_.contains(account)) {
    return {share.account, share.sub_account, share.part, share.currency};
  }
  return {std::move(account), ascii::lower_case(share.sub_account), share.part, share.currency};
}

}  // namespace pennyweight
