// Imports files into the ledger: detects the format, opens its parser, and runs it in a session, so
// that either all good rows of a delivery are in the ledger or nothing is.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/context/console.h"
#include "app/import/delivery_effect.h"
#include "app/import/delivery_manifest.h"
#include "app/import/input_format.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ImportOptions {
  const InputFormat* format = nullptr;  // null: detected from the content
  std::string cluster;                  // empty: as the file or the configuration says
  std::string name;                     // what the ledger calls the file; empty: its path
  std::string node;                     // of nvidia-smi and DCGM files; empty: as the file says
  std::optional<Instant> origin;        // of traces that count seconds; else the configured one
  std::optional<Instant> from, to;      // of inventories that state neither
  std::optional<Instant> at;            // when a capture without times was made
  // When a file with a `name` of its own was last changed: the path is then that of a copy.
  std::optional<Instant> changed;
  std::string columns;  // of sacct without a header, as its --format had them
  // For bills. The configuration fills what is not given or empty here.
  std::optional<DeliveryStyle> style;
  std::string reason;                                            // why a bill is sent again
  std::map<std::string, std::string, std::less<>> bill_options;  // by bill::BillOption::key
  std::string rate_card;  // a file: prices for bills without money

  // A part of a delivery whose other parts come with other commands. 0: the delivery is whole.
  std::string delivery;
  std::uint64_t part = 0, parts = 0;
  DeliveryGuard guard;
  bool confirm = false;  // a person has seen what DeliveryEffect::needs_confirm says
  // confirm_key() of what that person has seen: anything else is refused. Empty: not stated.
  std::string confirmed;
  std::string not_double;            // why what looks like a double is none; empty: refuse it
  bool allow_aside = false;          // a replacement may have rows that were set aside
  bool preview = false;              // find the effect, and write nothing
  std::vector<Money> expected;       // billed totals that the delivery must have, to the last digit
  std::vector<AsideDecision> mends;  // rows of earlier imports that the files bring whole
  // Of which these files are all that came: refused, and remembered
  // (app/import/incomplete_delivery.h).
  std::optional<IncompleteDelivery> incomplete;
};

struct FileImport {
  const InputFormat* format = nullptr;
  ImportOutcome outcome;
  std::uint64_t holdings = 0;          // that were read
  GpuTime gpu_time;                    // of those holdings whose share of a GPU is known
  std::uint64_t without_gpu_time = 0;  // holdings of MIG slices and shards: their node decides
  std::uint64_t rejected_count = 0;    // rows that can't be read
  std::vector<RejectedRow> rejected;   // the first few, conflicts among them
  std::vector<std::string> remarks;    // "18 jobs were still pending", a sentence each
  BillStatement statement;             // of a bill
  DeliveryEffect effect;               // of a bill
};

// The format of a file: the given one, or detected from its first bytes.
Result<const InputFormat*> detect_file_format(const std::string& path,
                                              const ImportOptions& options);
// How files of the format are delivered: as given, else as configured, else the format's default.
DeliveryStyle delivery_style(const InputFormat& format, const ImportOptions& options,
                             const Config& config);

// One file in a session of its own. REQUIRES: no other session is open.
Result<FileImport> import_file(Store& store, const std::string& path, const ImportOptions& options,
                               const Config& config, const Console& console, Clock& clock);

// Several files of one format as one delivery, as providers split large bills.
Result<FileImport> import_files(Store& store, const std::vector<std::string>& paths,
                                const ImportOptions& options, const Config& config,
                                const Console& console, Clock& clock);

}  // namespace pennyweight
