// Opening the configured ledger.
#include <fmt/format.h>

#include <filesystem>

#include "app/verb.h"
#include "store/duckdb/duckdb_store.h"

namespace pennyweight {

Result<std::unique_ptr<Store>> create_ledger(const Config& config) {
  return open_duckdb_store({.path = config.store_path,
                            .memory_bytes_max = config.store_memory_bytes,
                            .threads = config.threads});
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
