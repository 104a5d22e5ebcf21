#include "testing/generate/bills/usage_only.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/try.h"
#include "testing/generate/random.h"

namespace pennyweight::bills {
namespace {

constexpr std::string_view kUsageColumns[] = {"BillingAccountId",
                                              "BillingAccountName",
                                              "BillingCurrency",
                                              "BillingPeriodEnd",
                                              "BillingPeriodStart",
                                              "ChargeCategory",
                                              "ChargeClass",
                                              "ChargeDescription",
                                              "ChargeFrequency",
                                              "ChargePeriodEnd",
                                              "ChargePeriodStart",
                                              "ConsumedQuantity",
                                              "ConsumedUnit",
                                              "InvoiceIssuerName",
                                              "PricingQuantity",
                                              "PricingUnit",
                                              "ProviderName",
                                              "PublisherName",
                                              "RegionId",
                                              "RegionName",
                                              "ResourceType",
                                              "ServiceCategory",
                                              "ServiceName",
                                              "ServiceSubcategory",
                                              "SkuId",
                                              "SkuMeter",
                                              "x_ClusterId",
                                              "x_Generated"};

std::vector<SheetColumn> usage_columns() {
  std::vector<SheetColumn> all;
  for (const std::string_view name : kUsageColumns) {
    all.push_back({std::string(name), std::string(name)});
  }
  return all;
}

class UsageOnly : public BillForm {
 public:
  UsageOnly(const FleetBill& fleet, const TextSink& sink, BillTruth& truth)
      : fleet_(fleet), sheet_(usage_columns(), sink), truth_(truth) {}

  Result<void> begin_month(const BillingPeriod& month, const Interval&,
                           std::span<const CommitmentMonth>) override {
    month_ = month;
    return {};
  }
  Result<void> node(const NodeUse& use) override {
    const std::uint32_t gpus = use.node->type == nullptr ? 0 : use.node->type->gpu_count;
    Decimal& hours =
        gpu_hours_[{use.cluster, use.prices->region, use.node->planned->node->instance_type}];
    hours = plus(hours, fleet_.cost(Decimal::from_units(gpus), use.hours));
    return {};
  }
  Result<void> end_slice(const Interval& slice, std::span<const Decimal> cluster_hours) override {
    for (const auto& [key, hours] : gpu_hours_) {
      const auto& [cluster, region, type] = key;
      TRY(write(cluster, slice, region, "GPU Compute", type, "GPU-Hours", hours));
    }
    gpu_hours_.clear();
    for (std::size_t i = 0; i < cluster_hours.size(); ++i) {
      if (cluster_hours[i] == Decimal()) continue;
      const auto& cluster = fleet_.bill().clusters[i];
      Random random(fleet_.seed(), fmt::format("{}\n{}", cluster.name, unix_ms(slice.begin())));
      const Decimal gib =
          fleet_.cost(cluster_hours[i],
                      Decimal::from_units(static_cast<std::int64_t>(random.between(480, 520))));
      TRY(write(i, slice, cluster.region, "Storage", "distributed file storage", "GiB-Hours", gib));
    }
    return {};
  }
  Result<void> end_month() override { return {}; }

  Result<void> finish() { return sheet_.finish(); }

 private:
  Result<void> write(std::size_t cluster, const Interval& when, std::string_view region,
                     std::string_view service, const std::string& sku, std::string_view unit,
                     Decimal quantity) {
    const auto set = [&](std::string_view name, std::string_view text) { sheet_.set(name, text); };
    const Interval month = month_->to_interval();
    const bool is_compute = service == "GPU Compute";
    set("BillingAccountId", fleet_.bill().account_id);
    set("BillingCurrency", fleet_.options().bill.currency.text());
    set("BillingPeriodStart", pennyweight::to_text(month.begin()));
    set("BillingPeriodEnd", pennyweight::to_text(month.end()));
    set("ChargePeriodStart", pennyweight::to_text(when.begin()));
    set("ChargePeriodEnd", pennyweight::to_text(when.end()));
    set("ChargeCategory", "Usage");
    set("ChargeFrequency", "Usage-Based");
    set("ConsumedQuantity", to_text(quantity));
    set("ConsumedUnit", unit);
    set("PricingQuantity", to_text(quantity));
    set("PricingUnit", unit);
    set("InvoiceIssuerName", "CoreWeave");
    set("ProviderName", "CoreWeave");
    set("PublisherName", "CoreWeave");
    set("RegionId", region);
    set("ServiceCategory", is_compute ? "Compute" : "Storage");
    set("ServiceName", service);
    set("ServiceSubcategory", is_compute ? "Virtual Machines" : "File Storage");
    set("SkuId", sku);
    set("SkuMeter", sku);
    set("x_ClusterId", fleet_.bill().clusters[cluster].name);
    set("x_Generated", "true");
    Decimal& there = truth_.quantities[{sku, std::string(unit)}];
    there = plus(there, quantity);
    ++truth_.rows;
    return sheet_.end_row();
  }

  const FleetBill& fleet_;
  Sheet sheet_;
  BillTruth& truth_;
  std::optional<BillingPeriod> month_;
  std::map<std::tuple<std::size_t, std::string, std::string>, Decimal> gpu_hours_;  // of the slice
};

}  // namespace

Result<void> write_usage_only(const FleetBill& fleet, const TextSink& sink, BillTruth& truth) {
  UsageOnly form(fleet, sink, truth);
  TRY(walk(fleet, TimeZone::utc(), form));
  return form.finish();
}

}  // namespace pennyweight::bills
