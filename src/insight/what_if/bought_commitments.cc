#include "insight/what_if/bought_commitments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "allocation/charge_kind.h"
#include "core/split.h"
#include "core/try.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario_facts.h"
#include "ledger/fact_id.h"

namespace pennyweight::what_if {
namespace {

constexpr std::int64_t kCommittedHourMs = 3'600'000;
constexpr std::int64_t kYearHours = 8'760;

UInt128 size_of(Money amount) { return static_cast<UInt128>(amount.ticks()); }

// a x part / whole, rounded down.
UInt128 share_of(UInt128 a, UInt128 part, UInt128 whole) {
  return multiply_divide(a, part, whole).quotient;
}

// What a line costs without commitments.
Money on_demand_cost(const Charge& charge) {
  return charge.costs.contracted.is_zero() ? charge.costs.effective : charge.costs.contracted;
}

// Lines that cover the same time of a node share it by such fine parts of a millisecond.
constexpr UInt128 kPartsPerMs = 1'000'000'000'000;

// A line that may be covered, and how much of it is.
struct CoverableLine {
  std::size_t at = 0;      // among the charges
  std::uint32_t node = 0;  // whose line it is
  Interval during;         // within the commitment's time
  UInt128 covered = 0;     // ticks of its price on demand
  UInt128 paid = 0;        // of the commitment: parts of the node's time, or ticks on demand
};

// What no commitment covers yet of a line, in some of its time: ticks of its price on demand.
struct OpenPart {
  std::int64_t from;  // Unix milliseconds
  std::int64_t to;
  UInt128 cost;

  std::int64_t length() const { return to - from; }
  // Cuts off and returns what is before that time.
  OpenPart cut_before(std::int64_t at) {
    const OpenPart head{
        from, at, share_of(cost, static_cast<UInt128>(at - from), static_cast<UInt128>(length()))};
    from = at;
    cost -= head.cost;
    return head;
  }
};

// A part of one of a node's lines within an hour of a commitment.
struct HourPart {
  CoverableLine* line;
  OpenPart open;
};

// What is left of a commitment in each of its hours.
struct CommittedHours {
  std::int64_t begin;  // Unix milliseconds
  std::vector<UInt128> left;
  std::size_t hour_of(std::int64_t at) const {
    return static_cast<std::size_t>((at - begin) / kCommittedHourMs);
  }
  UInt128& left_at(std::int64_t at) { return left[hour_of(at)]; }
  std::int64_t end_of_hour(std::int64_t at) const {
    return begin + (static_cast<std::int64_t>(hour_of(at)) + 1) * kCommittedHourMs;
  }
};

class CommitmentBuyer {
 public:
  CommitmentBuyer(std::vector<Charge> charges, const ClusterMonth& month, const FleetView& fleet,
                  const Interval& period, const Scenario& scenario, const StopCheck& is_stopped)
      : month_(month),
        fleet_(fleet),
        period_(period),
        scenario_(scenario),
        is_stopped_(is_stopped) {
    result_.charges = std::move(charges);
  }

  Result<BoughtCommitments> run() {
    for (const CommitmentPurchase& purchase : scenario_.purchases) TRY(buy(purchase));
    return std::move(result_);
  }

 private:
  Result<void> buy(const CommitmentPurchase& purchase) {
    const auto during = time_of(purchase);
    if (!during) {
      return fail(ErrorCode::kConfig,
                  fmt::format("commitment-buy {} begins on {}, and the replay ends at {}",
                              purchase.text, to_text(*purchase.from), to_text(period_.end())));
    }
    auto lines = TRY(coverable(purchase, *during));
    if (lines.empty()) {
      return fail(ErrorCode::kConfig,
                  fmt::format("cluster {} has no usage on demand that commitment-buy {} could "
                              "cover: its nodes are spot, are covered already, or are charged "
                              "nothing; end commitments with commitment-end, or choose other nodes",
                              month_.cluster.text(), purchase.text));
    }
    const Currency currency = TRY(currency_of(purchase, lines));
    BoughtCommitment bought{.id = fmt::format("scenario-{}", result_.commitments.size() + 1),
                            .text = purchase.text,
                            .source = {},
                            .during = *during};
    for (const BoughtCommitment& other : result_.commitments) {
      if (other.cost.currency() == currency) continue;
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("commitment-buy {} would be paid in {}, and {} in {}; a scenario buys "
                      "commitments in one currency",
                      purchase.text, currency.text(), other.text, other.cost.currency().text()));
    }
    bought.per_hour = TRY(price_per_hour(purchase, lines, currency, bought.source));
    const auto ms = static_cast<UInt128>(during->length_ms());
    bought.cost = Money::from_ticks(
        static_cast<Int128>(share_of(size_of(bought.per_hour), ms, kCommittedHourMs)), currency);
    bought.term_cost = Money::from_ticks(
        bought.per_hour.ticks() * (Int128{purchase.years} * kYearHours), currency);
    TRY(cover(purchase, lines, bought));
    TRY(pay(purchase, lines, bought));
    result_.commitments.push_back(std::move(bought));
    return {};
  }

