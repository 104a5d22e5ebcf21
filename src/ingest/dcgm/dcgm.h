// What dcgm-exporter's /metrics says, as facts: the GPUs it sees, and what they were seen to do.
//
// A document holds one series per metric and device, with copies: every metric of a device is
// repeated for each pod that shares it, with the value of the whole device. So series are gathered
// by (GPU, MIG instance, workload, instant) into one Usage each; copies for containers of one pod
// fall together, and nothing is ever summed. A reader of the usages must not sum the workloads of
// one device either; `Counts::shared_devices` says how many devices that concerns.
//
// Rules (dcgm-exporter issues #340, #582, #655):
//   - labels go by all their names: UUID / uuid, Hostname / hostname, pod / pod_name;
//   - `exported_pod`, where it stands, is the workload, since `pod` is then the exporter itself; a
//     `pod` that is named like the exporter counts as none; `hpc_job` is a workload as well;
//   - blank sentinels, NaN and infinities are dropped and counted; a value outside of the metric's
//     documented scale is a rejected row;
//   - a MIG instance without a UUID is called "<GPU UUID>/gi<N>".
//
// ENSURES: the same document gives the same facts, sorted: GPUs by (node, index, UUID), usages by
// (instant, GPU, instance, workload).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/rejected_row.h"
#include "ledger/usage.h"

namespace pennyweight::dcgm {

struct Options {
  std::string file;  // for messages
  ClusterId cluster;
  Instant at;                  // when it was scraped; a sample's own timestamp goes first
  std::optional<NodeId> node;  // whose it is; nothing: as the Hostname label says
};

struct Counts {
  std::uint64_t samples = 0;         // lines that are samples
  std::uint64_t other_metrics = 0;   // of them, metrics that no rule reads
  std::uint64_t blank = 0;           // of them, sentinels, NaN and infinities
  std::uint64_t copies = 0;          // of them, the same value of the same thing once more
  std::uint64_t shared_devices = 0;  // devices seen under more than one workload at one instant
  std::uint64_t exporter_nodes = 0;  // GPUs whose node is the exporter's pod: give Options::node
  bool operator==(const Counts&) const = default;
};

struct Document {
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<RejectedRow> rejected;
  Counts counts;
};

// An error when the document as a whole is none: empty, binary, over a limit, without a sample of
// DCGM. A bad line is a RejectedRow.
Result<Document> parse(std::string_view document, const Options& options);

}  // namespace pennyweight::dcgm
