// A ledger in a DuckDB file, as the source of a move. The file is locked against writers as long as
// it is open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/move/ends.h"

namespace pennyweight::move {

struct DuckdbPlace {
  std::string path;
  std::uint64_t memory_bytes_max = std::uint64_t{256} << 20;  // of the engine
  std::uint32_t threads = 0;                                  // 0: as many as there are cores
};

// An Error where it is no ledger, one of another version, or somebody else has it open.
Result<std::unique_ptr<Source>> open_duckdb_source(const DuckdbPlace& place);

}  // namespace pennyweight::move
