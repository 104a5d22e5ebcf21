#include "server/api/route_helpers.h"

#include <fmt/format.h>

#include <any>
#include <limits>

#include "core/hash.h"

namespace pennyweight::api {
std::string ascending_key(std::uint64_t number) { return fmt::format("{:020}", number); }

std::string descending_key(std::uint64_t number) {
  return ascending_key(std::numeric_limits<std::uint64_t>::max() - number);
}

server::Response with_body_etag(server::Response response) {
  response.etag = to_text(hash_of(response.body));
  return response;
}

const access::Principal& principal_of(const server::Request& request) {
  const auto* const who = std::any_cast<access::Principal>(&request.principal);
  CHECK(who != nullptr, "the guard has set the principal");
  return *who;
}

server::Response not_recorded(const Error& error) {
  return server::problem(
      500, "Internal server error",
      "The change was announced in the audit log and made, but the log could not say what came of "
      "it: " +
          error.message);
}

}  // namespace pennyweight::api
