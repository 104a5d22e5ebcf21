// Reads nvidia-smi --query-gpu=… --format=csv: the rows of its table, as readings of GPUs.
//
// The names are those of `nvidia-smi --help-query-gpu`. A unit is in the header, "memory.used
// [MiB]", and after each value, unless `nounits` was given. "[N/A]", "[Not Supported]" and all
// other words in brackets mean that the device does not report the value.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/devices/nvidia_smi/reading.h"

namespace pennyweight::nvidia_smi {

// Whether a line is the header of such a table: names of the query, including at least the UUID or
// index of a GPU and a value that is read. Tables of processes and of retired pages are not.
bool is_query_header(std::string_view line);

struct QueryRefusal {
  std::uint64_t line;
  std::string column;
  std::string reason;
  std::string text;
};

// Reads a header and its rows. `first_line` is the line of the header in the document. An Error is
// about the header.
Result<void> read_query(std::string_view table, std::uint64_t first_line, const TimeZone& zone,
                        const std::function<void(GpuReading)>& take,
                        const std::function<void(QueryRefusal)>& refuse);

}  // namespace pennyweight::nvidia_smi
