// CHECK(condition, "why it must hold"): throws when an invariant is broken.
//
// A broken invariant is a bug in this program, never bad input. The checks stay on in release
// builds: a wrong bill costs more than a branch.
#pragma once

#include <stdexcept>

namespace pennyweight {

// Caught in two places only: at the boundary of a command (app/cli/main.cc) and in the HTTP
// handler.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throws an InvariantError that says where, what and why.
[[noreturn, gnu::cold]] void check_failed(const char* condition, const char* why, const char* file,
                                          int line);

}  // namespace pennyweight

// __FILE_NAME__ has no folders: messages name none of the machine's, and the compiler cache finds
// the objects of other clones.
#define CHECK(condition, why)         \
  ((condition) ? static_cast<void>(0) \
               : ::pennyweight::check_failed(#condition, why, __FILE_NAME__, __LINE__))
