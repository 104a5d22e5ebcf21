// LSF's accounting file lsb.acct, which `bacct` and `bhist` read too, as
// holdings.
//
//   "JOB_FINISH" "10.108" 1649214696 521375 10779 33620486 1 1648726871 0 0 1648726872 "ann" "gpu"
//   …
//
// One line a record; the order of its fields is that of lsb.acct(5), which has been the same up to
// the index of an array's element since LSF 6. Read are: the job's number, its submission and
// start, its user, queue, hosts (each as often as it gave slots, or "16*host"), status, name,
// project, exit status and array index. Slots are taken for CPUs.
//
// GPUs: the job's GPU requirement, a field "num=2:mode=shared:…", as `bsub -gpu` and queues give
// it. Its number is of each host, or with "/task" of each slot. A job that asks for GPUs in another
// way (rusage[ngpus_…]) is rejected: whether that number is of the job, its hosts or its slots is
// configured elsewhere, so nobody can tell from the file.
#pragma once

#include <optional>
#include <string_view>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::lsf {

// For accounting::RecordReader.
accounting::Read<std::optional<accounting::Run>> read_record(std::string_view record,
                                                             const accounting::Options& options);

// Whether a text begins with a record of lsb.acct, comments before it passed over.
bool is_accounting_file(std::string_view beginning);

}  // namespace pennyweight::lsf
