#include "config/openid_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace pennyweight {
namespace {

constexpr std::int64_t kTokensLastMax = std::int64_t{400} * 86'400'000;
constexpr std::size_t kOpenIdListMax = 1'000;
constexpr std::array<std::string_view, 6> kRoleWords = {"viewer",   "team_lead", "finance",
                                                        "operator", "admin",     "client"};

class OpenIdReader {
 public:
  OpenIdReader(YamlReader& yaml, const OpenIdPathReader& path) : yaml_(yaml), path_(path) {}

  OpenIdConfig read(const YamlNode& node) {
    const std::size_t errors = yaml_.error_count();
    yaml_.mapping(
        node, "serve.openid",
        {{"issuer", [&](const YamlNode& at) { url(at, "serve.openid.issuer", config_.issuer); }},
         {"name", [&](const YamlNode& at) { text(at, "serve.openid.name", config_.name); }},
         {"client_id",
          [&](const YamlNode& at) { text(at, "serve.openid.client_id", config_.client_id); }},
         {"client_secret_file",
          [&](const YamlNode& at) {
            config_.client_secret_file = path_(at, "serve.openid.client_secret_file");
          }},
         {"redirect_url",
          [&](const YamlNode& at) { url(at, "serve.openid.redirect_url", config_.redirect_url); }},
         {"ca_file",
          [&](const YamlNode& at) { config_.ca_file = path_(at, "serve.openid.ca_file"); }},
         {"scopes", [&](const YamlNode& at) { scopes(at); }},
         {"user_claims",
          [&](const YamlNode& at) {
            config_.user_claims = yaml_.texts(at, "serve.openid.user_claims", kOpenIdListMax);
            if (config_.user_claims.empty()) {
              yaml_.refuse(at, "serve.openid.user_claims: name one claim or more");
            }
          }},
         {"role_claim",
          [&](const YamlNode& at) { text(at, "serve.openid.role_claim", config_.role_claim); }},
         {"roles", [&](const YamlNode& at) { roles(at); }},
         {"default_role",
          [&](const YamlNode& at) {
            if (const auto word = role(at, "serve.openid.default_role")) {
              config_.default_role = *word;
            }
          }},
         {"scope_claim",
          [&](const YamlNode& at) { text(at, "serve.openid.scope_claim", config_.scope_claim); }},
         {"scope", [&](const YamlNode& at) { scope(at); }},
         {"tokens_last",
          [&](const YamlNode& at) {
            const auto lasts =
                yaml_.duration(at, "serve.openid.tokens_last", 3'600'000, kTokensLastMax);
            if (lasts) config_.tokens_last_ms = *lasts;
          }},
         {"unscoped_roles", [&](const YamlNode& at) { unscoped_roles(at); }}});
    if (yaml_.error_count() == errors) check_whole(node);
    return std::move(config_);
  }

 private:
  void text(const YamlNode& node, std::string_view what, std::string& into) {
    if (const auto given = yaml_.text(node, what)) into = *given;
  }

  void url(const YamlNode& node, std::string_view what, std::string& into) {
    const auto given = yaml_.text(node, what);
    if (!given) return;
    if (!given->starts_with("https://") && !given->starts_with("http://")) {
      return yaml_.refuse(node, fmt::format("{} is a URL that begins with https://", what));
    }
    into = *given;
  }

  std::optional<std::string> role(const YamlNode& node, std::string_view what) {
    const auto which = yaml_.choice(node, what, kRoleWords);
    if (!which) return std::nullopt;
    return std::string(kRoleWords[*which]);
  }

  void scopes(const YamlNode& node) {
    config_.scopes = yaml_.texts(node, "serve.openid.scopes", kOpenIdListMax);
    if (std::ranges::find(config_.scopes, "openid") == config_.scopes.end()) {
      yaml_.refuse(node, "serve.openid.scopes: openid must be among them");
    }
    for (const std::string& each : config_.scopes) {
      if (each.find_first_of(" \"\\") != std::string::npos) {
        yaml_.refuse(node, "serve.openid.scopes: each is one word");
      }
    }
  }

