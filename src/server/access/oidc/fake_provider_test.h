// FakeProvider: an OpenID provider on loopback for tests, with configurable answers and signatures.
#pragma once

#include <cjose/cjose.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "server/access/oidc/encoding.h"

namespace pennyweight::access::oidc {

struct FreeKey {
  void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
};
using TestKey = std::unique_ptr<cjose_jwk_t, FreeKey>;

inline TestKey rsa_key(const std::string& kid, std::size_t bits = 2048) {
  static constexpr std::uint8_t kExponent[] = {1, 0, 1};
  cjose_err error = {};
  TestKey key(cjose_jwk_create_RSA_random(bits, kExponent, sizeof kExponent, &error));
  CHECK(key && cjose_jwk_set_kid(key.get(), kid.data(), kid.size(), &error), "a key");
  return key;
}

inline TestKey ec_key(const std::string& kid) {
  cjose_err error = {};
  TestKey key(cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error));
  CHECK(key && cjose_jwk_set_kid(key.get(), kid.data(), kid.size(), &error), "a key");
  return key;
}

inline std::string public_json(const cjose_jwk_t& key) {
  cjose_err error = {};
  char* text = cjose_jwk_to_json(&key, false, &error);
  CHECK(text != nullptr, "a key's public half");
  std::string json = text;
  std::free(text);
  return json;
}

inline std::string signed_token(const std::string& claims, const cjose_jwk_t& key,
                                const std::string& alg, const std::string& kid) {
  cjose_err error = {};
  const std::unique_ptr<cjose_header_t, decltype(&cjose_header_release)> header(
      cjose_header_new(&error), &cjose_header_release);
  CHECK(cjose_header_set(header.get(), CJOSE_HDR_ALG, alg.c_str(), &error), "an algorithm");
  if (!kid.empty()) {
    CHECK(cjose_header_set(header.get(), CJOSE_HDR_KID, kid.c_str(), &error), "a key's name");
  }
  const std::unique_ptr<cjose_jws_t, decltype(&cjose_jws_release)> jws(
      cjose_jws_sign(&key, header.get(), reinterpret_cast<const std::uint8_t*>(claims.data()),
                     claims.size(), &error),
      &cjose_jws_release);
  const char* text = nullptr;
  CHECK(jws && cjose_jws_export(jws.get(), &text, &error), "a signature");
  return text;
}

// The claims of a valid sign-in.
struct TestClaims {
  std::string issuer;
  std::string audience = "\"pw\"";
  std::string nonce;
  std::int64_t issued = 0;
  std::int64_t expires = 0;
  std::string more = R"(,"preferred_username":"Ana","name":"Ana Lima","groups":["people"])";
  std::string json() const {
    return R"({"iss":")" + issuer + R"(","sub":"s-1","aud":)" + audience + R"(,"nonce":")" + nonce +
           R"(","iat":)" + std::to_string(issued) + R"(,"exp":)" + std::to_string(expires) + more +
           "}";
  }
};

class FakeProvider {
 public:
  FakeProvider() : rsa_(rsa_key("one")) {
    keys = {public_json(*rsa_)};
    server_.Get("/.well-known/openid-configuration",
                [this](const httplib::Request&, httplib::Response& response) {
                  ++metadata_requests;
                  response.status = metadata_status;
                  response.set_content(metadata(), "application/json");
                });
    server_.Get("/jwks", [this](const httplib::Request&, httplib::Response& response) {
      ++key_requests;
      response.status = keys_status;
      std::string list;
      for (const std::string& key : keys) list += (list.empty() ? "" : ",") + key;
      response.set_content("{\"keys\":[" + list + "]}", "application/json");
    });
    server_.Post("/token", [this](const httplib::Request& request, httplib::Response& response) {
      token_body = request.body;
      authorization = request.get_header_value("Authorization");
      response.status = token_status;
      response.set_content(token_answer(), "application/json");
    });
    server_.Get("/userinfo", [this](const httplib::Request& request, httplib::Response& response) {
      authorization = request.get_header_value("Authorization");
      response.set_content(userinfo, "application/json");
    });
    server_.Get("/away", [](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("http://localhost:9/jwks");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    CHECK(port_ > 0, "a port");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    issuer = "http://127.0.0.1:" + std::to_string(port_);
    claims.issuer = issuer;
    sign = [this](const std::string& json) { return signed_token(json, *rsa_, "RS256", "one"); };
    token_answer = [this] {
      return R"({"access_token":"at","token_type":"Bearer","id_token":")" + sign(claims.json()) +
             "\"}";
    };
    metadata = [this] {
      return R"({"issuer":")" + issuer + R"(","authorization_endpoint":")" + issuer +
             R"(/auth","token_endpoint":")" + issuer + R"(/token","jwks_uri":")" + issuer +
             R"(/jwks","response_types_supported":["code"],)"
             R"("token_endpoint_auth_methods_supported":["client_secret_basic","none"])" +
             more_metadata + "}";
    };
  }
  ~FakeProvider() {
    server_.stop();
    thread_.join();
  }

  // Changed by tests between requests.
  std::string issuer;
  TestClaims claims;
  std::vector<std::string> keys;
  std::function<std::string(const std::string& json)> sign;
  std::function<std::string()> token_answer;
  std::function<std::string()> metadata;
  std::string more_metadata;
  std::string userinfo;
  int token_status = 200;
  int metadata_status = 200;
  int keys_status = 200;
  // The requests it got.
  std::atomic<int> metadata_requests = 0;
  std::atomic<int> key_requests = 0;
  std::string token_body;
  std::string authorization;

 private:
  TestKey rsa_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace pennyweight::access::oidc
