// write_native_bill: writes months of a fleet as a provider's own report, with their true sums.
//
// The plan is that of testing/generate/generate_bill.h (which nodes, on which terms, at which
// prices). The rows are the provider's: its columns, its kinds of line, its format of numbers,
// times and tags. Every row is marked as generated, by a tag, a label or a description, as the
// format allows.
//
// ENSURES: the same bytes for the same nodes, catalog and options, on any machine; the truth is
// exactly what the rows say, digit for digit; memory does not depend on the number of rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "ledger/node.h"
#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/sheet.h"
#include "testing/generate/generate_bill.h"

namespace pennyweight::bills {

enum class NativeForm {
  kAwsCur,   // Cost and Usage Report, legacy: "lineItem/UnblendedCost"
  kAwsCur2,  // CUR 2.0 of Data Exports: "line_item_unblended_cost", tags as a map
  kAzureActual,
  kAzureAmortised,
  kGcpCsv,     // the detailed export of BigQuery, as a table
  kGcpJson,    // and as newline-delimited JSON
  kOciReport,  // Oracle's cost report
  kUsageOnly,  // FOCUS 1.2 with quantities and no money, as CoreWeave sends it
};
// "aws-cur", "aws-cur2", "azure-actual", "azure-amortized", "gcp-csv", "gcp-json", "oci",
// "usage-only".
std::string_view to_text(NativeForm form);
std::optional<NativeForm> parse_native_form(std::string_view text);
// The provider whose instance types such a bill is for: "aws". UsageOnly is for any.
std::string_view provider_of(NativeForm form);

// How AWS reports the discount of an Enterprise Discount Program.
enum class AwsDiscount {
  kNone,
  kLines,       // EdpDiscount lines of their own
  kNetColumns,  // columns with each cost after the discount
};
// The kind of contract of an Azure export; the headers differ.
enum class AzureAgreement { kEnterprise, kCustomer };

struct NativeBillOptions {
  BillOptions bill;  // provider, first_day … as for a FOCUS bill
  NativeForm form = NativeForm::kAwsCur;
  AwsDiscount aws_discount = AwsDiscount::kLines;
  bool aws_split_rows = true;  // EKS split cost allocation: rows that repeat an instance's cost
  AzureAgreement azure_agreement = AzureAgreement::kEnterprise;
  bool hostile = false;  // tags with quotes, commas, line breaks and letters of all kinds
};

// Returns an error that says which node or option cannot be billed and why, or an error of the
// sink.
Result<BillTruth> write_native_bill(std::span<const Node> nodes, const Catalog& catalog,
                                    const NativeBillOptions& options, const TextSink& sink);

}  // namespace pennyweight::bills
