// Answers: what was asked of one version of the rollup, the latest asked first, up to a size.
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
#include "rollup/first_rows.h"

namespace pennyweight::rollup {

// All rows, or the first of them.
using Found = std::variant<std::vector<SummaryRow>, Owners, PageOfRows>;
using Answer = std::shared_ptr<const Found>;

// What two queries that ask the same have alike.
std::string fingerprint(const SummaryQuery& query);
// The same of questions for the first rows.
std::string fingerprint(const SummaryQuery& query, const OwnersAsked& asked);
std::string fingerprint(const SummaryQuery& query, const PageAsked& asked);

// Used by many threads.
class Answers {
 public:
  explicit Answers(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Null where there is none of this version.
  Answer find(const std::string& query, std::uint64_t version);
  // Forgets answers of other versions, and the longest unused ones. One that is larger than a
  // quarter of all is not kept, nor copied.
  void keep(const std::string& query, std::uint64_t version, const Found& found);

 private:
  struct Kept {
    std::string query;
    Answer answer;
    std::uint64_t bytes;
  };
  void drop_last();

  const std::uint64_t bytes_max_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t version_ = 0;
  std::uint64_t bytes_ = 0;
  std::list<Kept> by_use_;  // the latest first
  std::unordered_map<std::string, std::list<Kept>::iterator> found_;
};

}  // namespace pennyweight::rollup
