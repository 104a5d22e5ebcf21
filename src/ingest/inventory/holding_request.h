// HoldingRequest: the devices that one row of the holdings table names, and where they are.
#pragma once

#include "ingest/csv/cells.h"
#include "ingest/inventory/options.h"
#include "ledger/holding.h"

namespace pennyweight::inventory {

struct HoldingRequest {
  Device device;
  Placement placement;
};

// After a refusal, which the cells remember, the request means nothing.
HoldingRequest read_request(csv::Cells& cells, const ClusterId& cluster,
                            const HoldingOptions& options);

}  // namespace pennyweight::inventory
