// OciReport: Oracle's cost report (docs.oracle.com/iaas/Content/Billing/Concepts/costs.htm): usage
// by hour or day of each resource, and corrections that name the row which they take back. Oracle's
// report knows neither commitments nor credits nor tax; what is reserved is billed at the
// negotiated price.
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_oci_report(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
