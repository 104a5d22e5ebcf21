// Any text is a valid configuration and policy, or is refused with the position of the mistake. A
// policy that was read is unchanged after being written and read again.
#include "allocation/policy/default_policy.h"
#include "allocation/policy/difference.h"
#include "config/config.h"
#include "config/policy_document.h"
#include "config/policy_text.h"
#include "core/check.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

void check_problems(const std::vector<Problem>& problems) {
  // The configuration and its policy each have a limit, for mistakes and for warnings.
  CHECK(problems.size() <= 4 * limits::kProblemsMax, "mistakes are reported up to a limit");
  for (const Problem& problem : problems) {
    CHECK(problem.message.starts_with("fuzz.yaml"), "a refusal names the file");
  }
}

void check_policy_survives(const Policy& policy) {
  CHECK(policy.weights.compute + policy.weights.memory > 0, "weights weigh");
  CHECK(policy.usage.interval_ms > 0 && policy.usage.hold_permille >= 1000, "a sample holds");
  const std::string text = policy.text();
  if (text.size() > limits::kConfigBytesMax) return;  // escapes can make the text longer
  const auto again = parse_policy_text(text);
  CHECK(again.has_value(), "a policy's text is a policy");
  CHECK(*again == policy, "and the same one");
  CHECK(diff_policies(policy, *again) == PolicyDifference(), "in words, too");
}

}  // namespace
}  // namespace pennyweight

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ConfigReading config = check_config(text, "fuzz.yaml");
  check_problems(config.problems);
  if (!first_error(config.problems)) {
    CHECK(!config.config.store_path.empty(), "every key has a default");
    check_policy_survives(config.config.policy);
  }
  const PolicyReading policy = check_policy(text, "fuzz.yaml", default_policy());
  check_problems(policy.problems);
  if (!first_error(policy.problems)) check_policy_survives(policy.policy);
  return 0;
}
