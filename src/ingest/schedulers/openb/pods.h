// Reads the pods of a Kubernetes trace in the openb schema (Alibaba's cluster trace of 2023), as
// holdings.
//
//   name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,
//   scheduled_time
//
// github.com/hkust-adsl/kubernetes-scheduler-simulator, data/README.md. Times are seconds from an
// origin that the trace does not state. There may be columns `namespace` and `node` as well.
//
//   num_gpu, gpu_milli   whole GPUs at 1000; below, that many thousandths of one GPU, in compute
//   and in memory; 0 and 0: a pod without a GPU
//   gpu_spec             "V100M16|V100M32": in a pool of one of these names, so nodes must be in
//                        the pool of their model, as nodes.h puts them; empty: anywhere in the
//                        cluster
//   node                 where there is such a column: on this node
//   scheduled_time       empty: never scheduled; counted, and no holding
//   deletion_time        empty: still running when the trace was read, at PodOptions::read_at
//
// A pod's GPU-hours are num_gpu * gpu_milli / 1000 * (deletion_time - scheduled_time) / 3600.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_batch.h"
#include "ledger/holding.h"
#include "ledger/rejected_row.h"

namespace pennyweight::openb {

struct PodOptions {
  std::string file;  // for messages
  ClusterId cluster;
  Instant origin;   // what second 0 of the trace is
  Instant read_at;  // until when a pod without a deletion_time is known to have run
};

struct PodCounts {
  std::uint64_t pods = 0;  // valid rows
  std::uint64_t holdings = 0;
  std::uint64_t never_scheduled = 0;
  std::uint64_t without_time = 0;  // deleted in the second in which they were scheduled
  std::uint64_t rejected = 0;
  bool operator==(const PodCounts&) const = default;
};

class PodReader {
 public:
  PodReader(const PodOptions& options, FactSink<Holding> holdings, FactSink<RejectedRow> rejected);
  ~PodReader();

  // Bytes in chunks of any length. An Error is about the file as a whole, or the sink's; a row with
  // a mistake goes to `rejected`. Nothing may be fed after an Error.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const PodCounts& counts() const;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::openb
