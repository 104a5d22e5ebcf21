#include "server/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace pennyweight::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;

const server::Route* find(const std::vector<server::Route>& routes, const std::string& path) {
  const auto found = std::ranges::find(routes, path, &server::Route::path);
  return found == routes.end() ? nullptr : &*found;
}

server::Response ask(const server::Route& route, const std::string& encodings) {
  server::Request request;
  request.method = "GET";
  request.path = route.path;
  if (!encodings.empty()) request.headers.emplace("accept-encoding", encodings);
  server::Response response = route.handler(request);
  EXPECT_TRUE(response.body.empty()) << "pages are not copied";
  response.body = response.constant_body;
  return response;
}

std::string header(const server::Response& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

TEST(Dashboard, EveryRouteIsAnOpenGet) {
  for (const server::Route& route : dashboard_routes()) {
    EXPECT_EQ(route.method, "GET");
    EXPECT_TRUE(route.open) << route.path;
  }
}

TEST(Dashboard, EveryPageOfTheRegistryHasItsAddress) {
  const auto routes = dashboard_routes();
  const auto paths =
      matches(read(PROJECT_ROOT "/web/src/pages/registry.ts"), std::regex("path: \"([^\"]+)\""));
  EXPECT_GE(paths.size(), 11u);
  for (const std::string& path : paths) {
    const server::Route* route = find(routes, path);
    ASSERT_NE(route, nullptr) << path;
    EXPECT_THAT(ask(*route, "").body, HasSubstr("<!doctype html>")) << path;
  }
  EXPECT_NE(find(routes, "/signin"), nullptr);
  EXPECT_EQ(find(routes, "/nothing"), nullptr);
}

TEST(Dashboard, WhatThePageNamesIsThereAndMayBeKeptForEver) {
  const auto routes = dashboard_routes();
  const server::Response page = ask(*find(routes, "/"), "");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
  const auto named = matches(page.body, std::regex("(?:src|href)=\"([^\"]+)\""));
  EXPECT_GE(named.size(), 4u);
  for (const std::string& path : named) {
    const server::Route* route = find(routes, path);
    ASSERT_NE(route, nullptr) << path;
    const server::Response file = ask(*route, "");
    EXPECT_FALSE(file.body.empty());
    EXPECT_FALSE(file.etag.empty());
    if (path.starts_with("/assets/")) {
      EXPECT_THAT(header(file, "Cache-Control"), HasSubstr("immutable")) << path;
    }
  }
}

TEST(Dashboard, ThePageBearsNoScriptOrStyleOfItsOwn) {
  const server::Response page = ask(*find(dashboard_routes(), "/"), "");
  const std::string& body = page.body;
  const std::regex inline_script("<script(?![^>]*\\ssrc=)");
  EXPECT_FALSE(std::regex_search(body, inline_script));
  EXPECT_THAT(body, Not(HasSubstr("<style")));
  EXPECT_THAT(body, Not(HasSubstr(" style=")));
  EXPECT_THAT(body, Not(HasSubstr("http://")));
  EXPECT_THAT(body, Not(HasSubstr("https://")));
}

TEST(Dashboard, SendsTheFormThatTheBrowserTakes) {
  const auto routes = dashboard_routes();
  const server::Route& route = *find(routes, "/");
  const server::Response plain = ask(route, "");
  const server::Response gzip = ask(route, "gzip");
  const server::Response brotli = ask(route, "gzip, deflate, br");
  EXPECT_EQ(header(plain, "Content-Encoding"), "");
  EXPECT_EQ(header(gzip, "Content-Encoding"), "gzip");
  EXPECT_EQ(header(brotli, "Content-Encoding"), "br");
  EXPECT_EQ(gzip.body.substr(0, 2), "\x1f\x8b");
  EXPECT_LT(brotli.body.size(), plain.body.size());
  EXPECT_EQ(header(plain, "Vary"), "Accept-Encoding");
  const std::set<std::string> etags{plain.etag, gzip.etag, brotli.etag};
  EXPECT_EQ(etags.size(), 3u);
}

// Over HTTP: compressed once, with the headers of the settings, and a 304 for a current version.
TEST(Dashboard, PassesTheServerAsItIs) {
  server::Settings settings;
  settings.headers = kPageHeaders;
  settings.missing_page = missing_page();
  const auto started = server::Server::start(settings, dashboard_routes());
  ASSERT_TRUE(started.has_value());
  httplib::Client client("127.0.0.1", (*started)->port());
  client.set_decompress(false);
  const auto page = ask(*find(dashboard_routes(), "/"), "gzip, br");
  const auto got = client.Get("/", {{"Accept-Encoding", "gzip, br"}});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, page.body);
  EXPECT_EQ(got->get_header_value("Content-Encoding"), "br");
  EXPECT_EQ(got->get_header_value_count("Content-Encoding"), 1u);
  EXPECT_EQ(got->get_header_value_count("Cache-Control"), 1u);
  EXPECT_EQ(got->get_header_value("ETag"), page.etag);
  for (const auto& [name, value] : kPageHeaders) EXPECT_EQ(got->get_header_value(name), value);
  const auto again =
      client.Get("/", {{"Accept-Encoding", "gzip, br"}, {"If-None-Match", page.etag}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->status, 304);
  EXPECT_TRUE(again->body.empty());
  // A wrong address shows the pages' own "not found"; programs get a problem document.
  const auto wrong = client.Get("/nowhere", {{"Accept", "text/html,*/*"}});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->status, 404);
  EXPECT_THAT(wrong->body, HasSubstr("<!doctype html>"));
  for (const char* path : {"/nowhere", "/api/v1/nowhere"}) {
    const auto answer = client.Get(
        path, {{"Accept", std::string(path).starts_with("/api/") ? "text/html" : "*/*"}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 404);
    EXPECT_EQ(answer->get_header_value("Content-Type"), "application/problem+json");
  }
  const auto plain = client.Get("/", {{"Accept-Encoding", "identity"}});
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->has_header("Content-Encoding"));
  EXPECT_THAT(plain->body, HasSubstr("<!doctype html>"));
}

// The requests that a browser makes before it shows anything, and all it could ever make.
TEST(Dashboard, StaysWithinItsBytes) {
  const auto routes = dashboard_routes();
  const server::Response page = ask(*find(routes, "/"), "");
  std::size_t first = ask(*find(routes, "/"), "br").body.size();
  for (const std::string& path : matches(page.body, std::regex("(?:src|href)=\"([^\"]+)\""))) {
    first += ask(*find(routes, path), "br").body.size();
  }
  EXPECT_LT(first, 80'000u);
  std::size_t all = 0;
  for (const server::Route& route : routes) {
    if (route.path.starts_with("/assets/")) all += ask(route, "br").body.size();
  }
  EXPECT_LT(all, 210'000u);
  EXPECT_GT(all, first / 2);
}

TEST(Dashboard, NothingComesFromElsewhere) {
  const auto policy = std::ranges::find(kPageHeaders, "Content-Security-Policy",
                                        &std::pair<std::string, std::string>::first);
  ASSERT_NE(policy, kPageHeaders.end());
  EXPECT_THAT(policy->second, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy->second, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy->second, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy->second, Not(HasSubstr("*")));
}

}  // namespace
}  // namespace pennyweight::dashboard
