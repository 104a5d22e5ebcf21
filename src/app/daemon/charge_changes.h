// Whether the charges of a billing month have changed, for what is kept of them.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

// Whether imports after that one changed the charges of a month, "2026-03".
Result<bool> charges_changed(Store& store, const std::string& month, std::uint64_t after_import);

}  // namespace pennyweight
