// Records changes of the ledger in the audit log: one function for each verb that makes them, so
// that the command line and `serve` write the same events. Without a change, nothing is recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/context/context.h"
#include "app/import/backfill_import.h"
#include "app/import/importer.h"
#include "app/run/allocate_month.h"
#include "core/try.h"
#include "reporting/invoice/invoice.h"
#include "server/api/recorded_change.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {

// Builds a JSON object; empty texts and counts of 0 are left out.
class JsonObjectBuilder {
 public:
  JsonObjectBuilder& text(std::string_view name, std::string_view value);
  JsonObjectBuilder& count(std::string_view name, std::uint64_t value);
  // Whether everything was left out.
  bool empty() const { return members_.empty(); }
  std::string json() const { return "{" + members_ + "}"; }

 private:
  void name(std::string_view name);
  std::string members_;
};

// What an entry of the audit log is about, without its author.
struct AuditEvent {
  std::string action;   // "import", "allocate", …
  std::string subject;  // "month 2026-03"
  std::string before;   // JSON, or empty
  std::string after;
};

// Nothing if nothing changed.
std::optional<AuditEvent> pricing_event(const std::string& month, const std::string& files,
                                        const ImportOutcome& outcome);
AuditEvent allocation_event(const Run& run);
std::optional<AuditEvent> import_event(std::span<const std::string> files,
                                       const FileImport& imported);

// Where the ledger's audit log lies, and what proves it.
audit_log::LogFiles audit_log_files(const Config& config);
// The audit log, to be appended to. An Error of kConflict if it is not the one that was kept, or
// lacks the entry that the accounts refer to.
Result<std::unique_ptr<audit_log::AuditLog>> open_audit_log(Context& context);
// Who runs the command: "cli:<user name>".
api::Author cli_author();

// The parts of with_intent() below.
Result<void> begin_change(Context& context, std::string_view action, std::string_view subject,
                          const std::string& facts);
void end_change(Context& context, std::string_view action, std::string_view subject,
                bool is_recorded, const Error* failure);

// Makes a change of the ledger between two entries of the audit log: "<action>.intent" before it,
// and after it those that `work` records, or "<action>.failed", or "<action>.unchanged". If the
// first can't be written, nothing is done. So there is no change without an entry, whatever fails
// or is killed.
template <class Work>
std::invoke_result_t<Work> with_intent(Context& context, std::string_view action,
                                       std::string_view subject, const std::string& facts,
                                       Work work) {
  TRY(begin_change(context, action, subject, facts));
  const std::uint64_t before = context.audit_events;
  auto done = work();
  end_change(context, action, subject, context.audit_events != before,
             done ? nullptr : &done.error());
  return done;
}
// Appends an event of a change that is made next. An Error means that it must not be made.
Result<void> announce_audit_event(Context& context, std::string_view action,
                                  std::string_view subject, const std::string& before,
                                  const std::string& after);
// Appends an event as "cli:<user name>", and stores the log's new head with the accounts, if there
// are any. An Error means that the change was made but is not, or not fully, recorded.
Result<void> record_audit_event(Context& context, std::string_view action, std::string_view subject,
                                const std::string& before, const std::string& after);

// What the intent of an import is about: "3 files".
std::string files_subject(std::span<const std::string> files);
// The names of the files of an import, cut to a bound.
std::string names_for_audit(std::span<const std::string> files);

Result<void> record_import(Context& context, std::span<const std::string> files,
                           const FileImport& imported);
// import_files(), between two entries of the audit log, as with_intent() says.
Result<FileImport> import_with_intent(Context& context, Store& store,
                                      const std::vector<std::string>& files,
                                      const ImportOptions& options);
Result<void> record_pricing(Context& context, const std::string& month, const std::string& files,
                            const ImportOutcome& outcome);
Result<void> record_allocation(Context& context, std::span<const AllocatedScope> scopes);
Result<void> record_period_close(Context& context, const Closing& closing);
Result<void> record_invoices(Context& context, std::span<const Invoice> invoices);
Result<void> record_backfill(Context& context, std::string_view address, const Interval& window,
                             const BackfillTotals& totals);

}  // namespace pennyweight
