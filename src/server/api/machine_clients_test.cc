#include "server/api/machine_clients.h"

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

TEST(MachineClients, ATokenIsKnownOrNot) {
  const MachineClients machines{.tokens = {"one", "two"}};
  EXPECT_TRUE(find_machine_client(machines, from("10.0.0.1"), "two"));
  EXPECT_FALSE(find_machine_client(machines, from("10.0.0.1"), "tw"));
  EXPECT_FALSE(find_machine_client(machines, from("10.0.0.1"), "three"));
  EXPECT_FALSE(find_machine_client(machines, from("10.0.0.1"), ""));
}

TEST(MachineClients, MaySendAndReadWhatIsMeasuredAndNothingElse) {
  const auto client = find_machine_client({.tokens = {"one"}}, from("10.0.0.1"), "one");
  ASSERT_TRUE(client);
  EXPECT_TRUE(may(*client, Permission::kSendTelemetry));
  EXPECT_TRUE(may(*client, Permission::kReadMetrics));
  EXPECT_TRUE(may(*client, Permission::kReadLive));
  for (const Permission refused :
       {Permission::kReadCosts, Permission::kReadFleet, Permission::kReadBills,
        Permission::kReadInvoices, Permission::kReadRules, Permission::kReadAudit,
        Permission::kIssueInvoices, Permission::kClosePeriods, Permission::kManageUsers,
        Permission::kManageOwn}) {
    EXPECT_FALSE(may(*client, refused)) << to_text(refused);
  }
}

TEST(MachineClients, ThisMachineIsTrustedWhereNoTokenIsWanted) {
  EXPECT_TRUE(find_machine_client({.trust_loopback = true}, from("127.0.0.1"), ""));
  EXPECT_TRUE(find_machine_client({.trust_loopback = true}, from("::1"), ""));
  EXPECT_FALSE(find_machine_client({.trust_loopback = true}, from("10.127.0.0"), ""));
  EXPECT_FALSE(find_machine_client({.trust_loopback = false}, from("127.0.0.1"), ""));
  EXPECT_FALSE(
      find_machine_client({.tokens = {"one"}, .trust_loopback = true}, from("127.0.0.1"), ""));
  EXPECT_FALSE(find_machine_client({.trust_loopback = true}, from("127.0.0.1"), "unknown"));
}

TEST(MachineClients, ABrowserOrAProxyIsNotThisMachine) {
  for (const char* name : {"origin", "sec-fetch-site", "x-forwarded-for", "x-forwarded-proto",
                           "x-real-ip", "forwarded", "via"}) {
    server::Request request = from("127.0.0.1");
    request.headers.emplace(name, "x");
    EXPECT_FALSE(find_machine_client({.trust_loopback = true}, request, "")) << name;
  }
}

}  // namespace
}  // namespace pennyweight::api
