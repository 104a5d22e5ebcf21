// Whether a text is a currency code of ISO 4217, as FOCUS demands of BillingCurrency.
#pragma once

#include <string_view>

namespace pennyweight::bill {

bool is_iso_currency(std::string_view code);

}  // namespace pennyweight::bill
