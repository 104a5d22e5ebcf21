#include "reporting/rollup/answer_cache.h"

#include <utility>

#include "core/hash.h"

namespace pennyweight::rollup {
namespace {

std::uint64_t bytes_of(const std::vector<SummaryRow>& rows) {
  std::uint64_t bytes = rows.size() * sizeof(SummaryRow);
  for (const SummaryRow& row : rows) {
    bytes += row.keys.size() * sizeof(std::string);
    for (const std::string& key : row.keys) bytes += key.size() < 16 ? 0 : key.size() + 1;
  }
  return bytes;
}

std::uint64_t bytes_of(const RollupAnswer& found) {
  struct Bytes {
    std::uint64_t operator()(const std::vector<SummaryRow>& rows) const { return bytes_of(rows); }
    std::uint64_t operator()(const TopOwners& owners) const {
      return bytes_of(owners.rows) + owners.others.size() * sizeof(TopOwners::Remainder);
    }
    std::uint64_t operator()(const RowPage& page) const { return bytes_of(page.rows); }
  };
  return std::visit(Bytes(), found) + sizeof(RollupAnswer);
}

}  // namespace

// Lengths before texts, so that no two queries look alike.
std::string fingerprint(const SummaryQuery& query) {
  std::string text;
  const auto add = [&](const std::string& part) {
    text += std::to_string(part.size()) + ":" + part;
  };
  const auto add_day = [&](const std::optional<std::chrono::sys_days>& day) {
    text += day ? std::to_string(day->time_since_epoch().count()) : "-";
    text += ";";
  };
  add_day(query.first_day);
  add_day(query.last_day);
  text += std::to_string(static_cast<int>(query.bucket)) + ";";
  for (const std::string& dimension : query.group_by) add(dimension);
  for (const SummaryFilter& filter : query.filters) {
    text += filter.negate ? "|!" : "|=";
    add(filter.dimension);
    for (const std::string& value : filter.values) add(value);
  }
  if (query.as_of) text += "@" + std::to_string(query.as_of->time_since_epoch().count());
  return text;
}

std::string fingerprint(const SummaryQuery& query, const OwnersRequest& asked) {
  std::string text = fingerprint(query) + "#owners";
  for (const Cost cost : asked.costs) text += "," + std::to_string(static_cast<int>(cost));
  return text + (asked.by_key ? ";key;" : ";cost;") + std::to_string(asked.count);
}

std::string fingerprint(const SummaryQuery& query, const PageRequest& asked) {
  std::string text = fingerprint(query) + "#page," + std::to_string(static_cast<int>(asked.order)) +
                     (asked.all_or_none ? ";all;" : ";some;") + std::to_string(asked.count);
  const auto add = [&](const std::string& part) {
    text += ";" + std::to_string(part.size()) + ":" + part;
  };
  add(asked.prefix);
  if (asked.after) {
    for (const std::string& key : asked.after->keys) add(key);
    add(asked.after->currency.text());
  }
  return text;
}

CachedAnswer AnswerCache::find(const std::string& query, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  if (version != version_) return nullptr;
  const auto found = found_.find(query);
  if (found == found_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->answer;
}

void AnswerCache::keep(const std::string& query, std::uint64_t version, const RollupAnswer& found) {
  const std::uint64_t bytes = bytes_of(found) + query.size();
  if (bytes > bytes_max_ / 4) return;
  auto answer = std::make_shared<const RollupAnswer>(found);
  const std::lock_guard lock(mutex_);
  if (version < version_) return;
  if (version > version_) {
    while (!by_use_.empty()) drop_last();
    version_ = version;
  }
  if (found_.contains(query)) return;
  by_use_.push_front({query, std::move(answer), bytes});
  found_[query] = by_use_.begin();
  bytes_ += bytes;
  while (bytes_ > bytes_max_) drop_last();
}

void AnswerCache::drop_last() {
  bytes_ -= by_use_.back().bytes;
  found_.erase(by_use_.back().query);
  by_use_.pop_back();
}

}  // namespace pennyweight::rollup
