// EventBook: what people know of days to come, such as that a client starts, with all its versions.
//
// A file beside the ledger, one change a line, which is only ever added to. Events of the
// configuration are not in it; where both have an event of the same name, the configuration's
// counts. Several processes may use one book: each change takes a lock of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files/record_list.h"
#include "core/instant.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

struct EventChange {
  std::uint64_t number = 0;  // from 1 on, of the whole book
  Instant at = {};
  std::string who;
  std::string name;
  std::optional<forecasting::KnownEvent> event;  // nothing: it was removed
};

// So many names at most, so that each forecast stays quick.
inline constexpr std::size_t kKeptEventsMax = 1'000;

// Any thread may use it.
class EventBook {
 public:
  // The file need not exist.
  explicit EventBook(std::string path);

  // Those that are kept, by name. An Error where the file can't be read: a forecast without what is
  // known would be wrong, and nobody would see it.
  Result<std::vector<forecasting::KnownEvent>> events();
  // The configured ones and those of the book, whose names are not configured.
  Result<std::vector<forecasting::KnownEvent>> with(
      std::span<const forecasting::KnownEvent> configured);
  // Of one event, the oldest first; of all with an empty name.
  Result<std::vector<EventChange>> history(std::string_view name);

  // Called before anything changes, with what it was and what it will be: an Error of it, and
  // nothing does. One of the two at least.
  using Recorder = std::function<Result<void>(const std::optional<forecasting::KnownEvent>& before,
                                              const std::optional<forecasting::KnownEvent>& after)>;
  // Adds it, or replaces the one of its name; one that is as it was is left alone. Errors: kLimit
  // where there are too many or the file is full, and those of check_known_event().
  Result<void> set(const forecasting::KnownEvent& event, const std::string& who, Instant at,
                   const Recorder& record);
  // kNotFound where there is none.
  Result<void> remove(const std::string& name, const std::string& who, Instant at,
                      const Recorder& record);

 private:
  // Callers hold mutex_.
  std::vector<forecasting::KnownEvent> current() const;
  Result<void> append(const std::optional<forecasting::KnownEvent>& before, EventChange change,
                      const Recorder& record);

  std::mutex mutex_;  // guards the following
  RecordList<EventChange> changes_;
};

}  // namespace pennyweight
