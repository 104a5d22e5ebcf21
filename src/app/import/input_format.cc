#include "app/import/input_format.h"

#include "app/import/format_lists.h"

namespace pennyweight {

std::span<const InputFormat> input_formats() {
  static const std::vector<InputFormat> kFormats = [] {
    std::vector<InputFormat> all;
    for (auto* list : {bill_inputs, scheduler_inputs, kubernetes_inputs, provider_totals_inputs,
                       inventory_inputs, device_inputs}) {
      for (InputFormat& format : list()) all.push_back(std::move(format));
    }
    return all;
  }();
  return kFormats;
}

const InputFormat* find_input_format(std::string_view name) {
  for (const InputFormat& format : input_formats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::vector<std::string> input_format_names() {
  std::vector<std::string> names;
  for (const InputFormat& format : input_formats()) names.push_back(format.name);
  return names;
}

const InputFormat* find_bill_input(const bill::BillFormat& bill, bill::BillEncoding encoding) {
  for (const InputFormat& format : input_formats()) {
    if (format.bill == &bill && format.encoding == encoding) return &format;
  }
  return nullptr;
}

}  // namespace pennyweight
