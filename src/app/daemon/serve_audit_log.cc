#include "app/daemon/serve_audit_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::string_view kActor = "serve";
constexpr std::string_view kImport = "import";

bool changed_something(const ImportRecord& record) {
  return record.holdings + record.nodes + record.gpus + record.usages + record.outages +
             record.outcomes + record.rejected >
         0;
}

}  // namespace

std::optional<std::uint64_t> last_import_of(std::string_view subject) {
  if (!subject.starts_with(kImport)) return std::nullopt;
  const std::size_t space = subject.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto number =
      parse_count(subject.substr(space + 1), std::numeric_limits<std::int64_t>::max());
  return number ? std::optional(*number) : std::nullopt;
}

Result<void> ServeAuditLog::find_unrecorded_imports(Store& store, audit_log::AuditLog& audit_log) {
  const auto recorded = TRY(audit_log.entries(0, 1, [](const audit_log::Entry& entry) {
    return entry.actor == kActor && entry.action == kImport;
  }));
  const std::uint64_t known =
      recorded.empty() ? 0 : last_import_of(recorded.front().subject).value_or(0);
  const auto imports = TRY(store.imports());
  for (const ImportRecord& record : imports) {
    if (record.number > known && record.source.format == kLiveFormat) add(record);
  }
  return {};
}

void ServeAuditLog::add_import(const ImportOutcome& outcome, Instant at) {
  add({.number = outcome.number,
       .source = {.format = {}, .name = {}, .file_hash = {}, .at = at},
       .holdings = outcome.holdings.created,
       .nodes = outcome.nodes.created,
       .gpus = outcome.gpus.created,
       .usages = outcome.usages.created,
       .outages = outcome.outages.created,
       .outcomes = outcome.outcomes.created,
       .rejected = outcome.rejected,
       .restated = {}});
}

void ServeAuditLog::add(const ImportRecord& record) {
  if (!changed_something(record)) return;
  const Instant at = record.source.at;
  if (!sums_) {
    sums_ = ImportSums{.first = record.number, .last = record.number, .from = at, .to = at};
  }
  ImportSums& sums = *sums_;
  ++sums.imports;
  sums.first = std::min(sums.first, record.number);
  sums.last = std::max(sums.last, record.number);
  sums.from = std::min(sums.from, at);
  sums.to = std::max(sums.to, at);
  sums.holdings += record.holdings;
  sums.nodes += record.nodes;
  sums.gpus += record.gpus;
  sums.usages += record.usages;
  sums.outages += record.outages;
  sums.outcomes += record.outcomes;
  sums.rejected += record.rejected;
}

void ServeAuditLog::add_event(AuditEvent change) {
  if (waiting_.size() < kWaitingMax) {
    waiting_.push_back(std::move(change));
  } else {
    ++dropped_changes_;
  }
}

Result<void> ServeAuditLog::append(const AuditEvent& change) {
  return append_({.at = {},
                  .actor = std::string(kActor),
                  .peer = "",
                  .action = change.action,
                  .subject = change.subject,
                  .before = change.before,
                  .after = change.after,
                  .hash = ""});
}

Result<void> ServeAuditLog::record_due(Instant now, bool all) {
  if (also_due_) {
    TRY(also_due_(now, all));
  }
  while (!waiting_.empty()) {
    TRY(append(waiting_.front()));
    waiting_.erase(waiting_.begin());
  }
  if (dropped_changes_ > 0) {
    const auto recorded =
        append({.action = "left_out",
                .subject = "changes that the log had no room for",
                .before = "",
                .after = JsonObjectBuilder().count("changes", dropped_changes_).json()});
    if (!recorded) return recorded;
    dropped_changes_ = 0;
  }
  // A clock that is set back does not delay it.
  if (!sums_ || (!all && now >= sums_->from && now - sums_->from < kRecordEvery)) return {};
  const ImportSums& sums = *sums_;
  JsonObjectBuilder facts;
  facts.text("format", kLiveFormat).count("imports", sums.imports);
  facts.text("from", to_text(sums.from)).text("to", to_text(sums.to));
  facts.count("holdings", sums.holdings)
      .count("nodes", sums.nodes)
      .count("gpus", sums.gpus)
      .count("usages", sums.usages)
      .count("outages", sums.outages)
      .count("outcomes", sums.outcomes)
      .count("rejected", sums.rejected);
  const std::string subject = sums.first == sums.last
                                  ? fmt::format("import {}", sums.last)
                                  : fmt::format("imports {} to {}", sums.first, sums.last);
  const auto recorded = append(
      {.action = std::string(kImport), .subject = subject, .before = "", .after = facts.json()});
  if (recorded) sums_.reset();
  return recorded;
}

}  // namespace pennyweight
