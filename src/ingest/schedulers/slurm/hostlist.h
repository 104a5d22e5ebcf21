// Expands the node list of a job, which Slurm shortens: "gpu[001-003,7],login1,r[1-2]n[1-4]".
//
// The grammar is that of `scontrol show hostnames`: names separated by commas, each with any number
// of brackets anywhere in it, each bracket a list of numbers and ranges. Leading zeros of the first
// number of a range set the width. A list is a set: a repeated node counts once, at its first
// place.
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

// The names in the order of the list. An Error names the place where the list can't be read. An
// empty list is an Error.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

}  // namespace pennyweight::slurm
