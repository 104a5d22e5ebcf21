#include "insight/advice/commitments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "allocation/components.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/formulas/commitment.h"

namespace pennyweight::advising {
namespace {

constexpr std::size_t kLongDemandHours = 672;  // 28 days
constexpr std::size_t kLatestHours = 168;      // 7 days
constexpr std::uint64_t kDayMs = 86'400'000;
constexpr std::uint64_t kUnusedDaysShort = 7;
constexpr std::uint64_t kUnusedDaysLong = 21;
constexpr std::uint64_t kDemandPercents[] = {80, 100, 120};

struct SkuKey {
  std::string instance_type;
  std::string region;
  std::string currency;
  auto operator<=>(const SkuKey&) const = default;
};

// On-demand hours of one instance type that were paid and kept.
struct SkuDemand {
  std::vector<std::uint64_t> nodes;  // by recorded hour
  Money paid;
  std::uint64_t node_hours = 0;
};

Decimal ratio_of(Decimal price, Decimal part, Decimal whole) {
  const auto [quotient, remainder] =
      multiply_divide(static_cast<UInt128>(price.ticks()), static_cast<UInt128>(part.ticks()),
                      static_cast<UInt128>(whole.ticks()));
  return Decimal::from_ticks(static_cast<Int128>(quotient) + (remainder > 0 ? 1 : 0));
}

class CommitmentSearch {
 public:
  CommitmentSearch(const ClusterId& cluster, const FleetView& fleet, const FleetHours& hours,
                   const NodeBill& bill, std::span<const HourFlags> kept, const Catalog& catalog,
                   Instant prices_at)
      : cluster_(cluster),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        kept_(kept),
        catalog_(catalog),
        prices_at_(prices_at) {
    for (std::size_t hour = 0; hour < hours.hours(); ++hour) {
      position_.push_back(recorded_);
      if (hours.is_recorded(hour)) ++recorded_;
    }
  }

  CommitmentAdvice run() {
    for (const std::uint32_t node : bill_.by_cost()) add(node);
    for (const auto& [key, demand] : demands_) {
      if (demand.node_hours == 0 || demand.paid.ticks() <= 0) continue;
      if (propose(key, demand, PurchaseOption::kCommitted1Year)) {
        propose(key, demand, PurchaseOption::kCommitted3Years);
      }
    }
    return {std::move(proposals_), {gaps_.begin(), gaps_.end()}};
  }

 private:
  // Whole recorded hours that an on-demand line of the node covers.
  void add(std::uint32_t node) {
    const NodeShape shape = find_node_shape(fleet_.any_fact(node), catalog_);
    if (shape.instance_type.empty()) return;
    std::map<std::string, HourFlags> covered;  // by currency
    std::map<std::string, Money> paid;
    for (const NodeLine& line : bill_.avoidable(node)) {
      const Charge& charge = *line.charge;
      if (!line.is_on_demand || charge.is_correction) continue;
      const Money cost = charge.costs.*bill_.cost();
      if (cost.ticks() <= 0) continue;
      const std::string currency = cost.currency().text();
      HourFlags& flags =
          covered.try_emplace(currency, HourFlags(hours_.hours(), false)).first->second;
      HourFlags counted(hours_.hours(), false);
      std::uint64_t count = 0;
      for (std::size_t hour = 0; hour < hours_.hours(); ++hour) {
        const Interval each = hours_.hour(hour);
        if (each.begin() < charge.charge_period.begin()) continue;
        if (each.end() > charge.charge_period.end()) break;
        if (!hours_.is_recorded(hour) || !kept_[node][hour] || flags[hour]) continue;
        flags[hour] = counted[hour] = true;
        ++count;
      }
      if (count == 0) continue;
      SkuDemand& sku = demand_of({shape.instance_type, shape.region, currency}, cost.currency());
      sku.paid += scaled(cost, UInt128{count} * 3'600'000, charge.charge_period.length_ms());
      sku.node_hours += count;
      for (std::size_t hour = 0; hour < counted.size(); ++hour) {
        if (counted[hour]) ++sku.nodes[position_[hour]];
      }
    }
  }

  SkuDemand& demand_of(const SkuKey& key, Currency currency) {
    return demands_
        .try_emplace(key, SkuDemand{std::vector<std::uint64_t>(recorded_), Money::zero(currency)})
        .first->second;
  }

