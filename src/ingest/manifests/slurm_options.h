// Reads the options of sbatch, srun and salloc from their words.
#pragma once

#include <cstddef>
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

struct SlurmOptionWords {
  std::size_t count = 0;                  // words before the script or the program
  std::vector<std::string> unknown = {};  // options that Slurm does not have: "--bb-plugin"
  // False: a word after an unknown option may be its value, or the script. It is taken for the
  // value.
  bool is_certain = true;
};

// Adds the options of `words` up to the first word that is none. A name may be shortened as long as
// no other option begins so. A known option without its value, and a beginning of several names,
// are an Error.
Result<SlurmOptionWords> add_slurm_options(const std::vector<std::string>& words,
                                           SlurmOptions& options);

}  // namespace pennyweight::manifests
