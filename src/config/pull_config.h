// The section `pull:` of the configuration: where bills are fetched from.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"

namespace pennyweight {

// The secrets themselves are in files or in the environment, never here.
struct PullConfig {
  std::string name;
  // "s3://bucket/prefix", "gs://bucket/prefix", "azure://account/container/prefix", or a folder.
  std::string from;
  std::string endpoint;  // "https://minio.example.com:9000"; empty: the provider's own
  std::string region;    // of S3; empty: us-east-1
  std::string access_key_file, secret_key_file;  // of S3 and Google
  std::string sas_file, account_key_file;        // of Azure
  std::string ca_file;
  std::string format;                  // of the files; empty: by their content
  std::string cluster;                 // for files that need one
  std::chrono::milliseconds every{0};  // for `serve`; zero: only when asked
  bool operator==(const PullConfig&) const = default;
};

std::vector<PullConfig> read_pull_configs(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path);

ConfigKeys pull_config_keys();

}  // namespace pennyweight
