// One file into the ledger: format, parser, session. All of its good rows are in, or nothing is.
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

// REQUIRES: no other session is open.
Result<FileImport> import_file(Store& store, const std::string& path, const ImportOptions& options,
                               const Config& config, const Console& console, Clock& clock);

}  // namespace pennyweight
