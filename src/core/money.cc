#include "core/money.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/plain_text.h"

namespace pennyweight {

Result<Currency> Currency::parse(std::string_view code) {
  const bool capitals = std::all_of(code.begin(), code.end(), ascii::is_upper);
  if (code.size() != 3 || !capitals) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a currency; write an ISO 4217 code of three capital "
                            "letters, such as USD",
                            printable_text(code, 40)));
  }
  return Currency(code[0], code[1], code[2]);
}

}  // namespace pennyweight
