// Summary: sums of the postings of the current runs. Every report is made of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/instant.h"
#include "core/quantity.h"
#include "ledger/charge.h"

namespace pennyweight {

enum class TimeBucket { kNone, kDay, kWeek, kMonth };  // weeks begin on Monday

// A dimension is one of the built-in names below, or any dimension that label rules gave to
// workloads (team, user, …). A workload without it, and a bucket, have the value "" there.
//   cluster, month (the booked month), billing_month (of the charge), kind, component, node, gpu,
//   workload, currency, service (ServiceName), category (ChargeCategory), pricing
//   (PricingCategory), price_tier (the same as one buys it: kPriceTiers), charge_class
//   (ChargeClass: "Correction" or ""), instance_type, region, account (BillingAccountId),
//   sub_account (SubAccountId), resource (ResourceId), charge (fact id)
// or a tag of the bill: kTagPrefix and the tag's key.
inline constexpr const char* kBuiltInDimensions[] = {
    "cluster",  "month",   "billing_month", "kind",         "component",
    "node",     "gpu",     "workload",      "currency",     "service",
    "category", "pricing", "price_tier",    "charge_class", "instance_type",
    "region",   "account", "sub_account",   "resource",     "charge"};

// How machines are bought, in the words of price lists, by FOCUS's PricingCategory. A charge of
// another category, or of none, has its tier "".
struct PriceTier {
  PricingCategory pricing;
  const char* tier;
};
inline constexpr PriceTier kPriceTiers[] = {{PricingCategory::kStandard, "on_demand"},
                                            {PricingCategory::kDynamic, "spot"},
                                            {PricingCategory::kCommitted, "committed"}};

// "tag:team" is the value of the charge's tag "team"; a charge without it, and a transfer, have "".
inline constexpr std::string_view kTagPrefix = "tag:";
constexpr bool is_tag_dimension(std::string_view name) {
  return name.starts_with(kTagPrefix) && name.size() > kTagPrefix.size();
}
constexpr std::string_view tag_key(std::string_view dimension) {
  return dimension.substr(kTagPrefix.size());
}

struct SummaryFilter {
  std::string dimension;
  std::vector<std::string> values;  // any of these
  bool negate = false;              // none of these
};

struct SummaryQuery {
  std::optional<std::chrono::sys_days> first_day = {};  // local calendar dates of the postings
  std::optional<std::chrono::sys_days> last_day = {};   // inclusive
  TimeBucket bucket = TimeBucket::kNone;
  std::vector<std::string> group_by = {};
  std::vector<SummaryFilter> filters = {};  // all must hold
  // The runs that were current at this instant; nothing: now.
  std::optional<Instant> as_of = {};
};

struct SummaryRow {
  std::optional<std::chrono::sys_days> bucket;  // its first day; nothing for kNone
  std::vector<std::string> keys;                // as group_by
  Costs costs;                                  // one currency a row: currencies are never mixed
  GpuTime gpu_time;   // held by workloads, used or idle, of the components gpu and whole
  GpuTime idle_time;  // of the same components: not held by workloads
  MemoryTime memory_time;
  GpuTime observed_time;  // the part of gpu_time for which there is telemetry
  std::uint64_t postings = 0;
  bool operator==(const SummaryRow&) const = default;
};

}  // namespace pennyweight
