// UsageOnly: FOCUS 1.2 with quantities and no money, as in CoreWeave's billing export: hours of
// GPUs, disks and addresses by cluster and product, without resources, tags or costs. An import
// prices it from a rate card.
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_usage_only(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
