// The list of nodes of a job, as Slurm shortens it: "gpu[001-003,7],login1,r[1-2]n[1-4]".
//
// The grammar is that of `scontrol show hostnames`: names separated by commas, each with any number
// of brackets anywhere in it, each bracket a list of numbers and ranges. Leading zeros of a range's
// first number set the width. A list is a set: a node named twice is there once, where it was
// first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::slurm {

// Slurm itself expands no range beyond 64 Ki hosts (MAX_RANGE in its hostlist.c).
inline constexpr std::size_t kHostsMax = 65'536;
inline constexpr std::size_t kHostNameBytesMax = 253;  // as in DNS

// The names in the order of the list. An error names the place where the list stops making sense;
// an empty list is one.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

}  // namespace pennyweight::slurm
