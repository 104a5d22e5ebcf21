// InstanceList: reads nvidia-smi mig -lgi line by line: the GPU instances of each GPU, and where in
// its memory they are.
//
//   | GPU instances:                                     |
//   | GPU   Name          Profile  Instance   Placement  |
//   |                       ID       ID       Start:Size |
//   |   0  MIG 3g.20gb       9        2          0:4     |
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::nvidia_smi {

// One GPU instance. It names its GPU by index only.
struct ListedInstance {
  std::uint64_t line = 0;
  std::uint32_t gpu_index = 0;
  std::string profile;  // "3g.20gb"
  std::uint32_t gpu_instance = 0;
  std::uint32_t start = 0, size = 0;  // slices of the GPU's memory
  std::string text;                   // the row, for a refusal
};

class InstanceList {
 public:
  // Takes every line of a document in order. Returns an instance where the line is one; an Error
  // for a row of the list that does not have what its position requires.
  Result<std::optional<ListedInstance>> line(std::uint64_t number, std::string_view text);
  // Whether the last line was one of such a list.
  bool is_inside() const { return is_inside_; }

 private:
  bool is_inside_ = false;
};

}  // namespace pennyweight::nvidia_smi
