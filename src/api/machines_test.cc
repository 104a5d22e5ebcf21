#include "api/machines.h"

#include <gtest/gtest.h>

namespace pennyweight::api {
namespace {

using access::may;
using access::Permission;

server::Request from(const std::string& peer) {
  server::Request request;
  request.peer = peer;
  return request;
}

TEST(Machines, ATokenIsKnownOrNot) {
  const Machines machines{.tokens = {"one", "two"}};
  EXPECT_TRUE(machine_of(machines, from("10.0.0.1"), "two"));
  EXPECT_FALSE(machine_of(machines, from("10.0.0.1"), "tw"));
  EXPECT_FALSE(machine_of(machines, from("10.0.0.1"), "three"));
  EXPECT_FALSE(machine_of(machines, from("10.0.0.1"), ""));
}

TEST(Machines, MaySendAndReadWhatIsMeasuredAndNothingElse) {
  const auto who = machine_of({.tokens = {"one"}}, from("10.0.0.1"), "one");
  ASSERT_TRUE(who);
  EXPECT_TRUE(may(*who, Permission::kSendTelemetry));
  EXPECT_TRUE(may(*who, Permission::kReadMetrics));
  EXPECT_TRUE(may(*who, Permission::kReadLive));
  for (const Permission refused :
       {Permission::kReadCosts, Permission::kReadFleet, Permission::kReadBills,
        Permission::kReadInvoices, Permission::kReadRules, Permission::kReadAudit,
        Permission::kIssueInvoices, Permission::kClosePeriods, Permission::kManageUsers,
        Permission::kManageOwn}) {
    EXPECT_FALSE(may(*who, refused)) << to_text(refused);
  }
}

TEST(Machines, ThisMachineIsTrustedWhereNoTokenIsWanted) {
  EXPECT_TRUE(machine_of({.trust_loopback = true}, from("127.0.0.1"), ""));
  EXPECT_TRUE(machine_of({.trust_loopback = true}, from("::1"), ""));
  EXPECT_FALSE(machine_of({.trust_loopback = true}, from("10.127.0.0"), ""));
  EXPECT_FALSE(machine_of({.trust_loopback = false}, from("127.0.0.1"), ""));
  EXPECT_FALSE(machine_of({.tokens = {"one"}, .trust_loopback = true}, from("127.0.0.1"), ""));
  EXPECT_FALSE(machine_of({.trust_loopback = true}, from("127.0.0.1"), "unknown"));
}

TEST(Machines, ABrowserOrAProxyIsNotThisMachine) {
  for (const char* name : {"origin", "sec-fetch-site", "x-forwarded-for", "x-forwarded-proto",
                           "x-real-ip", "forwarded", "via"}) {
    server::Request request = from("127.0.0.1");
    request.headers.emplace(name, "x");
    EXPECT_FALSE(machine_of({.trust_loopback = true}, request, "")) << name;
  }
}

}  // namespace
}  // namespace pennyweight::api
