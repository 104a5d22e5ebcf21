// Opening the configured ledger.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "app/verb.h"
#include "duckdb/rows.h"
#include "store/duckdb/duckdb_store.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// `serve` has the ledger open while it writes to it, and lets others in between.
constexpr milliseconds kPatience{20'000};
constexpr milliseconds kBetweenTries{100};

}  // namespace

Result<std::unique_ptr<Store>> create_ledger(const Config& config) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    auto store = open_duckdb_store({.path = config.store_path,
                                    .memory_bytes_max = config.store_memory_bytes,
                                    .threads = config.threads});
    if (store || !duckdb::is_locked_by_another(store.error()) ||
        std::chrono::steady_clock::now() > give_up) {
      return store;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<std::unique_ptr<Store>> open_ledger(const Config& config) {
  std::error_code ignored;
  if (!std::filesystem::exists(config.store_path, ignored)) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("there is no ledger {} yet; 'pennyweight import' makes it", config.store_path));
  }
  return create_ledger(config);
}

}  // namespace pennyweight
