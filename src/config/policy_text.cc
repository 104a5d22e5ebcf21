#include "config/policy_text.h"

#include "config/policy_document.h"

namespace pennyweight {

Result<Policy> parse_policy_text(std::string_view text) {
  auto policy = parse_policy(text, "the run's policy", Policy());
  // Another version may have written keys that this one does not know, or may read the same keys
  // differently. Then the run can't be explained.
  if (!policy || policy->text() != text) {
    return fail(ErrorCode::kUnsupported,
                "the run's policy was written by another version of pennyweight; allocate again");
  }
  return policy;
}

}  // namespace pennyweight
