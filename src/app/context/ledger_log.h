// The log beside the ledger's file, in which DuckDB keeps what a checkpoint has not yet written
// into it. Each opening of the ledger reads all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"

namespace pennyweight {

// A checkpoint is due at half of this, and at each closing. So a longer log means that none
// succeeds: nothing is lost, but the log grows, and every start takes longer.
inline constexpr std::uint64_t kLedgerLogBytesMax = std::uint64_t{32} << 20;

// "the ledger's log, x.duckdb.wal, is 48 MiB: …" if no checkpoint succeeds. REQUIRES: nothing is
// being written.
std::optional<std::string> overlong_ledger_log(const Config& config);
// What to do about it.
std::string overlong_ledger_log_advice(const Config& config);

}  // namespace pennyweight
