// Error: why an operation failed, in words for the person who must act. Result<T> carries it.
//
// A bug in this program is not an Error but a failed CHECK (core/check.h), and a bad row of a file
// is not an Error but a RejectedRow (ledger/rejected_row.h).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace pennyweight {

enum class ErrorCode {
  kBadValue,     // a text is not the number, date or code that it should be
  kBadFile,      // a file or document as a whole can't be used: empty, binary, wrong format
  kNotFound,     // a file, row, run, node, price … that was asked for is not there
  kConflict,     // the same fact with other content
  kConfig,       // the configuration or the command line is wrong
  kStore,        // the store refused or failed
  kIo,           // the operating system refused: permission, disk full, …
  kLimit,        // a limit of limits.h was reached
  kUnsupported,  // understood, and not something pennyweight does
};

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;

  // Puts what failed in front of the message: error.during("cannot read bill 2026-03.csv").
  Error during(std::string_view doing) const {
    return Error{code, std::string(doing) + ": " + message};
  }
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace pennyweight
