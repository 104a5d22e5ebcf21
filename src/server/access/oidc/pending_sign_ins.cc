#include "server/access/oidc/pending_sign_ins.h"

#include <utility>

#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "server/access/oidc/encoding.h"

namespace pennyweight::access::oidc {

void PendingSignIns::add(const std::string& state, PendingSignIn sign_in, Instant now) {
  while (!by_end_.empty() && (by_end_.begin()->first <= now || by_state_.size() >= at_most_)) {
    by_state_.erase(by_end_.begin()->second);
    by_end_.erase(by_end_.begin());
  }
  by_end_.emplace(sign_in.ends_at, state);
  by_state_.insert_or_assign(state, std::move(sign_in));
}

std::optional<PendingSignIn> PendingSignIns::take(const std::string& state, std::string_view cookie,
                                                  Instant now) {
  const auto found = by_state_.find(state);
  if (found == by_state_.end()) return std::nullopt;
  PendingSignIn sign_in = std::move(found->second);
  by_state_.erase(found);
  const auto [begin, end] = by_end_.equal_range(sign_in.ends_at);
  for (auto at = begin; at != end; ++at) {
    if (at->second == state) {
      by_end_.erase(at);
      break;
    }
  }
  if (sign_in.ends_at <= now || !is_same_secret(sha256(cookie), sign_in.cookie_hash)) {
    return std::nullopt;
  }
  return sign_in;
}

}  // namespace pennyweight::access::oidc
