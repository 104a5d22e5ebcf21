#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/mail/message.h"

namespace pennyweight::mail {
namespace {

using testing::HasSubstr;
using testing::Not;

Message example() {
  return {.from = "billing@example.com",
          .to = {"a@acme.example", "b@acme.example"},
          .reply_to = "help@example.com",
          .subject = "Invoice NW-1",
          .text = "Grüße",
          .attachments = {{"NW-1.pdf", "application/pdf", std::string(200, '\xFF')}},
          .at = *parse_instant("2026-04-03T08:05:09Z"),
          .id = "NW-1"};
}

TEST(MailMessage, HasItsPartsInPlainLines) {
  const auto text = write_message(example());
  ASSERT_TRUE(text);
  for (const char* part :
       {"From: billing@example.com\r\n", "To: a@acme.example,\r\n b@acme.example\r\n",
        "Reply-To: help@example.com\r\n", "Subject: Invoice NW-1\r\n",
        "Date: Fri, 03 Apr 2026 08:05:09 +0000\r\n", "Message-ID: <NW-1@example.com>\r\n",
        "R3LDvMOfZQ==", "filename=\"NW-1.pdf\""}) {
    EXPECT_THAT(*text, HasSubstr(part));
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text->find("\r\n", begin)) != std::string::npos;
       begin = end + 2) {
    EXPECT_LE(end - begin, 78u);
  }
  EXPECT_EQ(begin, text->size());
}

TEST(MailMessage, ASubjectCanBeInAnyLetters) {
  Message message = example();
  message.subject = "Rechnung für März und für das Übrige, mit allem, was noch dazu gehört: ÄÖÜ";
  EXPECT_THAT(*write_message(message), HasSubstr("Subject: =?UTF-8?B?"));
}

TEST(MailMessage, NothingAddsAHeader) {
  Message message = example();
  message.subject = "a\r\nBcc: eve@example.com";
  message.attachments[0].file_name = "a\"\r\nX: y";
  const auto text = write_message(message);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, Not(HasSubstr("\nBcc:")));
  EXPECT_THAT(*text, Not(HasSubstr("\nX:")));
  for (const char* address :
       {"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nBcc: c@d", "<a@b>", "a@b,c@d", "ä@b"}) {
    message.to = {address};
    EXPECT_FALSE(write_message(message)) << address;
  }
  message.to.clear();
  EXPECT_FALSE(write_message(message));
}

}  // namespace
}  // namespace pennyweight::mail
