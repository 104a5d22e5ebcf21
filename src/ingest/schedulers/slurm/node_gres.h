// Reads the Gres of a node: "gpu:a100:4(S:0-1),shard:a100:16".
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/schedulers/slurm/tres.h"

namespace pennyweight::slurm {

// Each name[:type]:count of the list that is about GPUs, without the sockets in parentheses. An
// empty text and "(null)" give none. Counts may end in K or M (1024 and its square).
Result<std::vector<Gres>> parse_node_gres(std::string_view text);

}  // namespace pennyweight::slurm
