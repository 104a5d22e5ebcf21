#include "config/audit_config.h"

namespace pennyweight {

AuditConfig read_audit_config(YamlReader& yaml, const YamlNode& node, const AuditPathReader& path) {
  AuditConfig config;
  yaml.mapping(
      node, "audit",
      {{"key_file", [&](const YamlNode& at) { config.key_file = path(at, "audit.key_file"); }},
       {"anchor_file",
        [&](const YamlNode& at) { config.anchor_file = path(at, "audit.anchor_file"); }},
       {"syslog", [&](const YamlNode& at) {
          if (const auto sends = yaml.yes_or_no(at, "audit.syslog")) config.syslog = *sends;
        }}});
  return config;
}

ConfigKeys audit_config_keys() {
  return {
      {"audit.key_file", "path", "<store.path>.audit.key",
       "The key that signs the audit log's head; made if there is none. Keep it apart from the "
       "data: "
       "who can write both can forge the log's end. Backups don't hold it."},
      {"audit.anchor_file", "path", "",
       "A file elsewhere, such as on a disk that can only be added to, to which every head of the "
       "audit log is added. Nothing is recorded, and so nothing changed, that can't be anchored."},
      {"audit.syslog", "true, false", "false",
       "Whether every head of the audit log is also sent to the system's log (`authpriv.notice`)."},
  };
}

}  // namespace pennyweight
