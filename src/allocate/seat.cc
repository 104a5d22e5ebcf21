#include "allocate/seat.h"

#include <algorithm>
#include <array>

#include "core/check.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;
// A day's milliseconds times this is less than 2^64: nearly a thousand whole cards asked for of
// one.
constexpr std::uint64_t kAllMax = std::uint64_t{1} << 36;

template <Basis::Kind kKind>
std::uint64_t charged(std::uint32_t request_permille, std::uint64_t asked, std::uint64_t used) {
  if constexpr (kKind == Basis::Kind::kRequest) return asked;
  if constexpr (kKind == Basis::Kind::kUsage) return used;
  if constexpr (kKind == Basis::Kind::kMax) return std::max(asked, used);
  return (asked * request_permille + used * (1000 - request_permille)) / 1000;
}

// Calls `act` with the kind as a constant, so that inner loops don't ask again.
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

std::uint64_t charged_at(const Basis& basis, std::uint64_t asked, std::uint64_t used) {
  return with_kind(basis.kind, [&]<Basis::Kind kKind>() {
    return charged<kKind>(basis.request_permille, asked, used);
  });
}

// What a device reports is a part of the device; on the card it is so much.
std::uint64_t on_card(std::uint32_t seen, std::uint64_t capacity) {
  return capacity == kCard ? seen : std::uint64_t{seen} * capacity / kCard;
}

// Divides by the same number again and again: by multiplying with its reciprocal, which is at most
// one too low for any 64-bit dividend and then put right.
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
  // amount x part / this, cut off: amount = q·by + r, so it is q·part + r·part / by, and nothing
  // leaves 64 bits. REQUIRES: part is no more than this, and this less than 2^32; else what comes
  // back means nothing.
  std::uint64_t scaled_down(std::uint64_t amount, std::uint64_t part) const {
    const auto [quotient, rest] = divide(amount);
    return quotient * part + divide(rest * part).quotient;
  }

 private:
  std::uint64_t by_;
  std::uint64_t reciprocal_;
};

// Divides `total` = capacity x length by weights, by largest remainder as split_units does, in 64
// bits: total·w / W = q·w + r·w / W where total = q·W + r.
// REQUIRES: weights are no more than a card, and together less than 2^36.
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
  // One more for each of the `left` largest remainders, the earlier first among equals. Counting
  // who comes before has no branch to guess, and holders side by side are few.
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::uint64_t before = 0;
    for (std::size_t j = 0; j < i; ++j) before += rests[j] >= rests[i] ? 1 : 0;
    for (std::size_t j = i + 1; j < weights.size(); ++j) before += rests[j] > rests[i] ? 1 : 0;
    parts[i] += before < left ? 1 : 0;
  }
}

// A place in a series, moving forward.
class Cursor {
 public:
  Cursor(const SeenSeries* series, std::uint32_t from) {
    if (series == nullptr) return;
    at_ = std::partition_point(series->seen.data(), series->seen.data() + series->seen.size(),
                               [&](const Seen& seen) { return seen.end_ms <= from; });
    end_ = series->seen.data() + series->seen.size();
  }
  // What is seen at `now`, nothing in a gap; and until when that holds, at most `until`.
  const Seen* look(std::uint32_t now, std::uint32_t& until) {
    while (at_ != end_ && at_->end_ms <= now) ++at_;
    if (at_ == end_) return nullptr;
    if (at_->begin_ms > now) {
      until = std::min(until, at_->begin_ms);
      return nullptr;
    }
    until = std::min(until, at_->end_ms);
    return at_;
  }
  // All from here that begin before `end`.
  std::span<const Seen> until(std::uint32_t end) const {
    return {at_, std::partition_point(at_, end_, [&](const Seen& s) { return s.begin_ms < end; })};
  }

 private:
  const Seen* at_ = nullptr;
  const Seen* end_ = nullptr;
};

void append(Steps& steps, Instant at, std::uint64_t units) {
  if (!steps.empty() && steps.back().units == units) return;
  steps.push_back({at, units});
}

class SeatSweep {
 public:
  explicit SeatSweep(const SeatInput& input) : in_(input) { out_.shares.resize(in_.claims.size()); }

  SeatOccupancy run() {
    const std::uint32_t end = offset(in_.stretch.end());
    std::uint32_t now = offset(in_.stretch.begin());
    std::vector<std::uint32_t> cuts = {now, end};
    for (const SeatClaim& claim : in_.claims) {
      cuts.push_back(offset(claim.during.begin()));
      cuts.push_back(offset(claim.during.end()));
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) segment(cuts[i], cuts[i + 1]);
    return std::move(out_);
  }

 private:
  std::uint32_t offset(Instant at) const {
    return static_cast<std::uint32_t>((at - in_.seen_from).count());
  }
  Instant instant(std::uint32_t at) const { return in_.seen_from + std::chrono::milliseconds(at); }

