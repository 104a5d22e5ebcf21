// MailMessage: a mail with attachments, as the bytes that SMTP carries (RFC 5322, RFC 2045-2047).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::mail {

struct Attachment {
  std::string file_name;
  std::string content_type;  // "application/pdf"
  std::string bytes;
};

struct Message {
  std::string from;  // an address: "billing@example.com"
  std::vector<std::string> to;
  std::string reply_to = {};  // an address; empty: the sender's
  std::string subject;
  std::string text;  // UTF-8
  std::vector<Attachment> attachments;
  Instant at;
  std::string id;  // for Message-ID, unique; without "<", ">" and the domain
};

// One address without a display name. An Error for what is none, and for control characters, which
// could add a header.
Result<void> check_address(std::string_view address);

// An Error where an address is wrong, or there is nobody to send to.
Result<std::string> write_message(const Message& message);

}  // namespace pennyweight::mail
