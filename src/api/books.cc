#include "api/books.h"

#include <fmt/format.h>

#include <any>
#include <limits>

#include "core/hash.h"

namespace pennyweight::api {
std::string in_order(std::uint64_t number) { return fmt::format("{:020}", number); }

std::string in_reverse(std::uint64_t number) {
  return in_order(std::numeric_limits<std::uint64_t>::max() - number);
}

server::Response with_version(server::Response response) {
  response.etag = to_text(hash_of(response.body));
  return response;
}

const access::Principal& asker(const server::Request& request) {
  const auto* const who = std::any_cast<access::Principal>(&request.who);
  CHECK(who != nullptr, "the guard lets nobody in whom it does not know");
  return *who;
}

server::Response not_recorded(const Error& error) {
  return server::problem(500, "Internal server error",
                         "It was done, and the audit log could not be written: " + error.message);
}

}  // namespace pennyweight::api
