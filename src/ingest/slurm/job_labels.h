// A job's labels: what Slurm knows of it, and what its comment says in pairs.
#pragma once

#include <expected>

#include "core/label.h"
#include "ingest/slurm/job_record.h"
#include "ingest/slurm/rejection.h"

namespace pennyweight::slurm {

// `state` is the job's state in one word. A comment such as "project=chat;team=nlp" is cut at
// semicolons, or where it has none at commas; what is no pair, or names one of the built-in labels,
// stays in `comment` alone; of two pairs with one key the first counts.
std::expected<Labels, Rejection> labels_of(const JobRecord& job, std::string_view state);

}  // namespace pennyweight::slurm
