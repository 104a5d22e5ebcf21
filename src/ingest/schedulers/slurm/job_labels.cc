#include "ingest/schedulers/slurm/job_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/utf8.h"
#include "ledger/eligible_time.h"
#include "ledger/holding.h"

namespace pennyweight::slurm {
namespace {

constexpr std::array<std::string_view, 13> kBuiltIn = {"account",
                                                       "comment",
                                                       "job_name",
                                                       "partition",
                                                       "qos",
                                                       "reservation",
                                                       "state",
                                                       "user",
                                                       "time_limit_minutes",
                                                       "wckey",
                                                       kSubmitTimeLabel,
                                                       kEligibleTimeLabel,
                                                       kExitCodeLabel};

// "1:0": what the script returned, and the signal that ended it.
bool is_exit_code(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.size() <= 10 && std::ranges::all_of(part, ascii::is_digit);
  };
  return colon != std::string_view::npos && is_number(text.substr(0, colon)) &&
         is_number(text.substr(colon + 1));
}

// In the hour that occurs twice, the later one if the job can have started after it.
Instant before_start(const RecordedTime& time, const JobRecord& job) {
  return job.start && time.later <= job.start->later ? time.later : time.earlier;
}

bool is_key(std::string_view text) {
  const auto is_key_byte = [](char c) {
    return ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '/';
  };
  return !text.empty() && text.size() <= limits::kLabelKeyBytesMax &&
         std::all_of(text.begin(), text.end(), is_key_byte);
}

Result<void> add_pairs(std::string_view comment, Labels& labels) {
  const char separator = comment.find(';') == std::string_view::npos ? ',' : ';';
  while (!comment.empty()) {
    const std::size_t cut = comment.find(separator);
    const std::string_view pair = comment.substr(0, cut);
    comment.remove_prefix(cut == std::string_view::npos ? comment.size() : cut + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = ascii::trim(pair.substr(0, equals));
    const std::string_view value = ascii::trim(pair.substr(equals + 1));
    if (!is_key(key) || value.empty() || labels.find(key)) continue;
    if (is_job_fact(key)) continue;
    TRY(labels.set(key, value));
  }
  return {};
}

}  // namespace

bool is_job_fact(std::string_view key) {
  return std::ranges::find(kBuiltIn, key) != kBuiltIn.end();
}

std::expected<Labels, Rejection> job_labels(const JobRecord& job, std::string_view state) {
  const struct {
    std::string_view key, value, column;
  } fields[] = {
      {"account", job.account, "Account"},
      {"user", job.user, "User"},
      {"partition", job.partition, "Partition"},
      {"qos", job.qos, "QOS"},
      {"job_name", job.job_name, "JobName"},
      {"state", state, "State"},
      {"wckey", job.wckey, "WCKey"},
      {"comment", job.comment, "Comment"},
      {"reservation", job.reservation, "Reservation"},
  };
  Labels labels;
  for (const auto& field : fields) {
    if (field.value.empty()) continue;
    if (!is_plain_text(field.value)) {
      return std::unexpected(
          Rejection{std::string(field.column),
                    "it is not UTF-8: export with a UTF-8 locale, or convert the "
                    "file with iconv"});
    }
    if (auto set = labels.set(field.key, field.value); !set) {
      return std::unexpected(Rejection{std::string(field.column), set.error().message});
    }
  }
  if (job.time_limit_minutes) {
    const auto set = labels.set("time_limit_minutes", std::to_string(*job.time_limit_minutes));
    if (!set) return std::unexpected(Rejection{"Timelimit", set.error().message});
  }
  if (job.submit) {
    const auto set = labels.set(kSubmitTimeLabel, to_text(before_start(*job.submit, job)));
    if (!set) return std::unexpected(Rejection{"Submit", set.error().message});
  }
  if (job.eligible && job.eligible != job.submit) {
    const auto set = labels.set(kEligibleTimeLabel, to_text(before_start(*job.eligible, job)));
    if (!set) return std::unexpected(Rejection{"Eligible", set.error().message});
  }
  if (is_exit_code(job.exit_code)) {
    const auto set = labels.set(kExitCodeLabel, job.exit_code);
    if (!set) return std::unexpected(Rejection{"ExitCode", set.error().message});
  }
  if (auto added = add_pairs(job.comment, labels); !added) {
    return std::unexpected(Rejection{"Comment", added.error().message});
  }
  return labels;
}

}  // namespace pennyweight::slurm
