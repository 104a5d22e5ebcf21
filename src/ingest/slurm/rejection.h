// Why a row can't be used: the column at fault, and what is wrong with it.
#pragma once

#include <string>

namespace pennyweight::slurm {

struct Rejection {
  std::string column;  // empty: the row as a whole
  std::string reason;
  bool operator==(const Rejection&) const = default;
};

}  // namespace pennyweight::slurm
