#include "allocation/seat.h"

#include <algorithm>
#include <array>

#include "core/check.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;
// A day's milliseconds times this is less than 2^64: nearly a thousand whole GPUs requested of one.
constexpr std::uint64_t kAllMax = std::uint64_t{1} << 36;

template <Basis::Kind kKind>
std::uint64_t charged(std::uint32_t request_permille, std::uint64_t requested, std::uint64_t used) {
  if constexpr (kKind == Basis::Kind::kRequest) return requested;
  if constexpr (kKind == Basis::Kind::kUsage) return used;
  if constexpr (kKind == Basis::Kind::kMax) return std::max(requested, used);
  return (requested * request_permille + used * (1000 - request_permille)) / 1000;
}

// Calls `act` with the kind as a constant, so that inner loops do not branch on it.
template <class Act>
decltype(auto) with_kind(Basis::Kind kind, Act act) {
  switch (kind) {
    case Basis::Kind::kRequest:
      return act.template operator()<Basis::Kind::kRequest>();
    case Basis::Kind::kUsage:
      return act.template operator()<Basis::Kind::kUsage>();
    case Basis::Kind::kMax:
      return act.template operator()<Basis::Kind::kMax>();
    case Basis::Kind::kBlend:
      return act.template operator()<Basis::Kind::kBlend>();
  }
  CHECK(false, "every basis has a kind");
}

std::uint64_t charged_at(const Basis& basis, std::uint64_t requested, std::uint64_t used) {
  return with_kind(basis.kind, [&]<Basis::Kind kKind>() {
    return charged<kKind>(basis.request_permille, requested, used);
  });
}

// Converts a value in units of the device to units of the GPU.
std::uint64_t on_card(std::uint32_t seen, std::uint64_t capacity) {
  return capacity == kCard ? seen : std::uint64_t{seen} * capacity / kCard;
}

// Divides many times by the same number: multiplies by its reciprocal, which is at most one too low
// for any 64-bit dividend and is then corrected.
class Divisor {
 public:
  explicit Divisor(std::uint64_t by) : by_(by), reciprocal_(~std::uint64_t{0} / by) {}
  struct Result {
    std::uint64_t quotient;
    std::uint64_t rest;
  };
  Result divide(std::uint64_t number) const {
    auto quotient = static_cast<std::uint64_t>(UInt128{number} * reciprocal_ >> 64);
    std::uint64_t rest = number - quotient * by_;
    if (rest >= by_) {
      rest -= by_;
      quotient += 1;
    }
    return {quotient, rest};
  }
  // amount x part / this, rounded down: amount = q·by + r, so it is q·part + r·part / by, and no
  // value exceeds 64 bits. REQUIRES: part is no more than this, and this is less than 2^32;
  // otherwise the result is meaningless.
  std::uint64_t scaled_down(std::uint64_t amount, std::uint64_t part) const {
    const auto [quotient, rest] = divide(amount);
    return quotient * part + divide(rest * part).quotient;
  }

 private:
  std::uint64_t by_;
  std::uint64_t reciprocal_;
};

// Divides `total` = capacity x length by weights, by largest remainder as split_units does, in 64
// bits: total·w / W = q·w + r·w / W where total = q·W + r. REQUIRES: no weight is more than a GPU,
// and together they are less than 2^36.
void divide(std::uint64_t total, std::span<const std::uint64_t> weights, std::uint64_t all,
            std::span<std::uint64_t> parts, std::span<std::uint64_t> rests) {
  const Divisor by_all(all);
  const auto whole = by_all.divide(total);
  std::uint64_t left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto rest = by_all.divide(whole.rest * weights[i]);
    parts[i] = whole.quotient * weights[i] + rest.quotient;
    rests[i] = rest.rest;
    left -= parts[i];
  }
  // Adds one for each of the `left` largest remainders, the earlier first among equals. Counting
  // the predecessors is free of branches, and few holders are side by side.
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::uint64_t before = 0;
    for (std::size_t j = 0; j < i; ++j) before += rests[j] >= rests[i] ? 1 : 0;
    for (std::size_t j = i + 1; j < weights.size(); ++j) before += rests[j] > rests[i] ? 1 : 0;
    parts[i] += before < left ? 1 : 0;
  }
}

