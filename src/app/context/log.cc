#include "app/context/log.h"

#include <cstdio>

#include "core/instant.h"
#include "core/json_text.h"

namespace pennyweight {
namespace {

constexpr std::size_t kSubjectsMax = 10'000;

}  // namespace

void Log::warn_hourly(std::string_view event, const std::string& about, Fields fields) {
  const Instant now = clock_.now();
  {
    const std::lock_guard lock(mutex_);
    if (warned_at_.size() >= kSubjectsMax) warned_at_.clear();
    const auto [at, is_new] = warned_at_.try_emplace(about, now);
    if (!is_new && now >= at->second && now - at->second < std::chrono::hours(1)) return;
    at->second = now;
  }
  warn(event, fields);
}

void Log::write(std::string_view level, std::string_view event, Fields fields) {
  std::string line = "{\"at\": \"" + to_text(clock_.now()) + "\", \"level\": \"";
  line += level;
  line += "\", \"event\": ";
  append_json_string(line, event);
  for (const auto& [name, value] : fields) {
    line += ", ";
    append_json_string(line, name);
    line += ": ";
    if (const auto* text = std::get_if<std::string>(&value)) {
      append_json_string(line, *text);
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      line += std::to_string(*number);
    } else {
      line += std::to_string(std::get<std::uint64_t>(value));
    }
  }
  line += "}\n";
  const std::lock_guard lock(mutex_);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace pennyweight
