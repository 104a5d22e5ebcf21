// Runs a program of verbs: reads the command line and the configuration, then runs the verb.
//
// Exit codes: 0 success, 1 a check failed or the data is wrong, 2 wrong usage. A broken invariant
// is caught only here and ends with 70, the code of sysexits.h for software errors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/cli/verb.h"

namespace pennyweight {

struct Program {
  std::string name;
  std::string purpose;  // the first line of --help
  std::function<std::vector<Verb>(CLI::App&)> declare;
};

// Returns the exit code.
int run_program(int argc, char** argv, const Program& program);

}  // namespace pennyweight
