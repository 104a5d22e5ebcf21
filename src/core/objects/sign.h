// Signatures of requests to object stores.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/instant.h"

namespace pennyweight::objects {

// By name: values are not yet encoded.
using Query = std::map<std::string, std::string>;

// RFC 3986: all but unreserved characters as %XX; a '/' stays if `keeps_slashes`.
std::string percent_encoded(std::string_view text, bool keeps_slashes);
std::string query_text(const Query& query);

// AWS Signature Version 4 of a GET without a body (docs.aws.amazon.com, "Signature Version 4 for
// API requests"): the headers to send.
struct S3Signature {
  std::string region, access_key, secret_key, session_token;
  Instant at;
  std::string host;  // with its port, where the URL has one
  std::string path;  // encoded
  Query query = {};
};
std::map<std::string, std::string> sign_s3(const S3Signature& request);

// Azure's Shared Key (learn.microsoft.com, "Authorize with Shared Key") of a GET without a body:
// the value of the header Authorization. `headers` are those that begin with x-ms-, in lower case.
struct SharedKey {
  std::string account;
  std::string key;   // its bytes
  std::string path;  // of the URL, encoded
  Query query = {};
  std::map<std::string, std::string> headers;
  std::string if_match = {};  // the header If-Match
};
std::string sign_shared_key(const SharedKey& request);

}  // namespace pennyweight::objects
