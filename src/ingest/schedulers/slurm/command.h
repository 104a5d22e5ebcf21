// Runs one of Slurm's programs and returns what it prints.
//
// There is no shell: words are passed as they are. Standard input is empty. The program gets a
// process group of its own, which is killed as a whole when the time is over or the output too
// long, so that a wrapper leaves nothing behind. It waits in poll(2) with a timer of the kernel; no
// clock is read here.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kCommandOutputBytesMax = 256u << 20;  // of one answer
inline constexpr std::size_t kCommandErrorBytesMax = 4096;  // of standard error, for messages

struct Command {
  std::vector<std::string> words;  // the program, looked up in PATH, and its arguments; not empty
  // The complete environment of the program, as KEY=value; the later of two values for one key
  // counts.
  std::vector<std::string> environment;
  std::chrono::milliseconds timeout;
  std::size_t output_bytes_max = kCommandOutputBytesMax;
};

// The standard output of a program that exited with 0. An Error names the program and says why: it
// can't be started, took too long, printed too much, was killed, or its exit status and its words
// on standard error. Thread-safe.
Result<std::string> run_command(const Command& command);

}  // namespace pennyweight::slurm
