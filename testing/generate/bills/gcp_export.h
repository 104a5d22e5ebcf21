// GcpExport: Google's detailed billing export of months in Pacific time.
//
// A machine is several rows: its cores, its memory, its GPUs, each with the credits that reduce it.
// Commitments are of two models. In the older, resource-based one, usage has its own price with a
// COMMITTED_USAGE_DISCOUNT that reverses it, and the fee is a separate row. In the newer one, usage
// has the commitment's price, and the fee has a FEE_UTILIZATION_OFFSET for what was used.
// docs.cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_gcp_export(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
