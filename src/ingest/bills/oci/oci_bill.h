// Bills of Oracle Cloud Infrastructure: its cost report. docs/bills/oci.md maps it column by
// column.
//
// Source of the columns' meaning:
// docs.oracle.com/en-us/iaas/Content/Billing/Concepts/costusagereportsoverview.htm.
#pragma once

#include <span>
#include <string>

#include "ingest/bills/bill_format.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::oci {

bill::RowReaderFactory oci_bill();

// True for the columns of such a report, in any letter case: Oracle's documentation and Oracle's
// files differ in it.
bool is_oci_header(std::span<const std::string> names);

extern const bill::BillFormat kOciFormat;

}  // namespace pennyweight::oci
