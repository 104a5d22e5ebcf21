// AdditionalInfo: the JSON object in which Azure's services add to a row. Two members say what no
// other column does: the size of a virtual machine, and which machine of a scale set it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::azure {

struct AdditionalInfo {
  std::string service_type;  // "Standard_ND96asr_v4"; other services write other words here
  std::string vm_name;       // "aks-gpu-12345678-vmss_2"
};

// Keeps the parser's memory between rows. Used by one thread at a time.
class AdditionalInfoReader {
 public:
  AdditionalInfoReader();
  ~AdditionalInfoReader();
  AdditionalInfoReader(AdditionalInfoReader&&) noexcept;
  AdditionalInfoReader& operator=(AdditionalInfoReader&&) noexcept;

  // Nothing for a text that is not a JSON object, with or without its outer braces.
  std::optional<AdditionalInfo> read(std::string_view json);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// Adds braces to `json` if it has none: many exports of Azure leave them out of Tags.
std::string with_braces(std::string_view json);

}  // namespace pennyweight::azure
