// Reads an inventory of nodes from CSV, written by hand or exported from a CMDB.
//
//   cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,shard_count,mps_count,
//   sharing,gpu_replicas,replicas_renamed,vcpu,memory_gib,from,to
//
// `node` and `from` are required. `sharing` is none, time-slicing or mps, as the Kubernetes device
// plugin is set up, with `gpu_replicas` of each GPU. `vcpu` may have decimals to a thousandth;
// `memory_gib` is taken to the nearest byte. docs/formats.md describes the columns.
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
  NodeReader(const TableOptions& options, FactSink<Node> nodes, FactSink<RejectedRow> rejected);
  ~NodeReader();

  // Takes the bytes of the file, cut anywhere. An Error is about the file as a whole, such as an
  // unknown column, or came from a sink; after one, feed nothing more. A bad row goes to
  // `rejected`.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const TableCounts& counts() const;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::inventory
