// Files into the ledger: format, parser, session. All of their good rows are in, or nothing is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/console.h"
#include "app/input_format.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ImportOptions {
  std::optional<InputFormat> format;  // nothing: as its content tells
  std::string cluster;                // empty: as the file or the configuration says
  std::string node;                   // of nvidia-smi and DCGM files; empty: as the file says
  std::optional<Instant> origin;      // of traces that count seconds; else the configured one
  std::optional<Instant> from, to;    // of inventories that say neither
  // Of bills. What is nothing or empty is as the configuration says.
  std::optional<DeliveryStyle> style;
  std::string reason;        // why a bill is sent again
  std::string azure_metric;  // "actual", "amortized", "purchases"; or empty
  std::string rate_card;     // a file: prices of bills without money
  std::string bucket;        // of RunPod's records: "hour", "day", "month"
};

struct FileImport {
  InputFormat format = InputFormat::kFocus;
  ImportOutcome outcome;
  std::uint64_t holdings = 0;          // that were read
  GpuTime gpu_time;                    // of them, where what part of a card they are is known
  std::uint64_t without_gpu_time = 0;  // holdings of MIG slices and shards: their node decides
  std::vector<RejectedRow> rejected;   // the first few, conflicts among them
  std::vector<std::string> remarks;    // "18 jobs were still pending", a sentence each
};

// What a file is: as told, or as its first bytes tell.
Result<InputFormat> format_of_file(const std::string& path, const ImportOptions& options);
// How files of the format are delivered: as told, as configured, else guarded.
DeliveryStyle delivery_style(InputFormat format, const ImportOptions& options,
                             const Config& config);

// One file in a session of its own. REQUIRES: no other session is open.
Result<FileImport> import_file(Store& store, const std::string& path, const ImportOptions& options,
                               const Config& config, const Console& console, Clock& clock);

// Several files, all of one format, as one delivery: what a provider cuts into parts.
Result<FileImport> import_files(Store& store, const std::vector<std::string>& paths,
                                const ImportOptions& options, const Config& config,
                                const Console& console, Clock& clock);

}  // namespace pennyweight
