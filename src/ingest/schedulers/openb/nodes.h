// Reads the nodes of a trace in the openb schema, as nodes of a fleet.
//
//   sn,cpu_milli,memory_mib,gpu,model
//
// The trace does not say from when until when a node was there: the options do. The pool of a node
// is its GPU model, which is what the gpu_spec of pods asks for, unless the options name one pool
// for all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "core/units.h"
#include "ledger/fact_batch.h"
#include "ledger/node.h"
#include "ledger/rejected_row.h"

namespace pennyweight::openb {

struct NodeOptions {
  std::string file;  // for messages
  ClusterId cluster;
  Instant from;
  std::optional<Instant> to;   // nothing: still there
  std::optional<PoolId> pool;  // nothing: a node's GPU model
};

struct NodeCounts {
  std::uint64_t nodes = 0;
  std::uint64_t rejected = 0;
  bool operator==(const NodeCounts&) const = default;
};

class NodeReader {
 public:
  NodeReader(const NodeOptions& options, FactSink<Node> nodes, FactSink<RejectedRow> rejected);
  ~NodeReader();

  // As PodReader's.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const NodeCounts& counts() const;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::openb
