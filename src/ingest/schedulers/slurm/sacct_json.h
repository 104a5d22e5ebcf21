// Reads `sacct --json` as the data_parser plugins 0.0.37 to 0.0.43 and their like write it.
//
// They differ: numbers are plain or {"set":…,"infinite":…,"number":…}, a state is a word or a list
// of words, texts may be null, a comment is a text or three. All forms are read. A missing field is
// absent; a field of an unknown type sets this job aside alone. Job steps are counted and skipped.
//
// The document is copied once and walked job by job; it may have limits::kDocumentBytesMax bytes
// (about 100,000 jobs with their steps: export longer periods in parts, or with --parsable2).
#pragma once

#include <string_view>

#include "ingest/schedulers/slurm/sacct.h"

namespace pennyweight::slurm {

// An Error where the document as a whole is not sacct's, or is cut off, or from the sink. Batches
// that were given before it must then be discarded.
Result<SacctCounts> read_sacct_json(std::string_view document, const SacctOptions& options,
                                    const SacctSink& sink);

}  // namespace pennyweight::slurm
