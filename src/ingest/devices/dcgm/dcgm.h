// Reads dcgm-exporter's /metrics as facts: the GPUs it reports, and their usage.
//
// A document has one series for each metric and device, with copies: every metric of a device is
// repeated for each pod that shares it, with the value of the whole device. So series are gathered
// by (GPU, MIG instance, workload, instant) into one Usage each; copies for containers of one pod
// coincide, and nothing is summed. Readers of the usages must not sum the workloads of one device
// either; `Counts::shared_devices` says how many devices that concerns.
//
// Rules (dcgm-exporter issues #340, #582, #655):
//   - labels are read under all their names: UUID / uuid, Hostname / hostname, pod / pod_name;
//   - `exported_pod`, where it exists, is the workload, since `pod` is then the exporter itself; a
//   `pod` that is named like the exporter counts as none; `hpc_job` is a workload too;
//   - blank sentinels, NaN and infinities are dropped and counted; a value outside the documented
//   scale of the metric is a rejected row;
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
  // When it was scraped; a sample's own timestamp wins. Absent: a sample without one is refused.
  std::optional<Instant> at;
  std::optional<NodeId> node;  // nothing: that of the Hostname label
};

struct Counts {
  std::uint64_t samples = 0;         // lines that are samples
  std::uint64_t other_metrics = 0;   // of them, of metrics that are not read
  std::uint64_t blank = 0;           // of them, sentinels, NaN and infinities
  std::uint64_t copies = 0;          // of them, repetitions of the same value
  std::uint64_t shared_devices = 0;  // devices seen under more than one workload at one instant
  std::uint64_t timeless = 0;        // samples without a timestamp, which are of Options::at
  std::uint64_t exporter_nodes = 0;  // GPUs whose node is the exporter's pod: give Options::node
  bool operator==(const Counts&) const = default;
};

struct Document {
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<RejectedRow> rejected;
  Counts counts;
};

// An Error when the document as a whole is invalid: empty, binary, over a limit, without a sample
// of DCGM. A bad line is a RejectedRow.
Result<Document> parse(std::string_view document, const Options& options);

}  // namespace pennyweight::dcgm
