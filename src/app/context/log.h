// Log: a service's log on standard error, one JSON line per event.
//
//   {"at": "2026-03-01T10:00:00.123Z", "level": "info", "event": "flush", "rows": 812, …}
//
// Thread-safe. Callers must not pass secrets.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/clock.h"

namespace pennyweight {

class Log {
 public:
  using Value = std::variant<std::string, std::int64_t, std::uint64_t>;
  using Fields = std::initializer_list<std::pair<std::string_view, Value>>;

  explicit Log(Clock& clock) : clock_(clock) {}

  void info(std::string_view event, Fields fields = {}) { write("info", event, fields); }
  void warn(std::string_view event, Fields fields = {}) { write("warn", event, fields); }
  void error(std::string_view event, Fields fields = {}) { write("error", event, fields); }
  // As warn(), but once an hour about the same thing: for what comes again every few seconds.
  void warn_hourly(std::string_view event, const std::string& about, Fields fields = {});

 private:
  void write(std::string_view level, std::string_view event, Fields fields);

  Clock& clock_;
  std::mutex mutex_;  // guards the lines and what follows
  std::map<std::string, Instant> warned_at_;
};

}  // namespace pennyweight
