#include "ingest/bills/aws/aws_bill.h"

#include <utility>

#include "core/try.h"
#include "ingest/bills/aws/aws_row_reader.h"

namespace pennyweight::aws {
bill::RowReaderFactory aws_bill(AwsOptions options) {
  return [options](const csv::Header& header) -> Result<std::unique_ptr<bill::RowReader>> {
    auto plan = TRY(HeaderPlan::of(header, options.keep_line_item_ids));
    return std::make_unique<AwsRowReader>(std::move(plan));
  };
}

constinit const bill::BillFormat kAwsFormat = {
    .name = "aws",
    .title = "an AWS Cost and Usage Report",
    .in_parquet = true,
    .default_delivery = DeliveryStyle::kReplacement,
    .has_columns = is_aws_header,
    .open = [](const bill::BillSettings&) -> Result<bill::RowReaderFactory> {
      return aws_bill({});
    },
};

}  // namespace pennyweight::aws
