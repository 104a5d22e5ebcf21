#include "store/clickhouse/log/view.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/whole_count.h"

namespace pennyweight::commit_log {
namespace {

Entry entry_of(const Row& row) { return Entry{row.position, row.turn, row.session, row.what}; }

bool says_the_same(const Row& row, const Entry& entry) {
  return row.position == entry.position && row.turn == entry.turn && row.session == entry.session &&
         row.what == entry.what;
}

std::unexpected<Error> contradicted(std::uint64_t position) {
  return fail(ErrorCode::kStore, "the log of commits contradicts itself at position " +
                                     std::to_string(position) +
                                     ": its table holds rows that no writer of this ledger wrote");
}

// The entries of rows that were sealed behind the first `known`.
Result<std::vector<Entry>> sealed_behind(const View& view, const std::vector<Row>& rows) {
  const std::uint64_t known = view.entries.size();
  std::vector<const Row*> seals;  // by position, from known + 1 on
  for (const Row& row : rows) {
    if (row.kind != RowKind::kSealed) continue;
    if (row.position == 0) return contradicted(0);
    if (row.position <= known) {
      if (!says_the_same(row, view.entries[row.position - 1])) return contradicted(row.position);
      continue;
    }
    const std::uint64_t index = row.position - known - 1;
    if (index >= rows.size()) {
      return fail(ErrorCode::kStore, "the log of commits has a position " +
                                         std::to_string(row.position) +
                                         " and not all before it: rows of its table are missing");
    }
    if (index >= seals.size()) seals.resize(index + 1, nullptr);
    const Row*& seal = seals[index];
    if (seal != nullptr && !says_the_same(row, entry_of(*seal))) return contradicted(row.position);
    seal = &row;
  }
  std::vector<Entry> added;
  added.reserve(seals.size());
  std::uint64_t turn = known == 0 ? 1 : view.entries.back().turn;
  for (std::size_t i = 0; i < seals.size(); ++i) {
    const std::uint64_t position = known + i + 1;
    if (seals[i] == nullptr) {
      return fail(ErrorCode::kStore, "the log of commits lacks position " +
                                         std::to_string(position) +
                                         ": rows of its table are missing");
    }
    if (seals[i]->turn < turn) return contradicted(position);
    turn = seals[i]->turn;
    added.push_back(entry_of(*seals[i]));
  }
  return added;
}

// Keeps of sorted sessions those that no entry from `first` on is of.
void leave_out_counted(std::vector<std::uint64_t>& sessions, const View& view, std::size_t first) {
  if (sessions.empty()) return;
  std::vector<std::uint64_t> counted;
  for (std::size_t i = first; i < view.entries.size(); ++i) {
    const std::uint64_t session = view.entries[i].session;
    if (std::ranges::binary_search(sessions, session)) counted.push_back(session);
  }
  std::ranges::sort(counted);
  std::erase_if(sessions, [&](std::uint64_t session) {
    return std::ranges::binary_search(counted, session);
  });
}

}  // namespace

Result<void> extend(View& view, const std::vector<Row>& rows) {
  Result<std::vector<Entry>> added = sealed_behind(view, rows);
  if (!added) return std::unexpected(added.error());
  const std::size_t known = view.entries.size();
  view.entries.insert(view.entries.end(), std::make_move_iterator(added->begin()),
                      std::make_move_iterator(added->end()));
  leave_out_counted(view.voids, view, known);

  std::vector<std::uint64_t> voids;
  for (const Row& row : rows) {
    if (row.kind != RowKind::kEntry || row.position == 0) continue;
    if (row.position > view.entries.size()) continue;
    if (says_the_same(row, view.entries[row.position - 1])) continue;
    if (!std::ranges::binary_search(view.voids, row.session)) voids.push_back(row.session);
  }
  if (voids.empty()) return {};
  std::ranges::sort(voids);
  leave_out_counted(voids, view, 0);
  view.voids.insert(view.voids.end(), voids.begin(), voids.end());
  std::ranges::sort(view.voids);
  view.voids.erase(std::unique(view.voids.begin(), view.voids.end()), view.voids.end());
  return {};
}

Result<View> view_of(const std::vector<Row>& rows) {
  View view;
  const Result<void> extended = extend(view, rows);
  if (!extended) return std::unexpected(extended.error());
  return view;
}

Standing standing_of(const std::vector<Row>& rows, const View& sealed) {
  Standing standing;
  for (const Row& row : rows) {
    standing.highest_turn = std::max(standing.highest_turn, row.turn);
    if (row.kind != RowKind::kOpen) continue;
    if (standing.open == nullptr || row.turn > standing.open->turn) standing.open = &row;
  }
  const std::uint64_t last = sealed.entries.size();
  const std::uint64_t last_turn = last == 0 ? 0 : sealed.entries.back().turn;
  if (standing.open == nullptr) {
    standing.torn = last != 0;
    return standing;
  }
  const Row& open = *standing.open;
  // Of which turn the entry behind the last sealed one must be.
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
  for (const Row& row : rows) {
    if (row.kind != RowKind::kEntry || row.position <= last) continue;
    if (row.position == last + 1 && row.turn == turn) {
      const Row* other = standing.unsealed;
      if (other != nullptr && !says_the_same(row, entry_of(*other))) standing.torn = true;
      standing.unsealed = &row;
    } else if (row.turn == open.turn) {
      standing.torn = true;  // the one before it was sealed before it was written
    }
  }
  if (open.position > last && standing.unsealed == nullptr) standing.torn = true;
  return standing;
}

}  // namespace pennyweight::commit_log
