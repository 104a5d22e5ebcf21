#include "insight/guardrails/slurm_submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/manifests/slurm_job.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/rules.h"
#include "insight/guardrails/usage_limit.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

using manifests::SlurmOptions;

constexpr std::size_t kSubmissionLinesMax = 200;
constexpr std::size_t kSlurmMessageBytesMax = 1500;
// Of what changes a job. Far more than Slurm takes, and an answer stays within a socket's buffer.
constexpr std::size_t kSlurmFieldBytesMax = 16U << 10U;
constexpr std::string_view kOptionPrefix = "option.";
// Labels that are fields of a job; others go into its comment.
constexpr std::array<std::string_view, 4> kJobFields = {"account", "partition", "qos", "wckey"};

std::unexpected<Error> refuse_submission(std::string what) {
  return fail(ErrorCode::kBadValue, std::move(what));
}

// A carriage return is escaped, since Lua's sockets drop it.
std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case 'n':
        plain += '\n';
        break;
      case 'r':
        plain += '\r';
        break;
      case '\\':
        plain += '\\';
        break;
      default:
        return std::nullopt;
    }
  }
  return plain;
}

std::string escaped_value(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    switch (letter) {
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      case '\\':
        line += "\\\\";
        break;
      default:
        line += letter;
    }
  }
  return line;
}

struct Submission {
  bool is_submit = false;
  std::string user;
  std::uint64_t partition_minutes = 0;  // the limit of a job that states none; 0: there is none
  SlurmOptions options;
};

Result<void> read_field(const std::string& key, std::string value, Submission& submission) {
  if (key == "call") {
    submission.is_submit = value == "submit";
    if (submission.is_submit || value == "advise") return {};
    return refuse_submission(
        fmt::format("the call '{}' is neither submit nor advise", printable_text(value, 40)));
  }
  if (key == "user") {
    submission.user = printable_text(value, 100);
    return {};
  }
  if (key == "partition_minutes") {
    submission.partition_minutes = TRY(parse_count(value, manifests::kRunMsMax / 60'000));
    return {};
  }
  if (key.starts_with(kOptionPrefix) && key.size() > kOptionPrefix.size()) {
    submission.options[key.substr(kOptionPrefix.size())] = std::move(value);
    return {};
  }
  return refuse_submission(
      fmt::format("the field '{}' is not known; the plugins and serve are of one version",
                  printable_text(key, 60)));
}

Result<Submission> read_submission(std::string_view text) {
  if (text.size() > kSubmissionBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("a submission has more than {} bytes", kSubmissionBytesMax));
  }
  Submission submission;
  bool has_call = false;
  for (std::size_t lines = 0; lines < kSubmissionLinesMax; ++lines) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return refuse_submission("the submission has no end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) {
      if (!text.empty()) return refuse_submission("there is text after the end of the submission");
      if (!has_call) return refuse_submission("the submission does not say call=");
      return submission;
    }
    const std::size_t equals = line.find('=');
    auto value = unescaped(equals == std::string_view::npos ? "\\" : line.substr(equals + 1));
    if (!value) {
      return refuse_submission(
          fmt::format("'{}' is no line such as option.time=60", printable_text(line, 60)));
    }
    const std::string key(line.substr(0, equals));
    has_call = has_call || key == "call";
    TRY(read_field(key, *std::move(value), submission));
  }
  return refuse_submission(
      fmt::format("the submission has more than {} lines", kSubmissionLinesMax));
}

class SubmissionReview {
 public:
  SubmissionReview(Submission submission, const SubmissionCaller& caller,
                   const AdmissionPolicy& policy, Date today)
      : options_(std::move(submission.options)),
        partition_minutes_(submission.partition_minutes),
        policy_(policy),
        today_(today) {
    answer_.is_submission = submission.is_submit;
    answer_.user = caller.is_slurm_daemon ? submission.user : caller.user;
    const auto name = options_.find("job-name");
    if (name != options_.end()) answer_.job = printable_text(name->second, 200);
  }

  SubmissionAnswer run() {
    decide();
    write();
    return std::move(answer_);
  }