  // Whether there is a price; without one for a year, there is none for three.
  bool propose(const SkuKey& key, const SkuDemand& demand, PurchaseOption option) {
    const auto rate = [&](PurchaseOption which) {
      return catalog_.find_rate({.instance_type = key.instance_type,
                                 .region = key.region,
                                 .option = which,
                                 .at = prices_at_});
    };
    const auto committed = rate(option);
    const auto list = rate(PurchaseOption::kOnDemand);
    if (!committed || !list) {
      gaps_.insert(fmt::format(
          "no commitment to {} can be judged: {}; give it in the file of prices (catalog)",
          key.instance_type, (committed ? list.error() : committed.error()).message));
      return false;
    }
    if (committed->currency != list->currency || committed->per_hour >= list->per_hour) return true;
    const Decimal paid =
        Decimal::from_ticks(demand.paid.ticks() / static_cast<Int128>(demand.node_hours));
    const CommitmentPrices prices{paid, ratio_of(paid, committed->per_hour, list->per_hour)};
    std::uint64_t units = best_commitment(demand.nodes, prices);
    // What is no longer needed would be paid for a year all the same.
    const std::span<const std::uint64_t> all_hours(demand.nodes);
    const std::uint64_t lately =
        best_commitment(all_hours.last(std::min(kLatestHours, all_hours.size())), prices);
    const bool is_capped = lately < units;
    units = std::min(units, lately);
    const bool is_long_term = option == PurchaseOption::kCommitted3Years;
    const std::uint64_t trough = *std::min_element(demand.nodes.begin(), demand.nodes.end());
    if (is_long_term) units = std::min(units, trough);
    if (units == 0) return true;
    Money savings[std::size(kDemandPercents)] = {demand.paid, demand.paid, demand.paid};
    for (std::size_t i = 0; i < std::size(kDemandPercents); ++i) {
      savings[i] = saving(demand, prices, units, kDemandPercents[i]);
    }
    if (savings[1].ticks() <= 0) return true;
    const std::string years = is_long_term ? "3 years" : "1 year";
    const std::string subject =
        fmt::format("{}, {}", key.instance_type, key.region.empty() ? "any region" : key.region);
    const std::string sku = fmt::format("{}\n{}", subject, key.currency);
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, recorded_);
    };
    Proposal advice{
        .id = proposal_id(AdviceKind::kCommitment, cluster_, sku + "\n" + years),
        .kind = AdviceKind::kCommitment,
        .cluster = cluster_,
        .subject = fmt::format("{}, {}", subject, years),
        .change = fmt::format("Commit to {} {} for {}", units, key.instance_type, years),
        .monthly = {monthly(savings[0]), monthly(savings[1]), monthly(savings[2])},
        .observed = savings[1],
        .moved = Money::zero(demand.paid.currency()),
        .basis = SavingBasis::kListPrice,
        .alternatives_of = fmt::format("commitment\n{}\n{}", cluster_.text(), sku)};
    advice.evidence = {
        fmt::format("{} on-demand node-hours in {} hours, from {} to {} nodes at once, at {} {} an "
                    "hour, after giving back what nobody held",
                    demand.node_hours, recorded_, trough,
                    *std::max_element(demand.nodes.begin(), demand.nodes.end()), to_text(paid),
                    key.currency),
        fmt::format("list price {} on demand and {} committed ({}), which is {} an hour at the "
                    "price that is paid",
                    to_text(list->per_hour), to_text(committed->per_hour), committed->source,
                    to_text(prices.committed)),
        "low and high: the same commitment with 20 % less and 20 % more demand"};
    if (is_capped) advice.evidence.push_back("not more than the last 7 days of records need");
    if (is_long_term) {
      advice.evidence.push_back("for 3 years not more than the hour with the fewest nodes needed");
    }
    advice.looked_for = "type " + key.instance_type;
    const bool holds = savings[0].ticks() > 0;
    advice.confidence =
        recorded_ >= kLongDemandHours && holds ? Confidence::kMedium : Confidence::kLow;
    advice.confidence_reason =
        fmt::format("{} days of demand{}", recorded_ / 24,
                    holds ? "" : "; with 20 % less demand it costs more than it saves");
    advice.risk = fmt::format(
        "It is paid for {} whether it is used or not; a new GPU generation or a moved workload "
        "leaves it unused.",
        years);
    advice.apply = purchase_list(key.instance_type, key.region, units, is_long_term ? 3 : 1);
    proposals_.push_back(std::move(advice));
    return true;
  }

