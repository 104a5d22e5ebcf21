#include "ledger/store/clickhouse/log/entries.h"

#include <algorithm>

namespace pennyweight::commit_log {

std::size_t Entries::find_kind(std::string_view what) const {
  return static_cast<std::size_t>(std::ranges::find(kinds_, what, &Kind::what) - kinds_.begin());
}

std::uint64_t Entries::count(std::string_view what) const {
  const std::size_t kind = find_kind(what);
  return kind == kinds_.size() ? 0 : kinds_[kind].count;
}

std::uint64_t Entries::find(std::uint64_t session) const {
  std::uint64_t index = 0;
  while (index < size() && packed(index).session != session) ++index;
  return index;
}

void Entries::add(std::uint64_t turn, std::uint64_t session, std::string_view what) {
  const std::size_t kind = find_kind(what);
  if (kind == kinds_.size()) kinds_.push_back({std::string(what), 0});
  ++kinds_[kind].count;
  tail_.push_back({.session = session, .turn = turn, .kind = kind});
  if (tail_.size() < kChunk) return;
  const auto full = std::make_shared<Chunk>();
  std::ranges::copy(tail_, full->begin());
  chunks_.push_back(full);
  tail_.clear();
}

}  // namespace pennyweight::commit_log
