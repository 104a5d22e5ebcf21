// Questions of strangers on the socket for Slurm: bounded, and no value becomes a line of its own.
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "insight/guardrails/slurm_submission.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;              // NOLINT(google-build-using-namespace)
  using namespace pennyweight::guardrails;  // NOLINT(google-build-using-namespace)
  static const Catalog kCatalog = Catalog::built_in();
  static const std::vector<GuardrailRule> kRules = {
      {.name = "defaults",
       .effect = RuleEffect::kMutate,
       .when = {.labels = {{"account", "vision"}}},
       .change = {.labels = {{"team", "vision"}, {"qos", "low"}}, .run_ms = 60'000}},
      {.name = "owner", .when = {.labels_missing = {"team"}}, .reason = "r"},
      {.name = "dear",
       .mode = RuleMode::kWarn,
       .when = {.per_run_above = Money::from_units(1, kUsd)}}};
  static const std::set<std::string_view> kKeys = {
      "allowed",     "decision",      "message",   "warning",     "cost",          "set.qos",
      "set.account", "set.partition", "set.wckey", "set.comment", "set.time_limit"};
  const AdmissionPolicy policy{.rules = kRules, .catalog = kCatalog};
  const Date today = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
  const std::string_view request(reinterpret_cast<const char*>(data), size);
  for (const bool is_daemon : {true, false}) {
    const SubmissionCaller caller{.user = "ana", .is_slurm_daemon = is_daemon};
    const auto answer = answer_slurm_submission(request, caller, policy, today);
    if (!answer) continue;
    CHECK(answer->is_submission <= is_daemon, "only slurmctld submits");
    CHECK(answer->text.size() < 200'000, "an answer fits a socket's buffer");
    CHECK(answer->is_allowed || !answer->message.empty(), "a refusal says why");
    std::set<std::string_view> found;
    std::string_view text = answer->text;
    while (text != "\n") {
      const std::string_view line = text.substr(0, text.find('\n'));
      CHECK(!line.empty() && line.size() < text.size(), "the empty line is the last one");
      const std::string_view key = line.substr(0, line.find('='));
      CHECK(kKeys.contains(key), "it has only lines that the plugins know");
      CHECK(found.insert(key).second || key == "warning", "it says nothing twice");
      CHECK(answer->is_allowed || !key.starts_with("set."), "what is refused is not changed");
      text.remove_prefix(line.size() + 1);
    }
    CHECK(answer->text.starts_with(answer->is_allowed ? "allowed=yes\n" : "allowed=no\n"),
          "it says what was decided");
  }
  return 0;
}
