// Bills of AWS: the Cost and Usage Report, legacy or 2.0, which the header tells apart.
//
// docs/bills/aws.md maps it column by column.
#pragma once

#include "ingest/bills/aws/column.h"
#include "ingest/bills/bill_format.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::aws {

struct AwsOptions {
  // Stores identity/LineItemId as x_LineItemId. AWS gives the same line item another id in every
  // delivery of a report, so with the id no charge of a month delivered again is recognised.
  bool keep_line_item_ids = false;
};

bill::RowReaderFactory aws_bill(AwsOptions options);

extern const bill::BillFormat kAwsFormat;

}  // namespace pennyweight::aws
