#include "config/pull_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"

namespace pennyweight {
namespace {

constexpr std::size_t kPullsMax = 1000;
constexpr std::int64_t kEveryMinMs = 1000;
constexpr std::int64_t kEveryMaxMs = std::int64_t{31} * 24 * 3'600'000;

bool is_pull_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

std::vector<PullConfig> read_pull_configs(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path) {
  std::vector<PullConfig> all;
  reader.sequence(node, "pull", kPullsMax, [&](const YamlNode& item) {
    PullConfig config;
    const auto text = [&](std::string_view what, std::string& target) {
      return [&reader, what, &target](const YamlNode& at) {
        if (auto value = reader.text(at, what)) target = std::move(*value);
      };
    };
    const auto file = [&](std::string_view what, std::string& target) {
      return [&path, what, &target](const YamlNode& at) { target = path(at, what); };
    };
    const std::size_t before = reader.error_count();
    reader.mapping(
        item, "pull[]",
        {{"name", text("pull[].name", config.name)},
         {"from",
          [&](const YamlNode& at) {
            const auto value = reader.text(at, "pull[].from");
            if (!value) return;
            config.from =
                value->find("://") == std::string::npos ? path(at, "pull[].from") : *value;
          }},
         {"endpoint", text("pull[].endpoint", config.endpoint)},
         {"region", text("pull[].region", config.region)},
         {"access_key_file", file("pull[].access_key_file", config.access_key_file)},
         {"secret_key_file", file("pull[].secret_key_file", config.secret_key_file)},
         {"sas_file", file("pull[].sas_file", config.sas_file)},
         {"account_key_file", file("pull[].account_key_file", config.account_key_file)},
         {"ca_file", file("pull[].ca_file", config.ca_file)},
         {"format", text("pull[].format", config.format)},
         {"cluster", text("pull[].cluster", config.cluster)},
         {"every", [&](const YamlNode& at) {
            const auto ms = reader.duration(at, "pull[].every", kEveryMinMs, kEveryMaxMs);
            config.every = std::chrono::milliseconds(ms.value_or(0));
          }}});
    if (reader.error_count() != before || item.kind != YamlNode::Kind::kMapping) return;
    if (!is_pull_name(config.name)) {
      return reader.refuse(item,
                           "an entry of pull needs a name of letters, digits, '-', '_' and '.', 64 "
                           "at most");
    }
    if (config.from.empty()) return reader.refuse(item, "an entry of pull needs its from");
    const std::size_t scheme = config.from.find("://");
    if (scheme != std::string::npos) {
      const std::string_view name = std::string_view(config.from).substr(0, scheme);
      if (name != "s3" && name != "gs" && name != "azure") {
        return reader.refuse(item,
                             "pull[].from is s3://bucket/prefix, gs://bucket/prefix, "
                             "azure://account/container/prefix or a folder");
      }
    }
    if (std::ranges::find(all, config.name, &PullConfig::name) != all.end()) {
      return reader.refuse(item, fmt::format("two entries of pull are named '{}'", config.name));
    }
    all.push_back(std::move(config));
  });
  return all;
}

ConfigKeys pull_config_keys() {
  return {
      {"pull[].name", "text", "", "Names the source in `pull NAME` and in messages."},
      {"pull[].from", "address or folder", "",
       "`s3://bucket/prefix`, `gs://bucket/prefix`, `azure://account/container/prefix`, or a "
       "folder."},
      {"pull[].endpoint", "address", "", "Of a server that speaks S3, or of Azure's emulator."},
      {"pull[].region", "text", "us-east-1", "The region of the bucket."},
      {"pull[].access_key_file", "path", "",
       "The id of the access key; without it `AWS_ACCESS_KEY_ID`, for gs:// the HMAC key."},
      {"pull[].secret_key_file", "path", "", "Its secret; without it `AWS_SECRET_ACCESS_KEY`."},
      {"pull[].sas_file", "path", "",
       "A shared access signature; without it `AZURE_STORAGE_SAS_TOKEN`."},
      {"pull[].account_key_file", "path", "", "The account's key; without it `AZURE_STORAGE_KEY`."},
      {"pull[].ca_file", "path", "",
       "The authority of the server's certificate, if not the system's."},
      {"pull[].format", "format", "", "As `import --format`; without it by the content."},
      {"pull[].cluster", "text", "", "As `import --cluster`."},
      {"pull[].every", "duration", "", "How often `serve` looks for new deliveries."},
  };
}

}  // namespace pennyweight
