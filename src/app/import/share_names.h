// Names what imports delivered as the ledger's lines are named, so that the two can be compared.
#pragma once

#include <set>
#include <string>
#include <tuple>

#include "app/import/delivered_lines.h"
#include "ledger/bill_statement.h"

namespace pennyweight {

// Account (account_scope()), sub account, part, currency.
using GroupName = std::tuple<std::string, std::string, std::string, Currency>;

inline GroupName group_name(const LineGroupKey& key) {
  return {key.account, key.sub_account, key.part, key.currency};
}

// Statements of earlier programs have Azure's ids in the letters of their files. Which accounts are
// Azure's is learnt from lines.
class ShareNames {
 public:
  explicit ShareNames(const DeliveredLines& lines);
  GroupName name_of(const DeliveredShare& share) const;

 private:
  std::set<std::string> azure_accounts_;
};

}  // namespace pennyweight
