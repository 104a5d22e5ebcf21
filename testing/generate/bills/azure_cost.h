// AzureCost: Azure's cost export of a month, as the actual or the amortised data set, of an
// Enterprise Agreement or a Microsoft Customer Agreement.
//
// Columns and kinds of rows are those of
// learn.microsoft.com/azure/cost-management-billing/automate/understand-usage-details-fields. In
// the actual data set, a commitment is a Purchase (part of which is refunded), and the usage that
// it covers costs 0. In the amortised one there is no purchase: covered usage carries its share,
// and the rest is UnusedReservation and UnusedSavingsPlan. Both are written from one plan, so that
// each explains the other.
#pragma once

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_azure_cost(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
