// A bill of Oracle Cloud Infrastructure: its own cost report, as a format of ingest/bill.
//
// Source of what the columns mean:
// docs.oracle.com/en-us/iaas/Content/Billing/Concepts/costusagereportsoverview.htm.
// docs/bills/oci.md has them one by one.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ingest/bill/bill_reader.h"

namespace pennyweight::oci {

std::unique_ptr<bill::BillReader> oci_bill();

// Whether these are the names of such a report's columns. Letter case is not looked at: Oracle's
// page and Oracle's files differ in it.
bool is_oci_header(std::span<const std::string> names);

}  // namespace pennyweight::oci
