#include "telemetry/live/accumulator.h"

#include <algorithm>

namespace pennyweight::live {
namespace {

std::int64_t next_edge(std::int64_t at, std::int64_t every) { return (at / every + 1) * every; }

// A value holds for 2.5 intervals.
std::int64_t hold_ms(std::int64_t interval_ms) { return interval_ms * 5 / 2; }

}  // namespace

std::int64_t Accumulator::interval_ms(const Timing& timing) const {
  return interval_ms_ == 0 ? timing.interval_ms : interval_ms_;
}
std::int64_t Accumulator::hold_end(const Timing& timing) const {
  return last_at_ + hold_ms(interval_ms(timing));
}

// Follows slow changes slowly and ignores outages; two long gaps of similar length are the new
// interval.
void Accumulator::learn(std::int64_t gap) {
  const std::int64_t bounded = std::clamp(gap, kIntervalMsMin, kIntervalMsMax);
  const std::int64_t now = interval_ms_;
  if (now != 0 && bounded == now) {
    long_gap_ms_ = 0;
    return;
  }
  const bool alike = long_gap_ms_ != 0 && bounded <= std::int64_t{long_gap_ms_} * 3 / 2 &&
                     bounded >= long_gap_ms_ / 2;
  if (now == 0) {
    // The first gap may be an outage: it counts only where it is no longer than usual.
    if (bounded <= 75'000 || alike) interval_ms_ = static_cast<std::uint32_t>(bounded);
    long_gap_ms_ = interval_ms_ == 0 ? static_cast<std::uint32_t>(bounded) : 0;
  } else if (bounded <= hold_ms(now)) {
    interval_ms_ = static_cast<std::uint32_t>(
        std::clamp(now + (bounded - now) / 4, kIntervalMsMin, kIntervalMsMax));
    long_gap_ms_ = 0;
  } else {
    if (alike) interval_ms_ = static_cast<std::uint32_t>(bounded);
    long_gap_ms_ = alike ? 0 : static_cast<std::uint32_t>(bounded);
  }
}

AggregatePiece& Accumulator::piece_for(std::int64_t from, std::int64_t to,
                                       std::int64_t bucket_end) {
  if (open_.to == from && from < bucket_end_ && open_.from < open_.to) {
    open_.to = to;
    return open_;
  }
  if (open_.from < open_.to) done_.push_back(open_);
  open_ = AggregatePiece{.from = from, .to = to};
  bucket_end_ = bucket_end;
  return open_;
}

void Accumulator::account(std::int64_t from, std::int64_t to, std::uint64_t value,
                          const Timing& timing) {
  while (from < to) {
    const bool goes_on = open_.to == from && from < bucket_end_;
    const std::int64_t edge = goes_on ? bucket_end_ : next_edge(from, timing.resolution_ms);
    const std::int64_t end = std::min(to, edge);
    AggregatePiece& piece = piece_for(from, end, edge);
    if (aggregation_ == Aggregation::kMean) {
      piece.sum += UInt128{value} * static_cast<std::uint64_t>(end - from);
      piece.max = std::max(piece.max, value);
    }
    from = end;
  }
}

void Accumulator::spread(std::int64_t from, std::int64_t to, std::uint64_t increase,
                         const Timing& timing) {
  const auto length = static_cast<std::uint64_t>(to - from);
  const bool is_fine = to - from <= kFineGapMs;
  UInt128 assigned = 0;
  for (std::int64_t at = from; at < to;) {
    std::int64_t edge = next_edge(at, is_fine ? timing.resolution_ms : kFineGapMs);
    const std::int64_t end = std::min(to, edge);
    if (!is_fine) edge = next_edge(end - 1, timing.resolution_ms);
    const UInt128 by_then = UInt128{increase} * static_cast<std::uint64_t>(end - from) / length;
    piece_for(at, end, edge).sum += by_then - assigned;
    assigned = by_then;
    at = end;
  }
}

bool Accumulator::is_unobserved(std::int64_t at, const Timing& timing) const {
  const std::int64_t gap = at - last_at_;
  if (aggregation_ == Aggregation::kTotal) return gap > kCounterGapMsMax;
  return gap > kBridgeMsMax && at > hold_end(timing);
}

SampleResult Accumulator::add_sample(std::int64_t at, std::uint64_t value, const Timing& timing) {
  if (at <= last_at_) return SampleResult::kDuplicate;
  SampleResult result = SampleResult::kNew;
  const bool is_first = last_at_ == kNever;
  if (is_counter()) {
    if (!is_first && holds_) {
      if (is_unobserved(at, timing)) {
        result = SampleResult::kGap;
      } else {
        const bool is_reset = value < last_value_;
        if (is_reset) result = SampleResult::kReset;
        spread(last_at_, at, is_reset ? value : value - last_value_, timing);
      }
    }
  } else {
    if (holds_) {
      account(std::max(settled_until_, last_at_), std::min(at, hold_end(timing)), last_value_,
              timing);
    }
    const std::uint64_t grown = value > last_value_ ? value - last_value_ : 0;
    const std::uint64_t events = is_first || aggregation_ == Aggregation::kMean ? 0
                                 : aggregation_ == Aggregation::kGrowth         ? grown
                                 : value != 0 && value != last_value_           ? 1
                                                                                : 0;
    if (events > 0) {
      // The event happened before this sample: it belongs to the piece that ends here. After a gap
      // that is the millisecond before; where that is settled already, the piece that settled it or
      // the next.
      if (open_.from == open_.to || open_.to != at) {
        const std::int64_t from = std::max(settled_until_, at - 1);
        account(from, from + 1, last_value_, timing);
        settled_until_ = from + 1;
      }
      open_.sum += events;
      open_.last = value;
    }
  }
  if (!is_first) learn(at - last_at_);
  last_at_ = at;
  last_value_ = value;
  settled_until_ = std::max(settled_until_, at);
  holds_ = true;
  return result;
}

void Accumulator::end(std::int64_t at, const Timing& timing) {
  if (at <= last_at_ || last_at_ == kNever) return;
  // A counter goes on from where it was: its increase meanwhile counts, unless it was reset.
  if (is_counter() || !holds_) return;
  account(std::max(settled_until_, last_at_), std::min(at, hold_end(timing)), last_value_, timing);
  settled_until_ = std::max(settled_until_, at);
  last_at_ = at;
  holds_ = false;
}

void Accumulator::hold_until(std::int64_t until, const Timing& timing) {
  if (is_counter() || !holds_) return;
  const std::int64_t to = std::min(until, hold_end(timing));
  const std::int64_t from = std::max(settled_until_, last_at_);
  if (from >= to) return;
  account(from, to, last_value_, timing);
  settled_until_ = to;
}

void Accumulator::ignore_until(std::int64_t at) {
  last_at_ = at;
  settled_until_ = at;
  holds_ = false;
}

void Accumulator::take_finished(std::int64_t until, std::vector<AggregatePiece>& pieces) {
  std::size_t taken = 0;
  while (taken < done_.size() && done_[taken].to <= until) pieces.push_back(done_[taken++]);
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(taken));
  if (done_.empty()) {
    if (done_.capacity() > 8) done_.shrink_to_fit();
    if (open_.from < open_.to && bucket_end_ <= until) {
      pieces.push_back(open_);
      open_ = {};
      bucket_end_ = 0;
    }
  }
}

void Accumulator::copy_all(std::vector<AggregatePiece>& pieces) const {
  pieces.insert(pieces.end(), done_.begin(), done_.end());
  if (open_.from < open_.to) pieces.push_back(open_);
}

namespace {
void save_piece(ByteWriter& writer, const AggregatePiece& piece) {
  writer.signed_number(piece.from).signed_number(piece.to - piece.from).wide(piece.sum);
  writer.number(piece.max).number(piece.last);
}
AggregatePiece load_piece(ByteReader& reader) {
  AggregatePiece piece;
  piece.from = reader.time();
  const std::int64_t length = reader.signed_number();
  if (piece.from < 0 || length < 0 || length > 2 * kFineGapMs) reader.fail();
  piece.to = reader.ok() ? piece.from + length : piece.from;
  piece.sum = reader.wide();
  piece.max = reader.number();
  piece.last = reader.number();
  return piece;
}
}  // namespace

void Accumulator::save(ByteWriter& writer) const {
  writer.signed_number(last_at_).number(last_value_).signed_number(settled_until_);
  writer.signed_number(bucket_end_).number(interval_ms_).number(long_gap_ms_);
  writer.number(holds_ ? 1 : 0);
  save_piece(writer, open_);
  writer.number(done_.size());
  for (const AggregatePiece& piece : done_) save_piece(writer, piece);
}

bool Accumulator::load(ByteReader& reader) {
  last_at_ = reader.time();
  last_value_ = reader.number();
  settled_until_ = reader.time();
  bucket_end_ = reader.time();
  const std::uint64_t interval = reader.number();
  const std::uint64_t gap = reader.number();
  if (interval > kIntervalMsMax || gap > kIntervalMsMax) reader.fail();
  interval_ms_ = static_cast<std::uint32_t>(interval);
  long_gap_ms_ = static_cast<std::uint32_t>(gap);
  holds_ = reader.number() != 0;
  open_ = load_piece(reader);
  done_.resize(reader.count());
  for (AggregatePiece& piece : done_) {
    piece = load_piece(reader);
    if (piece.from == piece.to) reader.fail();
  }
  return reader.ok();
}

}  // namespace pennyweight::live
