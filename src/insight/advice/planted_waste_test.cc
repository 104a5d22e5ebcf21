// A made-up fleet of lots, in each of which something is wasted or only looks so. The truth of each
// lot is computed here, from what was planted; the advice is measured against it by money.
//
// One seed runs in ctest; PLANTED_SEEDS=100 insight_advice_test --gtest_filter='PlantedWaste.*'
// runs more, PLANTED_FIRST=17 begins there, PLANTED_VERBOSE=1 prints each lot.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "insight/advice/advice_world_testing.h"
#include "insight/advice/formulas/measured_spot.h"
#include "insight/compare/policy_costs.h"

namespace pennyweight::advising {
namespace {

constexpr int kMonthHours = static_cast<int>(kHours);

Money cents(Int128 amount) {
  return Money::from_ticks(amount * (Money::kTicksPerUnit / 100), kUsd);
}

std::string price_text(int amount) { return fmt::format("{}.{:02}", amount / 100, amount % 100); }

// What following the advice about a lot does to its nodes.
struct NodeHours {
  std::string node;
  std::vector<bool> gone;  // by hour
};

struct Lot {
  std::string name;
  std::string kind;
  Money truth = Money::zero(kUsd);  // that a month of 744 hours would cost less
  std::vector<NodeHours> released = {};
  // Of what remains of its nodes' price, in 10^-9.
  std::int64_t remaining_ppb = 1'000'000'000;
};

// How a GPU was used, each hour with noise.
struct Load {
  std::uint64_t sm_ppm = 0;
  std::uint64_t dram_ppm = 0;
  std::uint64_t memory_gib = 0;
};

class PlantedFleet {
 public:
  explicit PlantedFleet(std::uint64_t seed) : random_(seed) {
    plant_background();
    plant_nodes();
    plant_idle();
    plant_cards();
    plant_commitments();
    plant_instances();
    plant_sharing();
    plant_spot();
    plant_services();
    plant_variants();
    plant_traps();
    work_.catalog = Catalog::built_in().overridden_by(prices_, "planted.csv").value();
  }

  const std::deque<Lot>& lots() const { return lots_; }
  const Work& work() const { return work_; }

