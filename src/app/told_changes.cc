#include "app/told_changes.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "access/accounts.h"
#include "api/audit_log.h"
#include "app/doors.h"
#include "app/input_format.h"
#include "core/decimal.h"
#include "report/json_text.h"

namespace pennyweight {
namespace {

constexpr std::size_t kNamesBytesMax = 512;  // of the files of one import
constexpr std::uint32_t kLeastKib = 64;

std::string user_name() {
  std::array<char, 4096> buffer;
  passwd entry = {};
  passwd* found = nullptr;
  const uid_t id = ::geteuid();
  if (::getpwuid_r(id, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return fmt::format("uid {}", id);
}

void add_counts(ToldFacts& facts, const ImportOutcome& outcome) {
  const std::pair<std::string_view, const FactCounts&> kinds[] = {
      {"charges", outcome.charges},
      {"holdings", outcome.holdings},
      {"nodes", outcome.nodes},
      {"gpus", outcome.gpus},
      {"usages", outcome.usages},
      {"outages", outcome.outages},
      {"corrections", outcome.corrections},
      {"outcomes", outcome.outcomes}};
  for (const auto& [name, counts] : kinds) facts.count(name, counts.created);
  facts.count("rejected", outcome.rejected)
      .count("removed", outcome.restated.removed)
      .count("reversed", outcome.restated.reversed)
      .count("late", outcome.restated.late);
}

// So that a cut tail is found out also where the command line wrote the last line.
Result<void> keep_head(Context& context, const trail::Head& head) {
  const std::string path = accounts_path(context.config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  // Nobody signs in here: a hash for that may be cheap.
  const auto accounts = access::Accounts::open(
      {.path = path, .argon2_kib = kLeastKib, .argon2_rounds = 1}, context.clock);
  if (!accounts) return std::unexpected(accounts.error());
  return api::keep_head(**accounts, head);
}

bool changed_something(const ImportOutcome& outcome) {
  ToldFacts facts;
  add_counts(facts, outcome);
  return facts.json() != "{}";
}

}  // namespace

std::string trail_path(const Config& config) { return config.store_path + ".audit"; }

void ToldFacts::name(std::string_view name) {
  if (!members_.empty()) members_ += ',';
  append_json_string(members_, name);
  members_ += ':';
}

ToldFacts& ToldFacts::text(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  this->name(name);
  append_json_string(members_, value);
  return *this;
}

ToldFacts& ToldFacts::count(std::string_view name, std::uint64_t value) {
  if (value == 0) return *this;
  this->name(name);
  members_ += std::to_string(value);
  return *this;
}

Result<void> tell_change(Context& context, std::string_view action, std::string_view subject,
                         const std::string& before, const std::string& after) {
  const auto trail = trail::Trail::open(trail_path(context.config), context.clock);
  const auto told = trail ? (*trail)->append({.number = 0,
                                              .at = {},
                                              .actor = "cli:" + user_name(),
                                              .peer = "",
                                              .action = std::string(action),
                                              .subject = std::string(subject),
                                              .before = before,
                                              .after = after,
                                              .hash = ""})
                          : Result<trail::Head>(std::unexpected(trail.error()));
  if (!told) {
    return std::unexpected(
        told.error().during("the ledger was changed, and its audit log does not say so"));
  }
  if (auto kept = keep_head(context, *told); !kept) {
    return std::unexpected(
        kept.error().during("it is done and told; the accounts don't know of the audit log's end"));
  }
  return {};
}

std::optional<ToldChange> priced_change(const std::string& month, const std::string& files,
                                        const ImportOutcome& outcome) {
  if (!changed_something(outcome)) return std::nullopt;
  ToldFacts facts;
  facts.text("name", files).count("import", outcome.number);
  add_counts(facts, outcome);
  return ToldChange{
      .action = "price", .subject = "month " + month, .before = "", .after = facts.json()};
}

ToldChange allocated_change(const Run& run) {
  const std::string& cluster = run.scope.cluster.text();
  return {.action = "allocate",
          .subject = fmt::format("cluster {}, month {}", cluster.empty() ? "(none)" : cluster,
                                 run.scope.month),
          .before = run.number > 1 ? ToldFacts().count("run", run.number - 1).json() : "",
          .after = ToldFacts()
                       .count("run", run.number)
                       .text("policy", to_text(run.policy_version))
                       .text("catalog", to_text(run.catalog_version))
                       .count("postings", run.postings)
                       .text("digest", to_text(run.postings_digest))
                       .json()};
}

Result<void> tell_import(Context& context, std::span<const std::string> files,
                         const FileImport& imported) {
  const ImportOutcome& outcome = imported.outcome;
  if (!changed_something(outcome)) return {};
  std::string names;
  for (const std::string& file : files) {
    if (names.size() + file.size() > kNamesBytesMax) {
      names += ", …";
      break;
    }
    names += (names.empty() ? "" : ", ") + file;
  }
  ToldFacts facts;
  facts.text("format", description_of(imported.format)).text("name", names);
  facts.count("files", files.size());
  add_counts(facts, outcome);
  return tell_change(context, "import", fmt::format("import {}", outcome.number), "", facts.json());
}

Result<void> tell_priced(Context& context, const std::string& month, const std::string& files,
                         const ImportOutcome& outcome) {
  const auto change = priced_change(month, files, outcome);
  if (!change) return {};
  return tell_change(context, change->action, change->subject, change->before, change->after);
}

Result<void> tell_allocated(Context& context, std::span<const AllocatedScope> scopes) {
  for (const AllocatedScope& done : scopes) {
    if (done.unchanged) continue;
    const ToldChange change = allocated_change(done.run);
    const auto told =
        tell_change(context, change.action, change.subject, change.before, change.after);
    if (!told) return told;
  }
  return {};
}

Result<void> tell_closed(Context& context, const Closing& closing) {
  return tell_change(context, "period.close", "month " + closing.month, "",
                     ToldFacts()
                         .text("by", closing.by)
                         .text("reason", closing.reason)
                         .count("lines", closing.lines)
                         .count("runs", closing.runs)
                         .text("digest", to_text(closing.digest))
                         .json());
}

Result<void> tell_issued(Context& context, std::span<const Invoice> invoices) {
  for (const Invoice& invoice : invoices) {
    if (invoice.number.empty()) continue;
    const auto told = tell_change(context, "invoice.issue", "invoice " + invoice.number, "",
                                  ToldFacts()
                                      .text("month", invoice.month)
                                      .text("customer", invoice.customer)
                                      .text("total", to_text(invoice.total_shown.amount()))
                                      .text("currency", invoice.currency.text())
                                      .text("refers_to", invoice.refers_to)
                                      .text("reason", invoice.reason)
                                      .json());
    if (!told) return told;
  }
  return {};
}

Result<void> tell_backfilled(Context& context, std::string_view address, const Interval& window,
                             const BackfillTotals& totals) {
  ToldFacts facts;
  facts.count("usages", totals.usages)
      .count("outcomes", totals.outcomes)
      .count("gpus", totals.gpus)
      .count("nodes", totals.nodes)
      .count("rejected", totals.conflicts);
  if (facts.json() == "{}") return {};
  facts.text("from", address);
  return tell_change(context, "backfill", to_text(window), "", facts.json());
}

}  // namespace pennyweight