// A position in a series that moves forward.
class Cursor {
 public:
  Cursor(const UtilizationSeries* series, std::uint32_t from) {
    if (series == nullptr) return;
    at_ = std::partition_point(
        series->intervals.data(), series->intervals.data() + series->intervals.size(),
        [&](const UtilizationInterval& seen) { return seen.end_ms <= from; });
    end_ = series->intervals.data() + series->intervals.size();
  }
  // The interval that contains `now`, null in a gap; sets `until` to its end, at most `until`.
  const UtilizationInterval* advance_to(std::uint32_t now, std::uint32_t& until) {
    while (at_ != end_ && at_->end_ms <= now) ++at_;
    if (at_ == end_) return nullptr;
    if (at_->begin_ms > now) {
      until = std::min(until, at_->begin_ms);
      return nullptr;
    }
    until = std::min(until, at_->end_ms);
    return at_;
  }
  // All intervals from here that begin before `end`.
  std::span<const UtilizationInterval> until(std::uint32_t end) const {
    return {at_, std::partition_point(
                     at_, end_, [&](const UtilizationInterval& s) { return s.begin_ms < end; })};
  }

 private:
  const UtilizationInterval* at_ = nullptr;
  const UtilizationInterval* end_ = nullptr;
};

class SeatSweep {
 public:
  explicit SeatSweep(const SeatInput& input) : in_(input) { out_.shares.resize(in_.claims.size()); }

  SeatOccupancy run() {
    const std::uint32_t end = offset(in_.during.end());
    std::uint32_t now = offset(in_.during.begin());
    std::vector<std::uint32_t> cuts = {now, end};
    for (const SeatClaim& claim : in_.claims) {
      cuts.push_back(offset(claim.during.begin()));
      cuts.push_back(offset(claim.during.end()));
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) share_segment(cuts[i], cuts[i + 1]);
    return std::move(out_);
  }

 private:
  std::uint32_t offset(Instant at) const {
    return static_cast<std::uint32_t>((at - in_.telemetry_begin).count());
  }
  Instant instant(std::uint32_t at) const {
    return in_.telemetry_begin + std::chrono::milliseconds(at);
  }

  // Between two changes of holders.
  void share_segment(std::uint32_t begin, std::uint32_t end) {
    active_.clear();
    for (std::uint32_t i = 0; i < in_.claims.size(); ++i) {
      const SeatClaim& claim = in_.claims[i];
      if (offset(claim.during.begin()) <= begin && end <= offset(claim.during.end())) {
        active_.push_back(i);
      }
    }
    if (active_.empty()) {
      leave(begin, end - begin, in_.capacity, {});
      return;
    }
    if (active_.size() == 1) {
      const SeatClaim& claim = in_.claims[active_[0]];
      with_kind(claim.basis.kind,
                [&]<Basis::Kind kKind>() { share_alone<kKind>(claim, active_[0], begin, end); });
      return;
    }
    share_between(begin, end);
  }