 private:
  Result<Estimate> estimate() const {
    Estimate found = TRY(estimate_workloads(manifests::read_slurm_options(options_),
                                            policy_.catalog, policy_.pricing, policy_.offers));
    for (WorkloadEstimate& job : found.workloads) job.workload.user = answer_.user;
    return found;
  }

  void decide() {
    const auto arrived = estimate();
    if (!arrived) return not_judged(arrived.error().message);
    if (!arrived->unpriced.empty()) return not_judged(arrived->unpriced[0].reason);
    change(changes_of(arrived->workloads[0], policy_.rules, arrived->currency,
                      policy_.context(today_)));
    // What Slurm itself limits once nobody else has.
    if (option("time").empty() && partition_minutes_ > 0) {
      options_["time"] = fmt::format("{}", partition_minutes_);
    }
    const auto now = estimate();
    if (!now || now->workloads.empty()) return not_judged("its changed form can't be read");
    const WorkloadEstimate& job = now->workloads[0];
    Verdict verdict = judge_workload(job, policy_.rules, now->currency, policy_.context(today_));
    add_hits(
        limit_hits(job, policy_.limits, now->currency, policy_.month_left_ms, policy_.charging),
        verdict);
    tell_cost(job, now->currency);
    decide_by(verdict);
    if (verdict.decision == Decision::kNeedsApproval) ask_approvals(job, verdict);
  }

  std::string_view option(std::string_view name) const {
    const auto at = options_.find(name);
    return at == options_.end() ? std::string_view() : std::string_view(at->second);
  }

