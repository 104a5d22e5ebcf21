#include "server/dashboard/dashboard.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "core/check.h"
#include "server/dashboard/pack.h"

namespace pennyweight::embedded {
std::string_view dashboard_pack();
}

namespace pennyweight::dashboard {
namespace {

std::string_view encoding_header(Encoding encoding) {
  switch (encoding) {
    case Encoding::kIdentity:
      return "";
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kBrotli:
      return "br";
  }
  return "";
}

server::Response answer(const PackedFile& file, const server::Request& request) {
  const Variant& variant = choose_variant(file, request.header("accept-encoding"));
  const std::string_view encoding = encoding_header(variant.encoding);
  server::Response response{.content_type = std::string(file.content_type),
                            .constant_body = variant.bytes};
  response.headers = {
      {"Cache-Control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Vary", "Accept-Encoding"}};
  // The bytes differ by encoding, so the ETag does as well.
  response.etag = '"' + std::string(file.etag);
  if (!encoding.empty()) {
    response.headers.emplace_back("Content-Encoding", encoding);
    response.etag += '-' + std::string(encoding);
  }
  response.etag += '"';
  return response;
}

server::Route to_route(const std::string& path, PackedFile file) {
  server::Route route;
  route.method = "GET";
  route.path = path;
  route.open = true;
  route.handler = [file = std::move(file)](const server::Request& request) {
    return answer(file, request);
  };
  return route;
}

}  // namespace

std::vector<server::Route> dashboard_routes() {
  auto files = read_pack(embedded::dashboard_pack());
  CHECK(files.has_value(), "the pack comes from our own build");
  std::vector<server::Route> routes;
  for (const PackedFile& file : *files) routes.push_back(to_route(std::string(file.path), file));

  return routes;
}

server::Response missing_page() {
  auto files = read_pack(embedded::dashboard_pack());
  CHECK(files.has_value(), "the pack comes from our own build");
  const auto page = std::ranges::find(*files, "/index.html", &PackedFile::path);
  CHECK(page != files->end(), "web/build.mjs writes it");
  const Variant& plain = choose_variant(*page, "");
  server::Response response{.status = 404,
                            .content_type = std::string(page->content_type),
                            .body = std::string(plain.bytes)};
  response.headers = {{"Cache-Control", "no-store"}};
  return response;
}

}  // namespace pennyweight::dashboard
