#include "requests.h"

#include <algorithm>

#include "device_truth.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;

// With whom a holding shares during a part of its time.
struct SharedTime {
  Interval during;
  std::uint64_t party = 0, parties = 1;
  const Holding* reserved = nullptr;
  std::uint64_t mine(std::uint64_t units) const {
    return units / parties + (party < units % parties ? 1 : 0);
  }
};

// A holding's time, cut where others that share with it come and go.
std::vector<SharedTime> shared_times(const std::vector<Holding>& jobs, std::size_t index) {
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
  std::vector<SharedTime> times;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    SharedTime shared{.during = Interval(cuts[c], cuts[c + 1]),
                      .parties = job.claim.empty() ? 1u : 0u};
    for (std::size_t other = 0; other < jobs.size(); ++other) {
      if (!jobs[other].held.overlap(shared.during)) continue;
      if (jobs[other].is_reservation) shared.reserved = &jobs[other];
      if (job.claim.empty()) continue;
      if (other == index) shared.party = shared.parties;
      ++shared.parties;
    }
    times.push_back(shared);
  }
  return times;
}

// An instance or GPU as one layout has it.
struct NamedSeat {
  std::size_t gpu;   // of World::gpus
  std::size_t seat;  // of World::cards
  Interval present;
};

// The seats with this id while the job runs, by time.
std::vector<NamedSeat> seats_named(const World& world, const GpuId& id, const Interval& held) {
  std::vector<NamedSeat> named;
  for (std::size_t g = 0; g < world.gpus.size(); ++g) {
    const auto present = world.presence_of_gpu(g);
    const auto met = present ? present->overlap(held) : std::nullopt;
    if (!met) continue;
    for (std::size_t s = 0; s < world.cards[g].seats.size(); ++s) {
      if (world.cards[g].seats[s].id == id) named.push_back({g, s, *met});
    }
  }
  std::sort(named.begin(), named.end(), [](const NamedSeat& a, const NamedSeat& b) {
    return a.present.begin() < b.present.begin();
  });
  return named;
}

std::vector<TrueRequest> true_requests(const World& world, const Holding& job,
                                       const SharedTime& shared, std::size_t index) {
  std::vector<TrueRequest> requests;
  const auto add = [&](std::size_t machine, std::size_t card, std::size_t seat,
                       std::optional<Interval> during, const CardUnits& gpu,
                       std::optional<std::uint64_t> cpu, std::optional<std::uint64_t> memory) {
    const auto present = world.presence_of_node(machine);
    if (during) during = during->overlap(shared.during);
    if (!during || !present) return;
    during = during->overlap(*present);
    if (!during) return;
    const Node& node = world.nodes[machine];
    const CardUnits mine = {shared.mine(gpu.compute), shared.mine(gpu.memory)};
    // A holding that does not state its host resources gets the same part of them as of the GPUs.
    const auto like_gpus = [&](std::uint64_t capacity) -> std::uint64_t {
      if (node.gpu_count == 0) return 0;
      return static_cast<std::uint64_t>(UInt128{capacity} * mine.compute /
                                        (world.card_units(node) * node.gpu_count));
    };
    requests.push_back(
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
  const Placement& where = shared.reserved ? shared.reserved->placement : job.placement;
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
        const CardUnits each = devices == 0 ? CardUnits{0, 0} : true_units(job.device, node);
        const std::uint64_t units = world.card_units(node);
        add(m, kAnywhere, 0, job.held,
            {of(units, each.compute) * devices, of(units, each.memory) * devices},
            part_of(job.cpu_milli), part_of(job.memory_bytes));
      }
    }
    return requests;
  }
  bool first = true;  // what it states for the host is for all of its devices together
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
        const CardUnits each = true_units(job.device, world.nodes[m]);
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
    // A layout that lacks the instance of a job in mid-job can't be true: the job holds as much of
    // the node as it had in the layout before, or else in the one after.
    const auto named = seats_named(world, id, job.held);
    for (std::size_t n = 0; n <= named.size() && !named.empty(); ++n) {
      const NamedSeat& nearest = named[n == 0 ? 0 : n - 1];
      const auto missing =
          Interval::of(n == 0 ? job.held.begin() : nearest.present.end(),
                       n == named.size() ? job.held.end() : named[n].present.begin());
      const Seat& seat = world.cards[nearest.gpu].seats[nearest.seat];
      for (std::size_t m = 0; m < world.nodes.size() && missing; ++m) {
        if (world.nodes[m].name != world.gpus[nearest.gpu].node) continue;
        const CardUnits each = true_units(job.device, world.nodes[m]);
        const auto host = [&](const std::optional<std::uint64_t>& whole) {
          return whole && !first ? std::optional<std::uint64_t>(0) : whole;
        };
        add(m, kAnywhere, 0, missing,
            {of(seat.units[0], each.compute), of(seat.units[1], each.memory)}, host(job.cpu_milli),
            host(job.memory_bytes));
      }
    }
    first = false;
  }
  return requests;
}

}  // namespace

std::vector<TrueRequest> true_requests(const World& world, const std::vector<Holding>& jobs,
                                       std::size_t first) {
  std::vector<TrueRequest> requests;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].is_reservation) continue;  // its fractions request it
    for (const SharedTime& shared : shared_times(jobs, j)) {
      const auto more = true_requests(world, jobs[j], shared, first + j);
      requests.insert(requests.end(), more.begin(), more.end());
    }
  }
  return requests;
}

bool fits(const World& world, const std::vector<TrueRequest>& requests) {
  for (const TrueRequest& ask : requests) {
    const Node& node = world.nodes[ask.machine];
    const std::uint64_t gpus = world.card_units(node) * node.gpu_count;
    const Units capacity = {gpus, gpus, node.cpu_milli.value_or(~std::uint64_t{0} >> 2),
                            node.memory_bytes.value_or(~std::uint64_t{0} >> 2)};
    Units on_node{}, on_seat{};
    const auto take = [&](const TrueRequest& other) {
      if (other.machine != ask.machine || !other.during.overlap(ask.during)) return;
      for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
        on_node[axis] += other.units[axis];
        if (other.card == ask.card && other.seat == ask.seat) on_seat[axis] += other.units[axis];
      }
    };
    for (const TrueRequest& other : world.requests) take(other);
    for (const TrueRequest& other : requests) take(other);
    for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
      if (on_node[axis] > capacity[axis]) return false;
      if (axis >= 2 || ask.card == kAnywhere) continue;
      if (on_seat[axis] > world.cards[ask.card].seats[ask.seat].units[axis]) return false;
    }
  }
  return true;
}

}  // namespace pennyweight::sim
