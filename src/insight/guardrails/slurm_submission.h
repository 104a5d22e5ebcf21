// Answers what Slurm's plugins ask about a job before it is submitted: whether the rules admit it,
// what they add to it, and what it costs.
//
// job_submit.lua asks inside slurmctld, which says what Slurm made of the submission, and
// cli_filter.lua in the user's own sbatch, srun and salloc, only to tell them early. Both speak
// lines, so that Lua needs no library for them:
//
//   call=submit                     allowed=no
//   user=ana                        decision=denied
//   option.gres=gpu:a100:4    ->    message=rule 'owner': the label 'team' is missing; …
//   option.time=90                  cost=at most 48.00 USD a run
//   (an empty line)                 (an empty line)
//
// In values of both, a line break is written \n, a carriage return \r, and a backslash \\, so no
// value can be taken for another line. Option names are those of sbatch(1).
// What changes a job comes as set.time_limit (minutes), set.qos, set.account, set.partition,
// set.wckey and set.comment. Whatever can't be read is an Error, and the plugin does what its own
// setting says. Pure but for the approvals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/date.h"
#include "core/error.h"
#include "insight/guardrails/admission.h"

namespace pennyweight::guardrails {

inline constexpr std::size_t kSubmissionBytesMax = 64U << 10U;

// Who asks, as the socket knows them.
struct SubmissionCaller {
  std::string user;              // of the process that asks
  bool is_slurm_daemon = false;  // slurmctld: it names the user, and its question counts
};

struct SubmissionAnswer {
  std::string text;  // the lines, with the empty one
  AdmissionOutcome outcome = AdmissionOutcome::kAdmitted;
  bool is_allowed = true;
  bool is_submission = false;  // not only advice
  std::string job;             // its name
  std::string user;
  std::string message;  // why it is refused or unknown
};

// `request`: the lines, with the empty one. Of the policy, the parts about Kubernetes don't count.
Result<SubmissionAnswer> answer_slurm_submission(std::string_view request,
                                                 const SubmissionCaller& caller,
                                                 const AdmissionPolicy& policy, Date today);

// The answer to a question that can't be answered. The plugins take it as they take none.
std::string slurm_error_answer(std::string_view why);

}  // namespace pennyweight::guardrails
