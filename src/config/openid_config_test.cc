#include "config/openid_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kLeast =
    "issuer: https://i.example, client_id: pw, redirect_url: https://pw.example/cb";

std::string refusal(const std::string& section) {
  const auto config = parse_config("serve: {openid: {" + section + "}}", "p.yaml");
  return config ? "" : config.error().message;
}

TEST(OpenIdConfig, IsOffByDefault) { EXPECT_EQ(default_config().live.serve.openid.issuer, ""); }

TEST(OpenIdConfig, ReadsAllOfIt) {
  const auto config = parse_config(R"(
serve:
  openid:
    issuer: https://login.example.com/realms/a
    name: Example
    client_id: pennyweight
    client_secret_file: openid.secret
    redirect_url: https://gpu.example.com/api/v1/session/openid/callback
    ca_file: ca.pem
    scopes: [openid, groups]
    user_claims: [upn]
    role_claim: realm_access.roles
    roles: {zz-admins: admin, finance: finance}
    default_role: viewer
    scope_claim: groups
    scope: [{match: "team-*", dimension: team}]
    unscoped_roles: [admin]
)",
                                   "etc/p.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const OpenIdConfig& openid = config->live.serve.openid;
  EXPECT_EQ(openid.issuer, "https://login.example.com/realms/a");
  EXPECT_EQ(openid.name, "Example");
  EXPECT_EQ(openid.client_id, "pennyweight");
  EXPECT_EQ(openid.client_secret_file, "etc/openid.secret");
  EXPECT_EQ(openid.redirect_url, "https://gpu.example.com/api/v1/session/openid/callback");
  EXPECT_EQ(openid.ca_file, "etc/ca.pem");
  EXPECT_THAT(openid.scopes, ElementsAre("openid", "groups"));
  EXPECT_THAT(openid.user_claims, ElementsAre("upn"));
  EXPECT_EQ(openid.role_claim, "realm_access.roles");
  EXPECT_THAT(openid.roles, ElementsAre(Pair("zz-admins", "admin"), Pair("finance", "finance")))
      << "in the order of the file";
  EXPECT_EQ(openid.default_role, "viewer");
  EXPECT_EQ(openid.scope_claim, "groups");
  ASSERT_EQ(openid.scope_rules.size(), 1U);
  EXPECT_EQ(openid.scope_rules[0].match, "team-*");
  EXPECT_EQ(openid.scope_rules[0].dimension, "team");
  EXPECT_THAT(openid.unscoped_roles, ElementsAre("admin"));
}

TEST(OpenIdConfig, SaysWhatIsWrong) {
  const std::string least = std::string(kLeast) + ", ";
  EXPECT_EQ(refusal(least + "default_role: viewer"), "");
  EXPECT_THAT(refusal("default_role: viewer"), HasSubstr("needs issuer, client_id"));
  EXPECT_THAT(refusal(kLeast), HasSubstr("gives nobody a role"));
  EXPECT_THAT(refusal(least + "default_role: boss"), HasSubstr("serve.openid.default_role"));
  EXPECT_THAT(refusal(least + "roles: {a: admin}"), HasSubstr("needs role_claim"));
  EXPECT_THAT(refusal(least + "role_claim: g, roles: {a: root}"), HasSubstr("serve.openid.roles"));
  EXPECT_THAT(refusal(least + "role_claim: g, roles: [a]"), HasSubstr("serve.openid.roles"));
  EXPECT_THAT(refusal(least + "default_role: viewer, scopes: [email]"), HasSubstr("openid must"));
  EXPECT_THAT(refusal(least + "default_role: viewer, scopes: [openid, \"a b\"]"),
              HasSubstr("one word"));
  EXPECT_THAT(refusal(least + "default_role: viewer, user_claims: []"), HasSubstr("one claim"));
  EXPECT_THAT(refusal(least + "default_role: viewer, scope_claim: g, scope: [{match: \"a\"}]"),
              HasSubstr("with one '*'"));
  EXPECT_THAT(refusal(least + "default_role: viewer, scope: [{match: \"t-*\", dimension: team}]"),
              HasSubstr("needs scope_claim"));
  EXPECT_THAT(refusal("issuer: ftp://x"), HasSubstr("begins with https://"));
  EXPECT_THAT(refusal(least + "default_role: viewer, secret: x"), HasSubstr("secret"));
}

}  // namespace
}  // namespace pennyweight
