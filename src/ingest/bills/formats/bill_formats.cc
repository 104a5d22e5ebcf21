#include "ingest/bills/formats/bill_formats.h"

#include "ingest/bills/aws/aws_bill.h"
#include "ingest/bills/azure/azure_bill.h"
#include "ingest/bills/gcp/gcp_bill.h"
#include "ingest/bills/oci/oci_bill.h"
#include "ingest/bills/rated/any_focus.h"
#include "ingest/bills/rated/runpod.h"

namespace pennyweight::bill {
namespace {

// A new format is one line here.
constexpr const BillFormat* kFormats[] = {
    &rated::kFocusFormat, &aws::kAwsFormat, &azure::kAzureFormat,
    &gcp::kGcpFormat,     &oci::kOciFormat, &rated::kRunpodFormat,
};

}  // namespace

std::span<const BillFormat* const> bill_formats() { return kFormats; }

const BillFormat* find_bill_format(std::string_view name) {
  for (const BillFormat* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

const BillFormat* detect_bill_format(std::span<const std::string> column_names) {
  for (const BillFormat* format : kFormats) {
    if (format->has_columns(column_names)) return format;
  }
  return nullptr;
}

}  // namespace pennyweight::bill
