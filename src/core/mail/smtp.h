// Sends mail over SMTP with libcurl: with TLS from the first byte (smtps) or by STARTTLS, and never
// without, unless the settings say so.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight::mail {

struct SmtpSettings {
  std::string server;         // "smtps://mail.example.com:465", "smtp://mail.example.com:587"
  std::string user = {};      // empty: without signing in
  std::string password = {};  // never shown, logged or passed on a command line
  std::string ca_file = {};   // empty: the system's authorities
  bool allow_plain = false;   // also without TLS, where the server offers none
  std::chrono::milliseconds timeout{60'000};  // of the whole sending
};

// An Error where the server refuses the sender, a recipient or the message, its certificate is not
// trusted, or it offers no TLS. Then nothing was delivered, or the server said so.
Result<void> send_mail(const SmtpSettings& settings, const std::string& from,
                       const std::vector<std::string>& to, const std::string& message);

}  // namespace pennyweight::mail
