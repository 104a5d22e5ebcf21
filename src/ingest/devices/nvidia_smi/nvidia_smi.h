// Reads what nvidia-smi printed as facts: the GPUs of a node with their MIG layout, and their
// usage.
//
// A document is the output of one command or of several, one after another, as people capture it:
//   nvidia-smi -L                             UUIDs, models, MIG devices and their profiles
//   nvidia-smi                                the table: memory, power, and memory by MIG device
//   nvidia-smi --query-gpu=… --format=csv     the same by GPU, to the millisecond
//   nvidia-smi mig -lgi                       GPU instances by number, and their profiles
// or the XML of nvidia-smi -q -x alone. Lines of anything else are skipped. The table and `-lgi`
// know GPUs only by their index, so the document must contain `-L` or a query with uuid and index
// as well. MIG profiles are in `-L` and `-lgi`; where `-L` names MIG devices, the layout is theirs,
// since their names are those that holders have.
//
// Memory, power and utilisation of the whole GPU are in a Usage without an instance; each GPU
// instance has a Usage of its own, with the power of the GPU. Compute instances of one GPU instance
// share its memory and are one Usage.
//
// ENSURES: the same document gives the same facts, sorted: GPUs by (index, UUID), usages by
// (instant, GPU, instance).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/rejected_row.h"
#include "ledger/usage.h"

namespace pennyweight::nvidia_smi {

struct Options {
  std::string file;  // for messages
  ClusterId cluster;
  NodeId node;                // nvidia-smi does not print it
  TimeZone zone;              // of the machine's clock
  std::optional<Instant> at;  // when it was captured, for readings without a time
};

struct Document {
  std::vector<Gpu> gpus;
  std::vector<Usage> usages;
  std::vector<RejectedRow> rejected;
  bool used_given_time = false;  // some reading has no time of its own and got Options::at
};

// An Error when the document as a whole is invalid: empty, binary, over a limit, without a GPU.
Result<Document> parse(std::string_view document, const Options& options);

}  // namespace pennyweight::nvidia_smi
