#include "testing/generate/bills/oci_report.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/check.h"
#include "core/hash.h"
#include "core/try.h"
#include "testing/generate/bills/number_text.h"
#include "testing/generate/random.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight::bills {
namespace {

constexpr Decimal kBlockPerGbMonth = Decimal::from_ticks(25'500'000'000'000'000);  // 0.0255
constexpr Decimal kEgressPerGb = Decimal::from_ticks(8'500'000'000'000'000);       // 0.0085

constexpr std::string_view kOciColumns[] = {"lineItem/referenceNo",
                                            "lineItem/tenantId",
                                            "lineItem/intervalUsageStart",
                                            "lineItem/intervalUsageEnd",
                                            "product/service",
                                            "product/compartmentId",
                                            "product/compartmentName",
                                            "product/region",
                                            "product/availabilityDomain",
                                            "product/resourceId",
                                            "usage/billedQuantity",
                                            "usage/billedQuantityOverage",
                                            "cost/subscriptionId",
                                            "cost/productSku",
                                            "product/Description",
                                            "cost/unitPrice",
                                            "cost/unitPriceOverage",
                                            "cost/myCost",
                                            "cost/myCostOverage",
                                            "cost/currencyCode",
                                            "cost/billingUnitReadable",
                                            "cost/skuUnitDescription",
                                            "cost/overageFlag",
                                            "lineItem/isCorrection",
                                            "lineItem/backreferenceNo",
                                            "tags/Name",
                                            "tags/cluster",
                                            "tags/generated",
                                            "tags/team"};

std::vector<SheetColumn> oci_columns() {
  std::vector<SheetColumn> all;
  for (const std::string_view name : kOciColumns) {
    all.push_back({std::string(name), std::string(name)});
  }
  return all;
}

// "2023-11-13T10:00Z"
std::string to_minute(Instant at) {
  std::string text = pennyweight::to_text(at);
  if (text.size() == 20 && text.substr(17, 2) == "00") text.erase(16, 3);
  return text;
}

struct Product {
  std::string_view service;
  std::string sku;
  std::string description;
  std::string_view billing_unit;
  std::string_view unit;
};

class OciReport : public BillForm {
 public:
  OciReport(const FleetBill& fleet, const TextSink& sink, BillTruth& truth)
      : fleet_(fleet), options_(fleet.options()), sheet_(oci_columns(), sink), truth_(truth) {}

  Result<void> begin_month(const BillingPeriod& month, const Interval&,
                           std::span<const CommitmentMonth>) override {
    month_ = month;
    corrected_.reset();
    return {};
  }

  Result<void> node(const NodeUse& use) override {
    const bool is_spot = use.node->planned->term == NodeTerm::kSpot;
    const std::uint64_t gpus =
        use.node->type == nullptr || use.node->type->gpu_count == 0 ? 1 : use.node->type->gpu_count;
    const Decimal node_price = is_spot ? use.prices->effective : use.prices->contracted;
    const auto each = multiply_divide(static_cast<UInt128>(node_price.ticks()), 1, UInt128{gpus});
    const Decimal price =
        round_half_even(Decimal::from_ticks(static_cast<Int128>(each.quotient)), 12);
    const auto count = Decimal::from_units(static_cast<std::int64_t>(gpus));
    const Row row{.use = use,
                  .product = gpu_product(use),
                  .quantity = fleet_.cost(count, use.hours),
                  .price = price};
    const std::string reference = next_reference();
    TRY(write(row, reference, ""));  // An early reading of a month's use turns out wrong: of the
                                     // one with the smallest draw.
    const auto begin = static_cast<std::uint64_t>(unix_ms(use.when.begin()));
    const std::uint64_t draw = Random(use.node->planned->key ^ begin).next();
    if (!corrected_ || draw < corrected_->draw) {
      corrected_ = Corrected{.draw = draw, .row = row, .reference = reference};
    }
    return {};
  }

  Result<void> end_slice(const Interval& slice, std::span<const Decimal> cluster_hours) override {
    for (std::size_t i = 0; i < cluster_hours.size(); ++i) {
      if (cluster_hours[i] == Decimal()) continue;
      TRY(write_cluster(i, slice, cluster_hours[i]));
    }
    return {};
  }

  // Reversed as a whole, and entered again with half the quantity.
  Result<void> end_month() override {
    if (!corrected_) return {};
    Row row = corrected_->row;
    const Decimal quantity = row.quantity;
    row.quantity = -quantity;
    TRY(write(row, next_reference(), corrected_->reference));
    row.quantity = per_mille_of(quantity, 500, 4);
    return write(row, next_reference(), corrected_->reference);
  }

  Result<void> finish() { return sheet_.finish(); }

 private:
  struct Row {
    NodeUse use;
    Product product;
    Decimal quantity;
    Decimal price;
  };
  struct Corrected {
    std::uint64_t draw;
    Row row;
    std::string reference;
  };

  static Product gpu_product(const NodeUse& use) {
    const std::string& type = use.node->planned->node->instance_type;
    const bool is_spot = use.node->planned->term == NodeTerm::kSpot;
    return {.service = "COMPUTE",
            .sku = sku(type + (is_spot ? " preemptible" : "")),
            .description =
                fmt::format("Compute - {}{} (generated)", type, is_spot ? " - Preemptible" : ""),
            .billing_unit = "1 NONE HOURS GPUS",
            .unit = "GPU Per Hour"};
  }
  static std::string sku(std::string_view of) {
    return fmt::format("B{}", 80000 + hash_of(of).low % 20000);
  }
  std::string ocid(std::string_view kind, std::string_view region, std::string_view of) const {
    const std::string hash = pennyweight::to_text(
        Fingerprint().add(static_cast<std::int64_t>(fleet_.seed())).add(of).hash());
    return fmt::format("ocid1.{}.oc1.{}.{}", kind, region, hash);
  }
  // Each cluster belongs to a child tenancy.
  std::string tenant(std::size_t cluster) const {
    return ocid("tenancy", "", "tenancy of " + fleet_.bill().clusters[cluster].name);
  }
  std::string next_reference() {
    return pennyweight::to_text(Fingerprint()
                                    .add(static_cast<std::int64_t>(fleet_.seed()))
                                    .add(static_cast<std::int64_t>(++references_))
                                    .hash());
  }

  void set(std::string_view name, std::string_view text) { sheet_.set(name, text); }

  void begin(std::size_t cluster, const Interval& when, const Product& product,
             std::string_view reference, std::string_view corrects) {
    const BilledCluster& billed = fleet_.bill().clusters[cluster];
    set("lineItem/referenceNo", reference);
    set("lineItem/tenantId", tenant(cluster));
    set("lineItem/intervalUsageStart", to_minute(when.begin()));
    set("lineItem/intervalUsageEnd", to_minute(when.end()));
    set("product/service", product.service);
    set("product/compartmentId", ocid("compartment", "", billed.name));
    set("product/compartmentName", billed.name);
    set("cost/subscriptionId", fleet_.bill().account_id);
    set("cost/productSku", product.sku);
    set("product/Description", product.description);
    set("cost/billingUnitReadable", product.billing_unit);
    set("cost/skuUnitDescription", product.unit);
    set("cost/currencyCode", options_.bill.currency.text());
    set("cost/overageFlag", "N");
    set("lineItem/isCorrection", corrects.empty() ? "false" : "true");
    set("lineItem/backreferenceNo", corrects);
    set("tags/cluster", billed.name);
    set("tags/generated", "pennyweight");
  }

  Result<void> end(LineType type, std::size_t cluster, std::string_view service,
                   const std::string& team, Decimal quantity, Decimal price) {
    const auto cost = multiply(quantity, price, Rounding::kHalfEven);
    if (!cost) return std::unexpected(cost.error());
    set("usage/billedQuantity", eighteen_digits(quantity));
    set("cost/unitPrice", eighteen_digits(price));
    set("cost/myCost", eighteen_digits(*cost));
    set("tags/team", team);
    truth_.add({.month = month_->text(),
                .invoice = "",
                .account = tenant(cluster),
                .service = std::string(service),
                .team = team,
                .type = type},
               *cost, *cost);
    ++truth_.rows;
    return sheet_.end_row();
  }

  Result<void> write(const Row& row, std::string_view reference, std::string_view corrects) {
    const Node& node = *row.use.node->planned->node;
    begin(row.use.cluster, row.use.when, row.product, reference, corrects);
    const std::string& region = row.use.prices->region;
    set("product/region", region);
    set("product/availabilityDomain", region.empty() ? "" : region + "-AD-1");
    set("product/resourceId", node.provider_id.starts_with("ocid1.")
                                  ? node.provider_id
                                  : ocid("instance", region, node.name.text()));
    set("tags/Name", node.name.text());
    LineType type = LineType::kOnDemand;
    if (row.use.node->planned->term == NodeTerm::kSpot) type = LineType::kSpot;
    if (!corrects.empty()) type = LineType::kCorrection;
    return end(type, row.use.cluster, row.product.service, row.use.node->team, row.quantity,
               row.price);
  }

  const BilledNode& first_of(std::size_t cluster) const {
    const std::string& name = fleet_.bill().clusters[cluster].name;
    std::size_t i = 0;
    while (fleet_.nodes()[i].planned->node->cluster.text() != name) ++i;
    return fleet_.nodes()[i];
  }

  Result<void> write_cluster(std::size_t cluster, const Interval& slice, Decimal hours) {
    const BilledCluster& billed = fleet_.bill().clusters[cluster];
    Random random(fleet_.seed(), fmt::format("{}\n{}", billed.name, unix_ms(slice.begin())));
    struct Use {
      Product product;
      LineType type;
      Decimal price;
      std::uint64_t per_billion_hour;
      std::string_view kind;
    };
    const Use uses[] = {{{"BLOCK_STORAGE", sku("block"), "Block Volume - Storage (generated)",
                          "1 GiB MONTHS STORAGE_SIZE", "GB Months"},
                         LineType::kStorage,
                         kBlockPerGbMonth,
                         random.between(600'000'000, 700'000'000),
                         "volume"},
                        {{"NETWORK", sku("egress"), "Outbound Data Transfer (generated)",
                          "1 GiB NONE DATA_TRANSFER", "GB"},
                         LineType::kNetwork,
                         kEgressPerGb,
                         random.between(1, 250'000'000),
                         "vnic"}};
    for (const Use& use : uses) {
      const auto quantity =
          TRY(multiply(hours,
                       Decimal::from_ticks(static_cast<Int128>(use.per_billion_hour) *
                                           (Decimal::kTicksPerUnit / 1'000'000'000)),
                       Rounding::kHalfEven));
      begin(cluster, slice, use.product, next_reference(), "");
      set("product/region", billed.region);
      set("product/resourceId", ocid(use.kind, billed.region, billed.name));
      TRY(end(use.type, cluster, use.product.service, first_of(cluster).team, quantity, use.price));
    }
    return {};
  }

  const FleetBill& fleet_;
  const NativeBillOptions& options_;
  Sheet sheet_;
  BillTruth& truth_;
  std::uint64_t references_ = 0;
  std::optional<BillingPeriod> month_;
  std::optional<Corrected> corrected_;
};

}  // namespace

Result<void> write_oci_report(const FleetBill& fleet, const TextSink& sink, BillTruth& truth) {
  OciReport form(fleet, sink, truth);
  TRY(walk(fleet, TimeZone::utc(), form));
  return form.finish();
}

}  // namespace pennyweight::bills
