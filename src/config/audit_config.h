// The section `audit` of the configuration: what proves the audit log, and where that lies.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/config_key.h"
#include "config/yaml_reader.h"

namespace pennyweight {

struct AuditConfig {
  std::string key_file;     // signs the log's head; empty: beside the log
  std::string anchor_file;  // every head is also added to it; empty: none
  bool syslog = false;      // every head is also sent to the system's log
};

// Reads a path, which is relative to the document's folder.
using AuditPathReader = std::function<std::string(const YamlNode&, std::string_view what)>;

AuditConfig read_audit_config(YamlReader& yaml, const YamlNode& node, const AuditPathReader& path);

ConfigKeys audit_config_keys();

}  // namespace pennyweight
