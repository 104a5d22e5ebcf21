// RunPod's billing history (rest.runpod.io/v1/billing/{pods,endpoints,networkvolumes}), as JSON or
// as CSV with the same names: one record for each pod, endpoint, volume or GPU type and time
// bucket.
//
//   amount              what was charged, in USD → all four costs. Where it is missing, the record
//                       is priced from the rate card: its GPU type, by "Hours"
//   time                where the bucket begins; how long buckets are is only in the query, so
//                       whoever imports says it
//   timeBilledMs        → ConsumedQuantity; in hours → PricingQuantity
//   podId, endpointId   → ResourceId
//   gpuTypeId           → SkuId, and what the card's gpu_model and sku fit
//   diskSpaceBilledGb   → x_DiskSpaceBilledQuantity
//
// Other columns become x_ columns. There is no account, invoice or region in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/bill/bill_reader.h"
#include "pricing/rate_card.h"

namespace pennyweight::rated {

// bucketSize of the query. A week or a year may lie in two billing months and is no bucket to be
// billed by.
enum class BucketSize { kHour, kDay, kMonth };
std::optional<BucketSize> parse_bucket_size(std::string_view text);  // "hour", "day", "month"

struct RunpodOptions {
  BucketSize bucket = BucketSize::kDay;  // RunPod's own default
  std::string account;                   // BillingAccountId; may be empty
};

// The card must outlive the reader.
std::unique_ptr<bill::BillReader> runpod_bill(const RateCard& card, const RunpodOptions& options);

}  // namespace pennyweight::rated
