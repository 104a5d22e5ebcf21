// PendingSignIns: sign-ins that have begun, until the browser returns from the provider.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/instant.h"

namespace pennyweight::access::oidc {

struct PendingSignIn {
  std::string cookie_hash;  // SHA-256 of the browser's cookie
  std::string nonce;
  std::string code_verifier;
  std::string next;
  Instant ends_at;
};

// Bounded: when there are too many, the oldest is dropped.
class PendingSignIns {
 public:
  explicit PendingSignIns(std::size_t at_most = 10'000) : at_most_(at_most) {}
  void add(const std::string& state, PendingSignIn sign_in, Instant now);
  // Takes a sign-in out; a state works only once, whatever comes of it. Nothing if the state is
  // unknown, expired, or belongs to another browser.
  std::optional<PendingSignIn> take(const std::string& state, std::string_view cookie, Instant now);
  std::size_t size() const { return by_state_.size(); }

 private:
  std::size_t at_most_;
  std::map<std::string, PendingSignIn> by_state_;
  std::multimap<Instant, std::string> by_end_;
};

}  // namespace pennyweight::access::oidc
