// TRY: yields the value of a Result, or returns its Error to the caller.
//
//   const auto text = TRY(read_file(path, bytes_max));
//   TRY(file.commit());                                 // a Result<void>
//
// Use it as a whole statement, as a whole initialiser or as the whole operand of return. Inside a
// larger expression GCC does not destroy the temporaries of that expression when TRY returns.
// The enclosing function returns a Result, of any type, or another std::expected of the same error.
//
// A value must be named: a bare TRY(lock()) would release the lock at once. clang refuses one; a
// value that nobody needs is written `std::ignore = TRY(f());`.
#pragma once

#include <expected>
#include <utility>

namespace pennyweight {

// The value that a TRY yields.
template <class Value, class Failure>
[[nodiscard("name the value of TRY, or assign it to std::ignore")]] Value try_value(
    std::expected<Value, Failure>&& result) {
  return *std::move(result);
}
template <class Failure>
void try_value(std::expected<void, Failure>&&) {}

}  // namespace pennyweight

#define PENNYWEIGHT_CONCAT_(a, b) a##b
#define PENNYWEIGHT_CONCAT(a, b) PENNYWEIGHT_CONCAT_(a, b)
// __extension__: a statement expression is GNU C++, which GCC and clang share.
#define PENNYWEIGHT_TRY(result, ...)                     \
  __extension__({                                        \
    auto result = (__VA_ARGS__);                         \
    if (!result) [[unlikely]]                            \
      return std::unexpected(std::move(result).error()); \
    ::pennyweight::try_value(std::move(result));         \
  })
#define TRY(...) PENNYWEIGHT_TRY(PENNYWEIGHT_CONCAT(try_result_, __COUNTER__), __VA_ARGS__)
