// AdditionalInfo: what a service says about a line of its own accord, as a JSON object. Two members
// say something that other columns don't: the size of a virtual machine, and which machine of a
// scale set it is.
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
  AdditionalInfoReader(const AdditionalInfoReader&) = delete;
  AdditionalInfoReader& operator=(const AdditionalInfoReader&) = delete;

  // Nothing when the text is no JSON object, with or without its outer braces.
  std::optional<AdditionalInfo> read(std::string_view json);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// `json` in braces if it has none: Azure leaves them out of Tags in many exports.
std::string with_braces(std::string_view json);

}  // namespace pennyweight::azure
