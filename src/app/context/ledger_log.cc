#include "app/context/ledger_log.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/context/context.h"

namespace pennyweight {

std::optional<std::string> overlong_ledger_log(const Config& config) {
  if (is_on_clickhouse(config)) return std::nullopt;
  const std::string path = config.store_path + ".wal";
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(path, problem);
  if (problem || bytes <= kLedgerLogBytesMax) return std::nullopt;
  return fmt::format(
      "the ledger's log, {}, is {} MiB, since it can't be written into the ledger's file: nothing "
      "is lost, but each start reads all of it",
      path, bytes >> 20);
}

std::string overlong_ledger_log_advice(const Config& config) {
  return fmt::format(
      "make room on its disk, and let {0}.rescue and {0}.rescue.new be written; then run "
      "'pennyweight doctor' again",
      config.store_path);
}

}  // namespace pennyweight
