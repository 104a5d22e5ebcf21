#include "allocation/explain_text.h"

#include <fmt/format.h>

namespace pennyweight {

std::string money(const Money& amount) {
  return fmt::format("{} {}", amount.currency().text(), to_text(amount.amount()));
}

std::string fraction(UInt128 part, UInt128 whole) {
  UInt128 a = part, b = whole;
  while (b != 0) {
    const UInt128 rest = a % b;
    a = b;
    b = rest;
  }
  if (a == 0) a = 1;
  return fmt::format("{}/{}", to_text(part / a), to_text(whole / a));
}

std::string percent(UInt128 part, UInt128 whole) {
  if (whole == 0) return "0 %";
  const UInt128 micro = multiply_divide(part, 100'000'000, whole).quotient;
  return fmt::format("{}.{:06} %", to_text(micro / 1'000'000),
                     static_cast<std::uint64_t>(micro % 1'000'000));
}

std::string gpu_hours(GpuTime time) {
  auto [digits, rest] = multiply_divide(time.count(), 10'000, kGpuHour.count());
  const UInt128 twice = rest * 2;
  if (twice > kGpuHour.count() || (twice == kGpuHour.count() && digits % 2 != 0)) digits += 1;
  return fmt::format("{}.{:04}", to_text(digits / 10'000),
                     static_cast<std::uint64_t>(digits % 10'000));
}

std::string share_text(CardShare share) {
  return share == CardShare::whole() ? "1" : fraction(share.units(), CardShare::kUnitsPerCard);
}

}  // namespace pennyweight
