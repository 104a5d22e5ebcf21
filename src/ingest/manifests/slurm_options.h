// Reads the options of sbatch, srun and salloc from their words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::manifests {

// Splits a line as a shell does: blanks, quotes, backslashes; a '#' at the begin of a word ends it.
// An Error where a quote has no end.
Result<std::vector<std::string>> shell_words(std::string_view line);

// Options by their long name, without dashes; the last one counts, as in Slurm. An option without a
// value ("exclusive") has an empty one.
using SlurmOptions = std::map<std::string, std::string, std::less<>>;

// Adds the options of `words` up to the first word that is none: the script or the program.
// Unknown options are skipped; a known one without its value is an Error.
Result<void> add_slurm_options(const std::vector<std::string>& words, SlurmOptions& options);

}  // namespace pennyweight::manifests
