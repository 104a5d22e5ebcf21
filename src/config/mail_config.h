// The section `mail:` of the configuration: the server by which invoices are sent.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/config_key.h"
#include "config/yaml_reader.h"

namespace pennyweight {

struct MailConfig {
  std::string server;  // "smtps://mail.example.com:465" or "smtp://…:587"; empty: none
  std::string from;    // the sender's address
  std::string user;
  std::string password_file;  // empty: the environment variable PENNYWEIGHT_MAIL_PASSWORD
  std::string ca_file;
  bool allow_plain = false;  // without TLS, for a server on this machine
  bool operator==(const MailConfig&) const = default;
};

MailConfig read_mail_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path);

ConfigKeys mail_config_keys();

}  // namespace pennyweight
