// Settings of signing in by OpenID Connect: who vouches, and what his claims mean here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pennyweight::access::oidc {

// What a value of the scope claim says: "team-*" with the dimension team makes team=nlp of
// "team-nlp".
struct ScopeRule {
  std::string match = {};  // with one '*'
  std::string dimension = {};
};

struct Settings {
  std::string name = "OpenID Connect";  // of the button at sign-in
  std::string issuer = {};              // to the letter as the provider writes it
  std::string client_id = {};
  std::string client_secret_file = {};  // read for each sign-in; empty: a public client
  std::string redirect_url = {};        // ours, as it was told to the provider
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  std::string ca_file = {};  // empty: the system's

  // Claims are names of the top level, or paths with dots ("realm_access.roles").
  // The first that is there names the user.
  std::vector<std::string> user_claims = {"preferred_username", "email", "sub"};
  std::string role_claim = {};  // a text or a list; empty: none
  std::vector<std::pair<std::string, std::string>> roles =
      {};                                   // value, role; the first that he has
  std::string default_role = {};            // of who has none of them; empty: refused
  std::string scope_claim = {};             // a text or a list; empty: none
  std::vector<ScopeRule> scope_rules = {};  // to which all of his values are held
  // Roles that see everything. Who has another one, and to whom no scope rule applies though there
  // are some, is refused: an empty scope would be all there is.
  std::vector<std::string> unscoped_roles = {"admin", "finance", "operator"};
};

// Whether it can work at all: TLS but for loopback, nothing missing.
Result<void> check(const Settings& settings);

}  // namespace pennyweight::access::oidc