  // Adds what the job does not state. Later rules see it, as they do at admission.
  void change(std::span<const WorkloadChange> changes) {
    for (const WorkloadChange& one : changes) {
      for (const auto& [key, value] : one.labels) set_label(key, value);
      const bool is_endless =
          option("time").empty() || !manifests::parse_time_limit_ms(option("time")).value_or(1);
      if (!one.run_ms || !is_endless) continue;
      // Slurm counts minutes.
      const std::uint64_t minutes = std::max<std::uint64_t>(1, *one.run_ms / 60'000);
      set("time", "time_limit", fmt::format("{}", minutes));
    }
  }

  // What can't be carried whole is not set: a job is what was judged.
  void set(const std::string& name, const std::string& field, const std::string& value) {
    if (value.size() > kSlurmFieldBytesMax || value.find('\0') != std::string::npos) {
      return warn(fmt::format("{} can't be set: it would have {} bytes, of at most {}, or a NUL",
                              name, value.size(), kSlurmFieldBytesMax));
    }
    options_[name] = value;
    set_[field] = value;
  }

  void set_label(const std::string& key, const std::string& value) {
    const auto reading = manifests::read_slurm_options(options_);
    if (reading.workloads.empty() || reading.workloads[0].labels.contains(key)) return;
    const bool is_field = std::ranges::find(kJobFields, key) != kJobFields.end();
    if (is_field || key == "comment") return set(key, key, value);
    if (value.find_first_of(";,\n") != std::string::npos) {
      return warn(
          fmt::format("the label '{}' can't be added to a comment: its value has a "
                      "separator of pairs",
                      key));
    }
    std::string comment(option("comment"));
    const bool has_commas =
        comment.find(';') == std::string::npos && comment.find(',') != std::string::npos;
    if (!comment.empty()) comment += has_commas ? "," : ";";
    set("comment", "comment", comment + key + "=" + value);
  }

  void tell_cost(const WorkloadEstimate& job, Currency currency) {
    const EstimateTotals totals = totals_of(job, currency);
    if (totals.not_priced > 0) {
      cost_ = "not known: " + job.groups[0].problem;
      return;
    }
    cost_ = fmt::format("{} {} an hour", format_minor(totals.per_hour), currency.text());
    if (totals.without_length > 0) return;
    cost_ +=
        fmt::format(", at most {} {} a run", format_minor(totals.per_run_max), currency.text());
  }

  void decide_by(const Verdict& verdict) {
    decision_ = to_text(verdict.decision);
    VerdictText told = verdict_text(verdict);
    for (const std::string& warning : told.warnings) warn(warning);
    answer_.message = std::move(told.refusal);
    answer_.is_allowed = verdict.decision < Decision::kNeedsApproval;
    if (!answer_.is_allowed) {
      answer_.outcome = AdmissionOutcome::kRefused;
    } else if (verdict.decision == Decision::kWarned) {
      answer_.outcome = AdmissionOutcome::kWarned;
    } else if (!set_.empty()) {
      answer_.outcome = AdmissionOutcome::kChanged;
    }
  }

  // Advice neither uses an approval nor asks for one.
  void ask_approvals(const WorkloadEstimate& job, const Verdict& verdict) {
    if (policy_.approvals == nullptr) return;
    const Currency currency = policy_.pricing.currency;
    const std::string by = "slurm:" + answer_.user;
    if (!job.workload.approval.empty()) {
      const auto redeemed = policy_.approvals->redeem(
          job.workload.approval, claim_of(job, verdict, currency), by, !answer_.is_submission);
      if (redeemed) {
        answer_.is_allowed = true;
        answer_.outcome = AdmissionOutcome::kAdmitted;
        answer_.message.clear();
        decision_ = "approved";
        return;
      }
      answer_.message += "; its approval does not hold: " + redeemed.error().message;
    }
    if (!answer_.is_submission) return;
    ApprovalRequest request = request_of(job, verdict, currency, policy_.charging);
    request.by = by;
    request.source = "slurm";
    const auto filed = policy_.approvals->file(std::move(request));
    answer_.message += filed ? fmt::format(
                                   "; {} asks for it: once it is approved, submit it with "
                                   "--comment={}=TOKEN, beside the pairs that are there",
                                   *filed, manifests::kSlurmApprovalKey)
                             : "; and it can't be asked for: " + filed.error().message;
  }

  void not_judged(const std::string& why) {
    answer_.outcome = AdmissionOutcome::kUnknown;
    decision_ = "unknown";
    answer_.message = "no rule can judge it: " + why;
    answer_.is_allowed = policy_.admits_unknown;
    if (answer_.is_allowed) warn(answer_.message);
  }

  void warn(const std::string& text) {
    if (warnings_.size() < 8) warnings_.push_back(text);
  }

  void write() {
    const auto field = [&](std::string_view key, std::string_view value) {
      answer_.text += fmt::format("{}={}\n", key, escaped_value(value));
    };
    const auto line = [&](std::string_view key, std::string_view value) {
      field(key, printable_text(value, kSlurmMessageBytesMax));
    };
    line("allowed", answer_.is_allowed ? "yes" : "no");
    line("decision", decision_);
    if (!answer_.is_allowed) line("message", answer_.message);
    for (const std::string& warning : warnings_) line("warning", warning);
    if (!cost_.empty()) line("cost", cost_);
    // Nothing of a job that is refused is changed.
    if (answer_.is_allowed) {
      for (const auto& [name, value] : set_) field("set." + name, value);
    }
    answer_.text += "\n";
  }

  SlurmOptions options_;
  const std::uint64_t partition_minutes_;
  const AdmissionPolicy& policy_;
  const Date today_;
  SubmissionAnswer answer_;
  std::string_view decision_ = "allowed";
  std::string cost_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> set_;
};

}  // namespace

Result<SubmissionAnswer> answer_slurm_submission(std::string_view request,
                                                 const SubmissionCaller& caller,
                                                 const AdmissionPolicy& policy, Date today) {
  auto submission = TRY(read_submission(request));
  if (submission.is_submit && !caller.is_slurm_daemon) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} may ask with call=advise only; guardrails.slurm.daemon_users says "
                            "who submits",
                            printable_text(caller.user, 100)));
  }
  return SubmissionReview(std::move(submission), caller, policy, today).run();
}

std::string slurm_error_answer(std::string_view why) {
  return fmt::format("error={}\n\n", escaped_value(printable_text(why, 400)));
}

}  // namespace pennyweight::guardrails
