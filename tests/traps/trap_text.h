// The results of a trap, as text.
#pragma once

#include <string>

#include "ledger/outcome.h"
#include "ledger/usage.h"
#include "telemetry/classification.h"

namespace pennyweight::traps {

std::string text_of(const telemetry::Classification& meaning);
// "00:01:00 +60 s GPU-1: sm_active 25 %, at most 80 %": only what is there.
std::string text_of(const Usage& usage);
std::string text_of(const Outcome& outcome);

}  // namespace pennyweight::traps
