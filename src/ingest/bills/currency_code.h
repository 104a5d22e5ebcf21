// Currency codes of ISO 4217, which FOCUS demands of BillingCurrency.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/money.h"

namespace pennyweight::bill {

bool is_iso_currency(std::string_view code);

// Parses the currencies of rows. It remembers the last one, since the rows of a bill rarely differ
// in it.
class CurrencyParser {
 public:
  // Nothing for a text that is not a code of ISO 4217.
  std::optional<Currency> parse(std::string_view code);

 private:
  std::string last_code_;
  std::optional<Currency> last_;
};

}  // namespace pennyweight::bill
