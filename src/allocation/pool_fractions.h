// PoolFractions: what part of a node group some of its machines are to the holders in the pool, at
// every instant.
//
// A holder in a pool is on every machine that has something free, in proportion to it. What is free
// changes as nodes come and go and as named holders begin and end, so a part is computed instant by
// instant and never from averages. GPU time is told in whole units at every instant: the machines
// of a node group are lined up, and a machine takes the difference of the floors of what is due up
// to it and before it. So the parts of all machines add up exactly, whichever machines a bill
// charges together and however it cuts the time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allocation/occupancy.h"

namespace pennyweight {

// What the machines of a node group leave to the pool on one axis, summed from the first on.
class CumulatedLevels {
 public:
  // `machines` in the order of the node group; each begins with the segment.
  CumulatedLevels(const Interval& segment, std::vector<Steps> machines);

  std::size_t count() const { return machines_.size(); }
  const Steps& upto(std::size_t machines);  // of the first so many
  const Steps& all() { return upto(machines_.size()); }
  bool is_zero(std::size_t machine) const;

 private:
  std::vector<Steps> machines_;
  std::map<std::size_t, Steps> sums_;
};

class PoolFractions {
 public:
  // Shared by all sets of machines of one node group.
  struct Group {
    Group(const Occupancy& occupancy, std::span<const Selector> selectors, const Fleet& fleet,
          std::uint32_t node_group);
    CumulatedLevels& free(std::size_t axis);
    CumulatedLevels& for_time();     // of compute, and never zero where a machine is present
    CumulatedLevels& unrequested();  // of compute, what no holder of a machine requested

    const Occupancy& occupancy;
    std::span<const Selector> selectors;
    const Fleet& fleet;
    std::uint32_t node_group;

   private:
    std::array<std::unique_ptr<CumulatedLevels>, kAxes> free_;
    std::unique_ptr<CumulatedLevels> for_time_;
    std::unique_ptr<CumulatedLevels> unrequested_;
  };

  // REQUIRES: `machines` ascend, are of the node group, and none is in it twice.
  PoolFractions(Group& group, std::span<const std::uint32_t> machines);

  // What the holders are given on these machines, in their order, each rounded down.
  std::vector<UInt128> given(std::size_t axis, std::span<const PoolHolder> holders);

  struct Time {
    GpuTime gpu;
    MemoryTime memory;
  };
  // What a holder requested of these machines.
  Time requested(const PoolHolder& holder);

  // The compute of these machines that neither their holders nor the pool requested, by instant.
  // The pool takes first what nobody else requested.
  UInt128 unrequested();

 private:
  // Positions [first, last) of the node group's machines.
  using Run = std::pair<std::size_t, std::size_t>;
  // A function of time, cumulated from the begin of the segment.
  struct Cumulated {
    std::vector<Instant> at;
    std::vector<UInt128> levels;
    std::vector<UInt128> before;  // the integral up to `at`
    UInt128 sum = 0;
    std::optional<std::pair<UInt128, UInt128>> constant;  // of a fraction: here, and in all

    void add(Instant begin, UInt128 level, std::uint64_t length_ms);
    UInt128 integral(const Interval& during) const;
    UInt128 part_of(const PoolShareInterval& stretch) const;
  };
  // A time in which nothing changes: the sums before and after each run, and of all machines.
  struct Moment {
    Instant begin;
    std::uint64_t length_ms = 0;
    std::uint64_t whole = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
    std::vector<std::uint64_t> also;
  };

  template <class Act>
  void for_each_moment(CumulatedLevels& levels, std::span<const Steps* const> also, Act act) const;
  bool is_all(CumulatedLevels& levels) const;
  const Cumulated& fraction(std::size_t axis, std::uint32_t selector);
  const Cumulated& units(std::uint32_t selector, std::uint64_t requested);
  static std::uint64_t part_here(const Moment& moment, std::uint64_t units);
  // Null for a selector of one node group; without an axis, the levels for time.
  const std::vector<Steps>* stage_of(std::uint32_t selector, std::optional<std::size_t> axis) const;
  std::uint64_t node_group_position(std::uint32_t selector) const;

  Group& group_;
  std::vector<Run> runs_;
  std::map<std::pair<std::size_t, std::uint32_t>, Cumulated> fractions_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Cumulated> units_;
  std::optional<bool> all_for_time_;  // and then:
  std::vector<Interval> nowhere_;
};

}  // namespace pennyweight
