#include "app/serve_trail.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

Result<void> ServeTrail::take_up(Store& store, trail::Trail& trail) {
  const auto told = trail.entries(0, 1, [](const trail::Entry& entry) {
    return entry.actor == kActor && entry.action == kImport;
  });
  if (!told) return std::unexpected(told.error());
  const std::uint64_t known = told->empty() ? 0 : last_import_of(told->front().subject).value_or(0);
  const auto imports = store.imports();
  if (!imports) return std::unexpected(imports.error());
  for (const ImportRecord& record : *imports) {
    if (record.number > known && record.source.format == kLiveFormat) add(record);
  }
  return {};
}

void ServeTrail::imported(const ImportOutcome& outcome, Instant at) {
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

void ServeTrail::add(const ImportRecord& record) {
  if (!changed_something(record)) return;
  const Instant at = record.source.at;
  if (!sums_) {
    sums_ = Sums{.first = record.number, .last = record.number, .from = at, .to = at};
  }
  Sums& sums = *sums_;
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

void ServeTrail::changed(ToldChange change) {
  if (waiting_.size() < kWaitingMax) {
    waiting_.push_back(std::move(change));
  } else {
    ++left_out_;
  }
}

Result<void> ServeTrail::append(const ToldChange& change) {
  return append_({.at = {},
                  .actor = std::string(kActor),
                  .peer = "",
                  .action = change.action,
                  .subject = change.subject,
                  .before = change.before,
                  .after = change.after,
                  .hash = ""});
}

Result<void> ServeTrail::tell(Instant now, bool all) {
  while (!waiting_.empty()) {
    if (auto told = append(waiting_.front()); !told) return told;
    waiting_.erase(waiting_.begin());
  }
  if (left_out_ > 0) {
    const auto told = append({.action = "left_out",
                              .subject = "changes that the log had no room for",
                              .before = "",
                              .after = ToldFacts().count("changes", left_out_).json()});
    if (!told) return told;
    left_out_ = 0;
  }
  // A clock that was set back does not put it off.
  if (!sums_ || (!all && now >= sums_->from && now - sums_->from < kTellEvery)) return {};
  const Sums& sums = *sums_;
  ToldFacts facts;
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
  const auto told = append(
      {.action = std::string(kImport), .subject = subject, .before = "", .after = facts.json()});
  if (told) sums_.reset();
  return told;
}

}  // namespace pennyweight
