#include "insight/what_if/list_prices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "allocation/charge_kind.h"
#include "allocation/pricing/rate_card.h"
#include "core/gpu/card_fraction.h"
#include "core/int128.h"
#include "core/try.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario_facts.h"
#include "ledger/fact_id.h"

namespace pennyweight::what_if {
namespace {

constexpr std::uint64_t kListedHourMs = 3'600'000;

bool is_hours_unit(std::string_view unit) {
  return same_unit(unit, "Hours") || same_unit(unit, "Hrs") || same_unit(unit, "1 Hour");
}

// Times are counted in 10^-18 ms, so that hours of a bill keep all their digits.
constexpr Int128 kTimePerMs = Decimal::kTicksPerUnit;
// A line that states more hours than any period has is counted by its period.
constexpr Decimal kHoursMax = Decimal::from_units(100'000);

// The hours that the line itself states.
std::optional<Int128> stated_time(const Charge& charge) {
  const auto time_of = [](const std::optional<Decimal>& hours,
                          std::string_view unit) -> std::optional<Int128> {
    if (!hours || !is_hours_unit(unit)) return std::nullopt;
    if (*hours > kHoursMax || -*hours > kHoursMax) return std::nullopt;
    return hours->ticks() * Int128{kListedHourMs};
  };
  const auto priced = time_of(charge.pricing_quantity, charge.pricing_unit);
  return priced ? priced : time_of(charge.consumed_quantity, charge.consumed_unit);
}

// price x GPUs of the node / GPUs of the type x time, to the nearest tick.
Money cost_of(const ListedPrice& listed, Int128 time) {
  const bool is_negative = time < 0;
  const auto size = static_cast<UInt128>(is_negative ? -time : time);
  const UInt128 divisor = UInt128{listed.type_gpus} * kListedHourMs * UInt128{kTimePerMs};
  const auto [quotient, remainder] = multiply_divide(
      static_cast<UInt128>(listed.per_hour.ticks()) * listed.node_gpus, size, divisor);
  const auto ticks = static_cast<Int128>(quotient + (remainder * 2 >= divisor ? 1 : 0));
  return Money::from_ticks(is_negative ? -ticks : ticks, listed.currency);
}

// Times of a node, apart from each other, in 10^-18 ms.
class NodeTime {
 public:
  // Takes up to `time` of what is free in the period, the earliest first, and says how much.
  Int128 take(const Interval& period, Int128 time) {
    const Int128 end = period.end().time_since_epoch().count() * kTimePerMs;
    Int128 at = period.begin().time_since_epoch().count() * kTimePerMs;
    Int128 taken = 0;
    auto next = spans_.upper_bound(at);
    if (next != spans_.begin()) at = std::max(at, std::prev(next)->second);
    while (at < end && taken < time) {
      const Int128 until = next == spans_.end() ? end : std::min(end, next->first);
      const Int128 part = std::min(until - at, time - taken);
      taken += part;
      next = put(at, at + part, next);
      at = std::prev(next)->second;
    }
    return taken;
  }

 private:
  using Spans = std::map<Int128, Int128>;  // begin and end

  // Joins it with its neighbours; returns what comes after it.
  Spans::iterator put(Int128 begin, Int128 end, Spans::iterator next) {
    if (next != spans_.end() && next->first == end) {
      end = next->second;
      next = spans_.erase(next);
    }
    if (next != spans_.begin() && std::prev(next)->second == begin) {
      std::prev(next)->second = end;
    } else {
      spans_.emplace_hint(next, begin, end);
    }
    return next;
  }

  Spans spans_;
};

// A line of a node and the time that it says, refunds less than zero.
struct TimedLine {
  std::size_t at = 0;  // among the charges
  Int128 time = 0;
};

// The lines of a node over the same period.
struct PeriodLines {
  Interval period;
  std::vector<TimedLine> stated;     // they state the node's hours
  std::vector<TimedLine> by_period;  // they don't: the whole period each
};

class ListPricer {
 public:
  ListPricer(const ClusterMonth& month, const FleetView& fleet, const Interval& period,
             const RateOn& rate_on, std::vector<Charge>& charges)
      : month_(month),
        catalog_(month.catalog),
        fleet_(fleet),
        period_(period),
        rate_on_(rate_on),
        charges_(charges) {}

  Result<ListedCharges> apply(const std::vector<ListPriceChange>& changes,
                              const StopCheck& is_stopped) {
    for (const ListPriceChange& change : changes) TRY(choose_prices(change));
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      if (i % 4096 == 0) TRY(go_on(is_stopped));
      TRY(sort_in(i));
    }
    for (auto& [node, lines] : lines_) {
      TRY(go_on(is_stopped));
      price_node(node, lines);
    }
    for (const auto& [node, at] : price_of_node_) {
      if (!lines_.contains(node)) ++result_.prices[at].uncharged;
    }
    for (const ListedPrice& listed : result_.prices) {
      if (listed.uncharged < listed.nodes) continue;
      return fail(ErrorCode::kConfig,
                  fmt::format("the bill of cluster {} has no hours of the {} to be priced as {}, "
                              "so the price changes nothing",
                              month_.cluster.text(),
                              listed.nodes == 1 ? std::string("node")
                                                : fmt::format("{} nodes", listed.nodes),
                              listed.rate.instance_type));
    }
    return std::move(result_);
  }

 private:
  // The price of each node that a change selects.
  Result<void> choose_prices(const ListPriceChange& change) {
    const GpuModel* const model =
        change.gpu_model.empty() ? nullptr : find_gpu_model(change.gpu_model);
    // Nodes of the same type, region and GPUs have the same price.
    std::map<std::tuple<std::string, std::string, std::string, std::uint64_t>, std::size_t> known;
    bool is_any = false;
    for (std::uint32_t i = 0; i < fleet_.nodes().size(); ++i) {
      const NodeView& view = fleet_.nodes()[i];
      const Node* const last = last_fact(view, period_);
      if (last == nullptr || view.capacity.gpus == 0) continue;
      if (model != nullptr && view.model != model) continue;
      if (!change.pool.empty() && last->pool.text() != change.pool) continue;
      is_any = true;
      if (price_of_node_.contains(i)) {
        return fail(ErrorCode::kConfig,
                    fmt::format("node {} would have two list prices; say which nodes each is for, "
                                "by model or by pool",
                                last->name.text()));
      }
      const std::tuple key(last->instance_type, last->region, last->gpu_model,
                           std::uint64_t{view.capacity.gpus});
      auto at = known.find(key);
      if (at == known.end()) {
        ListedPrice listed = TRY(find_price(change, view, *last));
        result_.prices.push_back(std::move(listed));
        at = known.emplace(key, result_.prices.size() - 1).first;
      }
      ++result_.prices[at->second].nodes;
      price_of_node_.emplace(i, at->second);
    }
    if (is_any) return {};
    return fail(ErrorCode::kConfig,
                fmt::format("cluster {} has no node with {}{}, so list-price {} changes nothing",
                            month_.cluster.text(), model == nullptr ? "GPUs" : model->name,
                            change.pool.empty() ? "" : " in pool " + change.pool, change.source));
  }

  // A type of the price list with whole GPUs of a model that is known.
  struct SoldType {
    const InstanceType* type;
    const GpuModel* model;
  };
  static std::optional<SoldType> sold_type(const InstanceType* type) {
    if (type == nullptr || type->gpu_count == 0) return std::nullopt;
    const auto card = find_sold_card(type->gpu_model);
    if (!card || card->part != CardShare::whole()) return std::nullopt;
    return SoldType{type, card->model};
  }

  Result<ListedPrice> find_price(const ListPriceChange& change, const NodeView& view,
                                 const Node& node) const {
    if (view.model == nullptr) {
      return fail(ErrorCode::kConfig,
                  fmt::format("the GPU model '{}' of node {} is not in the tables, so no price of "
                              "the list is known to be for it; name other nodes by model or "
                              "pool",
                              node.gpu_model, node.name.text()));
    }
    const bool is_provider = std::ranges::any_of(
        catalog_.instance_types(),
        [&](const InstanceType& type) { return type.provider == change.source; });
    if (is_provider) return provider_price(change, view, node);
    const bool is_same = change.source == "same";
    const std::string& name = is_same ? node.instance_type : change.source;
    if (name.empty()) {
      return fail(ErrorCode::kConfig,
                  fmt::format("node {} has no instance type in the inventory, so its list price is "
                              "not known; name a type or a provider with list-price",
                              node.name.text()));
    }
    const InstanceType* const type = catalog_.find_instance_type(name);
    if (type == nullptr) {
      std::set<std::string> providers;
      for (const InstanceType& each : catalog_.instance_types()) providers.insert(each.provider);
      return fail(ErrorCode::kConfig,
                  fmt::format("'{}' is neither an instance type nor a provider of the price "
                              "list; the providers are {}. Other types can be added in a "
                              "price file (prices.override)",
                              name, fmt::join(providers, ", ")));
    }
    const auto sold = sold_type(type);
    if (!sold || sold->model != view.model) {
      return fail(ErrorCode::kConfig,
                  fmt::format("{} has {}, and node {} has {}: its price is none of that node. "
                              "Replace the model too (replace-model), or name nodes with model=",
                              name, type->gpu_count == 0 ? "no GPUs" : type->gpu_model,
                              node.name.text(), view.model->name));
    }
    return listed_price(change, *sold, view, node);
  }

  // Of a provider's types with these GPUs: one with as many, else one of which several make as
  // many; among them the cheapest, and then the first by name.
  Result<ListedPrice> provider_price(const ListPriceChange& change, const NodeView& view,
                                     const Node& node) const {
    std::optional<ListedPrice> best;
    std::optional<Error> missing;
    std::set<std::uint32_t> sizes;
    for (const InstanceType& type : catalog_.instance_types()) {
      if (type.provider != change.source) continue;
      const auto sold = sold_type(&type);
      if (!sold || sold->model != view.model) continue;
      sizes.insert(type.gpu_count);
      if (view.capacity.gpus % type.gpu_count != 0) continue;
      auto listed = listed_price(change, *sold, view, node);
      if (!listed) {
        // That of the type that would fit best.
        if (!missing || type.gpu_count == view.capacity.gpus) missing = listed.error();
        continue;
      }
      if (best && best->currency != listed->currency) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("{} has list prices of {} in {} and in {}, so the cheapest is not "
                                "known; name a type, or a currency with currency=",
                                change.source, view.model->name, best->currency.text(),
                                listed->currency.text()));
      }
      const auto is_better = [&](const ListedPrice& a, const ListedPrice& b) {
        const bool a_fits = a.type_gpus == a.node_gpus;
        const bool b_fits = b.type_gpus == b.node_gpus;
        if (a_fits != b_fits) return a_fits;
        return a.per_hour.ticks() * b.type_gpus < b.per_hour.ticks() * a.type_gpus;
      };
      if (!best || is_better(*listed, *best)) best = *std::move(listed);
    }
    if (best) return *std::move(best);
    if (missing) return std::unexpected(*std::move(missing));
    if (sizes.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("the price list has no instance of {} with {}, which node {} "
                              "has; replace the model too (replace-model), or add the type in a "
                              "price file (prices.override)",
                              change.source, view.model->name, node.name.text()));
    }
    return fail(ErrorCode::kNotFound,
                fmt::format("{} sells {} by {}, and node {} has {}: name a type, whose price is "
                            "then taken by the GPU",
                            change.source, view.model->name, fmt::join(sizes, ", "),
                            node.name.text(), view.capacity.gpus));
  }

  Result<ListedPrice> listed_price(const ListPriceChange& change, const SoldType& sold,
                                   const NodeView& view, const Node& node) const {
    const InstanceType* const own = catalog_.find_instance_type(node.instance_type);
    const bool is_own_provider = own != nullptr && own->provider == sold.type->provider;
    const std::string region = !change.region.empty() ? change.region
                               : is_own_provider      ? node.region
                                                      : std::string();
    const Instant at = change.date ? Instant(*change.date) : period_.begin();
    auto rate = catalog_.find_rate(
        {.instance_type = sold.type->name, .region = region, .option = change.tier, .at = at});
    if (!rate) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} (list-price: date=, region= and tier= choose another)",
                              rate.error().message));
    }
    ListedPrice listed{.rate = *std::move(rate),
                       .per_hour = {},
                       .gpu_model = view.model->name,
                       .type_gpus = sold.type->gpu_count,
                       .node_gpus = static_cast<std::uint32_t>(view.capacity.gpus)};
    listed.per_hour = listed.rate.per_hour;
    listed.currency = listed.rate.currency;
    if (!change.currency || *change.currency == listed.currency) return listed;
    if (!rate_on_) {
      return fail(ErrorCode::kConfig,
                  fmt::format("there are no exchange rates to convert the list price from {} into "
                              "{}; configure currencies.rates, or leave currency= out",
                              listed.currency.text(), change.currency->text()));
    }
    const Date day = std::chrono::floor<std::chrono::days>(at);
    const FoundRate found = TRY(rate_on_(listed.currency, *change.currency, day));
    listed.per_hour = TRY(multiply(listed.per_hour, found.rate, Rounding::kHalfEven));
    listed.currency = *change.currency;
    listed.exchange = to_text(found);
    return listed;
  }

  // Which lines are hours of a node that has a price.
  Result<void> sort_in(std::size_t i) {
    const Charge& charge = charges_[i];
    const auto nodes = fleet_.nodes_of(charge);
    const auto priced = std::ranges::find_if(
        nodes, [&](std::uint32_t node) { return price_of_node_.contains(node); });
    if (priced == nodes.end()) return {};
    if (nodes.size() > 1) {
      const Node& node = fleet_.any_fact(*priced);
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} is charged together with others as pool {}, so which hours "
                              "are its own is not known; import a bill by node",
                              node.name.text(), node.pool.text()));
    }
    const bool is_time = charge.charge_category == ChargeCategory::kUsage &&
                         is_for_devices(charge) && !is_unused(charge);
    if (is_time) {
      lines_[*priced].push_back(i);
    } else {
      ++result_.prices[price_of_node_.at(*priced)].kept_lines;
    }
    return {};
  }

  // Its lines by period, the shorter periods first.
  std::vector<PeriodLines> by_period(const std::vector<std::size_t>& lines) const {
    std::map<std::pair<std::uint64_t, Interval>, PeriodLines> sorted;
    for (const std::size_t i : lines) {
      const Charge& charge = charges_[i];
      const Interval& period = charge.charge_period;
      const Int128 whole = Int128{period.length_ms()} * kTimePerMs;
      PeriodLines& same =
          sorted
              .try_emplace({period.length_ms(), period},
                           PeriodLines{.period = period, .stated = {}, .by_period = {}})
              .first->second;
      const auto stated = stated_time(charge);
      // More hours than the period has are of its cores or GPUs.
      if (stated && *stated <= whole && -*stated <= whole) {
        same.stated.push_back({i, *stated});
      } else {
        same.by_period.push_back({i, value_of(charge) < 0 ? -whole : whole});
      }
    }
    std::vector<PeriodLines> result;
    for (auto& [key, same] : sorted) {
      for (auto* each : {&same.stated, &same.by_period}) {
        std::ranges::stable_sort(*each, {}, [&](const TimedLine& line) {
          return -charges_[line.at].costs.list.ticks();
        });
      }
      result.push_back(std::move(same));
    }
    return result;
  }

  static Int128 value_of(const Charge& charge) {
    return charge.costs.list.ticks() + charge.costs.effective.ticks();
  }

  // The hours that lines of one period state. What a commitment covers and what none does are
  // different hours, and so are lines of one SKU; SKUs beside each other are the same hours.
  Int128 stated_in(const PeriodLines& same) const {
    using Payment = std::pair<std::string_view, std::optional<PricingCategory>>;
    std::map<Payment, std::map<std::string_view, Int128>> by_sku;
    for (const TimedLine& line : same.stated) {
      const Charge& charge = charges_[line.at];
      by_sku[{charge.commitment_discount_id, charge.pricing_category}]
            [charge.sku_id.empty() ? charge.sku_meter : charge.sku_id] += line.time;
    }
    Int128 time = 0;
    for (const auto& [payment, skus] : by_sku) {
      Int128 most = 0;
      Int128 least = 0;
      for (const auto& [sku, hours] : skus) {
        most = std::max(most, hours);
        least = std::min(least, hours);
      }
      time += most + least;
    }
    return time;
  }

  // Each time of the node once, however many lines it has.
  void price_node(std::uint32_t node, const std::vector<std::size_t>& lines) {
    const std::vector<PeriodLines> periods = by_period(lines);
    NodeTime taken;
    NodeTime spoken_for;
    for (const PeriodLines& same : periods) {
      if (same.stated.empty()) continue;
      const Int128 stated = stated_in(same);
      spoken_for.take(same.period, Int128{same.period.length_ms()} * kTimePerMs);
      share_out(node, same.stated, stated > 0 ? taken.take(same.period, stated) : stated, true);
    }
    NodeTime refunded = spoken_for;
    for (const PeriodLines& same : periods) {
      if (same.by_period.empty()) continue;
      const Int128 whole = Int128{same.period.length_ms()} * kTimePerMs;
      Int128 value = 0;
      bool is_any_negative = false;
      bool is_refund = false;
      for (const TimedLine& line : same.by_period) {
        value += value_of(charges_[line.at]);
        is_any_negative = is_any_negative || line.time < 0;
        // Discounts are less than zero, too, and no hours.
        is_refund = is_refund || (line.time < 0 && charges_[line.at].is_correction);
      }
      Int128 time = 0;
      if (value > 0 || !is_any_negative) {
        time = spoken_for.take(same.period, whole);
      } else if (value < 0 && is_refund) {
        time = -refunded.take(same.period, whole);
      }
      share_out(node, same.by_period, time, false);
    }
  }

  // Divides the time among lines, the dearer ones first, refunds as they are or as few as can be.
  void share_out(std::uint32_t node, const std::vector<TimedLine>& lines, Int128 time,
                 bool are_refunds_kept) {
    Int128 charged = 0;
    Int128 refunds = 0;
    for (const TimedLine& line : lines) (line.time > 0 ? charged : refunds) += line.time;
    refunds = are_refunds_kept ? std::max(refunds, time - charged) : std::min(Int128{0}, time);
    charged = time - refunds;
    ListedPrice& listed = result_.prices[price_of_node_.at(node)];
    for (const TimedLine& line : lines) {
      Int128& left = line.time > 0 ? charged : refunds;
      const Int128 part = line.time > 0 ? std::min(line.time, left) : std::max(line.time, left);
      left -= part;
      keep_commitment(node, charges_[line.at], listed);
      if (part == 0) {
        result_.dropped.insert(line.at);
      } else {
        price_line(charges_[line.at], listed, part);
      }
    }
  }

  void price_line(Charge& charge, ListedPrice& listed, Int128 time) {
    const Money cost = cost_of(listed, time);
    const Decimal unit_price = cost_of(listed, Int128{kListedHourMs} * kTimePerMs).amount();
    charge.costs = {cost, cost, cost, cost};
    charge.list_unit_price = unit_price;
    charge.contracted_unit_price = unit_price;
    charge.pricing_unit = "Hours";
    charge.pricing_quantity = Decimal::from_ticks(time / Int128{kListedHourMs});
    charge.pricing_category = PricingCategory::kStandard;
    if (listed.rate.option == PurchaseOption::kSpot) {
      charge.pricing_category = PricingCategory::kDynamic;
    } else if (listed.rate.option != PurchaseOption::kOnDemand) {
      charge.pricing_category = PricingCategory::kCommitted;
    }
    charge.commitment_discount_id.clear();
    charge.commitment_discount_category.clear();
    charge.commitment_discount_type.clear();
    charge.commitment_discount_status.reset();
    listed.node_time += time;
    listed.cost += cost.ticks();
  }

  // What a commitment cost for this line is owed all the same.
  void keep_commitment(std::uint32_t node, const Charge& charge, ListedPrice& listed) {
    if (charge.commitment_discount_id.empty()) return;
    const Costs& costs = charge.costs;
    if (costs.billed.is_zero() && costs.effective.is_zero()) return;
    // Far from the numbers of copies of a charge, and of its parts.
    constexpr std::uint64_t kUnusedStep = std::uint64_t{1} << 55;
    Charge unused = charge;
    unused.costs = Costs::zero(costs.currency());
    unused.costs.billed = costs.billed;
    unused.costs.effective = costs.effective;
    unused.commitment_discount_status = UsedOrUnused::kUnused;
    unused.cluster = fleet_.any_fact(node).cluster.text();
    unused.pool.clear();
    unused.resource_id = charge.commitment_discount_id;
    unused.resource_name.clear();
    unused.list_unit_price.reset();
    unused.contracted_unit_price.reset();
    unused.capacity_reservation_id.clear();
    unused.capacity_reservation_status.reset();
    unused.id = numbered(charge.id.hash, kUnusedStep);
    listed.unused.try_emplace(costs.currency(), Money::zero(costs.currency())).first->second +=
        costs.effective;
    result_.unused.emplace_back(node, std::move(unused));
  }

  const ClusterMonth& month_;
  const Catalog& catalog_;
  const FleetView& fleet_;
  const Interval& period_;
  const RateOn& rate_on_;
  std::vector<Charge>& charges_;
  std::map<std::uint32_t, std::size_t> price_of_node_;       // index into the result's prices
  std::map<std::uint32_t, std::vector<std::size_t>> lines_;  // of each node that has a price
  ListedCharges result_;
};

}  // namespace

Result<ListedCharges> apply_list_prices(const ClusterMonth& month, const FleetView& fleet,
                                        const Interval& period,
                                        const std::vector<ListPriceChange>& changes,
                                        const RateOn& rate_on, std::vector<Charge>& charges,
                                        const StopCheck& is_stopped) {
  if (changes.empty()) return ListedCharges{};
  return ListPricer(month, fleet, period, rate_on, charges).apply(changes, is_stopped);
}

}  // namespace pennyweight::what_if
