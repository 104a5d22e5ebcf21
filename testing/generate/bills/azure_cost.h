// AzureCost: Azure's cost export of a month, as the actual or the amortised data set, of an
// Enterprise Agreement or a Microsoft Customer Agreement.
//
// Columns and kinds of rows are those of
// learn.microsoft.com/azure/cost-management-billing/automate/ understand-usage-details-fields. In
// the actual data set a commitment is its Purchase (part of which comes back as a Refund) and what
// it covers costs 0; in the amortised one there is no purchase, and what was covered carries its
// share, the rest being UnusedReservation and UnusedSavingsPlan. Both are written of one plan, so
// that one explains the other.
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_azure_cost(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
