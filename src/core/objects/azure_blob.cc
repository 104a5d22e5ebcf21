// Azure Blob Storage over HTTP: List Blobs and Get Blob, by a shared access signature or the
// account's key.
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <utility>

#include "core/http/client.h"
#include "core/internet_date.h"
#include "core/objects/object_store.h"
#include "core/objects/remote.h"
#include "core/objects/sign.h"
#include "core/try.h"

namespace pennyweight::objects {
namespace {

constexpr const char* kApiVersion = "2021-08-06";

class AzureStore : public ObjectStore {
 public:
  AzureStore(AzureSettings settings, std::string key, Clock& clock)
      : settings_(std::move(settings)),
        key_(std::move(key)),
        clock_(clock),
        client_(remote_settings(settings_.ca_file)) {}

  Result<std::vector<ObjectEntry>> list() override {
    std::vector<ObjectEntry> all;
    std::string next;
    for (std::size_t page = 0; page < kListPagesMax; ++page) {
      Query query = {{"restype", "container"}, {"comp", "list"}, {"prefix", settings_.prefix}};
      if (!next.empty()) query["marker"] = next;
      const auto response = TRY(client_.send(request("", query, {})));
      if (response.status != 200) return refusal_of(response, place(), code_of(response));
      pugi::xml_document document;
      if (!document.load_buffer(response.body.data(), response.body.size())) {
        return fail(ErrorCode::kIo, place() + ": the list of blobs is not XML");
      }
      const pugi::xml_node root = document.child("EnumerationResults");
      for (const pugi::xml_node one : root.child("Blobs").children("Blob")) {
        const pugi::xml_node properties = one.child("Properties");
        // A folder of a hierarchical namespace is no file.
        if (std::string_view(properties.child_value("ResourceType")) == "directory") continue;
        all.push_back({.key = one.child_value("Name"),
                       .bytes = properties.child("Content-Length").text().as_ullong(),
                       .version = bare_etag(properties.child_value("Etag")),
                       .modified_at = sortable(properties.child_value("Last-Modified"))});
      }
      next = root.child_value("NextMarker");
      if (next.empty()) {
        std::ranges::sort(all, {}, &ObjectEntry::key);
        return all;
      }
    }
    return fail(ErrorCode::kLimit,
                fmt::format("{} has more than {} pages of blobs; give a longer prefix", place(),
                            kListPagesMax));
  }

  Result<ObjectChecksum> read(const ObjectEntry& entry, std::uint64_t offset,
                              const std::function<bool(std::string_view)>& sink) override {
    const auto response =
        TRY(client_.stream(request("/" + entry.key, {}, range_headers(entry, offset)), sink));
    TRY(check_read(response, offset, entry, place()));
    if (bare_etag(response.header("etag")) != entry.version) return changed(entry, place());
    // Of a range, Content-MD5 is of the range, and x-ms-blob-content-md5 of the blob.
    std::string md5 = response.header("x-ms-blob-content-md5");
    if (md5.empty() && offset == 0) md5 = response.header("content-md5");
    const auto digest = base64_bytes(md5);
    if (!digest || digest->size() != 16) return ObjectChecksum{};
    return ObjectChecksum{ObjectChecksum::Kind::kMd5, *digest};
  }

 private:
  std::string place() const { return settings_.endpoint + "/" + settings_.container; }

  // "Thu, 05 Mar 2026 10:11:12 GMT" as "2026-03-05 10:11:12".
  static std::string sortable(std::string_view date) {
    static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (date.size() != 29) return std::string(date);
    const std::size_t month = kMonths.find(date.substr(8, 3));
    return fmt::format("{}-{:02}-{} {}", date.substr(12, 4), month / 3 + 1, date.substr(5, 2),
                       date.substr(17, 8));
  }

  static std::string code_of(const http::Response& response) {
    const std::string code = response.header("x-ms-error-code");
    return code.empty() ? "" : ": " + code;
  }

  http::Request request(const std::string& path, const Query& query,
                        const std::map<std::string, std::string>& more) const {
    const std::string encoded = "/" + percent_encoded(settings_.container + path, true);
    std::string parameters = query_text(query);
    if (!settings_.sas.empty()) parameters += (parameters.empty() ? "" : "&") + settings_.sas;
    http::Request made{
        .method = "GET",
        .url = settings_.endpoint + encoded + (parameters.empty() ? "" : "?" + parameters),
        .keeps_encoding = true};
    std::map<std::string, std::string> headers = {
        {"x-ms-version", kApiVersion}, {"x-ms-date", internet_date(clock_.now(), "GMT")}};
    for (const auto& [name, value] : more) {
      // Range is signed where it stands among the standard headers; x-ms-range is not among them.
      if (name == "Range") {
        headers["x-ms-range"] = value;
      } else {
        made.headers.emplace_back(name, value);
      }
    }
    for (const auto& header : headers) made.headers.push_back(header);
    if (!key_.empty()) {
      const std::string host = host_of(settings_.endpoint);
      const std::size_t after_host = settings_.endpoint.find(host) + host.size();
      made.headers.emplace_back(
          "Authorization",
          sign_shared_key(
              {.account = settings_.account,
               .key = key_,
               .path = settings_.endpoint.substr(after_host) + encoded,
               .query = query,
               .headers = headers,
               .if_match = more.contains("If-Match") ? more.at("If-Match") : std::string()}));
    }
    return made;
  }

  AzureSettings settings_;
  std::string key_;
  Clock& clock_;
  http::Client client_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_azure(AzureSettings settings, Clock& clock) {
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  if (settings.sas.starts_with('?')) settings.sas.erase(0, 1);
  std::string key;
  if (!settings.account_key.empty()) {
    auto bytes = base64_bytes(settings.account_key);
    if (!bytes || bytes->empty()) {
      return fail(ErrorCode::kConfig,
                  fmt::format("the key of the account {} is not base64", settings.account));
    }
    key = *std::move(bytes);
  }
  return std::make_unique<AzureStore>(std::move(settings), std::move(key), clock);
}

}  // namespace pennyweight::objects
