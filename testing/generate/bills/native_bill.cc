#include "testing/generate/bills/native_bill.h"

#include <utility>

#include "core/check.h"
#include "testing/generate/bills/aws_cur.h"
#include "testing/generate/bills/azure_cost.h"
#include "testing/generate/bills/fleet_bill.h"
#include "testing/generate/bills/gcp_export.h"
#include "testing/generate/bills/oci_report.h"
#include "testing/generate/bills/usage_only.h"

namespace pennyweight::bills {
namespace {

struct FormName {
  NativeForm form;
  std::string_view text;
  std::string_view provider;
};
constexpr FormName kForms[] = {
    {NativeForm::kAwsCur, "aws-cur", "aws"},
    {NativeForm::kAwsCur2, "aws-cur2", "aws"},
    {NativeForm::kAzureActual, "azure-actual", "azure"},
    {NativeForm::kAzureAmortised, "azure-amortized", "azure"},
    {NativeForm::kGcpCsv, "gcp-csv", "gcp"},
    {NativeForm::kGcpJson, "gcp-json", "gcp"},
    {NativeForm::kOciReport, "oci", "oci"},
    {NativeForm::kUsageOnly, "usage-only", ""},
};

const FormName& name_of(NativeForm form) {
  for (const FormName& name : kForms) {
    if (name.form == form) return name;
  }
  CHECK(false, "every form is listed");
}

Result<void> write(const FleetBill& fleet, const TextSink& sink, BillTruth& truth) {
  switch (fleet.options().form) {
    case NativeForm::kAwsCur:
    case NativeForm::kAwsCur2:
      return write_aws_cur(fleet, sink, truth);
    case NativeForm::kAzureActual:
    case NativeForm::kAzureAmortised:
      return write_azure_cost(fleet, sink, truth);
    case NativeForm::kGcpCsv:
    case NativeForm::kGcpJson:
      return write_gcp_export(fleet, sink, truth);
    case NativeForm::kOciReport:
      return write_oci_report(fleet, sink, truth);
    case NativeForm::kUsageOnly:
      return write_usage_only(fleet, sink, truth);
  }
  CHECK(false, "every form is written");
}

}  // namespace

std::string_view to_text(NativeForm form) { return name_of(form).text; }
std::string_view provider_of(NativeForm form) { return name_of(form).provider; }

std::optional<NativeForm> parse_native_form(std::string_view text) {
  for (const FormName& name : kForms) {
    if (name.text == text) return name.form;
  }
  return std::nullopt;
}

Result<BillTruth> write_native_bill(std::span<const Node> nodes, const Catalog& catalog,
                                    const NativeBillOptions& options, const TextSink& sink) {
  NativeBillOptions settled = options;
  const std::string_view provider = provider_of(options.form);
  if (!provider.empty()) settled.bill.provider = provider;
  if (provider == "azure") settled.bill.granularity = BillGranularity::kDaily;
  const auto fleet = FleetBill::plan(nodes, catalog, settled);
  if (!fleet) return std::unexpected(fleet.error().during("cannot generate a bill"));
  BillTruth truth;
  truth.currency = settled.bill.currency;
  if (auto done = write(*fleet, sink, truth); !done) {
    return std::unexpected(done.error().during("cannot generate a bill"));
  }
  return truth;
}

}  // namespace pennyweight::bills