  Money saving(const SkuDemand& demand, const CommitmentPrices& prices, std::uint64_t units,
               std::uint64_t percent) const {
    std::vector<std::uint64_t> changed;
    for (const std::uint64_t nodes : demand.nodes) changed.push_back(nodes * percent / 100);
    const Decimal now = commitment_cost(changed, prices, 0);
    const Decimal then = commitment_cost(changed, prices, units);
    return Money::from_decimal(Decimal::from_ticks(now.ticks() - then.ticks()),
                               demand.paid.currency());
  }

  const ClusterId& cluster_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  std::span<const HourFlags> kept_;
  const Catalog& catalog_;
  Instant prices_at_;
  std::vector<std::size_t> position_;  // of an hour among the recorded ones
  std::size_t recorded_ = 0;
  std::map<SkuKey, SkuDemand> demands_;
  std::vector<Proposal> proposals_;
  std::set<std::string> gaps_;
};

}  // namespace

CommitmentAdvice propose_commitments(const ClusterId& cluster, const FleetView& fleet,
                                     const FleetHours& hours, const NodeBill& bill,
                                     std::span<const HourFlags> kept, const Catalog& catalog,
                                     Instant prices_at) {
  return CommitmentSearch(cluster, fleet, hours, bill, kept, catalog, prices_at).run();
}

std::optional<std::string> unused_commitment_of(const Charge& charge) {
  const bool is_reservation = charge.capacity_reservation_status == UsedOrUnused::kUnused;
  if (charge.commitment_discount_status != UsedOrUnused::kUnused && !is_reservation) {
    return std::nullopt;
  }
  const std::string& id =
      is_reservation ? charge.capacity_reservation_id : charge.commitment_discount_id;
  return id.empty() ? "a commitment without an id" : id;
}

std::vector<Proposal> find_unused_commitments(const ClusterId& cluster,
                                              std::span<const Charge> charges, Money Costs::* cost,
                                              const Interval& period) {
  struct Unused {
    Money cost;
    std::uint64_t lines = 0;
  };
  std::map<std::pair<std::string, std::string>, Unused> unused;  // by commitment and currency
  for (const Charge& charge : charges) {
    const auto id = unused_commitment_of(charge);
    if (!id) continue;
    const Money money = charge.costs.*cost;
    const auto sum =
        unused.try_emplace({*id, money.currency().text()}, Unused{Money::zero(money.currency())});
    sum.first->second.cost += money;
    ++sum.first->second.lines;
  }
  const std::uint64_t days = (period.length_ms() + kDayMs - 1) / kDayMs;
  std::vector<Proposal> proposals;
  for (const auto& [key, sum] : unused) {
    if (sum.cost.ticks() <= 0) continue;
    const Money none = Money::zero(sum.cost.currency());
    const Money monthly = scaled(sum.cost, UInt128{kHoursPerMonth} * 3'600'000, period.length_ms());
    Proposal advice{
        .id = proposal_id(AdviceKind::kUnusedCommitment, cluster, key.first + "\n" + key.second),
        .kind = AdviceKind::kUnusedCommitment,
        .cluster = cluster,
        .subject = key.first,
        .change =
            "Use this commitment for work that runs on demand, sell it, or let "
            "it end",
        .monthly = {none, none, monthly},
        .observed = none,
        .moved = none,
        .confidence = days >= kUnusedDaysLong    ? Confidence::kHigh
                      : days >= kUnusedDaysShort ? Confidence::kMedium
                                                 : Confidence::kLow,
        .confidence_reason =
            fmt::format("the bill says that it was not used; it covers {} {} of the month", days,
                        days == 1 ? "day" : "days")};
    advice.evidence = {
        sum.lines == 1
            ? std::string("1 line of the period's bill is for it and unused")
            : fmt::format("{} lines of the period's bill are for it and unused", sum.lines),
        "paid already: nothing is saved before it ends, unless it is used or sold, "
        "which is the high end"};
    advice.risk = "None.";
    advice.apply =
        "# Move on-demand work to what it covers, or list it on the provider's market.\n";
    proposals.push_back(std::move(advice));
  }
  return proposals;
}

}  // namespace pennyweight::advising
