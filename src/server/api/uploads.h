// What the endpoints of uploads ask of the program: to import a file that a browser sent, and to
// divide a month anew. The program does both with the code of its verbs `import` and `allocate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/bill_statement.h"
#include "ledger/store.h"

namespace pennyweight::api {

struct FileUpload {
  std::string name;      // as the ledger calls it: no path
  std::string cluster;   // empty: as the file or the configuration says
  std::string format;    // empty: detected from the content
  std::string reason;    // why a bill is sent again
  bool preview = false;  // find what it is and does, and write nothing
  // UploadReport::confirm_key of the preview that a person has seen; empty: none.
  std::string confirmed;
  std::optional<Instant> changed;  // when the file was last changed, as its sender says
  std::string_view bytes;
};

struct UploadReport {
  std::string format, description;  // "focus", "FOCUS 1.0 to 1.4"
  bool is_bill = false;
  ImportOutcome outcome;                            // of a preview: nothing
  std::uint64_t holdings = 0;                       // that were read
  std::string gpu_hours;                            // of them
  std::uint64_t rejected_count = 0;                 // rows that can't be read
  std::vector<RejectedRow> rejected;                // the first few
  std::vector<std::string> remarks;                 // sentences
  BillStatement statement;                          // of a bill
  std::vector<std::string> effect;                  // of a bill, an account and month each
  std::string confirm_key;                          // of needs_confirm
  std::vector<std::string> needs_confirm, doubles;  // sentences
};

// A run of one cluster of a month.
struct RunReport {
  std::string cluster;  // empty: of what belongs to no cluster
  std::uint64_t number = 0, lines = 0, postings = 0;
  bool unchanged = false;
};

// What is recorded of a change once it was made.
struct MadeChange {
  std::string action, subject, before, after;
};

template <class Report>
struct Made {
  Report report;
  std::vector<MadeChange> changes;  // for the audit log; none: nothing changed
};

}  // namespace pennyweight::api
