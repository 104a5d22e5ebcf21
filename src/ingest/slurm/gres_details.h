// What a job has on a node, as `scontrol show job --details` writes it behind GRES=:
// "gpu:a100:2(IDX:0-1),shard:a100:4(IDX:2)".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/slurm/tres.h"

namespace pennyweight::slurm {

struct GresDetail {
  Gres gres;
  std::vector<std::uint32_t> indexes;  // in order; empty where nothing says which
  bool operator==(const GresDetail&) const = default;
};

// The entries about GPUs, those with a count of 0 left out. An index is below
// limits::kGpusPerNodeMax. An error names the entry that makes no sense.
Result<std::vector<GresDetail>> parse_gres_details(std::string_view text);

}  // namespace pennyweight::slurm
