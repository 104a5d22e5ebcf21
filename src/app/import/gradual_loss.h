// What several deliveries of a month took away together, each less than anybody is asked about.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/import/delivered_lines.h"
#include "app/import/earlier_deliveries.h"
#include "core/int128.h"

namespace pennyweight {

// Of an account and month, in one cost, since a person last confirmed less.
struct GradualLoss {
  std::string account;  // account_scope()
  Currency currency;
  Int128 brought = 0;               // the most that was delivered of each sub account
  Int128 size = 0;                  // the same, each without its sign
  Int128 lost = 0;                  // what the delivery lacks of that
  std::set<std::uint64_t> imports;  // that brought what is lost
  std::vector<std::string> gone;    // sub accounts, of which nothing is left
};

// With a delivery that covers `covered` of the ledger's lines.
std::vector<GradualLoss> losses_with(Money Costs::* cost, const DeliveredLines& covered,
                                     const DeliveredLines& delivered,
                                     const EarlierDeliveries& earlier);

}  // namespace pennyweight
