#include "app/import/share_names.h"

#include <utility>

#include "ledger/account_in_scope.h"

namespace pennyweight {

ShareNames::ShareNames(const DeliveredLines& lines) {
  for (const auto& [key, group] : lines.groups()) {
    if (key.cloud == kAzureCloud) azure_accounts_.insert(key.account);
  }
}

GroupName ShareNames::name_of(const DeliveredShare& share) const {
  std::string account = account_scope_of_statement(share.account, kAzureCloud);
  if (!azure_accounts_.contains(account)) {
    return {share.account, share.sub_account, share.part, share.currency};
  }
  return {std::move(account), account_in_scope(share.sub_account, kAzureCloud), share.part,
          share.currency};
}

}  // namespace pennyweight
