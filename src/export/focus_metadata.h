// The metadata of a FOCUS file: what its columns are, who made it, what it is an instance of, how
// recent it is, and by which methods its lines are divided.
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
#include "export/focus_table.h"
#include "ledger/run.h"

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
  bool is_complete;   // every line of a month that is over is there, and divided
  bool is_allocated;  // rows are parts of lines
  std::vector<AllocationMethod> methods;
};

std::string to_json(const FocusMetadata& metadata);

// What a custom column of ours says, in one sentence; empty for one that came with the bill.
std::string_view meaning_of(std::string_view custom_column);

}  // namespace pennyweight
