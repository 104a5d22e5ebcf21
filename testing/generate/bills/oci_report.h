// OciReport: Oracle's cost report (docs.oracle.com/iaas/Content/Billing/Concepts/costs.htm): usage
// of each resource by hour or day, and corrections that name the row that they reverse. Oracle's
// report has no commitments, credits or tax; reserved capacity is billed at the negotiated price.
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_oci_report(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
