// Admission reviews of strangers: bounded, answered in JSON, and nothing admitted by accident.
#include <chrono>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "ingest/manifests/document.h"
#include "insight/guardrails/admission.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;              // NOLINT(google-build-using-namespace)
  using namespace pennyweight::guardrails;  // NOLINT(google-build-using-namespace)
  static const Catalog kCatalog = Catalog::built_in();
  static const std::vector<GuardrailRule> kRules = {
      {.name = "owner", .when = {.labels_missing = {"team"}}, .reason = "r"},
      {.name = "limits",
       .effect = RuleEffect::kMutate,
       .when = {.kinds = {"*"}},
       .change = {.labels = {{"a/b~c", "x"}},
                  .run_ms = 60'000,
                  .priority_class = "low",
                  .tolerations = {"spot"}}}};
  const AdmissionPolicy policy{.rules = kRules, .catalog = kCatalog};
  const Date today = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const auto endpoint : {AdmissionEndpoint::kValidate, AdmissionEndpoint::kMutate}) {
    const auto answer = answer_review(body, endpoint, policy, today);
    if (!answer) continue;
    const auto parsed = manifests::parse_json_documents(answer->body, "answer");
    CHECK(parsed && parsed->size() == 1, "an answer is one JSON value");
    const manifests::DocumentNode& response = (*parsed)[0]["response"];
    CHECK(!response["uid"].scalar.empty(), "it names its review");
    CHECK((response["allowed"].scalar == "true") == answer->is_allowed, "it says what was decided");
    CHECK(answer->is_allowed || !answer->message.empty(), "a refusal says why");
    if (endpoint == AdmissionEndpoint::kMutate) {
      CHECK(answer->is_allowed, "changing refuses nothing");
    } else {
      CHECK(!response.has("patch"), "judging changes nothing");
      CHECK(answer->outcome != AdmissionOutcome::kUnknown || !answer->is_allowed,
            "what can't be judged is refused");
    }
  }
  return 0;
}
