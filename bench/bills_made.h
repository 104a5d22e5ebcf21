// Makes the bills that bench/bills reads: from a made-up fleet, with about the given count of rows
// and their sums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/int128.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::bench {

// Sums of the four costs in 10^-18; nothing for a cost that the generator does not state.
struct BillSums {
  std::optional<Int128> billed;
  std::optional<Int128> effective;
  std::optional<Int128> list;
  std::optional<Int128> contracted;
};

struct MadeBill {
  std::string name;  // "CUR 2.0, CSV"
  std::filesystem::path path;
  bool is_parquet = false;
  std::uint64_t rows = 0;  // of the file
  BillSums truth;
  bill::RowReaderFactory reader;
  std::vector<std::string> cost_columns;  // of the file: those DuckDB adds up
};

// "focus", "aws-cur2", "azure", "gcp"
const std::vector<std::string_view>& providers();

// One provider's bill as CSV, and as Parquet where the provider delivers it so, in `folder`. Memory
// does not depend on the number of rows.
Result<std::vector<MadeBill>> make_bills(std::string_view provider, std::uint64_t rows,
                                         const std::filesystem::path& folder);

}  // namespace pennyweight::bench
