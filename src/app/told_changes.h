// ToldChanges: what verbs changed of the ledger, in the audit log: one place, so that all say it
// alike. Nothing is told where nothing changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/allocate_month.h"
#include "app/backfill_import.h"
#include "app/importer.h"
#include "app/verb.h"
#include "invoice/invoice.h"
#include "trail/trail.h"

namespace pennyweight {

// Where the audit log of a ledger is: "<store.path>.audit".
std::string trail_path(const Config& config);

// A JSON object of what is not empty.
class ToldFacts {
 public:
  ToldFacts& text(std::string_view name, std::string_view value);
  ToldFacts& count(std::string_view name, std::uint64_t value);
  std::string json() const { return "{" + members_ + "}"; }

 private:
  void name(std::string_view name);
  std::string members_;
};

struct ToldChange {
  std::string action;   // "import", "allocate", …
  std::string subject;  // "month 2026-03"
  std::string before;   // JSON, or empty
  std::string after;
};

// Nothing where nothing changed.
std::optional<ToldChange> priced_change(const std::string& month, const std::string& files,
                                        const ImportOutcome& outcome);
ToldChange allocated_change(const Run& run);

// As "cli:<the user>"; where there are accounts the log's head is kept among them. An Error says
// that the change was made and is not told.
Result<void> tell_change(Context& context, std::string_view action, std::string_view subject,
                         const std::string& before, const std::string& after);

Result<void> tell_import(Context& context, std::span<const std::string> files,
                         const FileImport& imported);
Result<void> tell_priced(Context& context, const std::string& month, const std::string& files,
                         const ImportOutcome& outcome);
Result<void> tell_allocated(Context& context, std::span<const AllocatedScope> scopes);
Result<void> tell_closed(Context& context, const Closing& closing);
Result<void> tell_issued(Context& context, std::span<const Invoice> invoices);
Result<void> tell_backfilled(Context& context, std::string_view address, const Interval& window,
                             const BackfillTotals& totals);

}  // namespace pennyweight
