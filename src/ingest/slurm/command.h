// Runs a program of Slurm's and takes what it prints.
//
// No shell: words are words. Standard input is empty. The program has a process group of its own,
// which is killed whole when the time is over or the output too long, so that nothing is left
// behind of a wrapper either. Waiting is done in poll(2) with a timer of the kernel's: no clock is
// read here.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kCommandOutputBytesMax = 256u << 20;  // of one answer
inline constexpr std::size_t kCommandErrorBytesMax = 4096;         // kept of standard error

struct Command {
  std::vector<std::string> words;  // the program, looked up in PATH, and its arguments; not empty
  // The program's whole environment, as KEY=value; of two values for one key the later counts.
  std::vector<std::string> environment;
  std::chrono::milliseconds timeout;
  std::size_t output_bytes_max = kCommandOutputBytesMax;
};

// Standard output of a program that exited with 0. An error names the program and says why: it
// can't be started, took too long, printed too much, was killed, or its exit status and what it
// said on standard error. May be called from any thread.
Result<std::string> run_command(const Command& command);

}  // namespace pennyweight::slurm
