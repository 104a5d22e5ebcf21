// A ledger in a DuckDB file as the source of a move. While it is open, the file is locked against
// writers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ledger/store/move/endpoints.h"

namespace pennyweight::move {

struct DuckdbLocation {
  std::string path;
  std::uint64_t memory_bytes_max = std::uint64_t{256} << 20;  // of the engine
  std::uint32_t threads = 0;                                  // 0: as many as there are cores
};

// Fails if it is not a ledger, has another version, or is open in another program.
Result<std::unique_ptr<LedgerSource>> open_duckdb_source(const DuckdbLocation& place);

}  // namespace pennyweight::move
