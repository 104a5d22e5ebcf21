// What an XID, an error that NVIDIA's driver reports, means and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pennyweight {

struct XidMeaning {
  std::string description;  // "GPU has fallen off the bus"
  std::string action;       // what NVIDIA advises, in words: "reset the GPU"; may be empty
  bool is_fatal = false;    // work on the GPU is lost until somebody acts
};

// By the table data/fleet/xid_codes.csv; nothing for a code that it does not have.
std::optional<XidMeaning> xid_meaning(std::uint64_t code);

}  // namespace pennyweight
