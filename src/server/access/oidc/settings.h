// Settings for signing in by OpenID Connect: the provider, and what its claims mean here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pennyweight::access::oidc {

// Maps values of the scope claim: "team-*" with the dimension team turns "team-nlp" into team=nlp.
struct ScopeRule {
  std::string match = {};  // with one '*'
  std::string dimension = {};
};

struct Settings {
  std::string name = "OpenID Connect";  // on the button of the sign-in page
  std::string issuer = {};              // exactly as the provider writes it
  std::string client_id = {};
  std::string client_secret_file = {};  // read for each sign-in; empty: a public client
  std::string redirect_url = {};        // of this server, as registered with the provider
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  std::string ca_file = {};  // empty: the system's

  // Claims are names at the top level, or paths with dots ("realm_access.roles").
  // The first claim that is present names the user.
  std::vector<std::string> user_claims = {"preferred_username", "email", "sub"};
  std::string role_claim = {};  // a text or a list; empty: none
  std::vector<std::pair<std::string, std::string>> roles =
      {};                                   // value, role; the first match counts
  std::string default_role = {};            // if no value matches; empty: the sign-in is refused
  std::string scope_claim = {};             // a text or a list; empty: none
  std::vector<ScopeRule> scope_rules = {};  // applied to all values of the scope claim
  // Roles that see everything. If there are scope rules, users with other roles whom no rule
  // matches are refused: an empty scope would show them everything.
  std::vector<std::string> unscoped_roles = {"admin", "finance", "operator"};
};

// Checks that the settings are complete, and use TLS except for loopback.
Result<void> check(const Settings& settings);

}  // namespace pennyweight::access::oidc
