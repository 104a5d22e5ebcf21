// The bill of a world: the cost of every node by hours, days or the month, at spot, on-demand,
// committed or owned prices; and what real bills have besides: refunds, credits, tax, support,
// purchases, unused commitments, corrections, missing hours and repeated charges.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/check.h"
#include "testing/generate/random.h"
#include "world.h"

namespace pennyweight::sim {
namespace {

constexpr std::int64_t kTick = 1;
constexpr std::int64_t kMilliDollar = Money::kTicksPerUnit / 1000 * kTick;

class BillMaker {
 public:
  explicit BillMaker(World& world) : world_(world), random_(world.seed, "bill") {}

  void make() {
    for (const ClusterId& cluster : world_.clusters) {
      std::set<std::string> pools_billed_whole;
      // A pool that is sold as a whole has no charges for its nodes.
      if (below(5) == 0) {
        pools_billed_whole.insert("a");
        bill_pool(cluster, "a");
      }
      std::set<NodeId> done;
      for (const Node& node : world_.nodes) {
        if (node.cluster != cluster || !done.insert(node.name).second) continue;
        const bool by_pool =
            std::any_of(world_.nodes.begin(), world_.nodes.end(), [&](const Node& fact) {
              return fact.cluster == cluster && fact.name == node.name &&
                     pools_billed_whole.contains(fact.pool.text());
            });
        if (!by_pool) bill_node(node);
      }
    }
    bill_the_rest();
    CHECK(!world_.bill.empty(), "every world has a tax line");
    name_lines();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_.between(0, bound - 1); }

  Interval month() const { return {*parse_instant("2025-03-01"), *parse_instant("2025-04-01")}; }

