// HoldingReading: a holding that was reported before was read again, and only its time has changed.
//
// A collector reads thousands of running workloads every few seconds. Such a reading shares the
// holding with those before it, so whoever keeps the pointer knows without comparing that nothing
// else is new.
#pragma once

#include <memory>

#include "ledger/holding.h"

namespace pennyweight {

struct HoldingReading {
  std::shared_ptr<const Holding> holding;  // never null; its end is that of an earlier reading
  Instant until;                           // it was held until here
};

}  // namespace pennyweight