  void leave(std::uint32_t at, std::uint64_t length, const GpuUnits& left,
             const GpuUnits& unbilled) {
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      out_.residual[axis] += left[axis] * length;
      out_.unbilled[axis] += unbilled[axis] * length;
      if (in_.with_steps) append_step(out_.left[axis], instant(at), left[axis]);
    }
  }

  // One holder: where no steps are needed and one series covers it, one pass of sums is enough.
  template <Basis::Kind kKind>
  void share_alone(const SeatClaim& claim, std::uint32_t index, std::uint32_t begin,
                   std::uint32_t end) {
    const bool one_series = claim.own == nullptr || in_.device == nullptr;
    const bool within = claim.requested[kCompute] <= in_.capacity[kCompute] &&
                        claim.requested[kMemory] <= in_.capacity[kMemory];
    if (in_.with_steps || !one_series || !within || kKind == Basis::Kind::kBlend) {
      return share_alone_by_moments<kKind>(claim, index, begin, end);
    }
    const UtilizationSeries* series = claim.own != nullptr ? claim.own : in_.device;
    const std::array<UsageSum, kGpuAxes> seen = sums_of(claim, series, begin, end);
    SeatShare& share = out_.shares[index];
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      const std::uint64_t whole = in_.capacity[axis] * (end - begin);
      const std::uint64_t unseen = claim.requested[axis] * (end - begin - seen[axis].known);
      const std::uint64_t requested = claim.requested[axis] * seen[axis].known;
      const std::uint64_t wasted = requested - seen[axis].common;
      // max(a, u) = a + u - min(a, u), at every moment and so in all.
      const std::uint64_t charged = kKind == Basis::Kind::kRequest ? requested
                                    : kKind == Basis::Kind::kUsage ? seen[axis].use
                                                                   : seen[axis].use + wasted;
      const std::uint64_t used =
          kKind == Basis::Kind::kRequest ? seen[axis].common : seen[axis].use;
      share.given[axis] += unseen + charged;
      share.used[axis] += unseen + used;
      if (axis == kCompute) {
        share.idle += wasted;
        share.observed += requested;
      }
      out_.residual[axis] += whole - unseen - charged;
      if (kKind == Basis::Kind::kUsage) out_.unbilled[axis] += wasted;
    }
  }

  // The usage observed over a segment, summed up on one axis.
  struct UsageSum {
    std::uint64_t known = 0;   // milliseconds with an observation
    std::uint64_t use = 0;     // used, at most the seat
    std::uint64_t common = 0;  // used, at most the request
  };

  std::array<UsageSum, kGpuAxes> sums_of(const SeatClaim& claim, const UtilizationSeries* series,
                                         std::uint32_t begin, std::uint32_t end) const {
    const bool whole = in_.capacity[kCompute] == kCard && in_.capacity[kMemory] == kCard;
    const std::span<const UtilizationInterval> seen = Cursor(series, begin).until(end);
    return whole ? sums_of<true>(claim, seen, begin, end) : sums_of<false>(claim, seen, begin, end);
  }

  template <bool kWholeCard>
  std::array<UsageSum, kGpuAxes> sums_of(const SeatClaim& claim,
                                         std::span<const UtilizationInterval> seen,
                                         std::uint32_t begin, std::uint32_t end) const {
    std::array<UsageSum, kGpuAxes> sums;
    const GpuUnits requested = claim.requested, capacity = in_.capacity;
    const auto add = [](UsageSum& sum, std::uint32_t value, std::uint64_t length, std::uint64_t ask,
                        std::uint64_t most) {
      const std::uint64_t use = std::min(kWholeCard ? value : on_card(value, most), most);
      const std::uint64_t known = value == UtilizationInterval::kUnknown ? 0 : length;
      sum.known += known;
      sum.use += use * known;
      sum.common += std::min(use, ask) * known;
    };
    for (const UtilizationInterval& each : seen) {
      const std::uint64_t length = std::min(each.end_ms, end) - std::max(each.begin_ms, begin);
      add(sums[kCompute], each.compute, length, requested[kCompute], capacity[kCompute]);
      add(sums[kMemory], each.memory, length, requested[kMemory], capacity[kMemory]);
    }
    return sums;
  }

  template <Basis::Kind kKind>
  void share_alone_by_moments(const SeatClaim& claim, std::uint32_t index, std::uint32_t begin,
                              std::uint32_t end) {
    SeatShare& share = out_.shares[index];
    Cursor own(claim.own, begin);
    Cursor device(in_.device, begin);
    for (std::uint32_t now = begin; now < end;) {
      std::uint32_t until = end;
      const UtilizationInterval* seen = own.advance_to(now, until);
      if (seen == nullptr) seen = device.advance_to(now, until);
      const std::uint64_t length = until - now;
      GpuUnits left{}, unbilled{};
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        const std::uint64_t requested = claim.requested[axis];
        const std::uint64_t capacity = in_.capacity[axis];
        const std::uint32_t value = seen == nullptr    ? UtilizationInterval::kUnknown
                                    : axis == kCompute ? seen->compute
                                                       : seen->memory;
        std::uint64_t given = requested, used = requested;
        if (value != UtilizationInterval::kUnknown) {
          const std::uint64_t use = on_card(value, capacity);
          given = charged<kKind>(claim.basis.request_permille, requested, use);
          used = std::min(use, given);
          if (axis == kCompute) {
            share.idle += (requested > use ? requested - use : 0) * length;
            share.observed += requested * length;
          }
        }
        given = std::min(given, capacity);
        used = std::min(used, given);
        share.given[axis] += given * length;
        share.used[axis] += used * length;
        left[axis] = capacity - given;
        unbilled[axis] = requested > given ? std::min(left[axis], requested - given) : 0;
      }
      leave(now, length, left, unbilled);
      now = until;
    }
  }

  // Several holders: only values of their own tell who used what.
  void share_between(std::uint32_t begin, std::uint32_t end) {
    const std::size_t count = active_.size();
    cursors_.clear();
    by_request_.clear();
    for (const std::uint32_t i : active_) {
      const SeatClaim& claim = in_.claims[i];
      cursors_.emplace_back(claim.own, begin);
      // A request of zero is never scaled, but a divisor must be positive.
      by_request_.push_back({Divisor(std::max<std::uint64_t>(claim.requested[kCompute], 1)),
                             Divisor(std::max<std::uint64_t>(claim.requested[kMemory], 1))});
    }
    seen_.resize(count);
    charged_.resize(count);
    use_.resize(count);
    parts_.resize(count);
    rests_.resize(count);
    if (in_.weights) given_.resize(count);
    for (std::uint32_t now = begin; now < end;) {
      std::uint32_t until = end;
      for (std::size_t i = 0; i < count; ++i) seen_[i] = cursors_[i].advance_to(now, until);
      share_moment(now, until - now);
      now = until;
    }
  }

  void share_moment(std::uint32_t at, std::uint64_t length) {
    GpuUnits left{}, unbilled{};
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      const std::uint64_t capacity = in_.capacity[axis];
      std::uint64_t all = 0, short_of = 0;
      for (std::size_t i = 0; i < active_.size(); ++i) {
        const SeatClaim& claim = in_.claims[active_[i]];
        const std::uint64_t requested = claim.requested[axis];
        const std::uint32_t value = seen_[i] == nullptr ? UtilizationInterval::kUnknown
                                    : axis == kCompute  ? seen_[i]->compute
                                                        : seen_[i]->memory;
        // Unobserved time counts by request, under every basis.
        const bool known = value != UtilizationInterval::kUnknown;
        const std::uint64_t use = known ? std::min(on_card(value, capacity), capacity) : requested;
        const std::uint64_t wasted = std::max(requested, use) - use;
        charged_[i] = charged_at(claim.basis, requested, use);
        use_[i] = std::min(use, charged_[i]);
        if (axis == kCompute) {
          SeatShare& share = out_.shares[active_[i]];
          share.idle += wasted * length;
          share.observed += known ? requested * length : 0;
        }
        all += charged_[i];
        short_of += std::max(requested, charged_[i]) - charged_[i];
      }
      if (all > capacity) {
        CHECK(all < kAllMax, "no seat has so many holders at once");
        divide(capacity * length, charged_, all, parts_, rests_);
        for (std::size_t i = 0; i < active_.size(); ++i) {
          give(axis, i, parts_[i], used_of(axis, i));
        }
        continue;  // nothing is left
      }
      for (std::size_t i = 0; i < active_.size(); ++i) {
        give(axis, i, charged_[i] * length, use_[i] * length);
      }
      left[axis] = capacity - all;
      unbilled[axis] = std::min(left[axis], short_of);
    }
    leave(at, length, left, unbilled);
    if (in_.weights) cut_weights(length);
  }

  // Cuts the weights of what the active holders were given at a moment to that of the seat.
  void cut_weights(std::uint64_t length) {
    const auto weigh = [](const GpuUnits& units, const UnitWeights& by) {
      return UInt128{units[kCompute]} * by.compute + UInt128{units[kMemory]} * by.memory;
    };
    std::vector<UInt128> weights;
    UInt128 all = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      weights.push_back(weigh(given_[i], in_.claims[active_[i]].weights));
      all += weights.back();
    }
    const UInt128 capacity = weigh(in_.capacity, *in_.weights) * length;
    if (all <= capacity) return;
    const std::vector<UInt128> within = split_units(capacity, weights);
    for (std::size_t i = 0; i < active_.size(); ++i) {
      out_.shares[active_[i]].weight_cut += weights[i] - within[i];
    }
  }

  // The used part of a scaled-down share. Where a holder is charged by usage that is all of it. The
  // branch between the two can't be predicted, so both are computed.
  std::uint64_t used_of(std::size_t axis, std::size_t i) const {
    const bool all_used = use_[i] == charged_[i];
    if (!all_used && charged_[i] != in_.claims[active_[i]].requested[axis]) {
      return Divisor(charged_[i]).scaled_down(parts_[i], use_[i]);
    }
    const std::uint64_t of_requested = by_request_[i][axis].scaled_down(parts_[i], use_[i]);
    return all_used ? parts_[i] : of_requested;
  }

  void give(std::size_t axis, std::size_t i, std::uint64_t given, std::uint64_t used) {
    SeatShare& share = out_.shares[active_[i]];
    share.given[axis] += given;
    share.used[axis] += used;
    if (in_.weights) given_[i][axis] = given;
  }

  const SeatInput& in_;
  SeatOccupancy out_;
  std::vector<std::uint32_t> active_;
  // Of the active claims at a moment; members, so that moments do not allocate memory.
  std::vector<Cursor> cursors_;
  std::vector<std::array<Divisor, kGpuAxes>> by_request_;
  std::vector<const UtilizationInterval*> seen_;
  std::vector<std::uint64_t> charged_, use_, parts_, rests_;
  std::vector<GpuUnits> given_;
};

}  // namespace

std::uint64_t charged_units(const Basis& basis, std::uint64_t requested, std::uint64_t used) {
  return charged_at(basis, requested, used);
}

SeatOccupancy share_seat(const SeatInput& input) { return SeatSweep(input).run(); }

}  // namespace pennyweight