  // A price with digits down to the last unit, as real bills have.
  Money any_price() {
    const Int128 whole = static_cast<Int128>(100 + below(99'000)) * kMilliDollar;
    return Money::from_ticks(whole + static_cast<Int128>(below(3) == 0 ? below(1'000'000'000) : 0),
                             below_currency_);
  }

  static Money times(Money price, std::uint64_t hours) {
    return Money::from_ticks(price.ticks() * static_cast<Int128>(hours), price.currency());
  }
  static Money permille(Money price, std::uint64_t parts) {
    return Money::from_ticks(price.ticks() / 1000 * static_cast<Int128>(parts), price.currency());
  }
  Costs same(Money amount) const { return {amount, amount, amount, amount}; }

  BillLine blank(const Interval& charged, const Costs& costs, Target target) {
    BillLine line{.charge = Charge(month(), charged, costs),
                  .target = target,
                  .cluster = ClusterId(""),
                  .node = NodeId(""),
                  .file = 0};
    line.charge.billing_account_id = "1234";
    line.charge.service_provider_name = "AWS";
    return line;
  }

  BillLine for_node(const Node& node, const Interval& charged, const Costs& costs) {
    BillLine line = blank(charged, costs, Target::kNode);
    line.cluster = node.cluster;
    line.node = node.name;
    line.charge.resource_id = below(2) == 0
                                  ? node.provider_id
                                  : "arn:aws:ec2:us-east-1:1234:instance/" +
                                        node.provider_id.substr(node.provider_id.rfind('/') + 1);
    line.charge.service_category = "Compute";
    line.charge.service_name = "Amazon EC2";
    // The same id may be a name in every cluster. A node that is absent at the time of the charge
    // is no node to the engine, and its cost is shared.
    if (!is_there(node, charged)) line.target = Target::kShared;
    if (line.target == Target::kShared) line.node = NodeId("");
    return line;
  }

  bool is_there(const Node& node, const Interval& charged) const {
    for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
      if (world_.nodes[i].name != node.name || world_.nodes[i].cluster != node.cluster) continue;
      const auto present = world_.presence_of_node(i);
      if (present && present->overlap(charged)) return true;
    }
    return false;
  }

  void keep(BillLine line) { world_.bill.push_back(std::move(line)); }

  // The node's hours, bought in one of four ways; each prices and cuts its own way.
  void bill_node(const Node& node) {
    const Money price = any_price();
    const auto hours = static_cast<std::uint64_t>(world_.days.length_ms() / kHourMs);
    static const std::uint64_t kLengths[] = {1, 1, 4, 24, 24, 0};
    std::uint64_t step = kLengths[below(6)];
    if (step == 0) step = hours;
    const std::uint64_t how = below(4);  // on-demand, spot, committed, owned
    const std::string commitment = fmt::format("ri-{}", node.name.text());
    for (std::uint64_t h = 0; h < hours; h += step) {
      if (below(40) == 0) continue;  // the provider forgot it
      const Interval charged(at_hour(h), at_hour(std::min(hours, h + step)));
      const Money list = times(price, step);
      Costs costs = same(list);
      if (how == 1) {
        const Money spot = permille(list, 200 + below(600));
        costs = {spot, spot, list, spot};
      } else if (how == 2) {
        const Money amortised = permille(list, 600);
        costs = {Money::zero(list.currency()), amortised, list, amortised};
      } else if (how == 3) {
        costs = {permille(list, 300), permille(list, 300), list, permille(list, 300)};
      }
      BillLine line = for_node(node, charged, costs);
      line.charge.pricing_category = how == 1   ? PricingCategory::kDynamic
                                     : how == 2 ? PricingCategory::kCommitted
                                                : PricingCategory::kStandard;
      if (priced_) {
        line.charge.list_unit_price = price.amount();
        line.charge.pricing_unit = "Hours";
      }
      if (how == 2) {
        line.charge.commitment_discount_id = commitment;
        line.charge.commitment_discount_status = UsedOrUnused::kUsed;
      }
      keep(line);
      if (below(60) == 0) keep(line);  // FOCUS: two equal rows are two charges
      if (below(30) == 0) refund(line);
      if (how == 2 && below(10) == 0) unused(node, charged, permille(list, 100), commitment);
      if (below(40) == 0) transfer_fee(node, charged);
    }
    priced_ = below(5) > 0;
  }

  Instant at_hour(std::uint64_t hour) const {
    return world_.days.begin() + std::chrono::hours(hour);
  }

  void refund(BillLine line) {
    Costs& costs = line.charge.costs;
    costs = {-permille(costs.billed, 500), -permille(costs.effective, 500),
             -permille(costs.list, 500), -permille(costs.contracted, 500)};
    if (below(2) == 0) {
      line.charge.is_correction = true;
    } else {
      line.charge.charge_category = ChargeCategory::kCredit;
    }
    line.charge.charge_description = "refund";
    keep(line);
  }

  void unused(const Node& node, const Interval& charged, Money amount,
              const std::string& commitment) {
    BillLine line = blank(
        charged, {Money::zero(amount.currency()), amount, Money::zero(amount.currency()), amount},
        Target::kUnused);
    line.charge.cluster = node.cluster.text();
    line.cluster = node.cluster;
    line.charge.service_category = "Compute";
    line.charge.commitment_discount_id = commitment;
    line.charge.commitment_discount_status = UsedOrUnused::kUnused;
    keep(line);
  }

  void transfer_fee(const Node& node, const Interval& charged) {
    BillLine line = for_node(node, charged, same(permille(any_price(), 10)));
    line.charge.service_category = "Networking";
    line.target = Target::kShared;
    keep(line);
  }

  void bill_pool(const ClusterId& cluster, const std::string& pool) {
    bool exists = false;
    for (const Node& node : world_.nodes) {
      exists = exists || (node.cluster == cluster && node.pool.text() == pool);
    }
    const auto days = static_cast<std::uint64_t>(world_.days.length_ms() / kHourMs / 24);
    const Money price = any_price();
    for (std::uint64_t d = 0; d < days; ++d) {
      BillLine line = blank({at_hour(24 * d), at_hour(24 * d + 24)}, same(times(price, 24)),
                            exists ? Target::kPool : Target::kShared);
      line.charge.cluster = cluster.text();
      line.cluster = cluster;
      line.charge.pool = pool;
      line.charge.service_category = "Compute";
      keep(line);
    }
  }

  // Cost that is for no node: tax, support, a purchase, a credit for everything.
  void bill_the_rest() {
    const auto add = [&](ChargeCategory category, const std::string& service,
                         const Interval& charged, const Costs& costs) {
      BillLine line = blank(charged, costs, Target::kShared);
      line.charge.charge_category = category;
      line.charge.service_category = service;
      if (below(2) == 0) {
        line.cluster = world_.clusters.front();
        line.charge.cluster = line.cluster.text();
      }
      keep(line);
    };
    add(ChargeCategory::kTax, "", month(), same(any_price()));
    if (below(2) == 0) {
      add(ChargeCategory::kUsage, "Management and Governance", month(), same(any_price()));
    }
    if (below(2) == 0) add(ChargeCategory::kUsage, "Storage", world_.days, same(any_price()));
    if (below(3) == 0) {
      const Money paid = times(any_price(), 720);
      const Money none = Money::zero(paid.currency());
      add(ChargeCategory::kPurchase, "Compute", month(), {paid, none, none, none});
    }
    if (below(3) == 0) add(ChargeCategory::kCredit, "", month(), same(-any_price()));
  }

  // Ids as the ledger assigns them, and the file of each charge.
  void name_lines() {
    std::map<Hash128, std::uint64_t> seen;
    for (BillLine& line : world_.bill) {
      const Hash128 content = content_hash(line.charge);
      line.charge.id = numbered(content, seen[content]++);
      line.file = static_cast<std::uint32_t>(natural_key(line.charge).low % 3);
    }
  }

  World& world_;
  Random random_;
  Currency below_currency_ = kUsd;
  bool priced_ = true;
};

}  // namespace

void add_bill(World& world) { BillMaker(world).make(); }

}  // namespace pennyweight::sim
