#include "insight/queries/activity_windows.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/activity_scan.h"

namespace pennyweight {
namespace {

// 48 bytes each, and as much again where vectors grow.
constexpr std::size_t kWindowSamplesMax = 8'000'000;
constexpr std::chrono::milliseconds kFirstWindow = std::chrono::hours(1);
constexpr std::chrono::milliseconds kLongestWindow = std::chrono::days(7);
constexpr std::chrono::milliseconds kShortestWindow = std::chrono::minutes(1);
// Facts up to here decide about samples before it (see ActivityProfiles::state).
constexpr std::chrono::hours kNotYetSettled{2};

std::optional<ImportRecord> last_import_of(const std::vector<ImportRecord>& imports) {
  const auto last = std::ranges::max_element(imports, {}, &ImportRecord::number);
  return last == imports.end() ? std::nullopt : std::optional(*last);
}

// From where to go on; nothing: from the beginning.
Result<std::optional<Instant>> resume_kept(Store& store, const ActivityPeriod& period,
                                           const ActivityKeep::Kept& kept,
                                           std::span<const ImportRecord> imports,
                                           advising::ActivityProfiles& profiles) {
  // The same ledger, and not another that was put in its place.
  const auto then = std::ranges::find(imports, kept.last_import.number, &ImportRecord::number);
  const bool is_same_ledger = then != imports.end() &&
                              then->source.file_hash == kept.last_import.source.file_hash &&
                              then->source.at == kept.last_import.source.at;
  const Instant until = advising::end_of(*kept.state);
  if (!is_same_ledger || kept.begin != period.sampled.begin() || until >= period.sampled.end()) {
    return std::optional<Instant>();
  }
  const Interval counted(kept.begin, until);
  if (TRY(has_usage_after(store, period.cluster, counted, kept.last_import.number))) {
    return std::optional<Instant>();
  }
  return profiles.resume(*kept.state) ? std::optional(until) : std::nullopt;
}

}  // namespace

std::optional<ActivityKeep::Kept> ActivityKeep::find(const ClusterId& cluster,
                                                     const std::string& month) const {
  const std::lock_guard lock(mutex_);
  const auto at = kept_.find({cluster.text(), month});
  return at == kept_.end() ? std::nullopt : std::optional(at->second);
}

void ActivityKeep::keep(const ClusterId& cluster, const std::string& month, Kept kept) {
  const std::lock_guard lock(mutex_);
  const std::pair key(cluster.text(), month);
  if (kept_.size() >= kKeptMax && !kept_.contains(key)) {
    // The one of the oldest import goes: where there are more clusters than are kept, all of them
    // would else be counted anew each time.
    kept_.erase(std::ranges::min_element(
        kept_, {}, [](const auto& each) { return each.second.last_import.number; }));
  }
  kept_.insert_or_assign(key, std::move(kept));
}

Result<void> read_activity(Store& store, const ActivityPeriod& period, ActivityKeep* keep,
                           advising::ActivityProfiles& profiles) {
  Instant at = period.sampled.begin();
  std::optional<ImportRecord> last_import;
  if (keep != nullptr) {
    const std::vector<ImportRecord> imports = TRY(store.imports());
    last_import = last_import_of(imports);
    if (const auto kept = keep->find(period.cluster, period.month)) {
      const auto until = TRY(resume_kept(store, period, *kept, imports, profiles));
      if (until) at = *until;
    }
  }
  const Instant settled = std::chrono::floor<std::chrono::hours>(period.end - kNotYetSettled);
  std::chrono::milliseconds length = kFirstWindow;
  while (at < period.sampled.end()) {
    const Instant stop = at < settled ? settled : period.sampled.end();
    const Interval window(at, std::min(stop, at + length));
    profiles.begin_window();
    bool is_too_much = false;
    TRY(scan_activity(
        store, period.cluster, window,
        [&](std::span<const ActivitySeries> series, std::span<const ActivitySample> samples) {
          profiles.add(series, samples);
          is_too_much = profiles.window_samples() > kWindowSamplesMax && length > kShortestWindow;
          return !is_too_much;
        }));
    if (is_too_much) {
      profiles.drop_window();
      length = std::max(kShortestWindow, length / 2);
      continue;
    }
    if (profiles.window_samples() < kWindowSamplesMax / 3) {
      length = std::min(kLongestWindow, length * 2);
    }
    profiles.end_window();
    at = window.end();
    if (keep != nullptr && last_import && at == settled) {
      keep->keep(period.cluster, period.month,
                 {*last_import, period.sampled.begin(), profiles.state(settled)});
    }
  }
  return {};
}

}  // namespace pennyweight
