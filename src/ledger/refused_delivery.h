// How an import states rows that it did not take because parts of their delivery are missing.
#pragma once

#include <string_view>

namespace pennyweight {

// Why they are passed over (BillStatement::passed_over).
inline constexpr std::string_view kIncompleteDelivery =
    "belongs to a delivery of which parts are missing";

}  // namespace pennyweight
