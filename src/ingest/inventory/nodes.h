// The nodes of a fleet as a table that people write by hand or export from a CMDB.
//
//   cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,shard_count,mps_count,
//   sharing,gpu_replicas,replicas_renamed,vcpu,memory_gib,from,to
//
// `node` and `from` must be there. `sharing` is none, time-slicing or mps, as the Kubernetes device
// plugin is set up, with `gpu_replicas` of each GPU. `vcpu` may have decimals to a thousandth;
// `memory_gib` is taken to the nearest byte. The columns in words, with an example:
// docs/formats.md.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/node.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

class NodeReader {
 public:
  NodeReader(const Options& options, FactSink<Node> nodes, FactSink<RejectedRow> rejected);
  ~NodeReader();

  // Bytes in any cut. An Error is about the file as a whole (also: a column that is none of these),
  // or the sink's; a row that is not in order goes to `rejected`. Nothing may be fed after an
  // Error.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const Counts& counts() const;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::inventory
