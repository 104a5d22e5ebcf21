// The ledger in one DuckDB file: the embedded default.
//
// Tables and columns carry the names an analyst would look for (charges, holdings, nodes, gpus,
// usages, postings, runs, run_dimensions, imports, rejected_rows; the view current_postings), so
// the file can be read with DuckDB itself while no pennyweight has it open. Money is
// DECIMAL(38,18).
//
// Only one process at a time can open the file for writing; the engine locks it. What commit()
// acknowledged is in the file or its write-ahead log, both synced. An interrupted session leaves at
// most unused blocks, which the engine reuses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct DuckdbOptions {
  std::string path;
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
  std::uint32_t threads = 0;        // 0: as many as there are cores
  std::string temp_directory = {};  // where what does not fit is spilled; empty: "<path>.tmp"
  bool read_only = false;           // then sessions are refused
};

// Creates the file if there is none, unless read_only. Errors say what to do: the file is locked,
// is something else, has newer tables, or can't be written.
Result<std::unique_ptr<Store>> open_duckdb_store(const DuckdbOptions& options);

}  // namespace pennyweight
