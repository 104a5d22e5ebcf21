// nvidia-smi --query-gpu=… --format=csv: the rows of its table, as readings of cards.
//
// The names are those of `nvidia-smi --help-query-gpu`. A unit stands in the header, "memory.used
// [MiB]", and behind each value, unless `nounits` was asked for. "[N/A]", "[Not Supported]" and all
// other words in brackets mean that the device does not tell.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/nvidia_smi/reading.h"

namespace pennyweight::nvidia_smi {

// Whether a line is the header of such a table: names of the query, and at least a card's UUID or
// index and something that we read. Tables of processes and of retired pages are not.
bool is_query_header(std::string_view line);

struct QueryRefusal {
  std::uint64_t line;
  std::string column;
  std::string reason;
  std::string text;
};

// Reads a header and its rows. `first_line` is the header's line in the document. An error is about
// the header.
Result<void> read_query(std::string_view table, std::uint64_t first_line, const TimeZone& zone,
                        const std::function<void(CardReading)>& take,
                        const std::function<void(QueryRefusal)>& refuse);

}  // namespace pennyweight::nvidia_smi
