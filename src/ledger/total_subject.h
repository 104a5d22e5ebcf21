// What a total that a provider states is about. A newer total of a subject takes the place of an
// older one.
#pragma once

#include <string>
#include <tuple>

#include "core/ascii.h"
#include "ledger/bill_statement.h"

namespace pennyweight {

// Month, provider, account, service, currency; the same in whichever letters they are written.
using TotalSubject = std::tuple<std::string, std::string, std::string, std::string, Currency>;

inline TotalSubject subject_of(const ControlTotal& total) {
  return {total.month, ascii::lower_case(total.provider), ascii::lower_case(total.account),
          ascii::lower_case(total.service), total.billed.currency()};
}

}  // namespace pennyweight
