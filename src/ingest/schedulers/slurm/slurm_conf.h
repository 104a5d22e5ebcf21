// Reads slurm.conf (https://slurm.schedmd.com/slurm.conf.html): the nodes that a Slurm cluster has.
//
// Each name of a NodeName line is a node, with its processors, memory and Gres, and what
// NodeName=DEFAULT said before it; PartitionName lines say in which partition it is first. So it
// gives the same nodes as `scontrol show node` (scontrol_nodes.h), whose rules for models and MIG
// types hold here too. Includes are not followed: a note names each. It says what is configured and
// not what answers; nodes in state FUTURE are skipped.
#pragma once

#include <string_view>

#include "core/error.h"
#include "ingest/schedulers/slurm/scontrol_nodes.h"

namespace pennyweight::slurm {

// An Error when the text has no NodeName line, or is beyond a limit.
Result<ScontrolNodes> parse_slurm_conf(std::string_view text, const ScontrolOptions& options);

// Whether a file that begins so is slurm.conf, or a part of it with nodes.
bool is_slurm_conf(std::string_view beginning);
// Whether it is gres.conf, which lists device files and not what a node has.
bool is_gres_conf(std::string_view beginning);

}  // namespace pennyweight::slurm
