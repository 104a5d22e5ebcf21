// What kind of file is this? Told by its first bytes, never by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight {

enum class InputFormat {
  kFocus,         // a FOCUS bill as CSV
  kFocusParquet,  // … as Parquet
  kSlurm,         // sacct --parsable2
  kSlurmJson,     // sacct --json
  kOpenbPods,     // pods in the openb schema
  kOpenbNodes,    // nodes in the openb schema
  kNodes,         // an inventory of nodes as CSV
  kGpus,          // … of GPUs
  kHoldings,      // holdings as CSV
  kUsage,         // what GPUs were seen to do, as CSV
  kOutages,       // when nodes were out of use, as CSV
  kCorrections,   // money moved by hand, as CSV
  kNvidiaSmi,     // nvidia-smi --query-gpu CSV
  kDcgm,          // dcgm-exporter's /metrics
  kScontrol,      // scontrol show node
};

std::string_view to_text(InputFormat format);         // "slurm-json", as --format takes it
std::string_view description_of(InputFormat format);  // "Slurm accounting (sacct --json)"
std::optional<InputFormat> parse_input_format(std::string_view text);
std::vector<std::string> input_format_names();

// `beginning` is the file's first bytes: all, or at least kDetectBytes. An error says that the file
// is empty, binary, or of no known kind, and what its first line is.
inline constexpr std::size_t kDetectBytes = 1u << 16;
Result<InputFormat> detect_format(std::string_view beginning);

}  // namespace pennyweight