  std::optional<Interval> time_of(const CommitmentPurchase& purchase) const {
    if (!purchase.from) return period_;
    return Interval::of(std::max(period_.begin(), Instant(*purchase.from)), period_.end());
  }

  bool is_spot(const NodeView& view) const {
    if (scenario_.spot.reclaimed_per_hour == 0) return false;
    const std::string& model = scenario_.spot.gpu_model;
    return model.empty() || find_gpu_model(model) == view.model;
  }

  // The lines of the nodes that it may cover, by node and time.
  Result<std::vector<CoverableLine>> coverable(const CommitmentPurchase& purchase,
                                               const Interval& during) const {
    const GpuModel* const model =
        purchase.gpu_model.empty() ? nullptr : find_gpu_model(purchase.gpu_model);
    std::vector<CoverableLine> found;
    for (std::size_t i = 0; i < result_.charges.size(); ++i) {
      if (i % 4096 == 0) TRY(go_on(is_stopped_));
      const Charge& charge = result_.charges[i];
      const auto both = charge.charge_period.overlap(during);
      if (!both || !may_be_covered(charge)) continue;
      const auto nodes = fleet_.nodes_of(charge);
      if (nodes.size() != 1) continue;
      const NodeView& view = fleet_.nodes()[nodes.front()];
      const Node* const last = last_fact(view, period_);
      if (last == nullptr || view.capacity.gpus == 0 || is_spot(view)) continue;
      if (model != nullptr && view.model != model) continue;
      if (!purchase.pool.empty() && last->pool.text() != purchase.pool) continue;
      found.push_back({.at = i, .node = nodes.front(), .during = *both});
    }
    std::ranges::stable_sort(found, {}, [](const CoverableLine& line) {
      return std::pair(line.node, line.during.begin());
    });
    return found;
  }

  static bool may_be_covered(const Charge& charge) {
    if (charge.charge_category != ChargeCategory::kUsage || !is_for_devices(charge)) return false;
    if (is_unused(charge) || charge.is_correction) return false;
    if (!charge.commitment_discount_id.empty()) return false;
    if (charge.pricing_category == PricingCategory::kDynamic ||
        charge.pricing_category == PricingCategory::kCommitted) {
      return false;
    }
    const Money cost = on_demand_cost(charge);
    return !cost.is_negative() && !cost.is_zero();
  }

  Result<Currency> currency_of(const CommitmentPurchase& purchase,
                               const std::vector<CoverableLine>& lines) const {
    const Currency first = result_.charges[lines.front().at].costs.currency();
    for (const CoverableLine& line : lines) {
      const Currency other = result_.charges[line.at].costs.currency();
      if (other == first) continue;
      return fail(ErrorCode::kUnsupported,
                  fmt::format("commitment-buy {} would cover usage in {} and in {}, and is paid in "
                              "one currency; choose nodes by model or pool",
                              purchase.text, first.text(), other.text()));
    }
    return first;
  }

