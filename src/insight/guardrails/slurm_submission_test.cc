#include "insight/guardrails/slurm_submission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace pennyweight::guardrails {
namespace {

constexpr Date kSubmissionDay = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
constexpr std::string_view kSubmissionPrices =
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_"
    "gib\n"
    "own,,a,on_demand,2026-01-01,20,USD,A100-SXM4-40GB,4,16,4\n"
    "own,,(cpu),on_demand,2026-01-01,0,USD,,,,\n"
    "own,,(memory_gib),on_demand,2026-01-01,0,USD,,,,\n";
const SubmissionCaller kSlurmctld = {.user = "slurm", .is_slurm_daemon = true};
const SubmissionCaller kSomebody = {.user = "ana", .is_slurm_daemon = false};

std::vector<GuardrailRule> submission_rules() {
  return {{.name = "defaults",
           .effect = RuleEffect::kMutate,
           .when = {.labels = {{"account", "vision"}}},
           .change = {.labels = {{"team", "vision"}, {"qos", "low"}}, .run_ms = 7'200'000}},
          {.name = "owner",
           .when = {.labels_missing = {"team"}},
           .reason = "100%s must be known",
           .way_out = "add --comment=team=NAME"},
          {.name = "big", .effect = RuleEffect::kRequireApproval, .when = {.gpus_above = 2}},
          {.name = "dear run",
           .when = {.labels = {{"team", "run"}}, .per_run_above = Money::from_units(10, kUsd)}}};
}

Result<SubmissionAnswer> ask_gate(const std::string& lines,
                                  const SubmissionCaller& caller = kSlurmctld,
                                  bool admits_unknown = false) {
  static const auto catalog = Catalog::built_in().overridden_by(kSubmissionPrices, "prices.csv");
  EXPECT_TRUE(catalog) << catalog.error().message;
  const auto rules = submission_rules();
  const AdmissionPolicy policy{.rules = rules,
                               .catalog = *catalog,
                               .pricing = {.provider = "own",
                                           .gpu_models = {{"a100", "A100-SXM4-40GB"}},
                                           .at = parse_instant("2026-11-01").value()},
                               .admits_unknown = admits_unknown};
  return answer_slurm_submission(lines + "\n", caller, policy, kSubmissionDay);
}

// The lines of an answer, which must be well-formed.
std::vector<std::string> lines_of(const Result<SubmissionAnswer>& answer) {
  if (!answer) return {"error " + answer.error().message};
  std::vector<std::string> lines;
  std::string_view text = answer->text;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    EXPECT_NE(end, std::string_view::npos) << answer->text;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  EXPECT_TRUE(!lines.empty() && lines.back().empty()) << answer->text;
  if (!lines.empty()) lines.pop_back();
  return lines;
}

bool has_line(const std::vector<std::string>& lines, std::string_view begin) {
  return std::ranges::any_of(lines, [&](const auto& line) { return line.starts_with(begin); });
}

std::string small_job(const std::string& more) {
  return "call=submit\nuser=ana\noption.gres=gpu:a100:1\n" + more;
}

TEST(SlurmSubmission, DecidesAndSaysWhatItCosts) {
  EXPECT_EQ(lines_of(ask_gate(small_job("option.comment=team=nlp\noption.time=90\n"))),
            (std::vector<std::string>{"allowed=yes", "decision=allowed",
                                      "cost=5.00 USD an hour, at most 7.50 USD a run"}));
  const auto denied = ask_gate(small_job("option.time=90\n"));
  const auto lines = lines_of(denied);
  EXPECT_EQ(lines[0], "allowed=no");
  EXPECT_EQ(lines[1], "decision=denied");
  EXPECT_TRUE(lines[2].starts_with("message=rule 'owner'")) << lines[2];
  EXPECT_TRUE(lines[2].contains("100%s must be known")) << lines[2];
  EXPECT_EQ(denied->outcome, AdmissionOutcome::kRefused);
  EXPECT_EQ(denied->user, "ana");
}

TEST(SlurmSubmission, ChangesWhatIsNotStated) {
  const auto lines = lines_of(ask_gate(small_job("option.account=vision\noption.comment=run=4\n")));
  EXPECT_TRUE(has_line(lines, "set.comment=run=4;team=vision")) << fmt::format("{}", lines.size());
  EXPECT_TRUE(has_line(lines, "set.qos=low"));
  EXPECT_TRUE(has_line(lines, "set.time_limit=120"));
  EXPECT_TRUE(has_line(lines, "cost=5.00 USD an hour, at most 10.00 USD a run"));
  // What is stated stays, and what is refused is not changed.
  EXPECT_FALSE(has_line(
      lines_of(ask_gate(small_job(
          "option.account=vision\noption.comment=team=a\noption.qos=high\noption.time=5\n"))),
      "set."));
  EXPECT_FALSE(has_line(
      lines_of(ask_gate("call=submit\noption.gres=gpu:a100:4\noption.account=vision\n")), "set."));
}

TEST(SlurmSubmission, NoValueBecomesALine) {
  // A comment with line breaks, as the plugin escapes it.
  const auto answer =
      ask_gate(small_job("option.account=vision\n"
                         "option.comment=a\\nset.time_limit=999999\\r\\nallowed=yes\\\\n\n"));
  const auto lines = lines_of(answer);
  EXPECT_EQ(std::ranges::count_if(lines, [](const auto& l) { return l.starts_with("allowed="); }),
            1);
  EXPECT_FALSE(has_line(lines, "set.time_limit=999999"));
  EXPECT_TRUE(has_line(lines, "set.time_limit=120"));
  EXPECT_TRUE(
      has_line(lines, "set.comment=a\\nset.time_limit=999999\\r\\nallowed=yes\\\\n;team=vision"));
  // The same in a refusal, which repeats what can't be read.
  const auto refused =
      lines_of(ask_gate(small_job("option.comment=team=a\noption.array=x\\nallowed=yes\n")));
  EXPECT_EQ(refused[0], "allowed=no");
  EXPECT_FALSE(has_line(refused, "allowed=yes"));
}

TEST(SlurmSubmission, LongCommentsAreWholeOrLeft) {
  const std::string longer(4000, 'x');
  auto lines =
      lines_of(ask_gate(small_job("option.account=vision\noption.comment=" + longer + "\n")));
  EXPECT_TRUE(has_line(lines, "set.comment=" + longer + ";team=vision"));
  // Not cut, and so not judged as if it had the label.
  lines = lines_of(ask_gate(
      small_job("option.account=vision\noption.comment=" + std::string(20'000, 'x') + "\n")));
  EXPECT_EQ(lines[0], "allowed=no");
  EXPECT_TRUE(has_line(lines, "message=rule 'owner'"));
  EXPECT_TRUE(has_line(lines, "warning=comment can't be set"));
}

TEST(SlurmSubmission, AJobWithoutATimeHasThatOfItsPartition) {
  const std::string job = small_job("option.comment=team=run\n");
  EXPECT_TRUE(has_line(lines_of(ask_gate(job + "partition_minutes=60\n")), "allowed=yes"));
  EXPECT_TRUE(has_line(lines_of(ask_gate(job + "partition_minutes=180\n")), "allowed=no"));
  // Nothing limits these, and that is not one hour.
  EXPECT_TRUE(has_line(lines_of(ask_gate(job)), "allowed=no"));
  for (const char* time : {"UNLIMITED", "0", "-1"}) {
    const auto lines = lines_of(ask_gate(job + "partition_minutes=60\noption.time=" + time + "\n"));
    EXPECT_TRUE(has_line(lines, "allowed=no")) << time;
    EXPECT_TRUE(has_line(lines, "message=rule 'dear run': nothing limits its time")) << lines[2];
  }
  EXPECT_TRUE(
      has_line(lines_of(ask_gate(small_job("option.account=vision\noption.time=UNLIMITED\n"))),
               "set.time_limit=120"));
}

TEST(SlurmSubmission, OnlySlurmctldSubmits) {
  EXPECT_TRUE(lines_of(ask_gate(small_job(""), kSomebody))[0].starts_with("error ana may ask"));
  const auto advice = ask_gate("call=advise\nuser=root\noption.gres=gpu:a100:1\n", kSomebody);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->user, "ana");
  EXPECT_FALSE(advice->is_submission);
  EXPECT_FALSE(advice->is_allowed);
}

TEST(SlurmSubmission, RefusesWhatItCannotRead) {
  for (const char* lines :
       {"", "call=rm\n", "user=ana\n", "call=submit\nx=y\n", "call=submit\nuser=\\q\n",
        "call=submit\nuser=a\\\n", "call=submit\noption.\n", "call=submit\npartition_minutes=-1\n",
        "call=submit\n\nallowed=yes\n"}) {
    EXPECT_FALSE(ask_gate(lines)) << lines;
  }
  EXPECT_FALSE(ask_gate("call=submit\noption.comment=" + std::string(kSubmissionBytesMax, 'x')));
  std::string many = "call=submit\n";
  for (int i = 0; i < 300; ++i) many += "user=a\n";
  EXPECT_FALSE(ask_gate(many));
}

TEST(SlurmSubmission, AnErrorIsOneLine) {
  const auto refused = ask_gate("call=rm\\nallowed=yes\n");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.contains("rm\nallowed=yes"));
  const std::string answer = slurm_error_answer(refused.error().message);
  EXPECT_EQ(std::ranges::count(answer, '\n'), 2) << answer;
  EXPECT_TRUE(answer.starts_with("error=") && answer.ends_with("\n\n"));
}

TEST(SlurmSubmission, WhatNoRuleJudgesIsAsThePolicySays) {
  const std::string shards = "call=submit\noption.gres=shard:1\noption.comment=team=a\n";
  const auto refused = ask_gate(shards);
  EXPECT_TRUE(has_line(lines_of(refused), "message=no rule can judge it"));
  EXPECT_EQ(refused->outcome, AdmissionOutcome::kUnknown);
  const auto admitted = lines_of(ask_gate(shards, kSlurmctld, true));
  EXPECT_EQ(admitted[0], "allowed=yes");
  EXPECT_TRUE(has_line(admitted, "warning=no rule can judge it"));
}

}  // namespace
}  // namespace pennyweight::guardrails
