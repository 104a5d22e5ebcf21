// Pending: sign-ins that have begun, until the browser comes back.
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
  std::string cookie_hash;  // SHA-256 of what the browser holds
  std::string nonce;
  std::string code_verifier;
  std::string next;
  Instant ends_at;
};

// Bounded: whoever begins sign-ins without end pushes out only the oldest.
class Pending {
 public:
  explicit Pending(std::size_t at_most = 10'000) : at_most_(at_most) {}
  void add(const std::string& state, PendingSignIn sign_in, Instant now);
  // Once: whatever comes of it, the state is used up. Nothing where it is not known, over time, or
  // another browser's.
  std::optional<PendingSignIn> take(const std::string& state, std::string_view cookie, Instant now);
  std::size_t size() const { return by_state_.size(); }

 private:
  std::size_t at_most_;
  std::map<std::string, PendingSignIn> by_state_;
  std::multimap<Instant, std::string> by_end_;
};

}  // namespace pennyweight::access::oidc
