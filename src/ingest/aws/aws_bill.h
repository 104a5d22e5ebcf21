// A Cost and Usage Report of AWS, legacy or 2.0 by its header, as a format of ingest/bill.
//
// docs/bills/aws.md says column by column what becomes of it.
#pragma once

#include <memory>

#include "ingest/aws/column.h"
#include "ingest/bill/bill_reader.h"

namespace pennyweight::aws {

struct AwsOptions {
  // Keeps identity/LineItemId as x_LineItemId. AWS gives the same line another id in every delivery
  // of a report, so with it no line of a re-delivered month is recognised.
  bool keep_line_item_ids = false;
};

std::unique_ptr<bill::BillReader> aws_bill(AwsOptions options);

}  // namespace pennyweight::aws
