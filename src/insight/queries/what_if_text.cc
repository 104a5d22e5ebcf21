#include "insight/queries/what_if_text.h"

#include <fmt/format.h>

#include "core/card_share.h"
#include "core/quantity.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

GpuTime replayed_gpu_time(Int128 milli_gpu_us) {
  // A thousandth of a GPU is 72,072 of its units.
  return GpuTime::of(static_cast<UInt128>(milli_gpu_us) * (CardShare::kUnitsPerCard / 1000) / 1000);
}

}  // namespace

std::string replayed_duration_text(std::int64_t us) {
  const std::int64_t seconds = us / 1'000'000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

std::string exact_duration_text(std::int64_t us) {
  const std::int64_t seconds = (us + 999'999) / 1'000'000;
  if (seconds < 3600) return replayed_duration_text(seconds * 1'000'000);
  return fmt::format("{} h {:02} min {:02} s", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string difference_text(std::int64_t was, std::int64_t is) {
  if (was == is) return "0 s";
  return fmt::format("{}{}", is > was ? "+" : "-",
                     replayed_duration_text(is > was ? is - was : was - is));
}

std::string replayed_hours_text(Int128 milli_gpu_us) {
  return format_gpu_hours(replayed_gpu_time(milli_gpu_us), 2, Thousands::kSeparated);
}

std::string replayed_share_text(Int128 part, Int128 whole) {
  if (whole == 0) return "-";
  const auto hundredths = static_cast<std::int64_t>(part * 10'000 / whole);
  return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
}

std::string replayed_count_text(std::uint64_t count) {
  return format_count(count, Thousands::kSeparated);
}

std::string millionths_text(std::uint64_t millionths) {
  return fmt::format("{}.{:06}", millionths / kMillion, millionths % kMillion);
}

std::string thousandths_text(std::uint64_t thousandths) {
  return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

}  // namespace pennyweight
