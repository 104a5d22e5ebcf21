// What fits where: fractions of GPUs, CPUs and memory, several machines, racks, other places.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "insight/replay/oracle_scores_testing.h"

namespace pennyweight::replay {

class OracleRoom : public OracleScores {
 protected:
  using OracleScores::OracleScores;

  Share all_of(std::uint32_t machine) const {
    const Machine& it = world_.machines[machine];
    return {machine, (1u << it.gpus) - 1, 1000, true, it.cpu_milli, it.memory_mib};
  }

  State empty() const {
    State state;
    for (const Machine& machine : world_.machines) {
      state.push_back({std::vector<std::uint32_t>(machine.gpus, 1000), machine.cpu_milli,
                       machine.memory_mib, false});
    }
    return state;
  }

  static bool has_room(const FreeOn& free, const Share& share) {
    for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
      if (((share.gpu_mask >> i) & 1) != 0 && free.gpus[i] < share.gpu_milli) return false;
    }
    return free.cpu >= share.cpu_milli && free.memory >= share.memory_mib;
  }

  static void change(State& state, const Shares& shares, bool takes) {
    for (const Share& share : shares) {
      FreeOn& free = state[share.machine];
      for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
        if (((share.gpu_mask >> i) & 1) == 0) continue;
        takes ? free.gpus[i] -= share.gpu_milli : free.gpus[i] += share.gpu_milli;
      }
      takes ? free.cpu -= share.cpu_milli : free.cpu += share.cpu_milli;
      takes ? free.memory -= share.memory_mib : free.memory += share.memory_mib;
      if (share.closes) free.is_closed = takes;
    }
  }

  // What the request gets of one machine, if it fits.
  std::optional<Share> on_machine(const State& state, std::uint32_t machine,
                                  const Request& request) const {
    const FreeOn& free = state[machine];
    if (free.is_closed || !allows_model(request, world_.machines[machine])) return std::nullopt;
    Share share{.machine = machine,
                .gpu_mask = 0,
                .gpu_milli = request.gpu_milli > 0 ? request.gpu_milli : 1000,
                .closes = false,
                .cpu_milli = request.cpu_milli,
                .memory_mib = request.memory_mib};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> gpus;  // free thousandths, number
    for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
      if (free.gpus[i] >= share.gpu_milli) gpus.emplace_back(free.gpus[i], i);
    }
    std::sort(gpus.begin(), gpus.end());
    const std::uint32_t wanted = request.gpu_milli > 0 ? 1 : request.gpus;
    if (gpus.size() < wanted) return std::nullopt;
    for (std::uint32_t i = 0; i < wanted; ++i) share.gpu_mask |= 1u << gpus[i].second;
    if (!has_room(free, share)) return std::nullopt;
    return share;
  }

  std::optional<Share> on_one(const State& state, const Request& request) const {
    std::vector<std::tuple<Int128, Int128, Share>> choices;  // the lowest, of equal ones the first
    Int128 cpu_max = 1;
    Int128 gpu_max = 1;
    for (const Machine& machine : world_.machines) {
      cpu_max = std::max(cpu_max, static_cast<Int128>(machine.cpu_milli));
      gpu_max = std::max(gpu_max, static_cast<Int128>(machine.gpus) * 1000);
    }
    for (std::uint32_t machine = 0; machine < state.size(); ++machine) {
      const auto share = on_machine(state, machine, request);
      if (!share) continue;
      Int128 gpu = 0;
      for (const std::uint32_t milli : state[machine].gpus) gpu += milli;
      const Int128 free = static_cast<Int128>(state[machine].cpu) * gpu_max + gpu * cpu_max;
      switch (world_.policy.placement) {
        case PlacementRule::kFirstFit:
          choices.emplace_back(0, 0, *share);
          break;
        case PlacementRule::kBestFit:
          choices.emplace_back(free, 0, *share);
          break;
        case PlacementRule::kGpuClustering:
          choices.emplace_back(clustering_score(state, machine, request), 0, *share);
          break;
        case PlacementRule::kLeastFragmentation: {
          const auto [growth, chosen] = least_growth(state, *share);
          // What would be left, in millionths of the largest machine's.
          constexpr Int128 kMillion = 1'000'000;
          const Int128 left =
              (Int128{state[machine].cpu} - Int128{request.cpu_milli}) * kMillion / cpu_max +
              (gpu - Int128{request.milli_gpus()}) * kMillion / gpu_max;
          choices.emplace_back(growth, left, chosen);
          break;
        }
        case PlacementRule::kWorstFit:
        case PlacementRule::kRandom:
        case PlacementRule::kDotProduct:
        case PlacementRule::kGpuPacking:
          choices.emplace_back(-free, 0, *share);
      }
    }
    const auto score = [](const auto& choice) {
      return std::pair(std::get<0>(choice), std::get<1>(choice));
    };
    const auto best = std::ranges::min_element(choices, {}, score);
    if (best == choices.end()) return std::nullopt;
    return std::get<2>(*best);
  }

  // Takes what a request for several machines gets of one rack: two passes over its machines.
  std::optional<Shares> place_in_rack(State& state, const Request& request, std::uint32_t rack,
                                      std::uint32_t largest) const {
    const State before = state;
    Shares shares;
    std::uint32_t missing = request.gpus;
    for (const bool is_rest : {false, true}) {
      for (std::uint32_t i = 0; i < state.size() && missing > 0; ++i) {
        if (world_.machines[i].rack != rack || (is_rest && missing >= largest)) continue;
        const std::uint32_t gpus = is_rest ? missing : world_.machines[i].gpus;
        if (gpus == 0 || gpus > missing) continue;
        const auto of = [&](std::uint64_t all) {
          return (all * gpus + request.gpus - 1) / request.gpus;
        };
        const auto share = on_machine(state, i,
                                      {.gpus = gpus,
                                       .cpu_milli = of(request.cpu_milli),
                                       .memory_mib = of(request.memory_mib),
                                       .models = request.models});
        const bool is_taken = std::any_of(shares.begin(), shares.end(),
                                          [&](const Share& one) { return one.machine == i; });
        if (!share || is_taken) continue;
        shares.push_back(*share);
        change(state, {*share}, true);
        missing -= gpus;
      }
    }
    if (missing == 0) return shares;
    state = before;
    return std::nullopt;
  }

  // Takes what the request gets.
  std::optional<Shares> place(State& state, const Request& request) const {
    std::uint32_t largest = 0;
    for (const Machine& machine : world_.machines) largest = std::max(largest, machine.gpus);
    const State before = state;
    Shares shares;
    Request rest = request;
    const auto part = [&](std::uint64_t all, std::uint32_t gpus) {
      return (all * gpus + request.gpus - 1) / request.gpus;
    };
    if (request.gpus > largest && world_.policy.same_rack) {
      std::set<std::uint32_t> racks;
      for (const Machine& machine : world_.machines) racks.insert(machine.rack);
      for (const std::uint32_t rack : racks) {
        if (const auto in_rack = place_in_rack(state, request, rack, largest)) return in_rack;
      }
      return std::nullopt;
    }
    if (request.gpus > largest) {
      for (std::uint32_t i = 0; i < state.size(); ++i) {
        const std::uint32_t gpus = world_.machines[i].gpus;
        if (gpus == 0 || gpus > rest.gpus) continue;
        const auto share = on_machine(state, i,
                                      {.gpus = gpus,
                                       .cpu_milli = part(request.cpu_milli, gpus),
                                       .memory_mib = part(request.memory_mib, gpus),
                                       .models = request.models});
        if (!share) continue;
        shares.push_back(*share);
        change(state, {*share}, true);
        rest.gpus -= gpus;
      }
      if (rest.gpus == 0) return shares;
      rest.cpu_milli = part(request.cpu_milli, rest.gpus);
      rest.memory_mib = part(request.memory_mib, rest.gpus);
    }
    const auto share = rest.gpus > 0 && rest.gpus == largest && !shares.empty()
                           ? std::nullopt
                           : on_one(state, rest);
    if (!share) {
      state = before;
      return std::nullopt;
    }
    shares.push_back(*share);
    change(state, {*share}, true);
    return shares;
  }

  // In its own place, or elsewhere once it may go there.
  std::optional<Shares> place_anywhere(State& state, std::uint32_t job) const {
    const Job& it = world_.jobs[job];
    if (const auto shares = place(state, it.request)) return shares;
    const bool may_go =
        now_ >= it.submit_us + world_.spill_over.after_us || away_only_.contains(job);
    if (it.elsewhere == 0 || !may_go) return std::nullopt;
    for (const ModelSet models : world_.spill_over.places[it.elsewhere - 1]) {
      Request there = it.request;
      there.models = models;
      if (const auto shares = place(state, there)) return shares;
    }
    return std::nullopt;
  }
};

}  // namespace pennyweight::replay
