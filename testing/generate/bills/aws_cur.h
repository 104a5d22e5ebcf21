// AwsCur: a Cost and Usage Report of Amazon Web Services, legacy or 2.0.
//
// Rows and columns are those of docs.aws.amazon.com/cur/latest/userguide (data dictionary, and
// table-dictionary-cur2): Usage on demand and on the spot market, DiscountedUsage with its RIFee
// and upfront Fee, SavingsPlanCoveredUsage with its negation and recurring fee, EdpDiscount lines
// or net columns, Credit, Refund, Tax, support, volumes, buckets, data transfer, and the rows of
// split cost allocation that repeat the cost of an instance.
#pragma once

#include <memory>

#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

Result<void> write_aws_cur(const FleetBill& fleet, const TextSink& sink, BillTruth& truth);

}  // namespace pennyweight::bills
