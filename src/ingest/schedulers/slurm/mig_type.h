// Reads the gres type of a MIG instance: "a100_3g.20gb" is the profile 3g.20gb of an a100.
//
// Slurm's gpu/nvml plugin names MIG devices <model>_<profile>. Sites that write gres.conf by hand
// also put '-' or '.' between the two, or leave the model out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::slurm {

struct MigType {
  std::string model;    // empty: not stated
  std::string profile;  // "3g.20gb", "1g.10gb+me", "1c.3g.20gb"
  bool operator==(const MigType&) const = default;
};

// Nothing for the type of a whole GPU.
std::optional<MigType> parse_mig_type(std::string_view gres_type);

}  // namespace pennyweight::slurm
