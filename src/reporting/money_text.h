// Money in sentences, to the last digit: what was imported, set aside, refused.
#pragma once

#include <string>

#include "core/money.h"
#include "ledger/bill_statement.h"

namespace pennyweight {

// An amount with all its digits, at least two behind the point, and its currency: "1,234.50 USD".
std::string exact_money(Money money);
// "12.00 USD billed and 3.00 EUR billed, and 2 rows whose cost is not readable".
std::string billed_text(const MoneyOfRows& rows);

}  // namespace pennyweight
