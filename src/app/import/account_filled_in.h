// A billing account that the provider fills in, or leaves out, in a later version of a bill is no
// new account: the later version takes the earlier one's place.
#pragma once

#include <optional>
#include <string>

#include "app/import/delivered_lines.h"
#include "ledger/charge.h"

namespace pennyweight {

// How a delivery names the account of a charge that came without an account, or with one where the
// delivery has none.
struct AccountNaming {
  std::string billing_account_id;
  std::string invoice_issuer_name;
};

// Nothing: the delivery names the account as the charge does, or nothing tells which one is meant.
std::optional<AccountNaming> account_now(const Charge& charge, const DeliveredLines& delivered);

// The charge, with the account named so.
Charge with_account(Charge charge, const AccountNaming& naming);

// Whether lines that were named as the delivery names them are an earlier version of its lines:
// they are for the same resources on the same days, or, where they name none, cost the same.
bool is_earlier_version(const DeliveredLines& renamed, const DeliveredLines& delivered);

}  // namespace pennyweight
