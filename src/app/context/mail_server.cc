#include "app/context/mail_server.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/files/file.h"

namespace pennyweight {
namespace {

constexpr std::size_t kPasswordBytesMax = 4096;
constexpr const char* kPasswordVariable = "PENNYWEIGHT_MAIL_PASSWORD";

}  // namespace

Result<mail::SmtpSettings> smtp_settings(const MailConfig& config) {
  if (config.server.empty() || config.from.empty()) {
    return fail(ErrorCode::kConfig,
                "there is no mail server; set mail.server and mail.from in the configuration");
  }
  mail::SmtpSettings settings{.server = config.server,
                              .user = config.user,
                              .ca_file = config.ca_file,
                              .allow_plain = config.allow_plain};
  if (config.user.empty()) return settings;
  if (!config.password_file.empty()) {
    auto text = read_file(config.password_file, kPasswordBytesMax);
    if (!text) return std::unexpected(text.error().during("mail.password_file"));
    settings.password = text->substr(0, text->find_first_of("\r\n"));
  } else if (const char* set = std::getenv(kPasswordVariable); set != nullptr) {
    settings.password = set;
  }
  if (settings.password.empty()) {
    return fail(ErrorCode::kConfig,
                fmt::format("mail.user has no password; name its file in mail.password_file, or "
                            "set the environment variable {}",
                            kPasswordVariable));
  }
  return settings;
}

}  // namespace pennyweight
