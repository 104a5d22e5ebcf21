#include "testing/generate/bills/gcp_export.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/json_text.h"
#include "core/try.h"
#include "testing/generate/bills/gcp_sheet.h"
#include "testing/generate/bills/json_text.h"
#include "testing/generate/bills/number_text.h"
#include "testing/generate/random.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight::bills {
namespace {

constexpr Decimal kDiskPerGibMonth = Decimal::from_ticks(170'000'000'000'000'000);  // 0.17
constexpr Decimal kEgressPerGib = Decimal::from_ticks(85'000'000'000'000'000);      // 0.085
constexpr Decimal kOne = Decimal::from_units(1);

struct GcpService {
  std::string_view id;
  std::string_view name;
};
constexpr GcpService kGcpCompute = {"6F81-5844-456A", "Compute Engine"};
constexpr GcpService kInvoice = {"", "Invoice"};
constexpr GcpService kGcpSupport = {"2062-016F-44A2", "Support"};

// "6B8F-E63D-832B"
std::string sku_id(std::string_view description) {
  const std::string hash = pennyweight::to_text(hash_of(description));
  return ascii::upper_case(
      fmt::format("{}-{}-{}", hash.substr(0, 4), hash.substr(4, 4), hash.substr(8, 4)));
}

// A component of a machine that has its own SKU.
struct NodeComponent {
  std::string_view name;  // "Instance Core"
  std::uint32_t per_mille;
  std::uint64_t count;
  std::string_view unit;  // of the usage
  std::int64_t units_per_count_second;
  std::string_view pricing_unit;
};

struct CreditText {
  std::string_view name;
  std::string_view type;
  Decimal amount;
};

class GcpExport : public BillForm {
 public:
  GcpExport(const FleetBill& fleet, const TextSink& sink, BillTruth& truth)
      : fleet_(fleet),
        options_(fleet.options()),
        sheet_(fleet.options().form == NativeForm::kGcpJson, sink),
        truth_(truth) {}

  Result<void> begin_month(const BillingPeriod& month, const Interval& covered,
                           std::span<const CommitmentMonth> commitments) override {
    month_ = month;
    covered_ = covered;
    commitments_.assign(commitments.begin(), commitments.end());
    used_.assign(commitments.size(), Decimal());
    billed_ = Decimal();
    refund_.reset();
    return {};
  }

  Result<void> node(const NodeUse& use) override {
    const InstanceType* type = use.node->type;
    const std::uint64_t gpus = type == nullptr ? 0 : type->gpu_count;
    const std::uint64_t cores = type == nullptr || !type->cpu_milli ? 8 : *type->cpu_milli / 1000;
    const std::uint64_t gib =
        type == nullptr || !type->memory_bytes ? 64 : *type->memory_bytes >> 30;
    const NodeComponent components[] = {
        {"Instance Core", gpus == 0 ? 700u : 200u, cores, "seconds", 1, "hour"},
        {"Instance Ram", gpus == 0 ? 300u : 100u, gib, "byte-seconds", std::int64_t{1} << 30,
         "gibibyte hour"},
        {"GPU", 700, gpus, "seconds", 1, "hour"}};
    for (const NodeComponent& component : components) {
      if (component.count == 0) continue;
      TRY(write_component(use, component));
    }
    return {};
  }

  Result<void> end_slice(const Interval& slice, std::span<const Decimal> cluster_hours) override {
    for (const CommitmentMonth& commitment : commitments_) {
      TRY(write_fee(commitment, slice));
    }
    for (std::size_t i = 0; i < cluster_hours.size(); ++i) {
      if (cluster_hours[i] == Decimal()) continue;
      TRY(write_cluster(i, slice, cluster_hours[i]));
    }
    return {};
  }

  Result<void> end_month() override {
    TRY(write_adjustment());
    TRY(write_support());
    TRY(write_tax());
    return write_rounding();
  }

  Result<void> finish() { return sheet_.finish(); }

 private:
  struct Refundable {
    std::uint64_t draw;
    NodeUse use;
    std::string sku;
    Decimal cost;
  };

  // Unit prices have nine digits: the price of an hour of one out of `count`.
  static Decimal unit_price(Decimal whole, std::uint32_t per_mille, std::uint64_t count) {
    const Decimal part = per_mille_of(whole, per_mille, kUnitPriceDigits);
    const auto each = multiply_divide(static_cast<UInt128>(part.ticks()), 1, count);
    return round_half_even(Decimal::from_ticks(static_cast<Int128>(each.quotient)), 9);
  }

  // `cluster` past the end: a row without a project.
  void begin(std::string_view cost_type, const GcpService& service, std::string_view sku,
             std::size_t cluster, const Interval& when) {
    const auto& clusters = fleet_.bill().clusters;
    const bool of_cluster = cluster < clusters.size();
    account_ = of_cluster ? project_id(cluster) : "";
    service_ = service.name;
    team_.clear();
    labels_ = {{"generated", "pennyweight"}};
    sheet_.text("billing_account_id", billing_account());
    sheet_.text("service.id", service.id);
    sheet_.text("service.description", service.name);
    sheet_.text("sku.id", sku_id(sku));
    sheet_.text("sku.description", sku);
    sheet_.time("usage_start_time", when.begin());
    sheet_.time("usage_end_time", when.end());
    sheet_.time("export_time", when.end() + std::chrono::hours(5));
    if (of_cluster) {
      sheet_.text("project.id", account_);
      sheet_.text("project.number", fleet_.account(cluster));
      sheet_.text("project.name", clusters[cluster].name);
      sheet_.text("project.ancestry_numbers", "/" + fleet_.bill().account_id + "/");
      sheet_.list("project.labels", "[]");
    }
    sheet_.list("system_labels", "[]");
    sheet_.list("tags", "[]");
    sheet_.text("currency", options_.bill.currency.text());
    sheet_.number("currency_conversion_rate", kOne);
    sheet_.text("transaction_type", "GOOGLE");
    sheet_.text("seller_name", "Google");
    std::string month = month_->text();
    month.erase(4, 1);
    sheet_.text("invoice.month", month);
    sheet_.text("cost_type", cost_type);
  }

  std::string billing_account() const {
    const std::string hash =
        ascii::upper_case(pennyweight::to_text(hash_of(fleet_.bill().account_id)));
    return fmt::format("{}-{}-{}", hash.substr(0, 6), hash.substr(6, 6), hash.substr(12, 6));
  }
  std::string project_id(std::size_t cluster) const {
    return fmt::format("generated-{}", fleet_.account(cluster).substr(0, 6));
  }

  void label(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    if (key == "team") team_ = value;
    labels_.emplace_back(key, value);
  }

  void place(std::string_view region) {
    sheet_.text("location.location", region);
    sheet_.text("location.country", "US");
    sheet_.text("location.region", region);
  }

  void usage(Decimal amount, std::string_view unit, Decimal priced, std::string_view pricing_unit,
             Decimal price, Decimal list_price) {
    sheet_.number("usage.amount", amount);
    sheet_.text("usage.unit", unit);
    sheet_.number("usage.amount_in_pricing_units", priced);
    sheet_.text("usage.pricing_unit", pricing_unit);
    sheet_.number("price.effective_price", price);
    sheet_.number("price.list_price", list_price);
    sheet_.number("price.tier_start_amount", Decimal());
    sheet_.text("price.unit", pricing_unit);
    sheet_.number("price.pricing_unit_quantity", kOne);
  }

  Result<void> end(LineType type, Decimal cost, std::span<const CreditText> credits = {}) {
    sheet_.number("cost", cost);
    std::string list = "[";
    Decimal net = cost;
    for (const CreditText& credit : credits) {
      net = plus(net, credit.amount);
      if (list.size() > 1) list += ',';
      list += fmt::format(
          "{{\"name\":{0},\"full_name\":{0},\"id\":{0},\"type\":{1},\"amount\":{2}}}",
          json_string(credit.name), json_string(credit.type), python_double(credit.amount));
    }
    sheet_.list("credits", list + ']');
    std::string labels = "[";
    for (const auto& [key, value] : labels_) {
      if (labels.size() > 1) labels += ',';
      labels += fmt::format("{{\"key\":{},\"value\":{}}}", json_string(key), json_string(value));
    }
    sheet_.list("labels", labels + ']');
    truth_.add({.month = month_->text(),
                .invoice = "",
                .account = account_,
                .service = service_,
                .team = team_,
                .type = type},
               net, net);
    ++truth_.rows;
    billed_ = plus(billed_, net);
    return sheet_.end_row();
  }

  std::string family(std::string_view type) const {
    return ascii::upper_case(type.substr(0, type.find('-')));
  }

  void node_columns(const NodeUse& use) {
    const Node& node = *use.node->planned->node;
    place(use.prices->region);
    sheet_.text("location.zone", use.prices->region + "-a");
    sheet_.text("resource.name", node.name.text());
    sheet_.text("resource.global_name",
                fmt::format("//compute.googleapis.com/projects/{}/zones/{}-a/instances/{}",
                            fleet_.account(use.cluster), use.prices->region, node.name.text()));
    label("team", use.node->team);
    label("cluster", node.cluster.text());
    const TextPair machine = {"compute.googleapis.com/machine_spec", node.instance_type};
    sheet_.list("system_labels",
                fmt::format("[{{\"key\":{},\"value\":{}}}]", json_string(machine.first),
                            json_string(machine.second)));
  }

  Result<void> write_component(const NodeUse& use, const NodeComponent& component) {
    const PlannedNode& planned = *use.node->planned;
    const std::string& type = planned.node->instance_type;
    const bool is_spot = planned.term == NodeTerm::kSpot;
    const bool is_covered = planned.term == NodeTerm::kReserved;
    const bool is_newer = is_covered && commitments_[planned.commitment].is_spend;
    const Decimal list = unit_price(use.prices->list, component.per_mille, component.count);
    Decimal price = list;
    if (is_spot) price = unit_price(use.prices->effective, component.per_mille, component.count);
    if (is_newer) {
      price =
          unit_price(commitments_[planned.commitment].rate, component.per_mille, component.count);
    }
    const auto count = Decimal::from_units(static_cast<std::int64_t>(component.count));
    const Decimal priced = fleet_.cost(count, use.hours);
    const Decimal seconds = fleet_.cost(use.hours, Decimal::from_units(3600));
    const Decimal cost = fleet_.cost(price, priced);
    const std::string sku =
        fmt::format("{}{} {} running in Americas", is_spot ? "Spot Preemptible " : "", family(type),
                    component.name);
    begin("regular", kGcpCompute, sku, use.cluster, use.when);
    node_columns(use);
    usage(fleet_.cost(fleet_.cost(seconds, count),
                      Decimal::from_units(component.units_per_count_second)),
          component.unit, priced, component.pricing_unit, price, list);
    sheet_.number("cost_at_list", fleet_.cost(list, priced));
    if (is_newer) {
      const CommitmentMonth& commitment = commitments_[planned.commitment];
      sheet_.text("consumption_model.id", sku_id("flexible commitment"));
      sheet_.text("consumption_model.description", "Compute Flexible CUDs - 1 Year");
      used_[commitment.index] = plus(used_[commitment.index], cost);
      return end(LineType::kCommitmentUsed, cost);
    }
    if (is_covered) {
      const CreditText credit[] = {
          {"Committed Usage Discount: CPU", "COMMITTED_USAGE_DISCOUNT", -cost}};
      return end(LineType::kCommitmentUsed, cost, credit);
    }
    if (is_spot) return end(LineType::kSpot, cost);
    consider_refund(use, sku, cost);
    // Every second machine has run long enough; for one in eight, a voucher pays a part.
    std::vector<CreditText> credits;
    const std::uint64_t draw = Random(planned.key ^ 3).next();
    if (draw % 2 == 0) {
      credits.push_back({"Sustained Usage Discount", "SUSTAINED_USAGE_DISCOUNT",
                         -per_mille_of(cost, 117, fleet_.digits())});
    }
    if (draw % 8 < 2) {
      credits.push_back(
          {"Generated voucher", "PROMOTION", -per_mille_of(cost, 53, fleet_.digits())});
    }
    return end(LineType::kOnDemand, cost, credits);
  }

  std::size_t cluster_of(const CommitmentMonth& commitment) const {
    std::size_t cluster = 0;
    while (fleet_.bill().clusters[cluster].name != commitment.commitment->cluster) ++cluster;
    return cluster;
  }

  // The commitment for the slice. The newer model subtracts what was used.
  Result<void> write_fee(const CommitmentMonth& commitment, const Interval& slice) {
    const Decimal hours = committed_hours(slice, *commitment.commitment);
    const Decimal fee = fleet_.cost(commitment.rate, hours);
    const std::string name = family(commitment.commitment->instance_type);
    const std::string sku = commitment.is_spend
                                ? "Commitment fee - dollar based v1: GCE 1 year"
                                : fmt::format("Commitment v1: {} Cpu in Americas for 1 Year", name);
    begin("regular", kGcpCompute, sku,
          commitment.is_spend ? fleet_.bill().clusters.size() : cluster_of(commitment), slice);
    place(commitment.prices->region);
    sheet_.text("subscription.instance_id", commitment.commitment->id);
    sheet_.number("cost_at_list", fee);
    if (!commitment.is_spend) {
      usage(fleet_.cost(hours, Decimal::from_units(3600)), "seconds", hours, "hour",
            commitment.rate, commitment.rate);
      return end(LineType::kCommitmentFee, fee);
    }
    // Priced in money: one unit costs one.
    usage(fee, "dollars", fee, "dollar", kOne, kOne);
    sheet_.text("consumption_model.id", "7754-699E-0EBF");
    sheet_.text("consumption_model.description", "Default");
    const Decimal used = std::exchange(used_[commitment.index], Decimal());
    CommitmentTruth& there = truth_.commitments[commitment.commitment->id];
    there.recurring = plus(there.recurring, fee);
    there.used = plus(there.used, used);
    there.unused = plus(there.unused, minus(fee, used));
    const CreditText credit[] = {{"Commitment fee offset", "FEE_UTILIZATION_OFFSET", -used}};
    return end(LineType::kCommitmentFee, fee,
               used == Decimal() ? std::span<const CreditText>{} : std::span(credit));
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
      std::string_view sku;
      LineType type;
      Decimal price;
      std::uint64_t per_million_hour;
      std::string_view unit;
      std::int64_t units;
      std::string_view pricing_unit;
      std::string resource;
    };
    const Use uses[] = {
        {"SSD backed PD Capacity", LineType::kStorage, kDiskPerGibMonth,
         random.between(600'000, 700'000), "byte-seconds", std::int64_t{1} << 30, "gibibyte month",
         "disk-" + billed.name},
        {"Network Internet Egress from Americas to EMEA", LineType::kNetwork, kEgressPerGib,
         random.between(12, 250'000), "bytes", std::int64_t{1} << 30, "gibibyte",
         first_of(cluster).planned->node->name.text()},
    };
    for (const Use& use : uses) {
      const Decimal priced =
          fleet_.cost(hours, Decimal::from_ticks(static_cast<Int128>(use.per_million_hour) *
                                                 (Decimal::kTicksPerUnit / 1'000'000)));
      const Decimal cost = fleet_.cost(use.price, priced);
      begin("regular", kGcpCompute, use.sku, cluster, slice);
      place(billed.region);
      sheet_.text("resource.name", use.resource);
      sheet_.text("resource.global_name", fmt::format("//compute.googleapis.com/projects/{}/{}",
                                                      fleet_.account(cluster), use.resource));
      label("team", first_of(cluster).team);
      label("cluster", billed.name);
      usage(fleet_.cost(priced, Decimal::from_units(use.units)), use.unit, priced, use.pricing_unit,
            use.price, use.price);
      sheet_.number("cost_at_list", cost);
      TRY(end(use.type, cost));
    }
    return {};
  }

  void consider_refund(const NodeUse& use, const std::string& sku, Decimal cost) {
    if (cost == Decimal()) return;
    const auto begin = static_cast<std::uint64_t>(unix_ms(use.when.begin()));
    const std::uint64_t draw = Random(use.node->planned->key ^ begin).next();
    if (refund_ && refund_->draw <= draw) return;
    refund_ = Refundable{.draw = draw, .use = use, .sku = sku, .cost = cost};
  }
  Result<void> write_adjustment() {
    if (!refund_) return {};
    const Decimal back = -per_mille_of(refund_->cost, 500, fleet_.digits());
    if (back == Decimal()) return {};
    begin("adjustment", kGcpCompute, refund_->sku, refund_->use.cluster, refund_->use.when);
    place(refund_->use.prices->region);
    label("team", refund_->use.node->team);
    sheet_.text("adjustment_info.id", "generated-" + month_->text());
    sheet_.text("adjustment_info.description", "Generated: goodwill for an outage");
    sheet_.text("adjustment_info.mode", "PARTIAL_CORRECTION");
    sheet_.text("adjustment_info.type", "GOODWILL");
    sheet_.number("cost_at_list", back);
    return end(LineType::kRefund, back);
  }

  std::size_t no_project() const { return fleet_.bill().clusters.size(); }

  Result<void> write_support() {
    const Decimal fee = per_mille_of(billed_, options_.bill.support_per_mille, 2);
    if (fee <= Decimal()) return {};
    begin("regular", kGcpSupport, "Enhanced Support", no_project(), *covered_);
    usage(kOne, "months", kOne, "month", fee, fee);
    sheet_.number("cost_at_list", fee);
    return end(LineType::kSupport, fee);
  }
  Result<void> write_tax() {
    const Decimal tax = per_mille_of(billed_, options_.bill.tax_per_mille, 2);
    if (tax <= Decimal()) return {};
    begin("tax", kInvoice, "Tax", no_project(), *covered_);
    return end(LineType::kTax, tax);
  }
  Result<void> write_rounding() {
    const Decimal rest = minus(round_half_even(billed_, 2), billed_);
    if (rest == Decimal()) return {};
    begin("rounding_error", kInvoice, "Rounding error", no_project(), *covered_);
    return end(LineType::kRounding, rest);
  }

  const FleetBill& fleet_;
  const NativeBillOptions& options_;
  GcpSheet sheet_;
  BillTruth& truth_;

  // State of the month being written.
  std::optional<BillingPeriod> month_;
  std::optional<Interval> covered_;
  std::vector<CommitmentMonth> commitments_;
  std::vector<Decimal> used_;  // commitments of the newer model used in the slice
  Decimal billed_;
  std::optional<Refundable> refund_;

  // State of the row being written.
  std::string account_;
  std::string service_;
  std::string team_;
  std::vector<TextPair> labels_;
};

}  // namespace

Result<void> write_gcp_export(const FleetBill& fleet, const TextSink& sink, BillTruth& truth) {
  const auto zone = TRY(TimeZone::parse("America/Los_Angeles"));
  GcpExport form(fleet, sink, truth);
  TRY(walk(fleet, zone, form));
  return form.finish();
}

}  // namespace pennyweight::bills
