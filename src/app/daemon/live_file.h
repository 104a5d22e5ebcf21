// Small files of the live folder, which one `serve` leaves to the next.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// Replaces a file whole or not at all, and makes its folder where there is none.
Result<void> save_live_file(const std::string& path, std::string_view text);

}  // namespace pennyweight
