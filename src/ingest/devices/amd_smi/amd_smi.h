// Reads what amd-smi and rocm-smi print as JSON: the AMD GPUs of a node, and their usage.
//
//   amd-smi list --json     index, UUID, PCI address and partition of each device
//   amd-smi static --json   model, memory and partition
//   amd-smi metric --json   utilisation, memory, power, and the counter of energy, by index
//   rocm-smi -a --json      all of it, by card ("card0": {"Unique ID": …})
//
// A document is one of these or several, one after another. `metric` knows GPUs only by their
// index, so `list` or `static` stands before it. An Instinct MI300 in the modes DPX, QPX or CPX
// shows up as several devices of one PCI address with different functions: they are one GPU, each
// partition is an instance of it, and its power and energy, which are of the whole socket, are in
// the GPU's own row once, whichever partitions repeat them.
//
// ENSURES: the same document gives the same facts, sorted: GPUs by index, usages by (GPU,
// instance).
#pragma once

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

namespace pennyweight::amd_smi {

struct Options {
  std::string file;  // for messages
  ClusterId cluster;
  NodeId node;                // neither program prints it
  std::optional<Instant> at;  // when it was captured, for readings without a time
};

struct Document {
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<RejectedRow> rejected;
  bool is_partitioned = false;   // some GPU has several partitions
  bool used_given_time = false;  // the readings have no time of their own and got Options::at
};

// An Error when the document as a whole is invalid: no JSON, over a limit, without a GPU, readings
// whose GPU nothing names, or without a time.
Result<Document> parse(std::string_view document, const Options& options);

// Whether a file that begins so is output of these programs.
bool is_amd_smi(std::string_view beginning);

}  // namespace pennyweight::amd_smi
