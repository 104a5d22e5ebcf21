#include "server/known_hosts.h"

#include <gtest/gtest.h>

namespace pennyweight::server {
namespace {

TEST(KnownHosts, AreThoseThatNoAttackerCanName) {
  const KnownHosts hosts({"GPU.example.com", "*.corp.example"});
  for (const std::string_view known :
       {"127.0.0.1", "10.1.2.3", "2001:db8::1", "localhost", "a.localhost", "pennyweight",
        "pennyweight.monitoring.svc", "pennyweight.monitoring.svc.cluster.local", "gpu.internal",
        "gpu-box.local", "gpu.home.arpa", "gpu.example.com", "Gpu.Example.Com.", "a.corp.example",
        "b.a.corp.example"}) {
    EXPECT_TRUE(hosts.contains(known)) << known;
  }
  for (const std::string_view unknown :
       {"", "evil.example", "example.com", "x.gpu.example.com", "corp.example", "evilcorp.example",
        "127.0.0.1.evil.example", "localhost.evil.example", "ai.", ".localhost", ".", "..",
        "0x7f.1", "svc.", "local.evil.example", "evil-local.example"}) {
    EXPECT_FALSE(hosts.contains(unknown)) << unknown;
  }
}

}  // namespace
}  // namespace pennyweight::server
