#include "server/access/oidc/claim_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/ascii.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::access::oidc {
namespace {

constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kShownBytesMax = 256;

class Claims {
 public:
  explicit Claims(std::span<const JsonObject> sources) : sources_(sources) {}

  std::string text(std::string_view name) const {
    for (const JsonObject& source : sources_) {
      if (const auto value = source.text(name)) return *value;
    }
    return {};
  }
  std::vector<std::string> texts(std::string_view name) const {
    for (const JsonObject& source : sources_) {
      if (source.has(name)) return source.texts(name);
    }
    return {};
  }
  // An email address that the provider has not verified identifies nobody.
  bool is_doubted(std::string_view name) const {
    if (name != "email") return false;
    return std::ranges::any_of(sources_, [](const JsonObject& source) {
      return source.yes_or_no("email_verified") == false;
    });
  }

 private:
  std::span<const JsonObject> sources_;
};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && std::ranges::all_of(text, [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '.' || c == '_' || c == '@' || c == '-';
  });
}

Result<std::string> name_of(const Claims& claims, const Settings& settings) {
  for (const std::string& claim : settings.user_claims) {
    const std::string value = claims.text(claim);
    if (value.empty() || claims.is_doubted(claim)) continue;
    std::string name = ascii::lower_case(value);
    if (is_name(name)) return name;
    return fail(
        ErrorCode::kConflict,
        fmt::format(
            "the claim {} is '{}', which can't be a user name: it may have letters a to z, digits, "
            "and . _ @ -; choose another claim with serve.openid.user_claims",
            claim, printable_text(value, kNameBytesMax)));
  }
  return fail(ErrorCode::kConflict,
              "the provider sent no claim with a user name; see serve.openid.user_claims");
}

Result<std::string> role_of(const Claims& claims, const Settings& settings) {
  if (!settings.role_claim.empty()) {
    const std::vector<std::string> values = claims.texts(settings.role_claim);
    for (const auto& [value, role] : settings.roles) {
      if (std::ranges::find(values, value) != values.end()) return role;
    }
  }
  if (!settings.default_role.empty()) return settings.default_role;
  return fail(ErrorCode::kConflict, fmt::format("no value of the claim {} has a role here; see "
                                                "serve.openid.roles",
                                                settings.role_claim));
}

// The text that the '*' of the pattern stands for; nothing if the value does not match, or the text
// is empty.
std::optional<std::string> star_of(std::string_view pattern, std::string_view value) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  const std::string_view begin = pattern.substr(0, star);
  const std::string_view end = pattern.substr(star + 1);
  if (value.size() <= begin.size() + end.size() || !value.starts_with(begin) ||
      !value.ends_with(end)) {
    return std::nullopt;
  }
  return std::string(value.substr(begin.size(), value.size() - begin.size() - end.size()));
}

Result<std::vector<ScopePart>> scope_of(const Claims& claims, const Settings& settings,
                                        const std::string& role) {
  std::vector<ScopePart> scope;
  const auto& unscoped = settings.unscoped_roles;
  if (settings.scope_rules.empty() || std::ranges::find(unscoped, role) != unscoped.end()) {
    return scope;
  }
  std::map<std::string, std::set<std::string>> found;
  for (const std::string& value : claims.texts(settings.scope_claim)) {
    for (const ScopeRule& rule : settings.scope_rules) {
      const auto star = star_of(rule.match, value);
      if (star && is_plain_text(*star)) found[rule.dimension].insert(*star);
    }
  }
  // A scope without parts would show everything.
  if (found.empty()) {
    return fail(ErrorCode::kConflict, fmt::format("no value of the claim {} gives a scope; see "
                                                  "serve.openid.scope",
                                                  settings.scope_claim));
  }
  for (const auto& [dimension, values] : found) {
    scope.push_back({dimension, {values.begin(), values.end()}});
  }
  return scope;
}

}  // namespace

bool lacks_claims(const JsonObject& claims, const Settings& settings) {
  if (!settings.role_claim.empty() && !claims.has(settings.role_claim)) return true;
  if (!settings.scope_claim.empty() && !claims.has(settings.scope_claim)) return true;
  // The first source may lack claims that later ones have.
  return !settings.user_claims.empty() && !claims.has(settings.user_claims.front());
}

Result<ExternalIdentity> map_claims(std::span<const JsonObject> sources, const Settings& settings) {
  const Claims claims(sources);
  ExternalIdentity identity;
  identity.issuer = settings.issuer;
  identity.subject = claims.text("sub");
  auto role = role_of(claims, settings);
  if (!role) {
    identity.not_entitled = role.error().message;
    return identity;
  }
  identity.role = *std::move(role);
  auto scope = scope_of(claims, settings, identity.role);
  if (!scope) {
    identity.not_entitled = scope.error().message;
    return identity;
  }
  identity.scope = *std::move(scope);
  auto name = TRY(name_of(claims, settings));
  identity.name = std::move(name);
  identity.display_name = printable_text(claims.text("name"), kShownBytesMax);
  if (identity.display_name.empty()) identity.display_name = identity.name;
  if (!claims.is_doubted("email")) {
    identity.email = printable_text(claims.text("email"), kShownBytesMax);
  }
  return identity;
}

}  // namespace pennyweight::access::oidc
