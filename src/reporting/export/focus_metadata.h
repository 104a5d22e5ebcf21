// Writes the metadata of a FOCUS file: its columns, generator, dataset instance, recency, and the
// allocation methods of its rows.
//
// Source: FOCUS, Metadata: Schema and Column Definition (1.0 on), Dataset Instance and Recency
// (1.3); attributes Correction Handling and Delivery Handling (1.4). One JSON object: the schema
// object, with the others as members beside its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/instant.h"
#include "ledger/run.h"
#include "reporting/export/focus_table.h"

namespace pennyweight {

struct AllocationMethod {
  std::string id;  // AllocatedMethodId
  std::string basis;
  Run run;
};

struct FocusMetadata {
  FocusVersion version;
  std::vector<FocusColumn> columns;  // of the file
  std::string program_version;
  std::string month;  // "2026-03"
  Interval period;    // the month's
  Instant at;         // when the file was made
  bool is_complete;   // the month is over, and all of its charges are in the file, allocated
  bool is_allocated;  // rows are shares of charges
  std::vector<AllocationMethod> methods;
};

std::string to_json(const FocusMetadata& metadata);

// A sentence that describes one of our custom columns; empty for one that came with the bill.
std::string_view describe_custom_column(std::string_view custom_column);

}  // namespace pennyweight
