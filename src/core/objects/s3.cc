// S3 and what speaks it, over HTTP: ListObjectsV2 and GET, path-style addresses.
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <utility>

#include "core/base_encoding.h"
#include "core/http/client.h"
#include "core/objects/object_store.h"
#include "core/objects/remote.h"
#include "core/objects/sign.h"
#include "core/try.h"

namespace pennyweight::objects {
namespace {

// Whether an ETag is the MD5 of the object: not of one that was uploaded in parts or encrypted with
// a key of KMS or the customer (docs.aws.amazon.com, "Object": ETag).
bool is_md5_etag(std::string_view etag, const http::Response& response) {
  const std::string encryption = response.header("x-amz-server-side-encryption");
  const bool is_hex = etag.size() == 32 &&
                      std::ranges::all_of(etag, [](char c) { return hex_value(c).has_value(); });
  return is_hex && !encryption.starts_with("aws:kms") &&
         response.header("x-amz-server-side-encryption-customer-algorithm").empty();
}

class S3Store : public ObjectStore {
 public:
  S3Store(S3Settings settings, Clock& clock)
      : settings_(std::move(settings)),
        clock_(clock),
        client_(remote_settings(settings_.ca_file)) {}

  Result<std::vector<ObjectEntry>> list() override {
    std::vector<ObjectEntry> all;
    std::string next;
    for (std::size_t page = 0; page < kListPagesMax; ++page) {
      Query query = {{"list-type", "2"}, {"prefix", settings_.prefix}};
      if (!next.empty()) query["continuation-token"] = next;
      const auto response = TRY(client_.send(request("", query, {})));
      if (response.status != 200) return refused(response, settings_.bucket);
      pugi::xml_document document;
      if (!document.load_buffer(response.body.data(), response.body.size())) {
        return fail(ErrorCode::kIo, place() + ": the list of objects is not XML");
      }
      const pugi::xml_node root = document.child("ListBucketResult");
      for (const pugi::xml_node one : root.children("Contents")) {
        ObjectEntry entry{.key = one.child_value("Key"),
                          .bytes = one.child("Size").text().as_ullong(),
                          .version = bare_etag(one.child_value("ETag")),
                          .modified_at = one.child_value("LastModified")};
        if (!entry.key.empty() && !entry.key.ends_with('/')) all.push_back(std::move(entry));
      }
      next = root.child_value("NextContinuationToken");
      if (std::string_view(root.child_value("IsTruncated")) != "true" || next.empty()) {
        std::ranges::sort(all, {}, &ObjectEntry::key);
        return all;
      }
    }
    return fail(ErrorCode::kLimit,
                fmt::format("{} has more than {} pages of objects; give a longer prefix", place(),
                            kListPagesMax));
  }

  Result<ObjectChecksum> read(const ObjectEntry& entry, std::uint64_t offset,
                              const std::function<bool(std::string_view)>& sink) override {
    const auto response =
        TRY(client_.stream(request("/" + entry.key, {}, range_headers(entry, offset)), sink));
    TRY(check_read(response, offset, entry, place()));
    const std::string etag = bare_etag(response.header("etag"));
    if (etag != entry.version) return changed(entry, place());
    if (!is_md5_etag(etag, response)) return ObjectChecksum{};
    return ObjectChecksum{ObjectChecksum::Kind::kMd5, hex_bytes(etag)};
  }

 private:
  std::string place() const { return settings_.endpoint + "/" + settings_.bucket; }

  http::Request request(const std::string& path, const Query& query,
                        const std::map<std::string, std::string>& more) const {
    const std::string encoded = "/" + percent_encoded(settings_.bucket + path, true);
    http::Request made{
        .method = "GET",
        .url = settings_.endpoint + encoded + (query.empty() ? "" : "?" + query_text(query)),
        .keeps_encoding = true};
    for (const auto& header : more) made.headers.push_back(header);
    if (settings_.access_key.empty()) return made;
    const auto signature = sign_s3({.region = settings_.region,
                                    .access_key = settings_.access_key,
                                    .secret_key = settings_.secret_key,
                                    .session_token = settings_.session_token,
                                    .at = clock_.now(),
                                    .host = host_of(settings_.endpoint),
                                    .path = encoded,
                                    .query = query});
    for (const auto& header : signature) made.headers.push_back(header);
    return made;
  }

  std::unexpected<Error> refused(const http::Response& response, const std::string& what) const {
    pugi::xml_document document;
    std::string why;
    if (document.load_buffer(response.body.data(), response.body.size())) {
      const pugi::xml_node error = document.child("Error");
      why = fmt::format(": {} {}", error.child_value("Code"), error.child_value("Message"));
    }
    return refusal_of(response, settings_.endpoint + "/" + what, why);
  }

  S3Settings settings_;
  Clock& clock_;
  http::Client client_;
};

}  // namespace

std::unique_ptr<ObjectStore> open_s3(S3Settings settings, Clock& clock) {
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  return std::make_unique<S3Store>(std::move(settings), clock);
}

}  // namespace pennyweight::objects
