// Provider: signing in by OpenID Connect, as the relying party: authorization code flow with PKCE.
//
//   begin    → the browser is sent to the provider, and gets a cookie that this sign-in is bound to
//   finish   ← it comes back with a code and a state; the code is exchanged, the ID token verified,
//              and its claims are read into a user of ours
//
// What is promised: a state, a nonce and a code verifier of 256 random bits each, used once and
// within ten minutes, by the browser that began; an ID token that is signed (RS256 or ES256; never
// "none", never with a shared secret) by a key that the issuer publishes now, for this client, now.
// No secret, code or token is ever part of a message. Specifications: OpenID Connect Core 1.0 and
// Discovery 1.0, RFC 6749, 7636 (PKCE), 9207 (iss). Thread-safe; a call may wait for the provider.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/oidc/settings.h"
#include "core/clock.h"
#include "core/error.h"

namespace pennyweight::access::oidc {

struct ScopePart {
  std::string dimension;
  std::vector<std::string> values;  // sorted; one of them holds
  bool operator==(const ScopePart&) const = default;
};

// Whom the provider has vouched for. Issuer and subject together are who he is, for ever; the name
// is only how he is called, and must not be taken for that of a local user.
struct Vouched {
  std::string issuer;
  std::string subject;
  std::string name;  // [a-z0-9._@-], 1 to 128
  std::string display_name;
  std::string email;
  std::string role;                   // as access::to_text(Role) writes it
  std::vector<ScopePart> scope = {};  // by dimension; all must hold; none: everything
  bool operator==(const Vouched&) const = default;
};

struct Begun {
  std::string url;     // where the browser is to go
  std::string cookie;  // what finish() must be given: of this browser, HttpOnly, SameSite=Lax
};

struct Finished {
  Vouched who;
  std::string next;  // of begin(): a path of ours
};

class Provider {
 public:
  // Asks nobody yet: a provider that is down keeps nobody else from signing in.
  static Result<std::unique_ptr<Provider>> open(const Settings& settings, Clock& clock);
  virtual ~Provider() = default;

  virtual const std::string& name() const = 0;
  // For how long a sign-in may take: the cookie's Max-Age.
  static constexpr std::chrono::seconds kSignInLasts{600};

  // `next` is a path of ours ("/explore?by=team"); anything else is taken for "/".
  virtual Result<Begun> begin(std::string_view next) = 0;
  // `query` is that of the callback's address. Errors, by code:
  //   kNotFound     no such sign-in: never begun, over time, used already, or by another browser
  //   kBadValue     the provider's answer is not what it must be; nobody is signed in
  //   kUnsupported  the provider said no (access_denied, …)
  //   kConflict     he is who he says, and may not come in: no role, no scope, or no usable name
  //   kConfig, kIo, kLimit   the provider can't be asked, in words for the operator
  virtual Result<Finished> finish(const std::multimap<std::string, std::string>& query,
                                  std::string_view cookie) = 0;
};

}  // namespace pennyweight::access::oidc
