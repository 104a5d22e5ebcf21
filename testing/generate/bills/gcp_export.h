// GcpExport: Google's detailed billing export of months in Pacific time.
//
// A machine is several rows: its cores, its memory, its GPUs, each with the credits that come off
// it. Commitments are of both models: of the older, resource-based one the use stands at its price
// with a COMMITTED_USAGE_DISCOUNT that takes it back, and the fee is a row elsewhere; of the newer
// one the use stands at the commitment's price, and the fee with a FEE_UTILIZATION_OFFSET for what
// was used. docs.cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_gcp_export(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
