#include "insight/queries/known_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pennyweight {
namespace {

using forecasting::DailyCosts;
using forecasting::KnownEvent;

constexpr std::size_t kEventNotesMax = 5;

// Whether a filter may be about the dimension of the event's key.
bool is_of_event(const SummaryFilter& filter, const KnownEvent& event) {
  return event.by.empty() || event.by == filter.dimension;
}

// "team nlp", or "nlp" where its dimension is not said.
std::string event_key_text(const KnownEvent& event) {
  return event.by.empty() ? event.key : event.by + " " + event.key;
}

class EventChooser {
 public:
  EventChooser(const std::string& by, std::span<const SummaryFilter> scope, int horizon,
               DailyCostHistory& history)
      : by_(by),
        scope_(scope),
        last_(history.last_day() + std::chrono::days(horizon)),
        history_(history),
        currency_(history.parts.front().days.front().currency()) {}

  void add(const KnownEvent& event) {
    if ((event.to && *event.to < history_.first_day) || event.from > last_) return;
    // Of other values, or of a dimension that the filters don't name, nothing is said: whoever sees
    // these costs need not see those.
    if (!event.key.empty() && (excludes(event) || !is_near(event))) return;
    if (event.per_day && event.per_day->currency() != currency_) {
      const auto unit = [](Currency one) {
        return one == kGpuHourUnit ? std::string("GPU-hours") : one.text();
      };
      return leave_out(event, fmt::format("its amount is in {}, and this is in {}",
                                          unit(event.per_day->currency()), unit(currency_)));
    }
    if (event.key.empty()) return take(event, "");
    if (by_.empty()) return add_to_whole(event);
    if (event.by.empty() || event.by == by_) return add_to_part(event);
    if (event.percent && selects_event(scope_, event)) return take(event, "");
    leave_out(event, fmt::format("it is about {}; forecasts by {} have it", event_key_text(event),
                                 event.by));
  }

  EventChoice finish() {
    if (left_out_ > kEventNotesMax) {
      choice_.notes.push_back(
          fmt::format("{} more known events don't count here", left_out_ - kEventNotesMax));
    }
    return std::move(choice_);
  }

 private:
  // Whether the filters say that the costs are of other values: then it is none of theirs.
  bool excludes(const KnownEvent& event) const {
    return std::ranges::any_of(scope_, [&](const SummaryFilter& filter) {
      if (event.by.empty() || filter.dimension != event.by) return false;
      const bool is_named = std::ranges::find(filter.values, event.key) != filter.values.end();
      return is_named == filter.negate;
    });
  }

  // Whether the costs may be the event's: they are all that there are, the filters name its value,
  // or they have parts by its dimension.
  bool is_near(const KnownEvent& event) const {
    if (scope_.empty()) return true;
    if (!by_.empty() && (event.by.empty() || event.by == by_)) return true;
    return std::ranges::any_of(scope_,
                               [&](const SummaryFilter& filter) { return names(filter, event); });
  }

  void add_to_whole(const KnownEvent& event) {
    if (event.percent && selects_event(scope_, event)) return take(event, "");
    // Beside another filter, such as a cluster's, the same amount would count in each of them.
    const bool is_whole = std::ranges::all_of(
        scope_, [&](const SummaryFilter& filter) { return names(filter, event); });
    if (event.per_day && is_whole) return take(event, history_.parts.front().key);
    leave_out(event, event.percent
                         ? fmt::format("what {} costs can't be told apart in this sum",
                                       event_key_text(event))
                         : fmt::format("these are a part of what {} costs, and how much of the "
                                       "amount is theirs is not known",
                                       event_key_text(event)));
  }

  void add_to_part(const KnownEvent& event) {
    const auto is_part = [&](const std::string& key) {
      return std::ranges::find(history_.parts, key, &DailyCosts::key) != history_.parts.end();
    };
    if (is_part(event.key)) return take(event, event.key);
    // Of any dimension it may be about another one.
    if (event.by.empty()) return;
    const bool is_all = std::ranges::all_of(
        scope_, [&](const SummaryFilter& filter) { return filter.dimension == by_; });
    if (event.percent) {
      if (is_part(kOtherKeys)) {
        leave_out(event, fmt::format("{} is one of {}", event_key_text(event), kOtherKeys));
      }
      return;  // without costs, nothing remains of them
    }
    if (!is_all) {
      return leave_out(event, fmt::format("{} has none of these costs so far, and whether it will "
                                          "is not known",
                                          event_key_text(event)));
    }
    if (is_part(kOtherKeys)) return take(event, kOtherKeys);
    DailyCosts part{event.key, {}};
    part.days.assign(history_.missing.size(), Money::zero(currency_));
    history_.parts.push_back(std::move(part));
    choice_.new_keys.push_back(event.key);
    take(event, event.key);
  }

  static bool names(const SummaryFilter& filter, const KnownEvent& event) {
    return !filter.negate && is_of_event(filter, event) &&
           std::ranges::find(filter.values, event.key) != filter.values.end();
  }

  // `key`: the part that it changes; empty: all of them.
  void take(KnownEvent event, const std::string& key) {
    event.key = key;
    event.by = key.empty() ? "" : by_;
    choice_.events.push_back(std::move(event));
  }

  void leave_out(const KnownEvent& event, const std::string& why) {
    if (++left_out_ > kEventNotesMax) return;
    choice_.notes.push_back(fmt::format("event '{}' does not count here: {}", event.name, why));
  }

  const std::string& by_;
  const std::span<const SummaryFilter> scope_;
  const Date last_;
  DailyCostHistory& history_;
  const Currency currency_;
  EventChoice choice_ = {};
  std::size_t left_out_ = 0;
};

}  // namespace

bool selects_event(std::span<const SummaryFilter> scope, const KnownEvent& event) {
  return !event.key.empty() && std::ranges::any_of(scope, [&](const SummaryFilter& filter) {
    return !filter.negate && filter.values.size() == 1 && filter.values.front() == event.key &&
           is_of_event(filter, event);
  });
}

std::vector<forecasting::KnownEvent> convert_events(std::span<const forecasting::KnownEvent> events,
                                                    CurrencyConversion* conversion, Date day) {
  std::vector<forecasting::KnownEvent> all(events.begin(), events.end());
  if (conversion == nullptr) return all;
  for (forecasting::KnownEvent& event : all) {
    if (!event.per_day || event.per_day->currency() == kGpuHourUnit) continue;
    const auto converted = conversion->convert(*event.per_day, to_text(day).substr(0, 7));
    if (converted) event.per_day = *converted;
  }
  return all;
}

EventChoice choose_events(std::span<const KnownEvent> events, const std::string& by,
                          std::span<const SummaryFilter> scope, int horizon,
                          DailyCostHistory& history) {
  EventChooser chooser(by, scope, horizon, history);
  for (const KnownEvent& event : events) chooser.add(event);
  return chooser.finish();
}

}  // namespace pennyweight
