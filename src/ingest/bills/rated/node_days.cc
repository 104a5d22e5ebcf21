#include "ingest/bills/rated/node_days.h"

#include <algorithm>
#include <chrono>

#include "core/try.h"

namespace pennyweight::rated {

Result<PricedMonth> priced_month(const std::string& year_month, Instant now) {
  const auto period = TRY(BillingPeriod::parse(year_month, TimeZone::utc()));
  const Interval billing = period.to_interval();
  const Date first = std::chrono::floor<std::chrono::days>(billing.begin());
  const Date month_end = std::chrono::floor<std::chrono::days>(billing.end());
  const Date today = std::chrono::floor<std::chrono::days>(now);
  return PricedMonth{
      .billing = billing, .first = first, .end = std::clamp(today, first, month_end)};
}

Interval interval_of(Date day) { return Interval(day, day + std::chrono::days(1)); }

const std::string& resource_id_of(const Node& node) {
  return node.provider_id.empty() ? node.name.text() : node.provider_id;
}

Charge node_line(const Node& node, const PricedMonth& month, const Interval& during) {
  Charge charge(month.billing, during, Costs::zero(kUsd));
  charge.charge_category = ChargeCategory::kUsage;
  charge.charge_frequency = ChargeFrequency::kUsageBased;
  charge.pricing_category = PricingCategory::kStandard;
  charge.service_category = "Compute";
  charge.service_subcategory = "Other (Compute)";
  charge.region_id = node.region;
  charge.resource_id = resource_id_of(node);
  charge.resource_name = node.name.text();
  charge.resource_type = "Node";
  charge.instance_type = node.instance_type;
  charge.cluster = node.cluster.text();
  return charge;
}

}  // namespace pennyweight::rated
