// Makes the labels of a job from its record, and from the pairs in its comment.
#pragma once

#include <expected>
#include <string_view>

#include "core/label.h"
#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/rejection.h"

namespace pennyweight::slurm {

// Whether a label of this name is a fact that Slurm states about a job: "user", "account". A pair
// of the comment does not pass for one.
bool is_job_fact(std::string_view key);

// `state` is the job's state in one word. A comment such as "project=chat;team=nlp" is split at
// semicolons, or at commas where it has none. What is not a pair, or names a built-in label, stays
// in `comment` alone. Of two pairs with one key the first counts.
std::expected<Labels, Rejection> job_labels(const JobRecord& job, std::string_view state);

}  // namespace pennyweight::slurm
