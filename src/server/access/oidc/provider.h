// Provider: signs users in by OpenID Connect, as a relying party: authorization code flow with
// PKCE.
//
//   begin    → sends the browser to the provider, with a cookie that binds this sign-in to it
//   finish   ← takes the code and the state that it returns with, exchanges the code, verifies the
//   ID
//              token, and maps its claims to a user
//
// Guarantees: state, nonce and code verifier have 256 random bits each and work once, within ten
// minutes, for the browser that began. The ID token is signed (RS256 or ES256; never "none", never
// with a shared secret) by a key that the issuer currently publishes, for this client, and is
// currently valid. No message contains a secret, code or token. Specifications: OpenID Connect Core
// 1.0 and Discovery 1.0, RFC 6749, 7636 (PKCE), 9207 (iss). Thread-safe; a call may wait for the
// provider.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "server/access/oidc/settings.h"

namespace pennyweight::access::oidc {

struct ScopePart {
  std::string dimension;
  std::vector<std::string> values;  // sorted; any one of them
  bool operator==(const ScopePart&) const = default;
};

// A user as identified by the provider. Issuer and subject together identify a person for good; the
// name is only a label and must not be taken for that of a local user.
struct ExternalIdentity {
  std::string issuer;
  std::string subject;
  std::string name;  // [a-z0-9._@-], 1 to 128
  std::string display_name;
  std::string email;
  // Why the person may not be here: the claims give no role, or no scope. Empty: they may. Then the
  // name, role and scope are not to be used, but issuer and subject still tell who it is: somebody
  // who has left every group, whose access ends.
  std::string not_entitled = {};
  std::string role = {};              // as written by access::to_text(Role)
  std::vector<ScopePart> scope = {};  // by dimension; all apply; none: sees everything
  bool operator==(const ExternalIdentity&) const = default;
};

struct SignInRedirect {
  std::string url;     // where to send the browser
  std::string cookie;  // for finish(): set it HttpOnly, SameSite=Lax
};

struct SignInResult {
  ExternalIdentity who;
  std::string next;  // from begin(): a path of this server
};

// That somebody has signed out at the provider.
struct SignOut {
  ExternalIdentity who;  // issuer and subject, with the reason in `not_entitled`
  std::string id;        // of the logout token
  Instant ends_at;       // until then the token could be sent again
};

class Provider {
 public:
  // Does not contact the provider yet, so local users can sign in while it is down.
  static Result<std::unique_ptr<Provider>> open(const Settings& settings, Clock& clock);
  virtual ~Provider() = default;

  virtual const std::string& name() const = 0;
  // How long a sign-in may take: the cookie's Max-Age.
  static constexpr std::chrono::seconds kSignInLasts{600};

  // `next` is a path of this server ("/explore?by=team"); anything else counts as "/".
  virtual Result<SignInRedirect> begin(std::string_view next) = 0;
  // `query` is the query of the callback's address. Errors, by code:
  //   kNotFound     no such sign-in: never begun, expired, used already, or another browser's
  //   kBadValue     the provider's answer is invalid; nobody is signed in
  //   kUnsupported  the provider refused (access_denied, …)
  //   kConflict     the person is identified but has no usable name
  //   kConfig, kIo, kLimit   the provider can't be reached, in words for the operator
  virtual Result<SignInResult> finish(const std::multimap<std::string, std::string>& query,
                                      std::string_view cookie) = 0;
  // Who has signed out at the provider, by the logout token that it sends (Back-Channel Logout
  // 1.0). Errors, by code:
  //   kBadValue    the token is not valid, or was accepted before
  //   kConfig, kIo, kLimit   as finish()
  virtual Result<SignOut> read_logout(std::string_view token) = 0;
  // From now on its token is refused. For when the sessions have ended: until then the provider may
  // send the token again.
  virtual void mark_done(const SignOut& done) = 0;
};

}  // namespace pennyweight::access::oidc
