#include "core/gpu/normal_name.h"

#include "core/ascii.h"

namespace pennyweight {
namespace {

bool is_letter_or_digit(char c) { return ascii::is_lower(c) || ascii::is_digit(c); }

}  // namespace

std::string whole_gpu_name(std::string_view reported) {
  const std::string lowered = ascii::lower_case(reported);

  std::string_view name = lowered;
  name = name.substr(0, name.find("-mig-"));
  name = name.substr(0, name.find(" mig "));
  if (name.ends_with("-shared")) name.remove_suffix(std::string_view("-shared").size());

  std::string normal;
  for (const char c : name) {
    if (is_letter_or_digit(c)) normal += c;
  }
  return normal;
}

std::string normal_gpu_name(std::string_view reported) {
  std::string normal = whole_gpu_name(reported);
  // In this order: "NVIDIA Tesla T4", "NVIDIA GeForce RTX 4080", "AMD Instinct MI300X"; HAMi puts
  // a vendor before NVML's own, "NVIDIA-NVIDIA A10".
  for (const std::string_view word : {"nvidia", "nvidia", "tesla", "geforce", "amd", "instinct"}) {
    if (normal.starts_with(word)) normal.erase(0, word.size());
  }
  return normal;
}

}  // namespace pennyweight
