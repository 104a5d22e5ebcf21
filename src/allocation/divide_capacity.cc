#include "allocation/divide_capacity.h"

#include <algorithm>
#include <set>

#include "core/check.h"

namespace pennyweight {
namespace {

// A change of demand or capacity.
struct Change {
  Instant at;
  enum class What { kCapacity, kStarts, kStops } what;
  std::uint64_t units;  // kCapacity: the new capacity
  std::size_t request;  // kStarts, kStops
};

std::vector<Change> changes_of(const Steps& capacity, std::span<const CapacityRequest> requests) {
  std::vector<Change> changes;
  changes.reserve(capacity.size() + 2 * requests.size());
  for (const Step& step : capacity) {
    changes.push_back({step.at, Change::What::kCapacity, step.units, 0});
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    changes.push_back({requests[i].during.begin(), Change::What::kStarts, 0, i});
    changes.push_back({requests[i].during.end(), Change::What::kStops, 0, i});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  return changes;
}

}  // namespace

CapacityDivision divide_capacity(const Interval& interval, const Steps& capacity,
                                 std::span<const CapacityRequest> requests) {
  CHECK(!capacity.empty() && capacity.front().at == interval.begin(),
        "the capacity is known from the begin");
  CapacityDivision out;
  out.given.assign(requests.size(), 0);
  if (requests.empty()) {
    out.residual = capacity;
    return out;
  }
  // Without oversubscription every request gets what it requests. So each is given its whole demand
  // first; where more is requested than there is, that interval is taken back and divided.
  for (std::size_t i = 0; i < requests.size(); ++i) {
    out.given[i] = UInt128{requests[i].units} * requests[i].during.length_ms();
  }
  const auto changes = changes_of(capacity, requests);
  std::set<std::size_t> active;
  UInt128 demand = 0;
  std::uint64_t available = 0;
  std::vector<Weight> demands;
  for (std::size_t i = 0; i < changes.size();) {
    const Instant at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) {
      const Change& change = changes[i];
      switch (change.what) {
        case Change::What::kCapacity:
          available = change.units;
          break;
        case Change::What::kStarts:
          demand += requests[change.request].units;
          active.insert(change.request);
          break;
        case Change::What::kStops:
          demand -= requests[change.request].units;
          active.erase(change.request);
          break;
      }
    }
    const Instant until = i < changes.size() ? changes[i].at : interval.end();
    if (until > interval.end() || at >= interval.end() || at == until) continue;
    if (demand <= available) {
      append_step(out.residual, at, available - static_cast<std::uint64_t>(demand));
      continue;
    }
    append_step(out.residual, at, 0);
    const auto length_ms = static_cast<std::uint64_t>((until - at).count());
    demands.clear();
    for (const std::size_t request : active) demands.push_back(requests[request].units);
    const auto shares = split_units(UInt128{available} * length_ms, demands);
    std::size_t party = 0;
    for (const std::size_t request : active) {
      out.given[request] -= UInt128{requests[request].units} * length_ms;
      out.given[request] += shares[party];
      out.scaled.push_back({request, Interval(at, until), shares[party++]});
    }
  }
  return out;
}

void append_step(Steps& steps, Instant at, std::uint64_t units) {
  if (!steps.empty() && steps.back().units == units) return;
  steps.push_back({at, units});
}

UInt128 integral(const Interval& interval, const Steps& steps) {
  UInt128 sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Instant until = i + 1 < steps.size() ? steps[i + 1].at : interval.end();
    sum += UInt128{steps[i].units} * static_cast<std::uint64_t>((until - steps[i].at).count());
  }
  return sum;
}

Steps sum_steps(std::span<const Steps* const> quantities, std::span<const Steps* const> less) {
  struct Delta {
    Instant at;
    Int128 units;
  };
  std::vector<Delta> deltas;
  const auto add = [&](std::span<const Steps* const> all, Int128 sign) {
    for (const Steps* steps : all) {
      Int128 before = 0;
      for (const Step& step : *steps) {
        deltas.push_back({step.at, sign * (Int128{step.units} - before)});
        before = step.units;
      }
    }
  };
  add(quantities, 1);
  add(less, -1);
  std::sort(deltas.begin(), deltas.end(),
            [](const Delta& a, const Delta& b) { return a.at < b.at; });
  Steps sum;
  Int128 level = 0;
  for (std::size_t i = 0; i < deltas.size();) {
    const Instant at = deltas[i].at;
    for (; i < deltas.size() && deltas[i].at == at; ++i) level += deltas[i].units;
    CHECK(level >= 0 && level <= Int128{~std::uint64_t{0}}, "a sum of capacities");
    append_step(sum, at, static_cast<std::uint64_t>(level));
  }
  return sum;
}

Steps while_present(const Interval& interval, const Interval& present, std::uint64_t units) {
  Steps steps;
  if (present.begin() > interval.begin()) steps.push_back({interval.begin(), 0});
  steps.push_back({present.begin(), units});
  if (present.end() < interval.end()) steps.push_back({present.end(), 0});
  return steps;
}

Steps restrict_to(const Interval& interval, const Steps& steps, std::span<const Interval> during) {
  Steps cut = {{interval.begin(), 0}};
  std::size_t next = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Instant until = i + 1 < steps.size() ? steps[i + 1].at : interval.end();
    while (next < during.size() && during[next].end() <= steps[i].at) ++next;
    for (std::size_t d = next; d < during.size() && during[d].begin() < until; ++d) {
      const Instant begin = std::max(during[d].begin(), steps[i].at);
      const Instant end = std::min(during[d].end(), until);
      if (cut.back().at == begin) cut.pop_back();
      cut.push_back({begin, steps[i].units});
      if (end < interval.end()) cut.push_back({end, 0});
    }
  }
  return cut;
}

std::vector<Interval> zero_times(const Interval& interval, const Steps& steps) {
  std::vector<Interval> zero;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Instant until = i + 1 < steps.size() ? steps[i + 1].at : interval.end();
    if (steps[i].units == 0 && steps[i].at < until) zero.emplace_back(steps[i].at, until);
  }
  return zero;
}

std::vector<Interval> union_of(const Interval& interval, std::span<const Interval> any) {
  std::vector<Interval> cut;
  for (const Interval& each : any) {
    if (const auto both = each.overlap(interval)) cut.push_back(*both);
  }
  std::sort(cut.begin(), cut.end());
  std::vector<Interval> joined;
  for (const Interval& each : cut) {
    if (joined.empty() || joined.back().end() < each.begin()) {
      joined.push_back(each);
    } else if (joined.back().end() < each.end()) {
      joined.back() = Interval(joined.back().begin(), each.end());
    }
  }
  return joined;
}

}  // namespace pennyweight
