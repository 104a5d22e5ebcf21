// RunPod's billing history (rest.runpod.io/v1/billing/{pods,endpoints,networkvolumes}), as JSON or
// as CSV with the same names: one record for each pod, endpoint, volume or GPU type and time
// bucket.
//
//   amount              the charge in USD → all four costs. Without it, the record is priced from
//                       the rate card: its GPU type, by "Hours"
//   time                where the bucket begins. Only the query says how long buckets are, so
//                       `import` needs it as an option
//   timeBilledMs        → ConsumedQuantity; in hours → PricingQuantity
//   podId, endpointId   → ResourceId
//   gpuTypeId           → SkuId; the card's gpu_model and sku match it
//   diskSpaceBilledGb   → x_DiskSpaceBilledQuantity
//
// Other columns become x_ columns. The records have no account, invoice or region.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "allocation/pricing/rate_card.h"
#include "ingest/bills/bill_format.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::rated {

// bucketSize of the query. Weeks and years are not supported: they may span two billing months.
enum class BucketSize { kHour, kDay, kMonth };
std::optional<BucketSize> parse_bucket_size(std::string_view text);  // "hour", "day", "month"

struct RunpodOptions {
  BucketSize bucket = BucketSize::kDay;  // RunPod's own default
  std::string account;                   // BillingAccountId; may be empty
};

// The card must outlive the reader.
bill::RowReaderFactory runpod_bill(const RateCard& card, RunpodOptions options);

extern const bill::BillFormat kRunpodFormat;

}  // namespace pennyweight::rated
