#include "testing/generate/bills/azure_cost.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/check.h"
#include "core/hash.h"
#include "core/try.h"
#include "testing/generate/bills/azure_columns.h"
#include "testing/generate/bills/json_text.h"
#include "testing/generate/bills/number_text.h"
#include "testing/generate/random.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight::bills {
namespace {

constexpr Decimal kDiskPerMonth = Decimal::from_ticks(Int128{122'880'000'000} * 1'000'000'000);
constexpr Decimal kAzureTransferPerGb = Decimal::from_ticks(87'000'000'000'000'000);  // 0.087

std::string guid_of(std::uint64_t seed, std::string_view what) {
  const std::string hash =
      pennyweight::to_text(Fingerprint().add(static_cast<std::int64_t>(seed)).add(what).hash());
  return fmt::format("{}-{}-{}-{}-{}", hash.substr(0, 8), hash.substr(8, 4), hash.substr(12, 4),
                     hash.substr(16, 4), hash.substr(20));
}

// "03/01/2026"
std::string us_date(Instant at) {
  const std::string iso = pennyweight::to_text(at);
  return fmt::format("{}/{}/{}", iso.substr(5, 2), iso.substr(8, 2), iso.substr(0, 4));
}

// The subject of a row, in the terms of Azure's meters.
struct Meter {
  std::string_view category;
  std::string_view subcategory;
  std::string name;
  std::string_view family;
  std::string_view consumed_service;
  std::string_view unit;
};

class AzureCost : public BillForm {
 public:
  AzureCost(const FleetBill& fleet, const TextSink& sink, BillTruth& truth)
      : fleet_(fleet),
        options_(fleet.options()),
        sheet_(azure_columns(fleet.options().azure_agreement), sink),
        truth_(truth) {}

  Result<void> begin_month(const BillingPeriod& month, const Interval& covered,
                           std::span<const CommitmentMonth> commitments) override {
    month_ = month;
    covered_ = covered;
    commitments_.assign(commitments.begin(), commitments.end());
    used_.assign(commitments.size(), {});
    slice_.assign(commitments.size(), {});
    billed_ = Decimal();
    refund_.reset();
    for (const CommitmentMonth& commitment : commitments_) {
      TRY(write_purchase(commitment));
    }
    return {};
  }

  Result<void> node(const NodeUse& use) override {
    const PlannedNode& planned = *use.node->planned;
    const bool is_spot = planned.term == NodeTerm::kSpot;
    const bool is_covered = planned.term == NodeTerm::kReserved;
    const Decimal list = fleet_.rounded(use.prices->list);
    begin("Usage", vm_meter(planned.node->instance_type, is_spot), use.cluster, use.when);
    node_columns(use);
    Decimal price = fleet_.rounded(is_spot ? use.prices->effective : use.prices->contracted);
    if (is_covered) {
      const CommitmentMonth& commitment = commitments_[planned.commitment];
      commitment_columns(commitment);
      price = commitment.rate;
      Used& used = slice_[commitment.index];
      used.cost = plus(used.cost, fleet_.cost(price, use.hours));
      used.hours = plus(used.hours, use.hours);
      if (!amortised()) price = Decimal();
    } else {
      set("PricingModel", is_spot ? "Spot" : "OnDemand");
    }
    const Decimal cost = fleet_.cost(price, use.hours);
    quantities(use.hours, list, price, cost);
    if (!is_covered && !is_spot) consider_refund(use, price);
    if (is_covered) return end(LineType::kCommitmentUsed, Decimal(), cost);
    return end(is_spot ? LineType::kSpot : LineType::kOnDemand, cost, cost);
  }

  Result<void> end_slice(const Interval& slice, std::span<const Decimal> cluster_hours) override {
    for (const CommitmentMonth& commitment : commitments_) {
      TRY(write_unused(commitment, slice));
    }
    for (std::size_t i = 0; i < cluster_hours.size(); ++i) {
      if (cluster_hours[i] == Decimal()) continue;
      TRY(write_cluster(i, slice, cluster_hours[i]));
    }
    return {};
  }

  Result<void> end_month() override {
    for (const CommitmentMonth& commitment : commitments_) {
      const Decimal paid = fleet_.cost(commitment.rate, commitment.committed);
      CommitmentTruth& there = truth_.commitments[commitment_id(commitment)];
      const Decimal used = used_[commitment.index].cost;
      there.recurring = plus(there.recurring, paid);
      there.used = plus(there.used, used);
      there.unused = plus(there.unused, unused_[commitment.index]);
      // The days are rounded one by one; the last row contains the difference to the month's fee.
      CHECK(there.holds(), "used and unused come to the fee");
    }
    TRY(write_refund());
    TRY(write_support());
    if (options_.azure_agreement == AzureAgreement::kEnterprise) return {};
    TRY(write_tax());
    return write_rounding();
  }

  Result<void> finish() { return sheet_.finish(); }

 private:
  struct Used {
    Decimal cost;
    Decimal hours;
  };
  struct Refundable {
    std::uint64_t draw;
    NodeUse use;
    Decimal price;
    std::string region;
  };

  bool amortised() const { return options_.form == NativeForm::kAzureAmortised; }
  bool customer() const { return options_.azure_agreement == AzureAgreement::kCustomer; }

  void set(std::string_view name, std::string_view text) {
    if (sheet_.has(name)) sheet_.set(name, text);
  }
  void set(std::string_view name, Decimal value) { set(name, dotnet_double(value)); }

  static Meter vm_meter(std::string_view type, bool is_spot) {
    std::string name(type.substr(type.find('_') + 1));
    for (char& c : name) {
      if (c == '_') c = ' ';
    }
    return {.category = "Virtual Machines",
            .subcategory = "ND Series",
            .name = name + (is_spot ? " Spot" : ""),
            .family = "Compute",
            .consumed_service = "Microsoft.Compute",
            .unit = "1 Hour"};
  }

  // `cluster` past the end: a row without a subscription.
  void begin(std::string_view charge_type, const Meter& meter, std::size_t cluster,
             const Interval& when) {
    const auto& clusters = fleet_.bill().clusters;
    const bool of_cluster = cluster < clusters.size();
    account_ = of_cluster ? guid_of(fleet_.seed(), clusters[cluster].name) : "";
    service_ = meter.category;
    team_.clear();
    tags_ = {{"generated", "pennyweight"}};
    const Interval month = month_->to_interval();
    set("InvoiceSectionName", "Generated section");
    set("InvoiceSectionId", "GENERATED");
    set("AccountName", "Generated account");
    set("BillingAccountId", fleet_.bill().account_id);
    set("BillingAccountName", "Generated account");
    set("BillingProfileId", fleet_.bill().account_id);
    set("BillingProfileName", "Generated account");
    set("BillingCurrency", options_.bill.currency.text());
    set("BillingPeriodStartDate", us_date(month.begin()));
    set("BillingPeriodEndDate", us_date(month.end() - std::chrono::hours(24)));
    set("ServicePeriodStartDate", us_date(when.begin()));
    set("ServicePeriodEndDate", us_date(when.end() - std::chrono::milliseconds(1)));
    if (customer()) set("InvoiceId", invoice());
    set("Date", us_date(when.begin()));
    set("SubscriptionId", account_);
    if (of_cluster) {
      set("SubscriptionName", clusters[cluster].name);
      set("ResourceGroup", "rg-" + clusters[cluster].name);
    }
    set("ChargeType", charge_type);
    set("Frequency", "UsageBased");
    set("PublisherType", customer() ? "Microsoft" : "Azure");
    set("PublisherName", "Microsoft");
    set("MeterCategory", meter.category);
    set("MeterSubCategory", meter.subcategory);
    set("MeterName", meter.name);
    set("ServiceFamily", meter.family);
    set("ConsumedService", meter.consumed_service);
    set("UnitOfMeasure", meter.unit);
    if (!meter.name.empty()) {
      set("MeterId", guid_of(0, meter.name));
      set("ProductName", fmt::format("{} {} - {}", meter.category, meter.subcategory, meter.name));
      set("PartNumber", "GEN-" + guid_of(0, meter.name).substr(0, 5));
      set("ProductId", "GEN" + guid_of(0, meter.name).substr(0, 8));
    }
    set("CostCenter", "generated");
    set("IsAzureCreditEligible", "TRUE");
    set("PricingCurrency", options_.bill.currency.text());
    set("ExchangeRatePricingToBilling", "1");
    set("ExchangeRateDate", us_date(month.begin()));
    set("Provider", "Azure");
  }

  void tag(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    if (key == "team") team_ = value;
    tags_.emplace_back(key, value);
  }

  void region(std::string_view name) {
    set("ResourceLocation", name);
    set("Location", name);
    set("MeterRegion", name);
  }

  // The path of the machine: its provider id, if it has one.
  std::string resource_id(const NodeUse& use) const {
    const Node& node = *use.node->planned->node;
    const std::string& id = node.provider_id;
    const std::size_t path = id.find("/subscriptions/");
    if (path != std::string::npos) return id.substr(path);
    return fmt::format(
        "/subscriptions/{}/resourceGroups/rg-{}/providers/Microsoft.Compute/virtualMachines/{}",
        account_, node.cluster.text(), node.name.text());
  }

  void node_columns(const NodeUse& use) {
    const Node& node = *use.node->planned->node;
    region(use.prices->region);
    set("ResourceId", resource_id(use));
    set("ResourceName", node.name.text());
    set("AvailabilityZone", "1");
    const TextPair info[] = {{"ServiceType", node.instance_type},
                             {"UsageType", "ComputeHR"},
                             {"VMName", node.name.text()}};
    set("AdditionalInfo", json_object(info));
    tag("team", use.node->team);
    tag("cluster", node.cluster.text());
  }

  std::string commitment_guid(const CommitmentMonth& commitment) const {
    return guid_of(fleet_.seed(), commitment.commitment->id);
  }
  // As benefitId, or as the reservation's path.
  std::string commitment_id(const CommitmentMonth& commitment) const {
    const std::string guid = commitment_guid(commitment);
    const std::string order = guid_of(fleet_.seed(), "order of " + commitment.commitment->id);
    return commitment.is_spend
               ? fmt::format(
                     "/providers/Microsoft.BillingBenefits/savingsPlanOrders/{}/savingsPlans/{}",
                     order, guid)
               : fmt::format("/providers/Microsoft.Capacity/reservationOrders/{}/reservations/{}",
                             order, guid);
  }
  void commitment_columns(const CommitmentMonth& commitment) {
    const std::string name =
        fmt::format("Generated_{}_{}", commitment.is_spend ? "SavingsPlan" : "VM_RI",
                    commitment.commitment->instance_type);
    if (commitment.is_spend) {
      set("PricingModel", "SavingsPlan");
    } else {
      set("PricingModel", "Reservation");
      set("ReservationId", commitment_guid(commitment));
      set("ReservationName", name);
    }
    set("BenefitId", commitment_id(commitment));
    set("BenefitName", name);
    set("ProductOrderId", guid_of(fleet_.seed(), "order of " + commitment.commitment->id));
    set("ProductOrderName", name);
    set("Term", "12");
  }

  void quantities(Decimal quantity, Decimal list, Decimal price, Decimal cost) {
    set("Quantity", quantity);
    set("UnitPrice", price);
    set("PayGPrice", list);
    set("EffectivePrice", price);
    set("Cost", cost);
    set("CostInPricingCurrency", cost);
    set("CostInUsd", cost);
    set("PaygCostInBillingCurrency", fleet_.cost(list, quantity));
    set("PaygCostInUsd", fleet_.cost(list, quantity));
  }

  std::string invoice() const {
    return customer() ? fmt::format("GENERATED-{}", month_->text()) : "";
  }

  Result<void> end(LineType type, Decimal billed, Decimal effective) {
    set("Tags", customer() ? json_object(tags_) : json_members(tags_));
    truth_.add({.month = month_->text(),
                .invoice = invoice(),
                .account = account_,
                .service = service_,
                .team = team_,
                .type = type},
               billed, effective);
    ++truth_.rows;
    billed_ = plus(billed_, billed);
    return sheet_.end_row();
  }

  std::size_t cluster_of(const CommitmentMonth& commitment) const {
    std::size_t cluster = 0;
    while (fleet_.bill().clusters[cluster].name != commitment.commitment->cluster) ++cluster;
    return cluster;
  }

  Meter commitment_meter(const CommitmentMonth& commitment) const {
    Meter meter = vm_meter(commitment.commitment->instance_type, false);
    meter.subcategory = commitment.is_spend ? "Savings Plan" : "Reservation";
    meter.consumed_service =
        commitment.is_spend ? "Microsoft.BillingBenefits" : "Microsoft.Capacity";
    return meter;
  }

  // The month's fee, and another tenth of it that is refunded in the same month. Only the actual
  // data set has them; taxes and support are computed from what is billed, in both.
  Result<void> write_purchase(const CommitmentMonth& commitment) {
    unused_.resize(commitments_.size());
    unused_[commitment.index] = Decimal();
    const Decimal fee = fleet_.cost(commitment.rate, commitment.committed);
    const Decimal more = per_mille_of(fee, 100, fleet_.digits());
    if (amortised()) {
      billed_ = plus(billed_, fee);
      return {};
    }
    const auto write = [&](std::string_view charge_type, LineType type, Decimal cost) {
      begin(charge_type, commitment_meter(commitment), cluster_of(commitment), *covered_);
      region(commitment.prices->region);
      set("ResourceId", commitment_id(commitment));
      set("ResourceName", commitment_guid(commitment));
      set("Frequency", "Recurring");
      commitment_columns(commitment);
      quantities(cost.is_negative() ? Decimal::from_units(-1) : Decimal::from_units(1),
                 cost.is_negative() ? -cost : cost, cost.is_negative() ? -cost : cost, cost);
      return end(type, cost, Decimal());
    };
    TRY(write("Purchase", LineType::kCommitmentFee, plus(fee, more)));
    return write("Refund", LineType::kRefund, -more);
  }

  // The last slice of the month gets what rounding by day left of the fee.
  Result<void> write_unused(const CommitmentMonth& commitment, const Interval& slice) {
    const Used use = std::exchange(slice_[commitment.index], {});
    Used& used = used_[commitment.index];
    used.cost = plus(used.cost, use.cost);
    used.hours = plus(used.hours, use.hours);
    const Decimal hours = minus(committed_hours(slice, *commitment.commitment), use.hours);
    Decimal unused = minus(
        fleet_.cost(commitment.rate, committed_hours(slice, *commitment.commitment)), use.cost);
    if (slice.end() == covered_->end()) {
      const Decimal fee = fleet_.cost(commitment.rate, commitment.committed);
      unused = minus(minus(fee, used.cost), unused_[commitment.index]);
    }
    unused_[commitment.index] = plus(unused_[commitment.index], unused);
    if (!amortised()) return {};
    begin(commitment.is_spend ? "UnusedSavingsPlan" : "UnusedReservation",
          commitment_meter(commitment), cluster_of(commitment), slice);
    region(commitment.prices->region);
    set("ResourceId", commitment_id(commitment));
    set("ResourceName", commitment_guid(commitment));
    commitment_columns(commitment);
    quantities(hours, fleet_.rounded(commitment.prices->list), commitment.rate, unused);
    return end(LineType::kCommitmentUnused, Decimal(), unused);
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
    struct Resource {
      Meter meter;
      LineType type;
      Decimal price;
      Decimal quantity_per_hour;
      std::string_view kind;
      std::string name;
    };
    const auto parts_of = [](std::uint64_t parts, std::int64_t of) {
      return Decimal::from_ticks(static_cast<Int128>(parts) * (Decimal::kTicksPerUnit / of));
    };
    const Resource resources[] = {
        {{"Storage", "Premium SSD Managed Disks", "P30 LRS Disk", "Storage", "Microsoft.Compute",
          "1/Month"},
         LineType::kStorage,
         kDiskPerMonth,
         parts_of(random.between(1200, 1400), 1'000'000),
         "Microsoft.Compute/disks",
         "disks-" + billed.name},
        {{"Bandwidth", "Rtn Preference: MGN", "Standard Data Transfer Out", "Networking",
          "Microsoft.Compute", "1 GB"},
         LineType::kNetwork,
         kAzureTransferPerGb,
         parts_of(random.between(1, 250), 1000),
         "Microsoft.Compute/virtualMachines",
         first_of(cluster).planned->node->name.text()},
    };
    for (const Resource& resource : resources) {
      const Decimal quantity = fleet_.cost(hours, resource.quantity_per_hour);
      begin("Usage", resource.meter, cluster, slice);
      region(billed.region);
      set("ResourceId", fmt::format("/subscriptions/{}/resourceGroups/rg-{}/providers/{}/{}",
                                    account_, billed.name, resource.kind, resource.name));
      set("ResourceName", resource.name);
      set("PricingModel", "OnDemand");
      tag("team", first_of(cluster).team);
      tag("cluster", billed.name);
      const Decimal cost = fleet_.cost(resource.price, quantity);
      quantities(quantity, resource.price, resource.price, cost);
      TRY(end(resource.type, cost, cost));
    }
    return {};
  }

  void consider_refund(const NodeUse& use, Decimal price) {
    const auto begin = static_cast<std::uint64_t>(unix_ms(use.when.begin()));
    const std::uint64_t draw = Random(use.node->planned->key ^ begin).next();
    if (refund_ && refund_->draw <= draw) return;
    refund_ = Refundable{.draw = draw, .use = use, .price = price, .region = use.prices->region};
  }
  Result<void> write_refund() {
    if (!refund_) return {};
    const NodeUse& use = refund_->use;
    const Decimal hours = per_mille_of(use.hours, 500, kQuantityDigits);
    const Decimal back = -fleet_.cost(refund_->price, hours);
    if (back == Decimal()) return {};
    begin("Refund", vm_meter(use.node->planned->node->instance_type, false), use.cluster, use.when);
    node_columns(use);
    set("PricingModel", "OnDemand");
    quantities(-hours, refund_->price, refund_->price, back);
    return end(LineType::kRefund, back, back);
  }

  std::size_t no_cluster() const { return fleet_.bill().clusters.size(); }

  Result<void> write_support() {
    const Decimal fee = per_mille_of(billed_, options_.bill.support_per_mille, 2);
    if (fee <= Decimal()) return {};
    begin("Purchase",
          {.category = "Support",
           .subcategory = "Standard Support",
           .name = "Standard",
           .family = "Azure Support",
           .consumed_service = "Microsoft.Support",
           .unit = "1/Month"},
          no_cluster(), *covered_);
    set("Frequency", "Recurring");
    set("PricingModel", "OnDemand");
    quantities(Decimal::from_units(1), fee, fee, fee);
    return end(LineType::kSupport, fee, fee);
  }

  static Meter no_meter() {
    return {.category = "",
            .subcategory = "",
            .name = "",
            .family = "",
            .consumed_service = "",
            .unit = ""};
  }

  Result<void> write_tax() {
    const Decimal tax = per_mille_of(billed_, options_.bill.tax_per_mille, 2);
    if (tax <= Decimal()) return {};
    begin("Tax", no_meter(), no_cluster(), *covered_);
    set("Frequency", "OneTime");
    set("ProductName", "Tax (generated)");
    quantities(Decimal::from_units(1), Decimal(), Decimal(), tax);
    return end(LineType::kTax, tax, tax);
  }

  // To the cent, up or down.
  Result<void> write_rounding() {
    const Decimal rest = minus(round_half_even(billed_, 2), billed_);
    if (rest == Decimal()) return {};
    begin("RoundingAdjustment", no_meter(), no_cluster(), *covered_);
    set("Frequency", "OneTime");
    set("ProductName", "Rounding adjustment (generated)");
    quantities(Decimal::from_units(1), Decimal(), Decimal(), rest);
    return end(LineType::kRounding, rest, rest);
  }

  const FleetBill& fleet_;
  const NativeBillOptions& options_;
  Sheet sheet_;
  BillTruth& truth_;

  // State of the month being written.
  std::optional<BillingPeriod> month_;
  std::optional<Interval> covered_;
  std::vector<CommitmentMonth> commitments_;
  std::vector<Used> used_;
  std::vector<Used> slice_;      // of the slice being written
  std::vector<Decimal> unused_;  // cost
  Decimal billed_;               // as on the invoice, for either data set
  std::optional<Refundable> refund_;

  // State of the row being written.
  std::string account_;
  std::string service_;
  std::string team_;
  std::vector<TextPair> tags_;
};

}  // namespace

Result<void> write_azure_cost(const FleetBill& fleet, const TextSink& sink, BillTruth& truth) {
  AzureCost form(fleet, sink, truth);
  TRY(walk(fleet, TimeZone::utc(), form));
  return form.finish();
}

}  // namespace pennyweight::bills
