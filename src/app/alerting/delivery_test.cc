#include "app/alerting/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

// Whoever reads a link may decide by it, so it goes over no line that others read.
TEST(Delivery, LinksGoOverHttpsOnly) {
  const AlertConfig config;
  const MailConfig mail;
  Delivery delivery(config, mail);
  const AlertNotification told{.id = "1", .alert = {}};
  const auto refused = [&](const std::string& url, bool has_links) {
    ReceiverConfig receiver;
    receiver.name = "ana";
    receiver.kind = ReceiverKind::kWebhook;
    receiver.url = url;
    receiver.has_approval_links = has_links;
    const auto sent = delivery.send(receiver, {&told, 1}, false, from_unix_seconds(1'790'000'000));
    EXPECT_FALSE(sent) << url;  // nobody is there, or it may not be asked
    return !sent && sent.error().message.contains("begins with https://");
  };
  for (const char* const url :
       {"http://127.0.0.2:1/", "http://localhost:1/", "http://127.0.0.1@127.0.0.2:1/",
        "HTTP://127.0.0.2:1/", "http://[::1]:1/", "//127.0.0.2:1/"}) {
    EXPECT_TRUE(refused(url, true)) << url;
    EXPECT_FALSE(refused(url, false)) << url;
  }
  EXPECT_FALSE(refused("https://127.0.0.2:1/", true));
  EXPECT_FALSE(refused("http://127.0.0.1:1/", true));
}

TEST(Delivery, ErrorsTellNoSecretOfAnAddress) {
  const AlertConfig config;
  const MailConfig mail;
  Delivery delivery(config, mail);
  const AlertNotification told{.id = "1", .alert = {}};
  for (const std::string host : {"127.0.0.2:1", "169.254.169.254", "[::ffff:169.254.169.254]",
                                 "name.invalid", "2852039166", "no such:host"}) {
    ReceiverConfig receiver;
    receiver.name = "chat";
    receiver.kind = ReceiverKind::kSlack;
    receiver.url = "http://me:PASSWORD@" + host + "/services/SECRET?token=SECRET";
    const auto sent = delivery.send(receiver, {&told, 1}, false, from_unix_seconds(1'790'000'000));
    ASSERT_FALSE(sent) << host;
    EXPECT_THAT(sent.error().message, testing::StartsWith("receiver 'chat': ")) << host;
    EXPECT_THAT(sent.error().message, testing::Not(testing::HasSubstr("SECRET"))) << host;
    EXPECT_THAT(sent.error().message, testing::Not(testing::HasSubstr("PASSWORD"))) << host;
  }
}

}  // namespace
}  // namespace pennyweight
