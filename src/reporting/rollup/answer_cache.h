// AnswerCache: an LRU cache of the answers of one version of the rollup, limited by its size.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ledger/summary.h"
#include "reporting/rollup/first_rows.h"

namespace pennyweight::rollup {

// All rows, or the first of them.
using RollupAnswer = std::variant<std::vector<SummaryRow>, TopOwners, RowPage>;
using CachedAnswer = std::shared_ptr<const RollupAnswer>;

// A key that equal requests share.
std::string fingerprint(const SummaryQuery& query);
std::string fingerprint(const SummaryQuery& query, const OwnersRequest& asked);
std::string fingerprint(const SummaryQuery& query, const PageRequest& asked);

// Thread-safe.
class AnswerCache {
 public:
  explicit AnswerCache(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Null if there is none of this version.
  CachedAnswer find(const std::string& query, std::uint64_t version);
  // Drops answers of other versions, then the least recently used ones. An answer larger than a
  // quarter of the cache is not kept, nor copied.
  void keep(const std::string& query, std::uint64_t version, const RollupAnswer& found);

 private:
  struct CacheEntry {
    std::string query;
    CachedAnswer answer;
    std::uint64_t bytes;
  };
  void drop_last();

  const std::uint64_t bytes_max_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t version_ = 0;
  std::uint64_t bytes_ = 0;
  std::list<CacheEntry> by_use_;  // the latest first
  std::unordered_map<std::string, std::list<CacheEntry>::iterator> found_;
};

}  // namespace pennyweight::rollup
