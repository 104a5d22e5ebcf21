#include "config/mail_config.h"

#include <utility>

namespace pennyweight {

MailConfig read_mail_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path) {
  MailConfig config;
  const auto text = [&](std::string_view what, std::string& target) {
    return [&reader, what, &target](const YamlNode& at) {
      if (auto value = reader.text(at, what)) target = std::move(*value);
    };
  };
  const auto file = [&](std::string_view what, std::string& target) {
    return [&path, what, &target](const YamlNode& at) { target = path(at, what); };
  };
  reader.mapping(node, "mail",
                 {{"server", text("mail.server", config.server)},
                  {"from", text("mail.from", config.from)},
                  {"user", text("mail.user", config.user)},
                  {"password_file", file("mail.password_file", config.password_file)},
                  {"ca_file", file("mail.ca_file", config.ca_file)},
                  {"allow_plain", [&](const YamlNode& at) {
                     config.allow_plain = reader.yes_or_no(at, "mail.allow_plain").value_or(false);
                   }}});
  const bool is_smtp =
      config.server.starts_with("smtp://") || config.server.starts_with("smtps://");
  if (!config.server.empty() && (!is_smtp || config.server.find('@') != std::string::npos)) {
    reader.refuse(node,
                  "mail.server is smtps://host:465 or smtp://host:587; the user and the password "
                  "have keys of their own");
  }
  return config;
}

ConfigKeys mail_config_keys() {
  return {
      {"mail.server", "smtps:// or smtp:// address", "",
       "The server that sends invoices; smtp:// goes over to TLS before anything is said."},
      {"mail.from", "address", "", "The sender of the mails."},
      {"mail.user", "text", "", "Who signs in to the server; empty: nobody."},
      {"mail.password_file", "path", "",
       "Their password; without it the environment variable `PENNYWEIGHT_MAIL_PASSWORD`."},
      {"mail.ca_file", "path", "",
       "The authority of the server's certificate, if not the system's."},
      {"mail.allow_plain", "true, false", "false",
       "Sends without TLS where the server offers none: for one on the same machine."},
  };
}

}  // namespace pennyweight
