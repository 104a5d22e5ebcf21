// ShareOwners: finds the owner of a workload's shares in an export.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ledger/posting.h"
#include "ledger/run.h"
#include "reporting/export/share.h"

namespace pennyweight {

class ShareOwners {
 public:
  // `by` are the dimensions whose values are the owners; empty: each workload is an owner.
  ShareOwners(std::vector<WorkloadDimensions> workloads, std::vector<std::string> by);

  ShareOwner operator()(const WorkloadId& workload) const;

 private:
  std::map<std::string, Labels, std::less<>> dimensions_;
  std::vector<std::string> by_;
};

}  // namespace pennyweight
