// What the stores over HTTP have in common.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/http/client.h"
#include "core/objects/object_store.h"

namespace pennyweight::objects {

inline constexpr std::size_t kListPagesMax = 10'000;  // of up to 1,000 or 5,000 objects

http::Settings remote_settings(const std::string& ca_file);

// The bytes from `offset` on, and only of the listed version.
std::map<std::string, std::string> range_headers(const ObjectEntry& entry, std::uint64_t offset);

// An Error where an answer is not the bytes that were asked for.
Result<void> check_read(const http::Response& response, std::uint64_t offset,
                        const ObjectEntry& entry, const std::string& place);
std::unexpected<Error> changed(const ObjectEntry& entry, const std::string& place);
std::unexpected<Error> refusal_of(const http::Response& response, const std::string& place,
                                  const std::string& why);

std::string bare_etag(std::string_view etag);    // without quotes and the mark of a weak one
std::string host_of(std::string_view endpoint);  // with its port
// REQUIRES: hexadecimal digits, an even number of them.
std::string hex_bytes(std::string_view digits);
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace pennyweight::objects
