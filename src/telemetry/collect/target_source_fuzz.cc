// Any bytes as a target file, as JSON and as YAML: refused in words, or groups whose targets can be
// asked or are refused in words.
#include <cstdint>

#include "core/check.h"
#include "telemetry/collect/target_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight::collect;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* const name : {"fuzz.json", "fuzz.yml"}) {
    const auto groups = parse_target_file(text, name);
    if (!groups) {
      CHECK(groups.error().message.starts_with(name), "a refusal names the file");
      continue;
    }
    for (const TargetGroup& group : *groups) {
      for (const std::string& address : group.addresses) {
        const auto target = make_target({.name = "fuzz"}, address, group);
        if (!target) {
          CHECK(!target.error().message.empty(), "a refusal says why");
          continue;
        }
        CHECK(target->url.starts_with("http"), "an address is asked over HTTP");
        for (const auto& label : target->labels.labels) {
          CHECK(!label.name.starts_with("__") && !label.value.empty(), "labels are to be kept");
        }
      }
    }
  }
  return 0;
}
