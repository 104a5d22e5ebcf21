#include "testing/generate/generate_bill.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/billing_period.h"
#include "core/check.h"
#include "core/try.h"
#include "core/units.h"
#include "testing/generate/bill_line.h"
#include "testing/generate/bill_plan.h"
#include "testing/generate/bill_prices.h"
#include "testing/generate/random.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight {
namespace {

// OpenCost's default prices (opencost/opencost, configs/default.json): a GiB of disk for an hour,
// and a GB to the internet.
constexpr Decimal kStoragePerGibHour = Decimal::from_ticks(54'794'520'000'000);  // 0.00005479452
constexpr Decimal kEgressPerGb = Decimal::from_ticks(120'000'000'000'000'000);   // 0.12
constexpr std::string_view kOpenCost = "opencost-default";
constexpr std::string_view kAssumed = "assumed by the generator";

constexpr int kCentDigits = 2;

Decimal hours(std::uint64_t milliseconds) {
  const auto ticks = multiply_divide(milliseconds, Decimal::kTicksPerUnit, kMillisecondsPerHour);
  return round_half_even(Decimal::from_ticks(static_cast<Int128>(ticks.quotient)), kQuantityDigits);
}

// Exact: an interval of whole hours, times thousandths.
Decimal committed_hours(const Interval& interval, const Commitment& commitment) {
  return hours(interval.length_ms() / 1000 * commitment.milli_instances);
}

Decimal sum(Decimal a, Decimal b) { return Decimal::from_ticks(a.ticks() + b.ticks()); }

// The state of a bill while it is generated.
class BillWriter {
 public:
  BillWriter(const Catalog& catalog, const BillOptions& options, const BillPlan& plan,
             const BillSink& sink)
      : catalog_(catalog),
        options_(options),
        plan_(plan),
        sink_(sink),
        prices_(catalog, options),
        totals_{.lines = 0, .costs = Costs::zero(options.currency)},
        taxable_(totals_.costs) {}

  Result<BillTotals> write() {
    const TimeZone utc = TimeZone::utc();
    auto month = BillingPeriod::containing(plan_.period.begin(), utc);
    while (month.to_interval().begin() < plan_.period.end()) {
      TRY(write_month(month));
      month = month.next();
    }
    return totals_;
  }

 private:
  struct Refund {
    std::uint64_t draw;  // the smallest of the month is refunded
    BillLine line;
  };

  Result<void> write_month(const BillingPeriod& month) {
    const auto covered = month.to_interval().overlap(plan_.period);
    CHECK(covered.has_value(), "only months of the period are written");
    const BillLines lines(options_, plan_, month);
    taxable_ = Costs::zero(options_.currency);
    refund_.reset();

    TRY(write_purchases(lines, *covered));
    node_lines_.assign(plan_.nodes.size(), std::nullopt);
    const auto step = options_.granularity == BillGranularity::kHourly
                          ? std::chrono::milliseconds(std::chrono::hours(1))
                          : std::chrono::milliseconds(std::chrono::days(1));
    for (Instant begin = covered->begin(); begin < covered->end(); begin += step) {
      TRY(write_slice(lines, Interval(begin, begin + step)));
    }
    return write_month_end(lines, *covered);
  }

  // The recurring fee of each commitment. Its price holds for the month, so that the used and
  // unused parts of the month add up to the fee exactly.
  Result<void> write_purchases(const BillLines& lines, const Interval& covered) {
    commitment_prices_.clear();
    for (const Commitment& commitment : plan_.commitments) {
      const auto prices = TRY(prices_.find(commitment.instance_type, commitment.region,
                                           NodeTerm::kReserved, covered.begin()));
      commitment_prices_.push_back(prices);
      BillLine line = lines.purchase_line(commitment, *prices);
      line.charge.charge_period = covered;
      const Decimal fee = prices->effective;
      if (auto set =
              set_amounts(line, committed_hours(covered, commitment),
                          {.list = fee, .contracted = fee, .billed = fee, .effective = Decimal()});
          !set) {
        return set;
      }
      TRY(send(line));
    }
    return {};
  }

  Result<void> write_slice(const BillLines& lines, const Interval& slice) {
    std::vector<Decimal> used(plan_.commitments.size());
    node_ms_.assign(plan_.clusters.size(), 0);
    std::size_t cluster = 0;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const PlannedNode& planned = plan_.nodes[i];
      const auto present = planned.present.overlap(slice);
      if (!present) continue;
      while (plan_.clusters[cluster].name != planned.node->cluster.text()) ++cluster;
      node_ms_[cluster] += present->length_ms();
      const Decimal quantity = hours(present->length_ms());
      if (quantity == Decimal()) continue;  // less than a fifth of a second
      if (planned.term == NodeTerm::kReserved) {
        used[planned.commitment] = sum(used[planned.commitment], quantity);
      }
      TRY(write_node(lines, i, *present, quantity));
    }
    TRY(write_unused(lines, slice, used));
    return write_cluster_lines(lines, slice);
  }

  Result<void> write_node(const BillLines& lines, std::size_t index, const Interval& present,
                          Decimal quantity) {
    const PlannedNode& planned = plan_.nodes[index];
    const Node& node = *planned.node;
    const std::string& region = node.region.empty() ? options_.region : node.region;
    const auto found = prices_.find(node.instance_type, region, planned.term, present.begin());
    if (!found) {
      return std::unexpected(found.error().during(fmt::format(
          "cannot price node {} of cluster {}", node.name.text(), node.cluster.text())));
    }
    const HourlyPrices& prices = **found;
    std::optional<BillLine>& line = node_lines_[index];
    if (!line) {
      line = lines.node_line(planned, catalog_.find_instance_type(node.instance_type), prices);
    }
    line->charge.charge_period = present;
    line->other_columns["x_PriceSource"] = prices.source;
    UnitPrices units{.list = prices.list,
                     .contracted = prices.contracted,
                     .billed = prices.effective,
                     .effective = prices.effective};
    if (planned.term == NodeTerm::kReserved) {
      units.billed = Decimal();
      units.effective = commitment_prices_[planned.commitment]->effective;
    }
    TRY(set_amounts(*line, quantity, units));
    TRY(send(*line));
    if (planned.term != NodeTerm::kReserved) consider_refund(planned, *line);
    return {};
  }

  Result<void> write_unused(const BillLines& lines, const Interval& slice,
                            const std::vector<Decimal>& used) {
    for (std::size_t i = 0; i < plan_.commitments.size(); ++i) {
      const Commitment& commitment = plan_.commitments[i];
      const Decimal committed = committed_hours(slice, commitment);
      const Decimal unused = sum(committed, -used[i]);
      CHECK(unused > Decimal(), "more is committed than the reserved nodes are");
      BillLine line = lines.unused_line(commitment, *commitment_prices_[i]);
      line.charge.charge_period = slice;
      const Decimal fee = commitment_prices_[i]->effective;
      if (auto set =
              set_amounts(line, unused,
                          {.list = fee, .contracted = fee, .billed = Decimal(), .effective = fee});
          !set) {
        return set;
      }
      TRY(send(line));
    }
    return {};
  }

  // Disks and traffic of each cluster's nodes.
  Result<void> write_cluster_lines(const BillLines& lines, const Interval& slice) {
    for (std::size_t i = 0; i < plan_.clusters.size(); ++i) {
      const Decimal node_hours = hours(node_ms_[i]);
      if (node_hours == Decimal()) continue;
      const BilledCluster& cluster = plan_.clusters[i];
      Random random(options_.seed, fmt::format("{}\n{}", cluster.name, unix_ms(slice.begin())));
      TRY(write_storage(lines, slice, cluster, node_hours, random));
      TRY(write_egress(lines, slice, cluster, node_hours, random));
    }
    return {};
  }

  Result<void> write_storage(const BillLines& lines, const Interval& slice,
                             const BilledCluster& cluster, Decimal node_hours, Random& random) {
    const auto quantity = TRY(multiply(
        node_hours, Decimal::from_units(static_cast<std::int64_t>(random.between(480, 520))),
        Rounding::kHalfEven));
    const Product product{.service_category = "Storage",
                          .service_subcategory = "Block Storage",
                          .service_name = "Block Storage",
                          .sku_meter = "Disk",
                          .sku = "gp",
                          .option = "on_demand",
                          .unit = "GiB-Hours"};
    BillLine line =
        lines.begin_line(product, ChargeCategory::kUsage, slice, cluster.name, cluster.region,
                         fmt::format("disks of cluster {}", cluster.name), kOpenCost);
    line.charge.consumed_unit = product.unit;
    line.charge.resource_id =
        "volumes-" + account_number(options_.seed, "volumes of " + cluster.name);
    line.charge.resource_type = "Volume";
    TRY(set_amounts(line, quantity, at_list(kStoragePerGibHour)));
    return send(line);
  }

  Result<void> write_egress(const BillLines& lines, const Interval& slice,
                            const BilledCluster& cluster, Decimal node_hours, Random& random) {
    // 50 to 250 MB for each node hour, so that price and quantity stay within 18 digits.
    const Decimal gb_per_hour = Decimal::from_ticks(static_cast<Int128>(random.between(50, 250)) *
                                                    Decimal::kTicksPerUnit / 1000);
    const auto quantity = TRY(multiply(node_hours, gb_per_hour, Rounding::kHalfEven));
    const Product product{.service_category = "Networking",
                          .service_subcategory = "Network Connectivity",
                          .service_name = "Data Transfer",
                          .sku_meter = "Internet egress",
                          .sku = "internet",
                          .option = "on_demand",
                          .unit = "GB"};
    BillLine line = lines.begin_line(
        product, ChargeCategory::kUsage, slice, cluster.name, cluster.region,
        fmt::format("traffic of cluster {} to the internet", cluster.name), kOpenCost);
    line.charge.consumed_unit = product.unit;
    TRY(set_amounts(line, quantity, at_list(kEgressPerGb)));
    return send(line);
  }

  static UnitPrices at_list(Decimal price) {
    return {.list = price, .contracted = price, .billed = price, .effective = price};
  }

  // Half of one billed line is refunded: the one with the smallest draw of the month.
  void consider_refund(const PlannedNode& planned, const BillLine& line) {
    if (line.charge.costs.billed.is_zero()) return;
    const auto begin = static_cast<std::uint64_t>(unix_ms(line.charge.charge_period.begin()));
    const std::uint64_t draw = Random(planned.key ^ begin).next();
    if (refund_ && refund_->draw <= draw) return;
    refund_ = Refund{.draw = draw, .line = line};
  }

  Result<void> write_refund() {
    if (!refund_) return {};
    BillLine line = refund_->line;
    Charge& charge = line.charge;
    const Decimal quantity = *charge.pricing_quantity;
    const Decimal back = -per_mille_of(quantity, 500, kQuantityDigits);
    if (back == Decimal()) return {};
    charge.is_correction = true;
    charge.charge_description =
        fmt::format("Generated: refund of an outage, {} of {} hours of {}", to_text(-back),
                    to_text(quantity), charge.instance_type);
    // On demand and spot: the contracted price is billed.
    const Decimal price = *charge.contracted_unit_price;
    TRY(set_amounts(line, back,
                    {.list = *charge.list_unit_price,
                     .contracted = price,
                     .billed = price,
                     .effective = price}));
    return send(line);
  }

  Result<void> write_month_end(const BillLines& lines, const Interval& covered) {
    TRY(write_refund());
    const Money spent = taxable_.billed;
    TRY(write_support(lines, covered, spent));
    TRY(write_tax(lines, covered));
    return write_credit(lines, covered, spent);
  }

  Result<void> write_support(const BillLines& lines, const Interval& covered, Money spent) {
    const Decimal base = round_half_even(spent.amount(), kCentDigits);
    const Decimal share =
        per_mille_of(Decimal::from_units(1), options_.support_per_mille, kQuantityDigits);
    if (base <= Decimal() || share == Decimal()) return {};
    const Product product{.service_category = "Management and Governance",
                          .service_subcategory = "Support",
                          .service_name = "Support",
                          .sku_meter = "Support plan",
                          .sku = "business",
                          .option = "on_demand",
                          .unit = options_.currency.text()};
    BillLine line = lines.begin_line(
        product, ChargeCategory::kPurchase, covered, "", "",
        fmt::format("support, {}/1000 of what was billed", options_.support_per_mille), kAssumed);
    line.charge.charge_frequency = ChargeFrequency::kRecurring;
    TRY(set_amounts(line, base, at_list(share)));
    return send(line);
  }

  Result<void> write_tax(const BillLines& lines, const Interval& covered) {
    const auto of = [&](Money base) {
      return Money::from_decimal(per_mille_of(base.amount(), options_.tax_per_mille, kCentDigits),
                                 base.currency());
    };
    const Product product{.service_category = "Other",
                          .service_subcategory = "Other (Other)",
                          .service_name = "Tax",
                          .sku_meter = "",
                          .sku = "",
                          .option = "",
                          .unit = ""};
    BillLine line = lines.begin_line(
        product, ChargeCategory::kTax, covered, "", "",
        fmt::format("tax, {}/1000 of usage, purchases and support", options_.tax_per_mille),
        kAssumed);
    line.charge.charge_frequency = ChargeFrequency::kOneTime;
    // The tax on an invoice is computed from what is billed; FOCUS wants the same as its effective
    // cost.
    const Money billed = of(taxable_.billed);
    line.charge.costs = {.billed = billed,
                         .effective = billed,
                         .list = of(taxable_.list),
                         .contracted = of(taxable_.contracted)};
    if (billed.is_zero()) return {};
    return send(line);
  }

  Result<void> write_credit(const BillLines& lines, const Interval& covered, Money spent) {
    Random random(options_.seed, "credit " + lines.month().text());
    const auto per_mille = static_cast<std::uint32_t>(random.between(5, 15));
    const Decimal amount = per_mille_of(spent.amount(), per_mille, kCentDigits);
    if (amount <= Decimal()) return {};
    const Product product{.service_category = "Other",
                          .service_subcategory = "Other (Other)",
                          .service_name = "Promotional Credit",
                          .sku_meter = "",
                          .sku = "",
                          .option = "",
                          .unit = ""};
    BillLine line = lines.begin_line(product, ChargeCategory::kCredit, covered, "", "",
                                     "promotional credit", kAssumed);
    line.charge.charge_frequency = ChargeFrequency::kOneTime;
    const Money credit = Money::from_decimal(-amount, options_.currency);
    line.charge.costs = {
        .billed = credit, .effective = credit, .list = credit, .contracted = credit};
    return send(line);
  }

  Result<void> send(BillLine& line) {
    const Charge& charge = line.finish();
    ++totals_.lines;
    totals_.costs += charge.costs;
    if (charge.charge_category == ChargeCategory::kUsage ||
        charge.charge_category == ChargeCategory::kPurchase) {
      taxable_ += charge.costs;
    }
    return sink_(charge);
  }

  const Catalog& catalog_;
  const BillOptions& options_;
  const BillPlan& plan_;
  const BillSink& sink_;
  BillPrices prices_;
  BillTotals totals_;

  // State of the month being written.
  Costs taxable_;
  std::vector<const HourlyPrices*> commitment_prices_;
  std::vector<std::optional<BillLine>> node_lines_;
  std::optional<Refund> refund_;

  std::vector<std::uint64_t> node_ms_;  // of all nodes of a cluster, in the slice
};

}  // namespace

std::set<std::string> providers_of(std::span<const Node> nodes, const Catalog& catalog) {
  std::set<std::string> providers;
  for (const Node& node : nodes) {
    const InstanceType* type = catalog.find_instance_type(node.instance_type);
    if (type != nullptr) providers.insert(type->provider);
  }
  return providers;
}

Result<BillTotals> generate_bill(std::span<const Node> nodes, const Catalog& catalog,
                                 const BillOptions& options, const BillSink& sink) {
  const auto plan = plan_bill(nodes, options);
  if (!plan) return std::unexpected(plan.error().during("cannot generate a bill"));
  auto totals = BillWriter(catalog, options, *plan, sink).write();
  if (!totals) return std::unexpected(totals.error().during("cannot generate a bill"));
  return totals;
}

}  // namespace pennyweight
