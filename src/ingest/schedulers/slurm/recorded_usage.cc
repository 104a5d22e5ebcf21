#include "ingest/schedulers/slurm/recorded_usage.h"

#include <algorithm>

#include "core/ascii.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/tres.h"
#include "ledger/task_count.h"

namespace pennyweight::slurm {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;
constexpr std::uint64_t kPeakKibMax = std::uint64_t{1} << 50;

// With a unit, "3096K"; without one it is bytes, as --noconvert prints them.
std::uint64_t bytes_of(std::string_view text) {
  if (!text.empty() && ascii::is_digit(text.back()) && text.find('.') == std::string_view::npos) {
    return parse_count(text).value_or(0);
  }
  return parse_memory_bytes(text).value_or(0);
}

}  // namespace

std::optional<std::uint64_t> used_cpu_ms(std::uint64_t milliseconds) {
  if (milliseconds == 0) return std::nullopt;
  return milliseconds < kHourMs ? milliseconds : milliseconds / 1000 * 1000;
}

std::optional<std::uint64_t> step_peak_kib(const StepUsage& step) {
  std::string_view rest = step.tres_usage_in_tot;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, comma);
    if (entry.starts_with("mem=")) return checked_peak_kib(bytes_of(entry.substr(4)), 1);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  const std::uint64_t largest = bytes_of(step.max_rss);
  if (largest > 0 && parse_count(step.tasks) != std::uint64_t{1}) return std::nullopt;
  return checked_peak_kib(largest, 1);
}

std::uint64_t checked_peak_kib(std::uint64_t bytes, std::uint64_t tasks) {
  const std::uint64_t kib = bytes / 1024;
  return tasks == 0 || tasks > kTasksMax || kib > kPeakKibMax / tasks ? 0 : kib * tasks;
}

std::optional<std::uint64_t> checked_tasks(std::string_view text) {
  const auto tasks = parse_count(text);
  return tasks && *tasks <= kTasksMax ? std::optional(*tasks) : std::nullopt;
}

}  // namespace pennyweight::slurm
