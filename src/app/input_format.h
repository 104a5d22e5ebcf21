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
  kAws,           // an AWS Cost and Usage Report as CSV
  kAwsParquet,
  kAzure,  // an Azure cost export as CSV
  kAzureParquet,
  kGcp,  // Google's billing export as CSV
  kGcpParquet,
  kGcpJson,      // … as newline-delimited JSON
  kOci,          // Oracle\'s cost report as CSV
  kFocusJson,    // FOCUS records as JSON
  kRunpod,       // RunPod's billing history as CSV
  kRunpodJson,   // … as JSON
  kSlurm,        // sacct --parsable2
  kSlurmJson,    // sacct --json
  kOpenbPods,    // pods in the openb schema
  kOpenbNodes,   // nodes in the openb schema
  kNodes,        // an inventory of nodes as CSV
  kGpus,         // … of GPUs
  kHoldings,     // holdings as CSV
  kUsage,        // what GPUs were seen to do, as CSV
  kOutages,      // when nodes were out of use, as CSV
  kCorrections,  // money moved by hand, as CSV
  kOutcomes,     // what workloads did for somebody, as CSV
  kNvidiaSmi,    // nvidia-smi --query-gpu CSV
  kDcgm,         // dcgm-exporter's /metrics
  kScontrol,     // scontrol show node
};

std::string_view to_text(InputFormat format);  // "slurm-json", as --format takes it
bool is_bill(InputFormat format);
// "aws" of CSV and Parquet alike, as `bills:` of the configuration names it; empty: no bill.
std::string_view bill_format_of(InputFormat format);
std::string_view description_of(InputFormat format);  // "Slurm accounting (sacct --json)"
std::optional<InputFormat> parse_input_format(std::string_view text);
std::vector<std::string> input_format_names();

// `beginning` is the file's first bytes: all, or at least kDetectBytes. An error says that the file
// is empty, binary, or of no known kind, and what its first line is.
inline constexpr std::size_t kDetectBytes = 1u << 16;
// `path` is looked into where the first bytes are Parquet's, whose columns stand at its end; empty:
// it is a FOCUS bill.
Result<InputFormat> detect_format(std::string_view beginning, const std::string& path = "");

}  // namespace pennyweight
