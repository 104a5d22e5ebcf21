// Random ledgers and queries, small and full of edge cases: owners that come and go, empty names,
// lines of several currencies, transfers, runs that replace runs.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/store.h"
#include "reporting/rollup/rollup.h"

namespace pennyweight::rollup {

// How many random ledgers a property is tried on. Sanitizers make each many times as slow.
#ifdef PENNYWEIGHT_SANITIZED
constexpr int kSeeds = 4;
#else
constexpr int kSeeds = 12;
#endif

class Folder {
 public:
  Folder() {
    static std::atomic<int> counter{0};
    path_ = std::filesystem::temp_directory_path() /
            ("pennyweight_rollup_" + std::to_string(::getpid()) + "_" + std::to_string(++counter));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline std::unique_ptr<Rollup> open(const std::string& path) {
  return must(Rollup::open({.path = path, .memory_bytes_max = 256u << 20, .threads = 2}));
}

// Of the built-in dimensions: single charges, and their classes, are in the ledger only.
inline bool is_in_rollup(std::string_view dimension) {
  return dimension != "charge" && dimension != "charge_class";
}

class Made {
 public:
  // Every second one has few distinct amounts, so that many are equal.
  explicit Made(std::uint64_t seed) : random_(seed), has_few_amounts_(seed % 2 == 1) {}

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::string pick(const std::vector<std::string>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  // A bill of a random month; remembers its lines.
  void add_bill(Store& store);
  // A run of a random scope, which replaces the one before.
  void add_run(Store& store);
  SummaryQuery query();

 private:
  std::chrono::sys_days any_day();
  Money any_money(Currency currency);
  Posting any_posting();

  std::mt19937_64 random_;
  bool has_few_amounts_;
  std::vector<FactId> charges_;
  int runs_ = 0;
};

}  // namespace pennyweight::rollup
