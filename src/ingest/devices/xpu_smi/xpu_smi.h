// Reads what Intel's xpu-smi and xpumcli print as JSON: the Intel GPUs of a node, and their usage.
//
//   xpu-smi discovery -j        number, UUID and model of each GPU
//   xpu-smi discovery -d 0 -j   the same of one, and its memory
//   xpu-smi stats -d 0 -j       utilisation, memory and power, by number
//
// A document is several of these, one after another: `stats` knows a GPU by its number alone, so
// `discovery` stands before it. A GPU of several tiles is one GPU: where a value is told of its
// tiles only, utilisation is their mean, and memory and power are their sums, as the
// program's guide defines those of the device (intel/xpumanager, doc/smi_user_guide.md).
//
// Intel makes a UUID of a device's type and place in its machine, so that GPUs of two nodes may
// have the same one: a GPU is known as "node/uuid" here.
//
// ENSURES: the same document gives the same facts, by number.
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

namespace pennyweight::xpu_smi {

struct Options {
  std::string file;  // for messages
  ClusterId cluster;
  NodeId node;                // the program does not print it
  std::optional<Instant> at;  // when it was captured; `stats` states a time of its own
};

struct Document {
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<RejectedRow> rejected;
  bool used_given_time = false;
};

// An Error when the document as a whole is invalid: no JSON, over a limit, without a GPU, readings
// whose GPU nothing names, or without a time.
Result<Document> parse(std::string_view document, const Options& options);

// Whether a file that begins so is output of the program.
bool is_xpu_smi(std::string_view beginning);

}  // namespace pennyweight::xpu_smi
