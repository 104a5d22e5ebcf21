// The devices of a job on a node, as `scontrol show job --details` writes them after GRES=:
// "gpu:a100:2(IDX:0-1),shard:a100:4(IDX:2)".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/schedulers/slurm/tres.h"

namespace pennyweight::slurm {

struct GresDetail {
  Gres gres;
  std::vector<std::uint32_t> indexes;  // sorted; empty where they are not stated
  bool operator==(const GresDetail&) const = default;
};

// The entries about GPUs, without those of count 0. An index is below limits::kGpusPerNodeMax. An
// Error names the entry that can't be read.
Result<std::vector<GresDetail>> parse_gres_details(std::string_view text);

}  // namespace pennyweight::slurm
