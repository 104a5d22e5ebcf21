// the accounting file of Grid Engine, which qacct reads too, as holdings.
//
//   gpu.q:n1:staff:ann:train:4711:sge:0:1770861600:1770865200:1770868800:0:0:3600:…:1:0:…:-l
//   gpu=2:…
//
// $SGE_ROOT/$SGE_CELL/common/accounting, one line a record, its fields separated by colons in the
// order of sge_accounting(5), which Sun's, Univa's and Open Grid Engine share. Times are seconds
// since 1970, or milliseconds as Univa writes them. Slots are taken for CPUs.
//
//   GPUs        a request `-l gpu=2` (or gpus, ngpus, num_gpus) in the field `category`. Whether it
//               is of the job or of each slot is configured elsewhere (the complex's `consumable`),
//               so a job of several slots with GPUs is rejected, and so is a resource whose name
//               says gpu and whose meaning is not known
//   pe_taskid   a task of a parallel job is counted and holds nothing: the job's own record has all
//               its slots. It names one host, and so does the holding
#pragma once

#include <optional>
#include <string_view>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::grid_engine {

// For accounting::RecordReader.
accounting::Read<std::optional<accounting::Run>> read_record(std::string_view record,
                                                             const accounting::Options& options);

// Whether a text begins with a record of the accounting file, comments before it passed over.
bool is_accounting_file(std::string_view beginning);

}  // namespace pennyweight::grid_engine
