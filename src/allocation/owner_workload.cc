// The workload names and ids by which transfers name owners.
#include <fmt/format.h>

#include "allocation/distribute.h"
#include "core/hash.h"
#include "core/percent.h"

namespace pennyweight {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte != 0x7f && std::string_view("%,=").find(c) == std::string::npos;
}

std::string encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      append_percent(encoded, c);
    }
  }
  return encoded;
}

// Rejects whatever encode() would not write, so that no two texts name one owner.
std::optional<std::string> decode(std::string_view text) {
  const auto decoded = percent_decoded(text);
  if (!decoded || encode(*decoded) != text) return std::nullopt;
  return decoded;
}

bool add_entry(Labels& owner, std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return false;
  const auto key = decode(entry.substr(0, equals));
  const auto value = decode(entry.substr(equals + 1));
  return key && value && owner.set(*key, *value).has_value();
}

}  // namespace

WorkloadId owner_workload(const Labels& owner) {
  std::string text = "(";
  for (const auto& [key, value] : owner.entries()) {
    if (text.size() > 1) text += ',';
    text += encode(key) + "=" + encode(value);
  }
  return WorkloadId(text + ")");
}

std::optional<Labels> parse_owner_workload(const WorkloadId& workload) {
  std::string_view rest = workload.text();
  if (!rest.starts_with('(') || !rest.ends_with(')') || rest.size() < 2) return std::nullopt;
  rest = rest.substr(1, rest.size() - 2);
  Labels owner;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (!add_entry(owner, rest.substr(0, comma))) return std::nullopt;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  // Keys out of order, repeated keys, a comma at the end: owner_workload() does not write these.
  if (owner_workload(owner) != workload) return std::nullopt;
  return owner;
}

std::string owner_text(const WorkloadId& workload) {
  const auto owner = parse_owner_workload(workload);
  if (!owner) return workload.text();
  std::string text;
  for (const auto& [key, value] : owner->entries()) {
    if (value.starts_with('(')) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  }
  return text.empty() ? workload.text() : text;
}

FactId transfer_id(const ClusterId& cluster, const std::string& month, const std::string& what) {
  return {Fingerprint().add("transfer").add(cluster.text()).add(month).add(what).hash()};
}

}  // namespace pennyweight
