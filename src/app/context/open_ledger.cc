// Opens the configured ledger.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "app/context/context.h"
#include "core/clickhouse/address.h"
#include "core/duckdb/rows.h"
#include "core/try.h"
#include "ledger/store/clickhouse/clickhouse_store.h"
#include "ledger/store/duckdb/duckdb_store.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// `serve` opens the ledger only while it writes; other programs get their turn in between.
constexpr milliseconds kPatience{20'000};
constexpr milliseconds kBetweenTries{100};

Result<std::unique_ptr<Store>> open_cluster(const Config& config) {
  const auto options = TRY(clickhouse_options(config));
  return open_clickhouse_store(options);
}

// Files such as certificates may vanish for a moment while they are renewed; the client then waits.
// At the start a missing file is an error.
Result<void> look_for(const std::string& path) {
  if (path.empty() || std::ifstream(path).good()) return {};
  return fail(ErrorCode::kConfig,
              fmt::format("cannot read {}, which the ledger's address names; correct its path, or "
                          "make it readable for pennyweight",
                          path));
}

}  // namespace

Result<ClickhouseOptions> clickhouse_options(const Config& config) {
  auto address = TRY(clickhouse::parse_address(config.store_address));
  for (const std::string& path : {address.password_file, address.ca_file}) {
    TRY(look_for(path));
  }
  static WallClock clock;
  std::random_device chance;
  const std::uint64_t seed = std::uint64_t{chance()} << 32 | chance();
  const milliseconds lease = address.lease;
  return ClickhouseOptions{
      .address = std::move(address), .lease = lease, .clock = &clock, .seed = seed};
}

bool is_on_clickhouse(const Config& config) { return !config.store_address.empty(); }

std::string ledger_name(const Config& config) {
  if (!is_on_clickhouse(config)) return config.store_path;
  const auto address = clickhouse::parse_address(config.store_address);
  return address ? clickhouse::shown(*address) : "clickhouse";
}

Result<std::unique_ptr<Store>> create_ledger(const Config& config) {
  if (is_on_clickhouse(config)) return open_cluster(config);
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
  if (is_on_clickhouse(config)) return open_cluster(config);
  std::error_code ignored;
  if (!std::filesystem::exists(config.store_path, ignored)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no ledger {} yet; 'pennyweight import' creates it",
                            config.store_path));
  }
  return create_ledger(config);
}

}  // namespace pennyweight