  Result<Money> price_per_hour(const CommitmentPurchase& purchase,
                               const std::vector<CoverableLine>& lines, Currency currency,
                               std::string& source) const {
    if (!purchase.listed) {
      const Int128 count = purchase.nodes == 0 ? 1 : purchase.nodes;
      return Money::from_ticks(purchase.per_hour->ticks() * count, currency);
    }
    std::set<std::pair<std::string, std::string>> types;  // and regions
    for (const CoverableLine& line : lines) {
      const auto nodes = fleet_.nodes_of(result_.charges[line.at]);
      const Node& node = *last_fact(fleet_.nodes()[nodes.front()], period_);
      types.emplace(node.instance_type, node.region);
    }
    if (types.size() > 1 || types.begin()->first.empty()) {
      return fail(
          ErrorCode::kConfig,
          fmt::format("the nodes that commitment-buy {} covers {}, so the price list has no "
                      "one price of them; choose nodes by model or pool, or write the "
                      "price",
                      purchase.text,
                      types.size() > 1 ? "are of several instance types or regions"
                                       : "have no instance type in the inventory"));
    }
    const auto& [type, region] = *types.begin();
    const Instant at = purchase.from ? Instant(*purchase.from) : period_.begin();
    const auto rate = month_.catalog.find_rate(
        {.instance_type = type, .region = region, .option = *purchase.listed, .at = at});
    if (!rate) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("commitment-buy {}: {}, or write the price, such as {}@7.50/{}y",
                              purchase.text, rate.error().message, purchase.nodes, purchase.years));
    }
    if (rate->currency != currency) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("commitment-buy {}: the list price of {} is in {}, and the "
                              "bill in {}; write the price in {}",
                              purchase.text, type, rate->currency.text(), currency.text(),
                              currency.text()));
    }
    source = fmt::format("{} of {}{} is {} {} an hour ({}, {})", to_text(*purchase.listed), type,
                         rate->region.empty() ? "" : " in " + rate->region, to_text(rate->per_hour),
                         rate->currency.text(), rate->source,
                         to_text(std::chrono::floor<std::chrono::days>(rate->from)));
    return Money::from_ticks(rate->per_hour.ticks() * Int128{purchase.nodes}, currency);
  }

  // How much of each line is covered, hour by hour and node by node.
  Result<void> cover(const CommitmentPurchase& purchase, std::vector<CoverableLine>& lines,
                     const BoughtCommitment& bought) {
    CommittedHours hours{bought.during.begin().time_since_epoch().count(), {}};
    const auto length = static_cast<std::int64_t>(bought.during.length_ms());
    for (std::int64_t from = 0; from < length; from += kCommittedHourMs) {
      const auto ms = static_cast<UInt128>(std::min(kCommittedHourMs, length - from));
      hours.left.push_back(purchase.nodes > 0
                               ? ms * purchase.nodes
                               : share_of(size_of(bought.per_hour) * 100, ms,
                                          UInt128{kCommittedHourMs} * purchase.percent));
    }
    for (auto first = lines.begin(); first != lines.end();) {
      TRY(go_on(is_stopped_));
      const auto last = std::find_if(
          first, lines.end(), [&](const CoverableLine& line) { return line.node != first->node; });
      cover_node({first, last}, purchase.nodes > 0, hours);
      first = last;
    }
    return {};
  }

  void cover_node(std::span<CoverableLine> lines, bool is_by_nodes, CommittedHours& hours) {
    std::map<std::size_t, std::vector<OpenPart>> still_open;  // by the charge
    std::vector<HourPart> parts;
    for (CoverableLine& line : lines) cut_by_hour(line, hours, parts, still_open[line.at]);
    if (is_by_nodes) {
      cover_time(parts, hours);
    } else {
      cover_cost(parts, hours);
    }
    for (const HourPart& part : parts) {
      if (part.open.cost > 0) still_open[part.line->at].push_back(part.open);
    }
    for (const CoverableLine& line : lines) {
      if (line.covered > 0) open_[line.at] = std::move(still_open[line.at]);
    }
  }

  // Adds what may be covered of a line to `parts`, and what is out of the commitment's time to
  // `rest`.
  void cut_by_hour(CoverableLine& line, const CommittedHours& hours, std::vector<HourPart>& parts,
                   std::vector<OpenPart>& rest) const {
    const Charge& charge = result_.charges[line.at];
    const auto known = open_.find(line.at);
    const std::vector<OpenPart> open =
        known != open_.end()
            ? known->second
            : std::vector<OpenPart>{{charge.charge_period.begin().time_since_epoch().count(),
                                     charge.charge_period.end().time_since_epoch().count(),
                                     size_of(on_demand_cost(charge))}};
    const std::int64_t begin = line.during.begin().time_since_epoch().count();
    const std::int64_t end = line.during.end().time_since_epoch().count();
    for (OpenPart part : open) {
      if (part.to <= begin || part.from >= end) {
        rest.push_back(part);
        continue;
      }
      if (part.from < begin) rest.push_back(part.cut_before(begin));
      while (part.from < part.to && part.from < end) {
        const std::int64_t until = std::min(end, hours.end_of_hour(part.from));
        if (until >= part.to) {
          parts.push_back({&line, part});
          part.from = part.to;
        } else {
          parts.push_back({&line, part.cut_before(until)});
        }
      }
      if (part.from < part.to) rest.push_back(part);
    }
  }

  static void cover_cost(std::vector<HourPart>& parts, CommittedHours& hours) {
    for (HourPart& part : parts) {
      UInt128& left = hours.left_at(part.open.from);
      const UInt128 taken = std::min(part.open.cost, left);
      left -= taken;
      part.open.cost -= taken;
      part.line->covered += taken;
      part.line->paid += taken;
    }
  }

  // Each time of the node once, with all its lines.
  static void cover_time(std::vector<HourPart>& parts, CommittedHours& hours) {
    std::set<std::int64_t> bounds;
    for (const HourPart& part : parts) bounds.insert({part.open.from, part.open.to});
    std::vector<HourPart> cut;
    for (HourPart& part : parts) {
      for (auto at = bounds.upper_bound(part.open.from); *at < part.open.to; ++at) {
        cut.push_back({part.line, part.open.cut_before(*at)});
      }
      cut.push_back(part);
    }
    std::erase_if(cut, [](const HourPart& part) { return part.open.cost == 0; });
    std::ranges::stable_sort(cut, {}, [](const HourPart& part) { return part.open.from; });
    for (auto first = cut.begin(); first != cut.end();) {
      const auto last = std::find_if(first, cut.end(), [&](const HourPart& part) {
        return part.open.from != first->open.from;
      });
      cover_together({first, last}, hours.left_at(first->open.from));
      first = last;
    }
    parts = std::move(cut);
  }

  // Parts over the same time.
  static void cover_together(std::span<HourPart> parts, UInt128& left) {
    const auto length = static_cast<UInt128>(parts.front().open.length());
    const auto ms = std::min(length, left);
    const std::int64_t until = parts.front().open.from + static_cast<std::int64_t>(ms);
    std::vector<Weight> costs;
    for (const HourPart& part : parts) {
      costs.push_back(ms == length ? part.open.cost : share_of(part.open.cost, ms, length));
    }
    if (std::ranges::all_of(costs, [](Weight cost) { return cost == 0; })) return;
    left -= ms;
    const std::vector<UInt128> times = split_units(ms * kPartsPerMs, costs);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].open.from = until;
      parts[i].open.cost -= costs[i];
      parts[i].line->covered += costs[i];
      parts[i].line->paid += times[i];
    }
  }

  // Cuts off what is covered of each line, and divides the commitment's cost among these and its
  // unused part.
  Result<void> pay(const CommitmentPurchase& purchase, const std::vector<CoverableLine>& lines,
                   BoughtCommitment& bought) {
    // All that there was to cover.
    const UInt128 all = purchase.nodes > 0
                            ? UInt128{purchase.nodes} * bought.during.length_ms() * kPartsPerMs
                            : share_of(size_of(bought.cost), 100, purchase.percent);
    std::vector<Weight> weights;
    UInt128 used = 0;
    for (const CoverableLine& line : lines) {
      weights.push_back(line.paid);
      used += line.paid;
    }
    weights.push_back(all > used ? all - used : 0);
    if (used == 0 && weights.back() == 0) weights.back() = 1;
    const std::vector<Money> shares = split(bought.cost, weights);
    const Charge pattern = result_.charges[lines.front().at];
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i % 4096 == 0) TRY(go_on(is_stopped_));
      if (lines[i].covered > 0) cover_line(lines[i], shares[i], bought);
    }
    bought.unused = shares.back();
    if (!bought.unused.is_zero()) result_.charges.push_back(unused_part(pattern, bought));
    return {};
  }

  void cover_line(const CoverableLine& line, Money cost, BoughtCommitment& bought) {
    // Far from the numbers of copies of a charge, and of its parts.
    constexpr std::uint64_t kCoveredStep = std::uint64_t{1} << 57;
    Charge& charge = result_.charges[line.at];
    const std::array<Weight, 2> weights = {line.covered,
                                           size_of(on_demand_cost(charge)) - line.covered};
    Charge covered = charge;
    for (Money Costs::* each :
         {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      const std::vector<Money> shares = split(charge.costs.*each, weights);
      covered.costs.*each = shares[0];
      charge.costs.*each = shares[1];
    }
    bought.replaced += on_demand_cost(covered);
    covered.costs.billed = cost;
    covered.costs.effective = cost;
    covered.pricing_category = PricingCategory::kCommitted;
    set_commitment(covered, bought, UsedOrUnused::kUsed);
    const bool is_whole = weights[1] == 0;
    if (is_whole) {
      charge = std::move(covered);
      return;
    }
    // Which part of the quantity each of them has is not known.
    for (Charge* part : {&charge, &covered}) {
      part->pricing_quantity.reset();
      part->consumed_quantity.reset();
    }
    covered.id = numbered(charge.id.hash, kCoveredStep * (result_.commitments.size() + 1));
    result_.charges.push_back(std::move(covered));
  }

  Charge unused_part(const Charge& pattern, const BoughtCommitment& bought) const {
    constexpr std::uint64_t kUnusedPartStep = std::uint64_t{1} << 54;
    Charge charge(pattern.billing_period, bought.during, Costs::zero(bought.cost.currency()));
    charge.billing_account_id = pattern.billing_account_id;
    charge.sub_account_id = pattern.sub_account_id;
    charge.service_provider_name = pattern.service_provider_name;
    charge.charge_frequency = ChargeFrequency::kUsageBased;
    charge.service_category = pattern.service_category;
    charge.service_name = pattern.service_name;
    charge.region_id = pattern.region_id;
    charge.resource_id = bought.id;
    charge.cluster = month_cluster(pattern);
    charge.booked_month = pattern.booked_month;
    charge.costs.billed = bought.unused;
    charge.costs.effective = bought.unused;
    charge.pricing_category = PricingCategory::kCommitted;
    set_commitment(charge, bought, UsedOrUnused::kUnused);
    charge.id = numbered(pattern.id.hash, kUnusedPartStep + result_.commitments.size());
    charge.source = pattern.source;
    charge.import_number = pattern.import_number;
    return charge;
  }

  std::string month_cluster(const Charge& pattern) const {
    const auto nodes = fleet_.nodes_of(pattern);
    return nodes.empty() ? month_.cluster.text() : fleet_.any_fact(nodes.front()).cluster.text();
  }

  static void set_commitment(Charge& charge, const BoughtCommitment& bought, UsedOrUnused status) {
    charge.commitment_discount_id = bought.id;
    charge.commitment_discount_category = "Usage";
    charge.commitment_discount_type = "Scenario";
    charge.commitment_discount_status = status;
  }

  const ClusterMonth& month_;
  const FleetView& fleet_;
  const Interval& period_;
  const Scenario& scenario_;
  const StopCheck& is_stopped_;
  // Of charges that are covered in part; others are open throughout.
  std::map<std::size_t, std::vector<OpenPart>> open_;
  BoughtCommitments result_;
};

}  // namespace

Result<BoughtCommitments> buy_commitments(std::vector<Charge> charges, const ClusterMonth& month,
                                          const FleetView& fleet, const Interval& period,
                                          const Scenario& scenario, const StopCheck& is_stopped) {
  if (scenario.purchases.empty()) return BoughtCommitments{std::move(charges), {}};
  return CommitmentBuyer(std::move(charges), month, fleet, period, scenario, is_stopped).run();
}

}  // namespace pennyweight::what_if
