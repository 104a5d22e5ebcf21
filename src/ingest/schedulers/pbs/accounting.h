// the accounting log of PBS Professional and OpenPBS, as holdings.
//
//   MM/DD/YYYY HH:MM:SS;E;1234.server;user=ann queue=gpu … start=1770865936
//     exec_vnode=(n1:ncpus=8:ngpus=2:mem=10485760kb)+(n2:ncpus=8:ngpus=2) end=1770869536 …
//
// One line a record; the server writes a file a day, PBS_HOME/server_priv/accounting/YYYYMMDD. The
// format is that of the chapter "Accounting" of the Administrator's Guide.
//
//   E, R        a job ended, or a run of it did and it was queued again: the time from start to
//               end, which are seconds since 1970. Runs of one job are told apart by their start
//   exec_vnode  what it had on each vnode: ncpus, ngpus, mem. "n1[0]" is a vnode of the host n1
//   u, z        a job gave vnodes up before its end, or was suspended. Its E has the vnodes of its
//               start and no suspensions, so it is charged for them all; how many there are is said
//   others      Q, S, D, A, L … are counted and hold nothing: what a job had is on its E or R. So
//               is the E of an array as a whole ("12[].server"), whose elements have their own
//
// Users choose the text of some values, and PBS doesn't mask quotes in them. So a record with two
// values of one key that is read is rejected: an account named `x" end=…` would end the job.
//
// A job whose Resource_List.ngpus asks for GPUs that no vnode of exec_vnode states is rejected, and
// so is one without exec_vnode (Torque): on which nodes the GPUs were is not known then.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::pbs {

// For accounting::RecordReader.
accounting::Read<std::optional<accounting::Run>> read_record(std::string_view record,
                                                             const accounting::Options& options);

// "04/16/2025 10:19:48", with which its lines begin.
inline constexpr std::size_t kStampBytes = 19;
bool begins_with_stamp(std::string_view line);

// Keys of a record that are read.
bool is_read(std::string_view key);

// Whether a text begins with a record of the accounting log.
bool is_accounting_record(std::string_view line);

}  // namespace pennyweight::pbs
