// What one row of the holdings table asks for: which devices, and where.
#pragma once

#include "ingest/csv/cells.h"
#include "ingest/inventory/options.h"
#include "ledger/holding.h"

namespace pennyweight::inventory {

struct Request {
  Device device;
  Placement placement;
};

// What is wrong stays in the cells; then the request means nothing.
Request request_of(csv::Cells& cells, const ClusterId& cluster, const HoldingOptions& options);

}  // namespace pennyweight::inventory