  void roles(const YamlNode& node) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "serve.openid.roles")) return;
    if (node.entries.size() > kOpenIdListMax) {
      return yaml_.refuse(node,
                          fmt::format("serve.openid.roles has {} items; at most {} are allowed",
                                      node.entries.size(), kOpenIdListMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      if (auto word = role(entry.value, "serve.openid.roles")) {
        config_.roles.emplace_back(entry.key, *std::move(word));
      }
    }
  }

  void scope(const YamlNode& node) {
    yaml_.sequence(node, "serve.openid.scope", kOpenIdListMax, [&](const YamlNode& item) {
      OpenIdConfig::ScopeRule rule;
      yaml_.mapping(
          item, "serve.openid.scope[]",
          {{"match",
            [&](const YamlNode& at) { text(at, "serve.openid.scope[].match", rule.match); }},
           {"dimension", [&](const YamlNode& at) {
              text(at, "serve.openid.scope[].dimension", rule.dimension);
            }}});
      if (std::ranges::count(rule.match, '*') != 1 || rule.dimension.empty()) {
        return yaml_.refuse(item,
                            "serve.openid.scope[]: write it as {match: \"team-*\", dimension: "
                            "team}, with one '*'");
      }
      config_.scope_rules.push_back(std::move(rule));
    });
  }

  void unscoped_roles(const YamlNode& node) {
    config_.unscoped_roles.clear();
    yaml_.sequence(node, "serve.openid.unscoped_roles", kOpenIdListMax, [&](const YamlNode& item) {
      if (auto word = role(item, "serve.openid.unscoped_roles")) {
        config_.unscoped_roles.push_back(*std::move(word));
      }
    });
  }

  void check_whole(const YamlNode& node) {
    if (config_.issuer.empty() || config_.client_id.empty() || config_.redirect_url.empty()) {
      yaml_.refuse(node, "serve.openid needs issuer, client_id and redirect_url");
    }
    if (!config_.roles.empty() && config_.role_claim.empty()) {
      yaml_.refuse(node, "serve.openid.roles needs role_claim, the claim with these values");
    }
    if (config_.roles.empty() && config_.default_role.empty()) {
      yaml_.refuse(node,
                   "serve.openid gives nobody a role: state role_claim with roles, or "
                   "default_role");
    }
    if (!config_.scope_rules.empty() && config_.scope_claim.empty()) {
      yaml_.refuse(node, "serve.openid.scope needs scope_claim, the claim that it matches");
    }
  }

  YamlReader& yaml_;
  const OpenIdPathReader& path_;
  OpenIdConfig config_;
};

}  // namespace

OpenIdConfig read_openid_config(YamlReader& yaml, const YamlNode& node,
                                const OpenIdPathReader& path) {
  return OpenIdReader(yaml, path).read(node);
}

ConfigKeys openid_config_keys() {
  return {
      {"serve.openid.issuer", "URL", "",
       "The provider, exactly as it writes its own URL: the part before "
       "`/.well-known/openid-configuration`. See [sign-in.md](sign-in.md)."},
      {"serve.openid.client_id", "text", "", "This program's id at the provider. Required."},
      {"serve.openid.client_secret_file", "path", "",
       "The client's secret, read at each sign-in. Without it: a public client, with PKCE alone."},
      {"serve.openid.redirect_url", "URL", "",
       "Where the provider sends people back: this server's address and "
       "`/api/v1/session/openid/callback`. Required."},
      {"serve.openid.name", "text", "OpenID Connect", "The label of the sign-in button."},
      {"serve.openid.ca_file", "path", "",
       "The certificate authority of the provider; without it: the system's."},
      {"serve.openid.scopes", "list of words", "openid, profile, email",
       "The OAuth scopes that are requested."},
      {"serve.openid.user_claims", "list of claims", "preferred_username, email, sub",
       "The first of these claims that is present names the user."},
      {"serve.openid.role_claim", "claim", "",
       "The claim whose values give a role: `groups`, `realm_access.roles`."},
      {"serve.openid.roles.VALUE", "viewer, team_lead, finance, operator, admin, client", "",
       "The role of users with that value; the first one in the file counts."},
      {"serve.openid.default_role", "viewer, team_lead, finance, operator, admin, client", "",
       "The role of users with none of the values. Without it they are refused."},
      {"serve.openid.scope_claim", "claim", "", "The claim whose values say what a user sees."},
      {"serve.openid.scope[].match", "text with one `*`", "",
       "A value of the scope claim; the `*` is a value of the dimension."},
      {"serve.openid.scope[].dimension", "dimension", "",
       "The dimension of which the user sees that value."},
      {"serve.openid.tokens_last", "duration", "168h",
       "How long tokens of people without a password here work after their last sign-in by OpenID "
       "Connect."},
      {"serve.openid.unscoped_roles", "list of roles", "admin, finance, operator",
       "Roles that see everything; users of other roles must match `scope` where there is one."},
  };
}

}  // namespace pennyweight
