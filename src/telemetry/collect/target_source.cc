#include "telemetry/collect/target_source.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>

#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::collect {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> bad_file(std::string_view name, std::string_view why) {
  return fail(ErrorCode::kBadFile, fmt::format("{}: {}", name, why));
}
constexpr std::string_view kShape =
    "a target file is a list of {\"targets\": [\"host:port\"], \"labels\": {\"name\": \"text\"}}";

Result<std::vector<TargetGroup>> parse_json(std::string_view text, std::string_view name) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root);
      error != simdjson::SUCCESS) {
    return bad_file(name, fmt::format("it is not JSON: {}", simdjson::error_message(error)));
  }
  simdjson::dom::array items;
  if (root.get_array().get(items) != simdjson::SUCCESS) return bad_file(name, kShape);
  std::vector<TargetGroup> groups;
  for (const simdjson::dom::element item : items) {
    TargetGroup group;
    simdjson::dom::object fields;
    if (item.get_object().get(fields) != simdjson::SUCCESS) return bad_file(name, kShape);
    for (const auto [key, value] : fields) {
      if (key == "targets") {
        simdjson::dom::array addresses;
        if (value.get_array().get(addresses) != simdjson::SUCCESS) return bad_file(name, kShape);
        for (const simdjson::dom::element address : addresses) {
          std::string_view one;
          if (address.get_string().get(one) != simdjson::SUCCESS) return bad_file(name, kShape);
          group.addresses.emplace_back(one);
        }
      } else if (key == "labels") {
        simdjson::dom::object labels;
        if (value.get_object().get(labels) != simdjson::SUCCESS) return bad_file(name, kShape);
        for (const auto [label, content] : labels) {
          std::string_view one;
          if (content.get_string().get(one) != simdjson::SUCCESS) return bad_file(name, kShape);
          group.labels.push_back({std::string(label), std::string(one)});
        }
      } else {
        return bad_file(name, fmt::format("unknown key \"{}\"; {}", key, kShape));
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::vector<TargetGroup>> parse_yaml_targets(std::string_view text, std::string_view name) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    std::vector<TargetGroup> groups;
    if (root.IsNull()) return groups;
    if (!root.IsSequence()) return bad_file(name, kShape);
    for (const YAML::Node& item : root) {
      if (!item.IsMap()) return bad_file(name, kShape);
      TargetGroup group;
      for (const auto& field : item) {
        const auto key = field.first.as<std::string>();
        const YAML::Node& value = field.second;
        if (key == "targets" && value.IsSequence()) {
          for (const YAML::Node& address : value) {
            group.addresses.push_back(address.as<std::string>());
          }
        } else if (key == "labels" && value.IsMap()) {
          for (const auto& label : value) {
            group.labels.push_back({label.first.as<std::string>(), label.second.as<std::string>()});
          }
        } else {
          return bad_file(name, fmt::format("unknown or wrong key \"{}\"; {}", key, kShape));
        }
      }
      groups.push_back(std::move(group));
    }
    return groups;
  } catch (const YAML::Exception& error) {
    return bad_file(name, fmt::format("line {}: {}", error.mark.line + 1, error.msg));
  }
}

Result<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kTargetFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) return fail(ErrorCode::kIo, path + ": it can't be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kTargetFileBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: it has more than {} bytes", path, kTargetFileBytesMax));
  }
  return text;
}

// The files that a pattern names, sorted.
Result<std::set<std::string>> matching(const std::string& pattern) {
  std::set<std::string> found;
  const fs::path path(pattern);
  const std::string last = path.filename().string();
  const std::size_t star = last.find('*');
  std::error_code error;
  if (star == std::string::npos) {
    if (fs::is_regular_file(path, error)) found.insert(pattern);
    return found;
  }
  const std::string begin = last.substr(0, star);
  const std::string end = last.substr(star + 1);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() >= begin.size() + end.size() && name.starts_with(begin) &&
        name.ends_with(end) && entry->is_regular_file(error)) {
      found.insert(entry->path().string());
    }
    if (found.size() > kTargetFilesMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{} names more than {} files", pattern, kTargetFilesMax));
    }
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: {}", pattern, error.message()));
  return found;
}

}  // namespace

Result<std::vector<TargetGroup>> parse_target_file(std::string_view text, std::string_view name) {
  if (!is_plain_text(text)) return bad_file(name, "it is not UTF-8");
  if (name.ends_with(".json")) return parse_json(text, name);
  if (name.ends_with(".yml") || name.ends_with(".yaml")) return parse_yaml_targets(text, name);
  return bad_file(name, "a target file's name ends in .json, .yml or .yaml");
}

Result<std::vector<TargetGroup>> FileTargets::groups() {
  std::set<std::string> present;
  for (const std::string& pattern : patterns_) {
    auto found = TRY(matching(pattern));
    present.merge(found);
  }
  std::erase_if(files_, [&](const auto& file) { return !present.contains(file.first); });
  problems_.clear();
  std::vector<TargetGroup> all;
  for (const std::string& path : present) {
    File& file = files_[path];
    std::error_code error;
    const auto changed = fs::last_write_time(path, error);
    const auto bytes = error ? 0 : fs::file_size(path, error);
    if (error || changed != file.changed || bytes != file.bytes) {
      const auto text = read_small_file(path);
      auto groups = text ? parse_target_file(*text, path)
                         : Result<std::vector<TargetGroup>>(std::unexpected(text.error()));
      file.changed = changed;
      file.bytes = bytes;
      file.problem = groups ? "" : groups.error().message;
      if (groups) file.groups = std::move(*groups);
    }
    if (!file.problem.empty()) problems_.push_back(file.problem);
    all.insert(all.end(), file.groups.begin(), file.groups.end());
  }
  return all;
}

}  // namespace pennyweight::collect
