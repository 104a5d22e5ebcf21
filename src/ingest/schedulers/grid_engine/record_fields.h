// The fields of Grid Engine's accounting records, which the accounting file and `qacct -j` share.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::grid_engine {

// Those of sge_accounting(5) that are read.
enum Field : std::size_t {
  kQueue = 0,
  kHost = 1,
  kGroup = 2,
  kOwner = 3,
  kJobName = 4,
  kJobNumber = 5,
  kAccount = 6,
  kSubmission = 8,
  kStart = 9,
  kEnd = 10,
  kFailed = 11,
  kExitStatus = 12,
  kProject = 31,
  kSlots = 34,
  kTask = 35,
  kCpu = 36,
  kCategory = 39,
  kPeTask = 41,
  kMaxVmem = 42,
  kFieldsMin = 43,  // up to maxvmem; later versions have more
};

// Nothing for a task of a parallel job, whose own record has it. REQUIRES: kFieldsMin fields.
accounting::Read<std::optional<accounting::Run>> run_of_fields(
    const std::vector<std::string_view>& fields, const accounting::Options& options);

}  // namespace pennyweight::grid_engine
