// Any text is a configuration or is refused with the place of the mistake.
#include "config/config.h"
#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;
  const auto config = parse_config({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!config) {
    CHECK(config.error().message.starts_with("fuzz.yaml"), "a refusal names the file");
    return 0;
  }
  CHECK(!config->store_path.empty(), "every key has a default");
  CHECK(config->policy.weights.compute + config->policy.weights.memory > 0, "weights weigh");
  return 0;
}
