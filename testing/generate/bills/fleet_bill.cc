#include "testing/generate/bills/fleet_bill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"
#include "core/hash.h"
#include "core/try.h"
#include "core/units.h"
#include "testing/generate/random.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight::bills {
namespace {

constexpr int kCostDigits = 10;
constexpr int kSignificantDigits = 15;

constexpr std::array<std::string_view, 4> kTeams = {"research", "ranking", "vision", "platform"};
constexpr std::array<std::string_view, 5> kHostileTeams = {
    "search, \"ads\" & maps", "l\u00ednea\nnueva", "\u6570\u636e\u5e73\u53f0", "{\"a\":\"b\\c\"}",
    "=SUM(A1:A9);'--"};

// One node in eight has no team.
std::string team_of(std::uint64_t draw, bool hostile) {
  if (draw % 8 == 0) return "";
  const std::uint64_t pick = draw / 8;
  if (hostile) return std::string(kHostileTeams[pick % kHostileTeams.size()]);
  return std::string(kTeams[pick % kTeams.size()]);
}

std::string native_id(const PlannedNode& planned, std::uint64_t seed) {
  const std::string& id = planned.node->provider_id;
  if (!id.empty()) return id.substr(id.rfind('/') + 1);
  Fingerprint name;
  name.add(static_cast<std::int64_t>(seed))
      .add(planned.node->cluster.text())
      .add(planned.node->name.text());
  return "i-" + to_text(name.hash()).substr(0, 17);
}

// The digits after the point, such that the largest sum of the bill keeps fifteen.
int digits_for(Decimal most) {
  int left = 0;
  for (Int128 units = most.ticks() / Decimal::kTicksPerUnit; units > 0; units /= 10) ++left;
  return std::clamp(kSignificantDigits - left, 2, kCostDigits);
}

}  // namespace

Decimal plus(Decimal a, Decimal b) { return Decimal::from_ticks(a.ticks() + b.ticks()); }
Decimal minus(Decimal a, Decimal b) { return Decimal::from_ticks(a.ticks() - b.ticks()); }

Decimal hours_of(std::uint64_t milliseconds) {
  const auto ticks = multiply_divide(milliseconds, Decimal::kTicksPerUnit, kMillisecondsPerHour);
  return round_half_even(Decimal::from_ticks(static_cast<Int128>(ticks.quotient)), kQuantityDigits);
}

Decimal committed_hours(const Interval& interval, const Commitment& commitment) {
  return hours_of(interval.length_ms() / 1000 * commitment.milli_instances);
}

Decimal FleetBill::rounded(Decimal amount) const { return round_half_even(amount, digits_); }

Decimal FleetBill::cost(Decimal price, Decimal quantity) const {
  const auto product = multiply(price, quantity, Rounding::kHalfEven);
  CHECK(product.has_value(), "prices of a catalog times hours of a bill stay far below the limit");
  return rounded(*product);
}

Result<FleetBill> FleetBill::plan(std::span<const Node> nodes, const Catalog& catalog,
                                  const NativeBillOptions& options) {
  auto plan = TRY(plan_bill(nodes, options.bill));
  FleetBill fleet(std::move(plan), catalog, options);

  BillPrices prices(catalog, options.bill);
  Decimal most;
  const Decimal all_hours = hours_of(fleet.plan_.period.length_ms());
  for (const PlannedNode& planned : fleet.plan_.nodes) {
    const Node& node = *planned.node;
    const std::string& region = node.region.empty() ? options.bill.region : node.region;
    const auto found =
        prices.find(node.instance_type, region, NodeTerm::kOnDemand, planned.present.begin());
    if (!found) {
      return std::unexpected(found.error().during(fmt::format(
          "cannot price node {} of cluster {}", node.name.text(), node.cluster.text())));
    }
    // Upfront payments for a year are the largest: about twenty times the cost of a month.
    const auto cost = multiply(
        multiply((*found)->list, std::max(all_hours, Decimal::from_units(8784)), Rounding::kDown)
            .value_or(Decimal()),
        Decimal::from_units(2), Rounding::kDown);
    most = plus(most, cost.value_or(Decimal()));
    fleet.nodes_.push_back({.planned = &planned,
                            .type = catalog.find_instance_type(node.instance_type),
                            .team = team_of(Random(planned.key ^ 1).next(), options.hostile),
                            .id = native_id(planned, options.bill.seed)});
  }
  fleet.digits_ = digits_for(most);
  return fleet;
}

class FleetWalk {
 public:
  FleetWalk(const FleetBill& fleet, const TimeZone& zone, BillForm& form)
      : fleet_(fleet), zone_(zone), form_(form), prices_(*fleet.catalog_, fleet.options_->bill) {}

  Result<void> all() {
    const Interval& period = fleet_.plan_.period;
    auto month = BillingPeriod::containing(period.begin(), zone_);
    while (month.to_interval().begin() < period.end()) {
      const auto covered = month.to_interval().overlap(period);
      CHECK(covered.has_value(), "only months of the period are written");
      TRY(write_month(month, *covered));
      month = month.next();
    }
    return {};
  }

 private:
  Result<void> write_month(const BillingPeriod& month, const Interval& covered) {
    std::vector<CommitmentMonth> commitments;
    for (const Commitment& commitment : fleet_.plan_.commitments) {
      const auto prices = TRY(prices_.find(commitment.instance_type, commitment.region,
                                           NodeTerm::kReserved, covered.begin()));
      const std::size_t index = commitments.size();
      commitments.push_back({.commitment = &commitment,
                             .index = index,
                             .is_spend = index % 2 == 1,
                             .prices = prices,
                             .rate = fleet_.rounded(prices->effective),
                             .committed = committed_hours(covered, commitment)});
    }
    TRY(form_.begin_month(month, covered, commitments));
    for (const Interval& day : cut_by_day(covered, zone_)) {
      const bool hourly = fleet_.options_->bill.granularity == BillGranularity::kHourly;
      const auto step = hourly ? std::chrono::milliseconds(std::chrono::hours(1))
                               : std::chrono::milliseconds(day.length_ms());
      for (Instant begin = day.begin(); begin < day.end(); begin += step) {
        TRY(write_slice(Interval(begin, std::min(begin + step, day.end()))));
      }
    }
    return form_.end_month();
  }

  Result<void> write_slice(const Interval& slice) {
    std::vector<Decimal> hours(fleet_.plan_.clusters.size());
    std::size_t cluster = 0;
    for (const BilledNode& billed : fleet_.nodes_) {
      const PlannedNode& planned = *billed.planned;
      const Node& node = *planned.node;
      while (fleet_.plan_.clusters[cluster].name != node.cluster.text()) ++cluster;
      const auto present = planned.present.overlap(slice);
      if (!present) continue;
      const Decimal quantity = hours_of(present->length_ms());
      if (quantity == Decimal()) continue;  // less than a fifth of a second
      const auto prices = TRY(prices_.find(
          node.instance_type, node.region.empty() ? fleet_.options_->bill.region : node.region,
          planned.term, present->begin()));
      hours[cluster] = plus(hours[cluster], quantity);
      TRY(form_.node({.node = &billed,
                      .cluster = cluster,
                      .when = *present,
                      .hours = quantity,
                      .prices = prices}));
    }
    return form_.end_slice(slice, hours);
  }

  const FleetBill& fleet_;
  const TimeZone& zone_;
  BillForm& form_;
  BillPrices prices_;
};

Result<void> walk(const FleetBill& fleet, const TimeZone& zone, BillForm& form) {
  return FleetWalk(fleet, zone, form).all();
}

}  // namespace pennyweight::bills