  // From one change of holders to the next.
  void segment(std::uint32_t begin, std::uint32_t end) {
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
                [&]<Basis::Kind kKind>() { alone<kKind>(claim, active_[0], begin, end); });
      return;
    }
    several(begin, end);
  }

  void leave(std::uint32_t at, std::uint64_t length, const GpuUnits& left,
             const GpuUnits& unbilled) {
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      out_.residual[axis] += left[axis] * length;
      out_.unbilled[axis] += unbilled[axis] * length;
      if (in_.with_steps) append(out_.left[axis], instant(at), left[axis]);
    }
  }

  // One holder, and what was seen of it adds up: where nobody needs steps, and one series says it
  // all, one pass of sums does.
  template <Basis::Kind kKind>
  void alone(const SeatClaim& claim, std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
    const bool one_series = claim.own == nullptr || in_.device == nullptr;
    const bool within = claim.asked[kCompute] <= in_.capacity[kCompute] &&
                        claim.asked[kMemory] <= in_.capacity[kMemory];
    if (in_.with_steps || !one_series || !within || kKind == Basis::Kind::kBlend) {
      return alone_by_moments<kKind>(claim, index, begin, end);
    }
    const SeenSeries* series = claim.own != nullptr ? claim.own : in_.device;
    const std::array<SeenSum, kGpuAxes> seen = sums_of(claim, series, begin, end);
    SeatShare& share = out_.shares[index];
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      const std::uint64_t whole = in_.capacity[axis] * (end - begin);
      const std::uint64_t unseen = claim.asked[axis] * (end - begin - seen[axis].known);
      const std::uint64_t asked = claim.asked[axis] * seen[axis].known;
      const std::uint64_t wasted = asked - seen[axis].common;
      // max(a, u) = a + u - min(a, u), at every moment and so in all.
      const std::uint64_t charged = kKind == Basis::Kind::kRequest ? asked
                                    : kKind == Basis::Kind::kUsage ? seen[axis].use
                                                                   : seen[axis].use + wasted;
      const std::uint64_t used =
          kKind == Basis::Kind::kRequest ? seen[axis].common : seen[axis].use;
      share.given[axis] += unseen + charged;
      share.used[axis] += unseen + used;
      if (axis == kCompute) {
        share.idle += wasted;
        share.observed += asked;
      }
      out_.residual[axis] += whole - unseen - charged;
      if (kKind == Basis::Kind::kUsage) out_.unbilled[axis] += wasted;
    }
  }

  // What was seen over a segment, added up on one axis.
  struct SeenSum {
    std::uint64_t known = 0;   // milliseconds for which something was seen
    std::uint64_t use = 0;     // used, no more than the seat
    std::uint64_t common = 0;  // used, no more than was asked for
  };

  std::array<SeenSum, kGpuAxes> sums_of(const SeatClaim& claim, const SeenSeries* series,
                                        std::uint32_t begin, std::uint32_t end) const {
    const bool whole = in_.capacity[kCompute] == kCard && in_.capacity[kMemory] == kCard;
    const std::span<const Seen> seen = Cursor(series, begin).until(end);
    return whole ? sums_of<true>(claim, seen, begin, end) : sums_of<false>(claim, seen, begin, end);
  }

  template <bool kWholeCard>
  std::array<SeenSum, kGpuAxes> sums_of(const SeatClaim& claim, std::span<const Seen> seen,
                                        std::uint32_t begin, std::uint32_t end) const {
    std::array<SeenSum, kGpuAxes> sums;
    const GpuUnits asked = claim.asked, capacity = in_.capacity;
    const auto add = [](SeenSum& sum, std::uint32_t value, std::uint64_t length, std::uint64_t ask,
                        std::uint64_t most) {
      const std::uint64_t use = std::min(kWholeCard ? value : on_card(value, most), most);
      const std::uint64_t known = value == Seen::kUnknown ? 0 : length;
      sum.known += known;
      sum.use += use * known;
      sum.common += std::min(use, ask) * known;
    };
    for (const Seen& each : seen) {
      const std::uint64_t length = std::min(each.end_ms, end) - std::max(each.begin_ms, begin);
      add(sums[kCompute], each.compute, length, asked[kCompute], capacity[kCompute]);
      add(sums[kMemory], each.memory, length, asked[kMemory], capacity[kMemory]);
    }
    return sums;
  }

  template <Basis::Kind kKind>
  void alone_by_moments(const SeatClaim& claim, std::uint32_t index, std::uint32_t begin,
                        std::uint32_t end) {
    SeatShare& share = out_.shares[index];
    Cursor own(claim.own, begin);
    Cursor device(in_.device, begin);
    for (std::uint32_t now = begin; now < end;) {
      std::uint32_t until = end;
      const Seen* seen = own.look(now, until);
      if (seen == nullptr) seen = device.look(now, until);
      const std::uint64_t length = until - now;
      GpuUnits left{}, unbilled{};
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        const std::uint64_t asked = claim.asked[axis];
        const std::uint64_t capacity = in_.capacity[axis];
        const std::uint32_t value = seen == nullptr    ? Seen::kUnknown
                                    : axis == kCompute ? seen->compute
                                                       : seen->memory;
        std::uint64_t given = asked, used = asked;
        if (value != Seen::kUnknown) {
          const std::uint64_t use = on_card(value, capacity);
          given = charged<kKind>(claim.basis.request_permille, asked, use);
          used = std::min(use, given);
          if (axis == kCompute) {
            share.idle += (asked > use ? asked - use : 0) * length;
            share.observed += asked * length;
          }
        }
        given = std::min(given, capacity);
        used = std::min(used, given);
        share.given[axis] += given * length;
        share.used[axis] += used * length;
        left[axis] = capacity - given;
        unbilled[axis] = asked > given ? std::min(left[axis], asked - given) : 0;
      }
      leave(now, length, left, unbilled);
      now = until;
    }
  }

  // Holders side by side: only values of their own say who used what.
  void several(std::uint32_t begin, std::uint32_t end) {
    const std::size_t count = active_.size();
    cursors_.clear();
    by_asked_.clear();
    for (const std::uint32_t i : active_) {
      const SeatClaim& claim = in_.claims[i];
      cursors_.emplace_back(claim.own, begin);
      // Who asks for nothing has nothing scaled down by it, but a divisor must be positive.
      by_asked_.push_back({Divisor(std::max<std::uint64_t>(claim.asked[kCompute], 1)),
                           Divisor(std::max<std::uint64_t>(claim.asked[kMemory], 1))});
    }
    seen_.resize(count);
    charged_.resize(count);
    use_.resize(count);
    parts_.resize(count);
    rests_.resize(count);
    for (std::uint32_t now = begin; now < end;) {
      std::uint32_t until = end;
      for (std::size_t i = 0; i < count; ++i) seen_[i] = cursors_[i].look(now, until);
      moment(now, until - now);
      now = until;
    }
  }

  void moment(std::uint32_t at, std::uint64_t length) {
    GpuUnits left{}, unbilled{};
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      const std::uint64_t capacity = in_.capacity[axis];
      std::uint64_t all = 0, short_of = 0;
      for (std::size_t i = 0; i < active_.size(); ++i) {
        const SeatClaim& claim = in_.claims[active_[i]];
        const std::uint64_t asked = claim.asked[axis];
        const std::uint32_t value = seen_[i] == nullptr ? Seen::kUnknown
                                    : axis == kCompute  ? seen_[i]->compute
                                                        : seen_[i]->memory;
        // What was not seen counts as asked for, under every basis.
        const bool known = value != Seen::kUnknown;
        const std::uint64_t use = known ? std::min(on_card(value, capacity), capacity) : asked;
        const std::uint64_t wasted = std::max(asked, use) - use;
        charged_[i] = charged_at(claim.basis, asked, use);
        use_[i] = std::min(use, charged_[i]);
        if (axis == kCompute) {
          SeatShare& share = out_.shares[active_[i]];
          share.idle += wasted * length;
          share.observed += known ? asked * length : 0;
        }
        all += charged_[i];
        short_of += std::max(asked, charged_[i]) - charged_[i];
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
  }

  // Of a part that was scaled down, that of what was used of it. Where a holder is charged by what
  // it used that is all of it; which of both it is can't be guessed, so it is computed either way.
  std::uint64_t used_of(std::size_t axis, std::size_t i) const {
    const bool all_used = use_[i] == charged_[i];
    if (!all_used && charged_[i] != in_.claims[active_[i]].asked[axis]) {
      return Divisor(charged_[i]).scaled_down(parts_[i], use_[i]);
    }
    const std::uint64_t of_asked = by_asked_[i][axis].scaled_down(parts_[i], use_[i]);
    return all_used ? parts_[i] : of_asked;
  }

  void give(std::size_t axis, std::size_t i, std::uint64_t given, std::uint64_t used) {
    SeatShare& share = out_.shares[active_[i]];
    share.given[axis] += given;
    share.used[axis] += used;
  }

  const SeatInput& in_;
  SeatOccupancy out_;
  std::vector<std::uint32_t> active_;
  // Of the active claims at a moment; members, so that moments allocate nothing.
  std::vector<Cursor> cursors_;
  std::vector<std::array<Divisor, kGpuAxes>> by_asked_;
  std::vector<const Seen*> seen_;
  std::vector<std::uint64_t> charged_, use_, parts_, rests_;
};

}  // namespace

std::uint64_t charged_by(const Basis& basis, std::uint64_t asked, std::uint64_t used) {
  return charged_at(basis, asked, used);
}

SeatOccupancy share_seat(const SeatInput& input) { return SeatSweep(input).run(); }

}  // namespace pennyweight
