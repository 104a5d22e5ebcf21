// The section `serve.openid` of the configuration: signing in with OpenID Connect.
//
// server/access/oidc/settings.h, where the values are used, documents their meaning.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"

namespace pennyweight {

struct OpenIdConfig {
  struct ScopeRule {
    std::string match;      // with one '*'
    std::string dimension;  // of which the '*' is a value
  };

  std::string issuer;  // empty: nobody signs in this way
  std::string name = "OpenID Connect";
  std::string client_id;
  std::string client_secret_file;
  std::string redirect_url;
  std::string ca_file;
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  std::vector<std::string> user_claims = {"preferred_username", "email", "sub"};
  std::string role_claim;
  std::vector<std::pair<std::string, std::string>> roles;  // value and role, in the file's order
  std::string default_role;  // empty: users without a role are refused
  std::string scope_claim;
  std::vector<ScopeRule> scope_rules;
  std::int64_t tokens_last_ms = std::int64_t{7} * 86'400'000;  // after the owner's last sign-in
  std::vector<std::string> unscoped_roles = {"admin", "finance", "operator"};
};

// Reads a path, which is relative to the document's folder.
using OpenIdPathReader = std::function<std::string(const YamlNode&, std::string_view what)>;

OpenIdConfig read_openid_config(YamlReader& yaml, const YamlNode& node,
                                const OpenIdPathReader& path);

ConfigKeys openid_config_keys();

}  // namespace pennyweight
