#include "ledger/store/clickhouse/log/view.h"

#include <algorithm>
#include <limits>

#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight::commit_log {
namespace {

// Two rows that say the same about a position are interchangeable.
bool says_the_same(const LogRow& row, const LogRow& other) {
  return row.position == other.position && row.turn == other.turn && row.session == other.session &&
         row.what == other.what;
}

std::unexpected<Error> contradicted(std::uint64_t position) {
  return fail(ErrorCode::kStore, "the log of commits contradicts itself at position " +
                                     std::to_string(position) +
                                     ": its table holds rows that no writer of this ledger wrote");
}
std::unexpected<Error> lacks(std::uint64_t position) {
  return fail(ErrorCode::kStore, "the log of commits lacks position " + std::to_string(position) +
                                     ": rows of its table are missing");
}

}  // namespace

LogPosition View::end() const {
  if (entries.empty()) return {};
  const Entry last = entries.back();
  return {.turn = last.turn, .position = last.position};
}

std::size_t SealCollector::kind_of(std::string_view what) {
  const auto found = std::ranges::find(kinds_, what);
  if (found != kinds_.end()) return static_cast<std::size_t>(found - kinds_.begin());
  kinds_.emplace_back(what);
  return kinds_.size() - 1;
}

void SealCollector::take(const SealedEntry& seal) {
  if (contradicted_) return;
  if (seal.position == 0 || seal.turn == 0) {
    contradicted_ = seal.position;
    return;
  }
  if (seal.position <= known_) {
    const Entry entry = view_.entries[seal.position - 1];
    const bool same =
        seal.turn == entry.turn && seal.session == entry.session && seal.what == entry.what;
    if (!same) contradicted_ = seal.position;
    return;
  }
  const std::uint64_t index = seal.position - known_ - 1;
  if (block_ == nullptr || block_number_ != index / kBlock) {
    block_number_ = index / kBlock;
    block_ = &blocks_[block_number_];
  }
  const std::size_t place = index % kBlock;
  if (place >= block_->size()) block_->resize(place + 1);
  Packed& there = (*block_)[place];
  const Packed packed = {.session = seal.session, .turn = seal.turn, .kind = kind_of(seal.what)};
  if (there.turn != 0 && there != packed) contradicted_ = seal.position;
  there = packed;
}

Result<void> SealCollector::check() const {
  if (contradicted_) return contradicted(*contradicted_);
  std::uint64_t position = known_;  // the last known position
  std::uint64_t turn = view_.end().turn;
  for (const auto& [number, block] : blocks_) {
    if (position != known_ + number * kBlock) return lacks(position + 1);
    for (const Packed& seal : block) {
      ++position;
      if (seal.turn == 0) return lacks(position);
      if (seal.turn < turn) return contradicted(position);
      turn = seal.turn;
    }
  }
  return {};
}

Result<void> SealCollector::finish() {
  TRY(check());
  block_ = nullptr;
  while (!blocks_.empty()) {
    // Extracted, so that entries are not in memory twice.
    const auto first = blocks_.extract(blocks_.begin());
    for (const Packed& seal : first.mapped()) {
      view_.entries.add(seal.turn, seal.session, kinds_[seal.kind]);
    }
  }
  return {};
}

Result<void> extend(View& view, const std::vector<LogRow>& rows) {
  SealCollector gathering(view);
  for (const LogRow& row : rows) {
    if (row.kind == RowKind::kSealed) {
      gathering.take({row.position, row.turn, row.session, row.what});
    }
  }
  return gathering.finish();
}

Result<View> view_of(const std::vector<LogRow>& rows) {
  View view;
  TRY(extend(view, rows));
  return view;
}

LogTail find_log_tail(const std::vector<LogRow>& rows, const View& sealed) {
  LogTail standing;
  for (const LogRow& row : rows) {
    standing.highest_turn = std::max(standing.highest_turn, row.turn);
    if (row.kind != RowKind::kOpen) continue;
    if (standing.open == nullptr || row.turn > standing.open->turn) standing.open = &row;
  }
  const auto [last_turn, last] = sealed.end();
  if (standing.open == nullptr) {
    standing.torn = last != 0;
    return standing;
  }
  const LogRow& open = *standing.open;
  // The turn that the entry after the last sealed one must have.
  std::uint64_t turn = open.turn;
  if (open.position < last) {
    standing.torn = last_turn != open.turn;  // its own entries follow its base
  } else if (open.position == last) {
    standing.torn = open.prefix != std::to_string(last_turn);
  } else {
    const Result<std::uint64_t> base_turn =
        parse_count(open.prefix, std::numeric_limits<std::uint64_t>::max());
    standing.torn = open.position > last + 1 || !base_turn;
    if (base_turn) turn = *base_turn;
  }
  for (const LogRow& row : rows) {
    if (row.kind != RowKind::kEntry || row.position <= last) continue;
    if (row.position == last + 1 && row.turn == turn) {
      const LogRow* other = standing.unsealed;
      if (other != nullptr && !says_the_same(row, *other)) standing.torn = true;
      standing.unsealed = &row;
    } else if (row.turn == open.turn) {
      standing.torn = true;  // the previous entry was sealed before this one was written
    }
  }
  if (open.position > last && standing.unsealed == nullptr) standing.torn = true;
  return standing;
}

}  // namespace pennyweight::commit_log
