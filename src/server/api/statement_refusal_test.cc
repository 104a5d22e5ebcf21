#include "server/api/statement_refusal.h"

#include <gtest/gtest.h>

namespace pennyweight::api {
namespace {

const Error kUndivided{
    ErrorCode::kConflict,
    "2026-03 differs from its bill by 1234.56 USD; credit NW-2026-03-0007 first"};

access::Principal somebody(access::Role role, bool is_scoped) {
  access::Principal who;
  who.role = role;
  if (is_scoped) who.scope = {{.dimension = "client", .values = {"acme"}}};
  return who;
}

TEST(StatementRefusal, OnlyThoseWhoKeepTheBooksAreToldWhy) {
  const auto told =
      statement_refusal(somebody(access::Role::kFinance, false), "2026-03", kUndivided);
  EXPECT_EQ(told.status, 409);
  EXPECT_NE(told.body.find("1234.56"), std::string::npos) << told.body;
  for (const auto& who :
       {somebody(access::Role::kClient, true), somebody(access::Role::kClient, false),
        somebody(access::Role::kFinance, true), somebody(access::Role::kViewer, true)}) {
    const auto answer = statement_refusal(who, "2026-03", kUndivided);
    EXPECT_EQ(answer.status, 409);
    EXPECT_NE(answer.body.find("the statement of 2026-03 is not ready"), std::string::npos)
        << answer.body;
    for (const char* secret : {"1234.56", "USD", "NW-2026"}) {
      EXPECT_EQ(answer.body.find(secret), std::string::npos) << answer.body;
    }
  }
}

}  // namespace
}  // namespace pennyweight::api
