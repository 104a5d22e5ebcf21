#include "asks.h"

#include <algorithm>

#include "device_truth.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;

// What a holding shares with whom over a part of its time.
struct Turn {
  Interval during;
  std::uint64_t party = 0, parties = 1;
  const Holding* reserved = nullptr;
  std::uint64_t mine(std::uint64_t units) const {
    return units / parties + (party < units % parties ? 1 : 0);
  }
};

// Its time, cut where those with whom it shares come and go.
std::vector<Turn> turns_of(const std::vector<Holding>& jobs, std::size_t index) {
  const Holding& job = jobs[index];
  std::vector<Instant> cuts;
  for (const Holding& other : jobs) {
    if (job.claim.empty() && !other.is_reservation && &other != &job) continue;
    for (const Instant at : {other.held.begin(), other.held.end()}) {
      if (job.held.begin() <= at && at <= job.held.end()) cuts.push_back(at);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Turn> turns;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    Turn turn{.during = Interval(cuts[c], cuts[c + 1]), .parties = job.claim.empty() ? 1u : 0u};
    for (std::size_t other = 0; other < jobs.size(); ++other) {
      if (!jobs[other].held.overlap(turn.during)) continue;
      if (jobs[other].is_reservation) turn.reserved = &jobs[other];
      if (job.claim.empty()) continue;
      if (other == index) turn.party = turn.parties;
      ++turn.parties;
    }
    turns.push_back(turn);
  }
  return turns;
}

std::vector<Ask> asks_of(const World& world, const Holding& job, const Turn& turn,
                         std::size_t index) {
  std::vector<Ask> asks;
  const auto add = [&](std::size_t machine, std::size_t card, std::size_t seat,
                       std::optional<Interval> during, const CardUnits& gpu,
                       std::optional<std::uint64_t> cpu, std::optional<std::uint64_t> memory) {
    const auto present = world.presence_of_node(machine);
    if (during) during = during->overlap(turn.during);
    if (!during || !present) return;
    during = during->overlap(*present);
    if (!during) return;
    const Node& node = world.nodes[machine];
    const CardUnits mine = {turn.mine(gpu.compute), turn.mine(gpu.memory)};
    // Who does not say what they need of the host has the part of it that they have of its GPUs.
    const auto like_gpus = [&](std::uint64_t capacity) -> std::uint64_t {
      if (node.gpu_count == 0) return 0;
      return static_cast<std::uint64_t>(UInt128{capacity} * mine.compute /
                                        (world.card_units(node) * node.gpu_count));
    };
    asks.push_back(
        {.holding = index,
         .machine = machine,
         .card = card,
         .seat = seat,
         .during = *during,
         .units = {mine.compute, mine.memory, cpu.value_or(like_gpus(node.cpu_milli.value_or(0))),
                   memory.value_or(like_gpus(node.memory_bytes.value_or(0)))}});
  };
  const auto of = [](std::uint64_t units, std::uint64_t part) {
    return static_cast<std::uint64_t>(UInt128{units} * part / kCard);
  };
  const Placement& where = turn.reserved ? turn.reserved->placement : job.placement;
  if (const auto* on = std::get_if<OnNodes>(&where)) {
    for (std::size_t p = 0; p < on->parts.size(); ++p) {
      const std::uint64_t parts = on->parts.size();
      const auto part_of = [&](const std::optional<std::uint64_t>& whole) {
        return whole ? std::optional(*whole / parts + (p < *whole % parts ? 1 : 0)) : whole;
      };
      for (std::size_t m = 0; m < world.nodes.size(); ++m) {
        const Node& node = world.nodes[m];
        if (node.name != on->parts[p].node) continue;
        const std::uint64_t devices = on->parts[p].devices;
        const CardUnits each = devices == 0 ? CardUnits{0, 0} : truth_of(job.device, node);
        const std::uint64_t units = world.card_units(node);
        add(m, kAnywhere, 0, job.held,
            {of(units, each.compute) * devices, of(units, each.memory) * devices},
            part_of(job.cpu_milli), part_of(job.memory_bytes));
      }
    }
    return asks;
  }
  bool first = true;  // what it states for the host, it states for all of its devices together
  for (const GpuId& id : std::get<OnGpus>(where).gpus) {
    for (std::size_t g = 0; g < world.gpus.size(); ++g) {
      const auto present = world.presence_of_gpu(g);
      const auto& seats = world.cards[g].seats;
      const bool is_named =
          world.gpus[g].uuid == id ||
          std::any_of(seats.begin(), seats.end(), [&](const Seat& seat) { return seat.id == id; });
      if (!present || !is_named) continue;
      const auto held = job.held.overlap(*present);
      for (std::size_t m = 0; m < world.nodes.size(); ++m) {
        if (world.nodes[m].name != world.gpus[g].node) continue;
        const CardUnits each = truth_of(job.device, world.nodes[m]);
        bool first_seat = first;
        for (std::size_t s = 0; s < world.cards[g].seats.size(); ++s) {
          const Seat& seat = world.cards[g].seats[s];
          if (seat.id != id && world.gpus[g].uuid != id) continue;
          const auto host = [&](const std::optional<std::uint64_t>& whole) {
            return whole && !first_seat ? std::optional<std::uint64_t>(0) : whole;
          };
          add(m, g, s, held, {of(seat.units[0], each.compute), of(seat.units[1], each.memory)},
              host(job.cpu_milli), host(job.memory_bytes));
          first_seat = false;
        }
      }
    }
    first = false;
  }
  return asks;
}

}  // namespace

std::vector<Ask> asks_of(const World& world, const std::vector<Holding>& jobs, std::size_t first) {
  std::vector<Ask> asks;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].is_reservation) continue;  // its fractions ask for it
    for (const Turn& turn : turns_of(jobs, j)) {
      const auto more = asks_of(world, jobs[j], turn, first + j);
      asks.insert(asks.end(), more.begin(), more.end());
    }
  }
  return asks;
}

bool fits(const World& world, const std::vector<Ask>& asks) {
  for (const Ask& ask : asks) {
    const Node& node = world.nodes[ask.machine];
    const std::uint64_t gpus = world.card_units(node) * node.gpu_count;
    const Units capacity = {gpus, gpus, node.cpu_milli.value_or(~std::uint64_t{0} >> 2),
                            node.memory_bytes.value_or(~std::uint64_t{0} >> 2)};
    Units on_node{}, on_seat{};
    const auto take = [&](const Ask& other) {
      if (other.machine != ask.machine || !other.during.overlap(ask.during)) return;
      for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
        on_node[axis] += other.units[axis];
        if (other.card == ask.card && other.seat == ask.seat) on_seat[axis] += other.units[axis];
      }
    };
    for (const Ask& other : world.asks) take(other);
    for (const Ask& other : asks) take(other);
    for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
      if (on_node[axis] > capacity[axis]) return false;
      if (axis >= 2 || ask.card == kAnywhere) continue;
      if (on_seat[axis] > world.cards[ask.card].seats[ask.seat].units[axis]) return false;
    }
  }
  return true;
}

}  // namespace pennyweight::sim