  // The fleet after all lots were followed.
  Work changed() const {
    Work work = work_;
    std::map<std::string, const NodeHours*> released;
    std::map<std::string, std::int64_t> remaining;
    for (const Lot& lot : lots_) {
      for (const NodeHours& each : lot.released) released["i-" + each.node] = &each;
      for (const Node& node : work_.nodes) {
        if (node.pool.text() == lot.name) remaining[node.provider_id] = lot.remaining_ppb;
      }
    }
    std::vector<Charge> charges;
    for (const Charge& charge : work.charges) {
      const auto gone = released.find(charge.resource_id);
      const auto first =
          static_cast<std::size_t>((charge.charge_period.begin() - kMarch).count() / 3'600'000);
      for (std::size_t hour = first; hour < first + 24; ++hour) {
        if (gone != released.end() && gone->second->gone[hour]) continue;
        Charge& kept = charges.emplace_back(charge);
        const Instant begin = kMarch + std::chrono::hours(hour);
        kept.charge_period = Interval(begin, begin + std::chrono::hours(1));
        kept.id = numbered(hash_of("kept"), charges.size());
        const auto factor = remaining.find(charge.resource_id);
        const auto ppb =
            static_cast<std::uint64_t>(factor == remaining.end() ? 1'000'000'000 : factor->second);
        for (Money Costs::* cost :
             {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
          kept.costs.*cost = scaled(charge.costs.*cost, ppb, UInt128{24} * 1'000'000'000);
        }
      }
    }
    work.charges = std::move(charges);
    return work;
  }

 private:
  int pick(int from, int to) {
    return from + static_cast<int>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }
  std::uint64_t near(std::uint64_t value, std::uint64_t spread) {
    if (spread == 0) return value;
    const std::uint64_t up = value + random_() % (2 * spread + 1);
    return up > spread ? up - spread : 0;
  }

  Lot& lot(const std::string& kind) {
    Lot& added = lots_.emplace_back();
    added.name = fmt::format("lot{:02}", lots_.size());
    added.kind = kind;
    return added;
  }

  std::string node(const Lot& in, int number, std::uint32_t gpus, int price,
                   PricingCategory category = PricingCategory::kStandard,
                   const std::string& model = "A100-SXM4-80GB") {
    const std::string name = fmt::format("{}n{}", in.name, number);
    work_.add_machine(name, gpus, price_text(price).c_str(), category, in.name + ".own", model);
    work_.nodes.back().pool = PoolId(in.name);
    return name;
  }

  // List prices of the lot's own provider, so that no other lot's instances are offered for it.
  void price(const Lot& in, const std::string& type, const char* option, int amount,
             const char* model, int gpus, int memory_gib = 64) {
    prices_ += fmt::format("{0},us-central1,{0}.{1},{2},2026-01-01,{3},USD,{4},{5},8,{6}\n",
                           in.name, type, option, price_text(amount), model, gpus, memory_gib);
  }

  void hold(const std::string& node, const std::string& name, const std::string& user, int from_min,
            int to_min, std::uint32_t gpus) {
    Holding& holding = work_.add_holding(name, 0, 1, OnNodes{{{NodeId(node), gpus}}});
    holding.held =
        Interval(kMarch + std::chrono::minutes(from_min), kMarch + std::chrono::minutes(to_min));
    EXPECT_TRUE(holding.labels.set("user", user).has_value());
    holding.labels.set("job_name", name.substr(name.find('/') + 1)).value();
  }

  // With a gap of some hours, as when an exporter restarts.
  void run(const std::string& gpu, int from, int to, const Load& load, std::uint64_t noise_ppm) {
    const int gap = pick(from, std::max(from, to - 1));
    const int length = pick(0, std::max(1, (to - from) / 60));
    for (int hour = from; hour < to; ++hour) {
      if (gap <= hour && hour < gap + length) continue;
      Usage& usage = work_.sample(gpu, hour);
      usage.sm_active_ppm = near(load.sm_ppm, noise_ppm);
      usage.dram_active_ppm = near(load.dram_ppm, noise_ppm / 2);
      usage.memory_used_bytes = (load.memory_gib << 30) + (random_() % (1ull << 28));
    }
  }

  // Jobs all day and all month, so that every hour is recorded.
  void plant_background() {
    Lot& background = lot("background");
    const std::string name = node(background, 0, 8, 800, PricingCategory::kCommitted);
    for (int hour = 0; hour < kMonthHours; hour += 2) {
      const int begin = hour * 60 + pick(0, 59);
      hold(name, fmt::format("{}/job{}", background.name, hour), background.name, begin,
           std::min(begin + pick(20, 200), kMonthHours * 60), 1);
    }
  }

  // What is free of these holdings, by the rule of the guide: all of it where nobody ever held it,
  // else stretches of whole hours without the first of each.
  static std::vector<bool> free_hours(const std::vector<std::pair<int, int>>& held_min) {
    std::vector<bool> held(kHours);
    for (const auto& [from, to] : held_min) {
      for (int hour = from / 60; hour * 60 < to && hour < kMonthHours; ++hour) {
        held[static_cast<std::size_t>(hour)] = true;
      }
    }
    std::vector<bool> gone(kHours);
    for (std::size_t hour = 0; hour < kHours; ++hour) {
      gone[hour] = held_min.empty() || (!held[hour] && hour > 0 && !held[hour - 1]);
    }
    return gone;
  }

  void release(Lot& of, const std::string& node, int price, std::vector<bool> gone) {
    of.truth += cents(Int128{price} * std::count(gone.begin(), gone.end(), true));
    of.released.push_back({node, std::move(gone)});
  }

  void plant_nodes() {
    for (const PricingCategory category :
         {PricingCategory::kStandard, PricingCategory::kDynamic, PricingCategory::kCommitted}) {
      Lot& unneeded = lot(fmt::format("nobody held it, {}", to_text(category)));
      const int price = pick(100, 3000);
      for (int i = pick(1, 3); i > 0; --i) {
        const std::string name = node(unneeded, i, 8, price, category);
        if (category != PricingCategory::kCommitted) release(unneeded, name, price, free_hours({}));
      }
    }
    Lot& system = lot("only system pods");
    const int system_price = pick(100, 3000);
    const std::string held = node(system, 0, 8, system_price);
    hold(held, "kube-system/agent", system.name, 0, kMonthHours * 60, 0);
    work_.holdings.back().labels.set("namespace", "kube-system").value();
    release(system, held, system_price, free_hours({}));

    Lot& outage = lot("an outage");
    const std::string out = node(outage, 0, 8, pick(100, 3000));
    work_.outages.emplace_back(ClusterId("lab"), NodeId(out), Interval(kMarch, kApril));

    Lot& nightly = lot("free at night");
    Lot& weekend = lot("free at weekends");
    Lot& flapping = lot("free for an hour now and then");
    for (int i = pick(1, 2); i > 0; --i) {
      const int price = pick(100, 3000);
      std::vector<std::pair<int, int>> nights;
      std::vector<std::pair<int, int>> weekends;
      std::vector<std::pair<int, int>> flaps;
      for (int day = 0; day < kDays; ++day) {
        nights.push_back({day * 1440 + pick(6 * 60, 10 * 60), day * 1440 + pick(16 * 60, 21 * 60)});
        if (day % 7 != 0 && day % 7 != 6) weekends.push_back({day * 1440, day * 1440 + 1440});
        for (int hour = 0; hour < 24; hour += 2) {
          const int begin = day * 1440 + hour * 60;
          flaps.push_back({begin + pick(0, 5), begin + pick(30, 60)});
        }
      }
      const auto plant = [&](Lot& in, const std::vector<std::pair<int, int>>& held_min,
                             bool is_saved) {
        const std::string name = node(in, i, 4, price);
        for (const auto& [from, to] : held_min) {
          hold(name, fmt::format("{}/{}-{}", in.name, i, from), in.name, from, to,
               static_cast<std::uint32_t>(pick(1, 4)));
        }
        if (is_saved) release(in, name, price, free_hours(held_min));
      };
      plant(nightly, nights, true);
      plant(weekend, weekends, true);
      plant(flapping, flaps, false);
    }
    plant_pool();
  }

  // Jobs that name their pool only. Single GPUs pack without loss.
  void plant_pool() {
    Lot& pooled = lot("a pool that is too large");
    const int price = pick(100, 1000);
    const int nodes = pick(6, 10);
    for (int i = 0; i < nodes; ++i) node(pooled, i, 4, price);
    const int gpus = pick(8, 10);
    for (int i = 0; i < gpus; ++i) {
      Holding& holding = work_.add_holding(fmt::format("{}/j{}", pooled.name, i), 0, kMonthHours,
                                           InPool{{PoolId(pooled.name)}, 1});
      EXPECT_TRUE(holding.labels.set("user", pooled.name).has_value());
    }
    for (int i = (gpus + 3) / 4; i < nodes; ++i) {
      release(pooled, fmt::format("{}n{}", pooled.name, i), price, free_hours({}));
    }
  }

  static std::vector<bool> from_hour(int hour) {
    std::vector<bool> gone(kHours);
    for (std::size_t i = static_cast<std::size_t>(hour); i < kHours; ++i) gone[i] = true;
    return gone;
  }

  void hold_all_month(const Lot& in, const std::string& node, const std::string& name,
                      std::uint32_t gpus) {
    hold(node, fmt::format("{}/{}", in.name, name), in.name, 0, kMonthHours * 60, gpus);
  }

  void plant_idle() {
    constexpr Load kBusy{.sm_ppm = 700'000, .dram_ppm = 400'000, .memory_gib = 60};
    constexpr Load kNone{.sm_ppm = 3'000, .dram_ppm = 0, .memory_gib = 20};
    const auto notebook = [&](const char* kind, PricingCategory category, std::uint32_t gpus) {
      Lot& in = lot(kind);
      const int price = pick(100, 3000);
      const std::string name = node(in, 0, gpus, price, category);
      hold_all_month(in, name, "notebook", gpus);
      const int idle_from = pick(24, 300);
      for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        run(fmt::format("GPU-{}{}", name, gpu), 0, idle_from, kBusy, 100'000);
        run(fmt::format("GPU-{}{}", name, gpu), idle_from, kMonthHours, kNone, 3'000);
      }
      if (category != PricingCategory::kCommitted) {
        release(in, name, price, from_hour(idle_from + 1));
      }
    };
    notebook("a forgotten notebook", PricingCategory::kStandard, 1);
    notebook("a forgotten session on four GPUs", PricingCategory::kStandard, 4);
    notebook("a forgotten notebook on spot", PricingCategory::kDynamic, 1);
    notebook("a forgotten notebook on a commitment", PricingCategory::kCommitted, 1);

    Lot& beside = lot("a forgotten notebook beside work");
    const std::string shared = node(beside, 0, 2, pick(100, 3000));
    for (int gpu = 0; gpu < 2; ++gpu) {
      const std::string id = fmt::format("GPU-{}{}", shared, gpu);
      work_.hold_gpu(fmt::format("{}/{}", beside.name, gpu), beside.name, id);
      run(id, 0, kMonthHours, gpu == 0 ? kNone : kBusy, gpu == 0 ? 3'000 : 100'000);
    }

    Lot& two = lot("two forgotten notebooks");
    const int price = pick(100, 3000);
    const std::string both = node(two, 0, 2, price);
    std::array<int, 2> idle_from = {pick(24, 300), pick(24, 300)};
    for (int gpu = 0; gpu < 2; ++gpu) {
      const std::string id = fmt::format("GPU-{}{}", both, gpu);
      work_.hold_gpu(fmt::format("{}/{}", two.name, gpu), two.name, id);
      run(id, 0, idle_from[static_cast<std::size_t>(gpu)], kBusy, 100'000);
      run(id, idle_from[static_cast<std::size_t>(gpu)], kMonthHours, kNone, 3'000);
    }
    release(two, both, price, from_hour(std::max(idle_from[0], idle_from[1]) + 1));

    Lot& one_of_job = lot("a job with one idle GPU");
    const std::string job_node = node(one_of_job, 0, 2, pick(100, 3000));
    hold_all_month(one_of_job, job_node, "train", 2);
    run(fmt::format("GPU-{}0", job_node), 0, kMonthHours, kNone, 3'000);
    run(fmt::format("GPU-{}1", job_node), 0, kMonthHours, kBusy, 100'000);

    Lot& pauses = lot("pauses of an hour");
    const std::string paused = node(pauses, 0, 1, pick(100, 3000));
    hold_all_month(pauses, paused, "train", 1);
    for (int hour = 0; hour < kMonthHours; ++hour) {
      Usage& usage = work_.sample(fmt::format("GPU-{}0", paused), hour);
      usage.sm_active_ppm = hour % 3 == 0 ? 0 : 800'000;
    }
  }

  // A node of one GPU that one piece of work holds all month.
  std::string worker(Lot& in, int price, const Load& load, std::uint64_t noise_ppm,
                     PricingCategory category = PricingCategory::kStandard) {
    const std::string name = node(in, 0, 1, price, category);
    hold_all_month(in, name, "api", 1);
    run(fmt::format("GPU-{}0", name), 0, kMonthHours, load, noise_ppm);
    return name;
  }
  void offer_l40s(const Lot& in, int own, int other, int memory_gib = 64) {
    price(in, "own", "on_demand", own, "A100-SXM4-80GB", 1);
    price(in, "small", "on_demand", other, "L40S", 1, memory_gib);
  }

  void plant_cards() {
    const Load light{.sm_ppm = static_cast<std::uint64_t>(pick(100'000, 380'000)),
                     .dram_ppm = static_cast<std::uint64_t>(pick(50'000, 300'000)),
                     .memory_gib = static_cast<std::uint64_t>(pick(5, 38))};
    const auto save = [](Lot& in, int own, int other) {
      in.truth = cents(Int128{own - other} * kMonthHours);
      in.remaining_ppb = std::int64_t{other} * 1'000'000'000 / own;
    };
    const int own = pick(300, 600);
    const int other = own * pick(30, 80) / 100;
    Lot& smaller = lot("a smaller card would do");
    worker(smaller, own, light, 40'000);
    offer_l40s(smaller, own, other);
    save(smaller, own, other);

    Lot& full = lot("little used, but full memory");
    worker(full, own, {light.sm_ppm, light.dram_ppm, static_cast<std::uint64_t>(pick(41, 70))},
           40'000);
    offer_l40s(full, own, other);

    Lot& peaks = lot("little used, with peaks");
    const std::string peaked = node(peaks, 0, 1, own);
    hold_all_month(peaks, peaked, "api", 1);
    for (int hour = 0; hour < kMonthHours; ++hour) {
      Usage& usage = work_.sample(fmt::format("GPU-{}0", peaked), hour);
      usage.sm_active_ppm = hour % 12 == 0 ? 900'000 : light.sm_ppm;
      usage.dram_active_ppm = light.dram_ppm;
      usage.memory_used_bytes = 10ull << 30;
    }
    offer_l40s(peaks, own, other);

    Lot& committed = lot("a smaller card, but it is paid for");
    worker(committed, own, light, 40'000, PricingCategory::kCommitted);
    offer_l40s(committed, own, other);

    Lot& neighbours = lot("a smaller card, but a neighbour stays");
    const std::string shared = node(neighbours, 0, 2, own * 2);
    for (int gpu = 0; gpu < 2; ++gpu) {
      const std::string id = fmt::format("GPU-{}{}", shared, gpu);
      work_.hold_gpu(fmt::format("{}/{}", neighbours.name, gpu), neighbours.name, id);
      run(id, 0, kMonthHours, gpu == 0 ? light : Load{800'000, 500'000, 60}, 40'000);
    }
    price(neighbours, "own", "on_demand", own * 2, "A100-SXM4-80GB", 2);
    price(neighbours, "small", "on_demand", other, "L40S", 1);

    Lot& host = lot("a smaller card, but too little host memory");
    worker(host, own, light, 40'000);
    work_.holdings.back().memory_bytes = 60ull << 30;
    offer_l40s(host, own, other, 32);

    Lot& parts = lot("a smaller card, but not with as many GPUs");
    const std::string eight = node(parts, 0, 8, own * 8);
    hold_all_month(parts, eight, "train", 8);
    for (int gpu = 0; gpu < 8; ++gpu) {
      run(fmt::format("GPU-{}{}", eight, gpu), 0, kMonthHours, light, 40'000);
    }
    price(parts, "own", "on_demand", own * 8, "A100-SXM4-80GB", 8);
    price(parts, "small", "on_demand", other, "L40S", 1);

    Lot& util = lot("only GPU_UTIL says so");
    const std::string blind = worker(util, own, light, 40'000);
    for (Usage& usage : work_.usages) {
      if (usage.gpu != GpuId(fmt::format("GPU-{}0", blind))) continue;
      usage.gpu_util_ppm = usage.sm_active_ppm;
      usage.sm_active_ppm.reset();
    }
    offer_l40s(util, own, other);

    Lot& slower = lot("only slower or older cards are cheaper");
    worker(slower, own, {300'000, 300'000, 12}, 40'000);
    price(slower, "own", "on_demand", own, "A100-SXM4-80GB", 1);
    price(slower, "small", "on_demand", own / 5, "L4", 1);
    price(slower, "old", "on_demand", own / 8, "V100-SXM2-32GB", 1);

    Lot& larger = lot("a larger card would be cheaper");
    worker(larger, own, {960'000, 700'000, 50}, 20'000);
    price(larger, "own", "on_demand", own, "A100-SXM4-80GB", 1);
    price(larger, "large", "on_demand", own * 3 / 2, "H100-SXM5-80GB", 1);
    // 3350 / 2039 in bandwidth, 989 / 312 in compute: the slower counts.
    larger.remaining_ppb = std::int64_t{own * 3 / 2} * 1'000'000'000 / own * 2039 / 3350;
    larger.truth =
        scaled(cents(Int128{own} * kMonthHours),
               static_cast<std::uint64_t>(1'000'000'000 - larger.remaining_ppb), 1'000'000'000);
  }

  // Cheapest whole number of units for one year; for three not more than the least demand.
  static Int128 committed_cost(const std::vector<int>& demand, int paid, int rate, int units_max) {
    Int128 best = -1;
    for (int units = 0; units <= units_max; ++units) {
      Int128 cost = Int128{units} * rate * static_cast<int>(demand.size());
      for (const int needed : demand) cost += Int128{std::max(0, needed - units)} * paid;
      if (best < 0 || cost < best) best = cost;
    }
    return best;
  }

  void plant_commitments() {
    for (const bool is_stepped : {false, true}) {
      Lot& in = lot(is_stepped ? "commit to a part" : "commit to all");
      const int price_now = pick(300, 1500);
      const int year = price_now * pick(55, 75) / 100;
      const int three = price_now * pick(35, 50) / 100;
      price(in, "own", "on_demand", price_now, "A100-SXM4-80GB", 4);
      price(in, "own", "committed_1y", year, "A100-SXM4-80GB", 4);
      price(in, "own", "committed_3y", three, "A100-SXM4-80GB", 4);
      std::vector<int> demand(kHours);
      Int128 paid = 0;
      const int nodes = pick(2, 5);
      for (int i = 0; i < nodes; ++i) {
        const std::string name = node(in, i, 4, price_now);
        // Each node is held for another part of every day.
        const int each_day = is_stepped ? 24 * (i + 1) / nodes : 24;
        std::vector<std::pair<int, int>> held_min;
        for (int day = 0; day < kDays; ++day) {
          held_min.push_back({day * 1440, day * 1440 + each_day * 60});
          hold(name, fmt::format("{}/{}-{}", in.name, i, day), in.name, held_min.back().first,
               held_min.back().second, 4);
        }
        const std::vector<bool> gone = free_hours(held_min);
        if (each_day < 24) release(in, name, price_now, gone);
        for (std::size_t hour = 0; hour < kHours; ++hour) {
          if (gone[hour]) continue;
          ++demand[hour];
          paid += price_now;
        }
      }
      if (is_stepped) {
        // What was needed a week ago and is no longer is committed to by nobody.
        Lot& ended = lot("needed until the last week");
        price(ended, "own", "on_demand", price_now, "A100-SXM4-80GB", 4);
        price(ended, "own", "committed_1y", year, "A100-SXM4-80GB", 4);
        const std::string name = node(ended, 0, 4, price_now);
        const int end = kMonthHours - 170;
        hold(name, ended.name + "/train", ended.name, 0, end * 60, 4);
        release(ended, name, price_now, from_hour(end + 1));
      }
      const int trough = *std::min_element(demand.begin(), demand.end());
      const Int128 best = std::min(committed_cost(demand, price_now, year, nodes),
                                   committed_cost(demand, price_now, three, trough));
      in.truth += cents(paid - best);
      in.remaining_ppb = static_cast<std::int64_t>(best * 1'000'000'000 / paid);
    }
    // Either a smaller card or a commitment to the larger one.
    Lot& either = lot("a smaller card or a commitment");
    const int own = pick(300, 600);
    const int other = own * pick(40, 80) / 100;
    const int year = own * pick(40, 80) / 100;
    worker(either, own, {300'000, 200'000, 20}, 40'000);
    offer_l40s(either, own, other);
    price(either, "own", "committed_1y", year, "A100-SXM4-80GB", 1);
    const int best = std::min(other, year);
    either.truth = cents(Int128{own - best} * kMonthHours);
    either.remaining_ppb = std::int64_t{best} * 1'000'000'000 / own;

    Lot& unused = lot("a commitment that is not used");
    node(unused, 0, 4, pick(300, 1500), PricingCategory::kCommitted);
    for (Charge& charge : work_.charges) {
      if (charge.resource_id != fmt::format("i-{}n0", unused.name)) continue;
      charge.commitment_discount_id = unused.name + "-ri";
      charge.commitment_discount_status = UsedOrUnused::kUnused;
    }
  }

  // Nodes of one GPU, each with a small service.
  void plant_instances() {
    for (const bool is_full : {false, true}) {
      Lot& in = lot(is_full ? "small work that fills the memory" : "small work on whole GPUs");
      const int own = pick(300, 600);
      const int nodes = pick(3, 9);
      for (int i = 0; i < nodes; ++i) {
        const std::string name = node(in, i, 1, own);
        hold_all_month(in, name, fmt::format("service{}", i), 1);
        run(fmt::format("GPU-{}0", name), 0, kMonthHours,
            {80'000, 50'000, static_cast<std::uint64_t>(is_full ? pick(68, 75) : pick(2, 8))},
            30'000);
        // Seven of 1g.10gb are on one GPU.
        if (!is_full && i >= (nodes + 6) / 7) release(in, name, own, from_hour(0));
      }
    }
  }

  // The same on GPUs without MIG, which can be shared.
  void plant_sharing() {
    struct Trial {
      const char* kind;
      int busy_percent;
      int memory_gib;
      bool is_blind;  // only GPU_UTIL is measured
      std::uint64_t sharers;
    };
    // The 95th percentile is at most 3 points over the mean; an eighth is the most that share.
    for (const Trial& trial : {Trial{"small work on GPUs without MIG", pick(4, 6), 3, false, 8},
                               Trial{"work that fills a quarter", pick(10, 16), 10, false, 4},
                               Trial{"work that fills a third of memory", 5, 13, false, 3},
                               Trial{"work that fills half of memory", 5, 22, false, 1},
                               Trial{"work that computes too much to share", 50, 3, false, 1},
                               Trial{"small work, but only GPU_UTIL says so", 5, 3, true, 1}}) {
      Lot& in = lot(trial.kind);
      const int own = pick(300, 600);
      const int nodes = pick(3, 9);
      for (int i = 0; i < nodes; ++i) {
        const std::string name = node(in, i, 1, own, PricingCategory::kStandard, "L40S");
        hold_all_month(in, name, fmt::format("service{}", i), 1);
        run(fmt::format("GPU-{}0", name), 0, kMonthHours,
            {static_cast<std::uint64_t>(trial.busy_percent) * 10'000, 20'000,
             static_cast<std::uint64_t>(trial.memory_gib)},
            30'000);
        if (trial.is_blind) {
          for (Usage& usage : work_.usages) {
            if (usage.gpu != GpuId(fmt::format("GPU-{}0", name))) continue;
            usage.gpu_util_ppm = usage.sm_active_ppm;
            usage.sm_active_ppm.reset();
          }
        }
        const int kept =
            (nodes + static_cast<int>(trial.sharers) - 1) / static_cast<int>(trial.sharers);
        if (i >= kept) release(in, name, own, from_hour(0));
      }
    }
  }

  void plant_spot() {
    struct Trial {
      const char* kind;
      bool says_so;
      int spot_percent_from;
      int spot_percent_to;
      int limit_minutes;  // 0: none
      bool pays;
    };
    for (const Trial& trial :
         {Trial{"work that can be interrupted", true, 30, 55, 0, true},
          Trial{"work that does not say so", false, 30, 55, 0, false},
          Trial{"spot is hardly cheaper", true, 76, 95, 0, false},
          Trial{"no time to be interrupted", true, 30, 55, kMonthHours * 60 + 60, false}}) {
      Lot& in = lot(trial.kind);
      const int own = pick(300, 1500);
      const int spot = own * pick(trial.spot_percent_from, trial.spot_percent_to) / 100;
      price(in, "own", "on_demand", own, "A100-SXM4-80GB", 4);
      price(in, "own", "spot", spot, "A100-SXM4-80GB", 4);
      const std::string name = node(in, 0, 4, own);
      hold_all_month(in, name, "train", 4);
      Labels& labels = work_.holdings.back().labels;
      if (trial.says_so) labels.set("checkpointable", "true").value();
      if (trial.limit_minutes > 0) {
        labels.set("time_limit_minutes", fmt::format("{}", trial.limit_minutes)).value();
      }
      if (!trial.pays) continue;
      // Two minutes to save, five to restart, one interruption in two hours.
      const MeasuredSpot verdict = judge_measured_spot({.mean_time_between_ms = 120 * 60'000,
                                                        .nodes = 1,
                                                        .save_ms = 2 * 60'000,
                                                        .restart_ms = 5 * 60'000,
                                                        .length_ms = 1,
                                                        .slack_ms = 1,
                                                        .on_demand_micros = 2,
                                                        .spot_micros = 1});
      in.remaining_ppb = static_cast<std::int64_t>(verdict.paid_ppm) * 1000 * spot / own;
      in.truth =
          scaled(cents(Int128{own} * kMonthHours),
                 static_cast<std::uint64_t>(1'000'000'000 - in.remaining_ppb), 1'000'000'000);
    }
  }

  void hold_pod(const Lot& in, const std::string& node, const std::string& app, int replica) {
    hold(node, fmt::format("{}/{}-{}", in.name, app, replica), in.name, 0, kMonthHours * 60, 1);
    Labels labels;
    labels.set("namespace", in.name).value();
    labels.set("app", app).value();
    work_.holdings.back().labels = labels;
  }

  // Replicas on nodes of one GPU, busy from 8 to 20 and hardly at night.
  void plant_services() {
    struct Trial {
      const char* kind;
      const char* app;
      PricingCategory category;
      std::uint64_t night_ppm;
      bool saves;
    };
    for (const Trial& trial :
         {Trial{"a service that sleeps at night", "serve", PricingCategory::kStandard, 40'000,
                true},
          Trial{"such a service on spot", "serve", PricingCategory::kDynamic, 40'000, true},
          Trial{"such a service that is paid for", "serve", PricingCategory::kCommitted, 40'000,
                false},
          Trial{"such training", "train", PricingCategory::kStandard, 40'000, false},
          Trial{"a service without a night", "serve", PricingCategory::kStandard, 550'000,
                false}}) {
      Lot& in = lot(trial.kind);
      const int own = pick(300, 1500);
      const int nodes = pick(3, 6);
      // An hour that needs all replicas keeps them in the hour before and after; the first free
      // hour of each night is kept.
      std::vector<bool> gone(kHours);
      for (std::size_t hour = 1; hour < kHours; ++hour) {
        const auto is_free = [](std::size_t of) { return of % 24 < 7 || of % 24 > 20; };
        gone[hour] = is_free(hour) && is_free(hour - 1);
      }
      for (int i = 0; i < nodes; ++i) {
        const std::string name = node(in, i, 1, own, trial.category);
        hold_pod(in, name, trial.app, i);
        for (int hour = 0; hour < kMonthHours; ++hour) {
          const bool is_day = hour % 24 >= 8 && hour % 24 < 20;
          Usage& usage = work_.sample(fmt::format("GPU-{}0", name), hour);
          usage.sm_active_ppm = near(is_day ? 550'000 : trial.night_ppm, 20'000);
          usage.dram_active_ppm = 100'000;
          usage.memory_used_bytes = 50ull << 30;
        }
        if (trial.saves && i > 0) release(in, name, own, gone);
      }
    }
    for (const bool is_long : {true, false}) {
      Lot& zombie =
          lot(is_long ? "a service that nobody asks" : "a service that nobody asked lately");
      const int own = pick(300, 1500);
      const std::string name = node(zombie, 0, 1, own);
      hold_pod(zombie, name, "api", 0);
      work_.holdings.back().ended = false;
      const int idle_from = is_long ? pick(100, 600) : kMonthHours - pick(30, 60);
      const std::string gpu = fmt::format("GPU-{}0", name);
      run(gpu, 0, idle_from, {.sm_ppm = 700'000, .dram_ppm = 400'000, .memory_gib = 60}, 100'000);
      run(gpu, idle_from, kMonthHours, {.sm_ppm = 3'000, .dram_ppm = 0, .memory_gib = 20}, 3'000);
      release(zombie, name, own, from_hour(idle_from + 1));
    }
  }

  // Further forms of the same wastes.
  void plant_variants() {
    constexpr Load kLight{.sm_ppm = 300'000, .dram_ppm = 150'000, .memory_gib = 20};
    Lot& eight = lot("a smaller card, eight at a time");
    const int own = pick(2400, 4800);
    const int other = own * pick(30, 80) / 100;
    const std::string large = node(eight, 0, 8, own);
    hold_all_month(eight, large, "train", 8);
    for (int gpu = 0; gpu < 8; ++gpu) {
      run(fmt::format("GPU-{}{}", large, gpu), 0, kMonthHours, kLight, 40'000);
    }
    price(eight, "own", "on_demand", own, "A100-SXM4-80GB", 8);
    price(eight, "small", "on_demand", other, "L40S", 8);
    eight.truth = cents(Int128{own - other} * kMonthHours);
    eight.remaining_ppb = std::int64_t{other} * 1'000'000'000 / own;

    // With a tenth to spare, seven GPUs need two nodes by day, and none at night.
    Lot& pooled = lot("a pool that is free at night");
    const int each = pick(100, 1000);
    std::vector<std::pair<int, int>> days;
    for (int day = 0; day < kDays; ++day) {
      const int from = day * 24 + pick(6, 9);
      const int to = day * 24 + pick(17, 20);
      days.push_back({from * 60, to * 60});
      for (int i = 0; i < 7; ++i) {
        Holding& holding = work_.add_holding(fmt::format("{}/d{}-{}", pooled.name, day, i), from,
                                             to, InPool{{PoolId(pooled.name)}, 1});
        EXPECT_TRUE(holding.labels.set("user", pooled.name).has_value());
      }
    }
    for (int i = 0; i < 4; ++i) {
      const std::string name = node(pooled, i, 4, each);
      release(pooled, name, each, i < 2 ? free_hours({}) : free_hours(days));
    }

    Lot& blind = lot("a forgotten notebook that only GPU_UTIL sees");
    const int blind_price = pick(100, 3000);
    const std::string unseen = node(blind, 0, 1, blind_price);
    hold_all_month(blind, unseen, "notebook", 1);
    const int idle_from = pick(24, 300);
    for (int hour = 0; hour < kMonthHours; ++hour) {
      Usage& usage = work_.sample(fmt::format("GPU-{}0", unseen), hour);
      usage.gpu_util_ppm = hour < idle_from ? 600'000 : 0;
      usage.memory_used_bytes = 20ull << 30;
    }
    release(blind, unseen, blind_price, from_hour(idle_from + 1));

    Lot& sessions = lot("session after session left open");
    const int session_price = pick(100, 3000);
    const std::string open = node(sessions, 0, 1, session_price);
    std::vector<bool> gone(kHours);
    for (int begin = 0; begin + 60 <= kMonthHours; begin += 60) {
      hold(open, fmt::format("{}/notebook", sessions.name), sessions.name, begin * 60,
           (begin + 60) * 60, 1);
      const int busy = pick(2, 10);
      for (int hour = begin; hour < begin + 60; ++hour) {
        work_.sample(fmt::format("GPU-{}0", open), hour).sm_active_ppm =
            hour < begin + busy ? 700'000 : 0;
        gone[static_cast<std::size_t>(hour)] = hour > begin + busy;
      }
    }
    // After the last session nobody holds it.
    for (int hour = kMonthHours / 60 * 60 + 1; hour < kMonthHours; ++hour) {
      gone[static_cast<std::size_t>(hour)] = true;
    }
    release(sessions, open, session_price, gone);

    Lot& gang = lot("work on two nodes that can be interrupted");
    const int gang_price = pick(300, 1500);
    const int spot = gang_price * pick(30, 55) / 100;
    price(gang, "own", "on_demand", gang_price, "A100-SXM4-80GB", 4);
    price(gang, "own", "spot", spot, "A100-SXM4-80GB", 4);
    const std::string one = node(gang, 0, 4, gang_price);
    const std::string two = node(gang, 1, 4, gang_price);
    Holding& train = work_.add_holding(fmt::format("{}/train", gang.name), 0, kMonthHours,
                                       OnNodes{{{NodeId(one), 4}, {NodeId(two), 4}}});
    train.labels.set("user", gang.name).value();
    train.labels.set("job_name", "train").value();
    train.labels.set("checkpointable", "true").value();
    const MeasuredSpot verdict = judge_measured_spot({.mean_time_between_ms = 120 * 60'000,
                                                      .nodes = 2,
                                                      .save_ms = 2 * 60'000,
                                                      .restart_ms = 5 * 60'000,
                                                      .length_ms = 1,
                                                      .slack_ms = 1,
                                                      .on_demand_micros = 2,
                                                      .spot_micros = 1});
    gang.remaining_ppb = static_cast<std::int64_t>(verdict.paid_ppm) * 1000 * spot / gang_price;
    gang.truth =
        scaled(cents(Int128{gang_price} * 2 * kMonthHours),
               static_cast<std::uint64_t>(1'000'000'000 - gang.remaining_ppb), 1'000'000'000);

    Lot& pairs = lot("replicas of two GPUs that sleep at night");
    const int pair_price = pick(300, 1500);
    const int replicas = pick(3, 6);
    std::vector<bool> asleep(kHours);
    for (std::size_t hour = 1; hour < kHours; ++hour) {
      const auto is_free = [](std::size_t of) { return of % 24 < 7 || of % 24 > 20; };
      asleep[hour] = is_free(hour) && is_free(hour - 1);
    }
    for (int i = 0; i < replicas; ++i) {
      const std::string name = node(pairs, i, 2, pair_price);
      hold_pod(pairs, name, "serve", i);
      work_.holdings.back().placement = OnNodes{{{NodeId(name), 2}}};
      for (int hour = 0; hour < kMonthHours; ++hour) {
        const bool is_day = hour % 24 >= 8 && hour % 24 < 20;
        for (int gpu = 0; gpu < 2; ++gpu) {
          Usage& usage = work_.sample(fmt::format("GPU-{}{}", name, gpu), hour);
          usage.sm_active_ppm = near(is_day ? 550'000 : 40'000, 20'000);
          usage.dram_active_ppm = 100'000;
          usage.memory_used_bytes = 50ull << 30;
        }
      }
      if (i > 0) release(pairs, name, pair_price, asleep);
    }

    // An A100 holds three of 2g.20gb.
    Lot& instances = lot("instances on more GPUs than they need");
    const int cut_price = pick(300, 600);
    const int cards = pick(3, 6);
    for (int i = 0; i < cards; ++i) {
      const std::string name = node(instances, i, 1, cut_price);
      const std::string id = fmt::format("MIG-{}", name);
      work_.gpus.back().mig_instances.push_back({GpuId(id), "2g.20gb"});
      Holding& holding = work_.add_holding(fmt::format("{}/{}", instances.name, i), 0, kMonthHours,
                                           OnGpus{{GpuId(id)}});
      holding.device = MigSlice{"2g.20gb"};
      EXPECT_TRUE(holding.labels.set("user", instances.name).has_value());
      if (i >= (cards + 2) / 3) release(instances, name, cut_price, from_hour(0));
    }
  }

  void plant_traps() {
    Lot& impossible = lot("impossible samples");
    const std::string broken = worker(impossible, 400, {0, 0, 10}, 0);
    for (Usage& usage : work_.usages) {
      if (usage.gpu == GpuId(fmt::format("GPU-{}0", broken))) usage.sm_active_ppm = 4'000'000;
    }
    offer_l40s(impossible, 400, 200);

    Lot& unseen = lot("nothing is measured");
    hold_all_month(unseen, node(unseen, 0, 1, 400), "api", 1);
    offer_l40s(unseen, 400, 200);

    Lot& seldom = lot("half is measured");
    const std::string half = node(seldom, 0, 1, 400);
    hold_all_month(seldom, half, "api", 1);
    run(fmt::format("GPU-{}0", half), 0, kMonthHours / 2, {200'000, 100'000, 10}, 20'000);
    offer_l40s(seldom, 400, 200);

    Lot& jumps = lot("a clock that jumps");
    const std::string late = worker(jumps, 400, {600'000, 400'000, 50}, 50'000);
    for (int hour = kMonthHours; hour < kMonthHours + 500; ++hour) {
      work_.sample(fmt::format("GPU-{}0", late), hour).sm_active_ppm = 0;
    }
    for (int hour = -300; hour < 0; ++hour) {
      work_.sample(fmt::format("GPU-{}0", late), hour).sm_active_ppm = 0;
    }

    Lot& mig = lot("a GPU cut into instances");
    const std::string cut = node(mig, 0, 1, pick(300, 600));
    for (int i = 0; i < 3; ++i) {
      const std::string id = fmt::format("MIG-{}-{}", mig.name, i);
      work_.gpus.back().mig_instances.push_back({GpuId(id), "2g.20gb"});
      Holding& holding =
          work_.add_holding(fmt::format("{}/{}", mig.name, i), 0, kMonthHours, OnGpus{{GpuId(id)}});
      holding.device = MigSlice{"2g.20gb"};
      EXPECT_TRUE(holding.labels.set("user", mig.name).has_value());
    }
    for (int hour = 0; hour < kMonthHours; ++hour) {
      for (int i = 0; i < 3; ++i) {
        Usage& usage = work_.sample(fmt::format("GPU-{}0", cut), hour);
        usage.mig_instance = fmt::format("{}", i + 3);
        usage.mig_profile = "2g.20gb";
        usage.engine_active_ppm = near(i == 0 ? 0 : 500'000, 9'000);
      }
      work_.sample(fmt::format("GPU-{}0", cut), hour).sm_active_ppm = near(280'000, 20'000);
    }
    offer_l40s(mig, 400, 200);

    Lot& slices = lot("a GPU shared by replicas");
    const std::string sliced = node(slices, 0, 1, pick(300, 600));
    work_.nodes.back().sharing = GpuSharing::kTimeSlicing;
    work_.nodes.back().gpu_replicas = 4;
    for (int i = 0; i < 3; ++i) {
      hold_all_month(slices, sliced, fmt::format("pod{}", i), 1);
      work_.holdings.back().device = Replica{};
    }
    run(fmt::format("GPU-{}0", sliced), 0, kMonthHours, {3'000, 0, 20}, 3'000);
    offer_l40s(slices, 400, 200);
  }

  std::mt19937_64 random_;
  Work work_;
  std::deque<Lot> lots_;  // a lot stays where it is
  std::string prices_ =
      "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,"
      "memory_gib\n";
};

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Money total_cost(const Work& work) {
  const ComparedCluster cluster{.facts = work.month(), .outages = work.outages};
  const auto costs = policy_costs(std::span(&cluster, 1), work.policy, {.month = "2026-03"});
  EXPECT_TRUE(costs.has_value());
  Money sum = Money::zero(kUsd);
  for (const CostPart& part : costs->front().parts) sum += part.cost;
  return sum;
}

// By money, over all seeds.
struct Score {
  Money advised = Money::zero(kUsd);
  Money truth = Money::zero(kUsd);
  Money matched = Money::zero(kUsd);  // of each lot, the smaller of both
};

std::string lot_of(const Proposal& proposal, const std::deque<Lot>& lots) {
  for (const Lot& lot : lots) {
    if (proposal.subject.find(lot.name) != std::string::npos) return lot.name;
  }
  return {};
}

void measure(std::uint64_t seed, Score& score, std::map<std::string, Score>& by_kind) {
  const PlantedFleet fleet(seed);
  const Advice advice = fleet.work().advise();
  const Portfolio portfolio = combine(advice.proposals);
  std::map<std::string, Money> advised;
  Money total = Money::zero(kUsd);
  for (std::size_t i = 0; i < advice.proposals.size(); ++i) {
    if (!portfolio.chosen[i]) continue;
    const Proposal& each = advice.proposals[i];
    const std::string lot = lot_of(each, fleet.lots());
    EXPECT_FALSE(lot.empty()) << each.subject;
    advised.try_emplace(lot, Money::zero(kUsd)).first->second += each.observed;
    total += each.observed;
    EXPECT_LE(each.monthly.low.ticks(), each.monthly.expected.ticks()) << each.subject;
    EXPECT_LE(each.monthly.expected.ticks(), each.monthly.high.ticks()) << each.subject;
  }
  for (const Lot& lot : fleet.lots()) {
    const auto at = advised.find(lot.name);
    const Money said = at == advised.end() ? Money::zero(kUsd) : at->second;
    const Money both = said.ticks() < lot.truth.ticks() ? said : lot.truth;
    for (Score* sum : {&score, &by_kind[lot.kind]}) {
      sum->advised += said;
      sum->truth += lot.truth;
      sum->matched += both;
    }
  }
  const Money saved = total_cost(fleet.work()) - total_cost(fleet.changed());
  const Int128 off = total.ticks() - saved.ticks();
  EXPECT_LE((off < 0 ? -off : off) * 20, saved.ticks())
      << "the portfolio says " << to_text(total.amount()) << ", the engine "
      << to_text(saved.amount()) << "; PLANTED_FIRST=" << seed << " PLANTED_SEEDS=1";
}

TEST(PlantedWaste, IsFoundAndNothingElseIs) {
  const std::uint64_t first = number_from("PLANTED_FIRST", 1);
  const std::uint64_t seeds = number_from("PLANTED_SEEDS", 1);
  Score score;
  std::map<std::string, Score> by_kind;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) measure(seed, score, by_kind);
  const auto line = [](const std::string& name, const Score& of) {
    const auto percent = [](const Money& part, const Money& whole) {
      return whole.is_zero()
                 ? std::string("-")
                 : fmt::format("{}.{:01} %", static_cast<int>(part.ticks() * 100 / whole.ticks()),
                               static_cast<int>(part.ticks() * 1000 / whole.ticks() % 10));
    };
    return fmt::format("{:<45} truth {:>14} advised {:>14} precision {:>8} recall {:>8}", name,
                       to_text(of.truth.amount()), to_text(of.advised.amount()).substr(0, 14),
                       percent(of.matched, of.advised), percent(of.matched, of.truth));
  };
  if (number_from("PLANTED_VERBOSE", 0) > 0) {
    for (const auto& [kind, of] : by_kind) fmt::print("{}\n", line(kind, of));
  }
  const std::string all = line(fmt::format("{} seeds from {}", seeds, first), score);
  fmt::print("{}\n", all);
  EXPECT_GE(score.matched.ticks() * 100, score.advised.ticks() * 95) << all;
  EXPECT_GE(score.matched.ticks() * 100, score.truth.ticks() * 90) << all;
}

}  // namespace
}  // namespace pennyweight::advising
