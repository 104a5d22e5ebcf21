#include "config/openid_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace pennyweight {
namespace {

constexpr std::size_t kListMax = 1'000;
constexpr std::array<std::string_view, 5> kRoleWords = {"viewer", "team_lead", "finance",
                                                        "operator", "admin"};

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
            config_.user_claims = yaml_.texts(at, "serve.openid.user_claims", kListMax);
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
    config_.scopes = yaml_.texts(node, "serve.openid.scopes", kListMax);
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
    if (node.entries.size() > kListMax) {
      return yaml_.refuse(node, fmt::format("serve.openid.roles has {} items; {} is the most",
                                            node.entries.size(), kListMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      if (auto word = role(entry.value, "serve.openid.roles")) {
        config_.roles.emplace_back(entry.key, *std::move(word));
      }
    }
  }

  void scope(const YamlNode& node) {
    yaml_.sequence(node, "serve.openid.scope", kListMax, [&](const YamlNode& item) {
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
    yaml_.sequence(node, "serve.openid.unscoped_roles", kListMax, [&](const YamlNode& item) {
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
      yaml_.refuse(node, "serve.openid.roles needs role_claim: whose values they are");
    }
    if (config_.roles.empty() && config_.default_role.empty()) {
      yaml_.refuse(node,
                   "serve.openid gives nobody a role: state role_claim with roles, or "
                   "default_role");
    }
    if (!config_.scope_rules.empty() && config_.scope_claim.empty()) {
      yaml_.refuse(node, "serve.openid.scope needs scope_claim: whose values are matched");
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

}  // namespace pennyweight
