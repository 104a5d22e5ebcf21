// Any bytes as CSV: no crash, no row lost.
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/bills/csv_import.h"
#include "ingest/bills/gcp/gcp_bill.h"
#include "ingest/bills/gcp/gcp_fuzzing.h"

namespace {

// Most inputs are only rows, under a header that takes them, in one of two forms.
constexpr std::string_view kFlat =
    "cost,credits,cost_type,currency,invoice.month,usage_start_time,usage_end_time,"
    "billing_account_id,sku.description,consumption_model.description,subscription.instance_id,"
    "labels,tags,resource.global_name,price.effective_price,cost_at_list,"
    "usage.amount_in_pricing_units,usage.pricing_unit,adjustment_info.type,a.b,a_b\n";
constexpr std::string_view kRecords =
    "cost,credits,currency,invoice,usage_start_time,usage_end_time,billing_account_id,sku,service,"
    "project,price,usage,system_labels\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  if (size == 0) return 0;
  std::string text;
  if (data[0] % 3 == 1) text = kFlat;
  if (data[0] % 3 == 2) text = kRecords;
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  gcp::Count count;
  count.settle(bill::import_csv(text, "bill.csv", gcp::gcp_bill(), count));
  return 0;
}
