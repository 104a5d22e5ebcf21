#include "allocate/seat.h"

#include <algorithm>

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

// What a device reports is a part of the device; on the card it is so much.
std::uint64_t on_card(std::uint32_t seen, std::uint64_t capacity) {
  return capacity == kCard ? seen : std::uint64_t{seen} * capacity / kCard;
}

// Divides `total` = capacity x length by weights, by largest remainder as split_units does, in 64
// bits: capacity·w·length / W = q·length + r·length / W where capacity·w = q·W + r.
// REQUIRES: weights are no more than a card, and together less than 2^36.
void divide(std::uint64_t capacity, std::uint64_t length, std::span<const std::uint64_t> weights,
            std::uint64_t all, std::span<std::uint64_t> parts, std::span<std::uint64_t> rests) {
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::uint64_t product = capacity * weights[i];
    const std::uint64_t rest = product % all * length;
    parts[i] = product / all * length + rest / all;
    rests[i] = rest % all;
    told += parts[i];
  }
  for (std::uint64_t left = capacity * length - told; left > 0; --left) {
    std::size_t largest = 0;
    for (std::size_t i = 1; i < weights.size(); ++i) {
      if (rests[i] > rests[largest]) largest = i;
    }
    parts[largest] += 1;
    rests[largest] = 0;
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

  template <Basis::Kind kKind>
  void alone(const SeatClaim& claim, std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
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
    for (const std::uint32_t i : active_) cursors_.emplace_back(in_.claims[i].own, begin);
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
        charged_[i] = use_[i] = asked;
        if (value != Seen::kUnknown) {
          const std::uint64_t use = on_card(value, capacity);
          charged_[i] = charged_by(claim.basis, asked, use);
          use_[i] = std::min(use, charged_[i]);
          if (axis == kCompute) {
            SeatShare& share = out_.shares[active_[i]];
            share.idle += (asked > use ? asked - use : 0) * length;
            share.observed += asked * length;
          }
        }
        all += charged_[i];
        if (asked > charged_[i]) short_of += asked - charged_[i];
      }
      if (all > capacity) {
        CHECK(all < kAllMax, "no seat has so many holders at once");
        divide(capacity, length, charged_, all, parts_, rests_);
        for (std::size_t i = 0; i < active_.size(); ++i) {
          give(axis, i, parts_[i],
               use_[i] == charged_[i] ? parts_[i] : scaled_down(parts_[i], use_[i], charged_[i]));
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

  static std::uint64_t scaled_down(std::uint64_t amount, std::uint64_t part, std::uint64_t whole) {
    return static_cast<std::uint64_t>(multiply_divide(amount, part, whole).quotient);
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
  std::vector<const Seen*> seen_;
  std::vector<std::uint64_t> charged_, use_, parts_, rests_;
};

}  // namespace

std::uint64_t charged_by(const Basis& basis, std::uint64_t asked, std::uint64_t used) {
  return with_kind(basis.kind, [&]<Basis::Kind kKind>() {
    return charged<kKind>(basis.request_permille, asked, used);
  });
}

SeatOccupancy share_seat(const SeatInput& input) { return SeatSweep(input).run(); }

}  // namespace pennyweight
