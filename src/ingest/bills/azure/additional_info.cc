#include "ingest/bills/azure/additional_info.h"

#include <simdjson.h>

namespace pennyweight::azure {

struct AdditionalInfoReader::Parser {
  simdjson::ondemand::parser parser;
  std::string padded;
};

AdditionalInfoReader::AdditionalInfoReader() : parser_(std::make_unique<Parser>()) {}
AdditionalInfoReader::~AdditionalInfoReader() = default;
AdditionalInfoReader::AdditionalInfoReader(AdditionalInfoReader&&) noexcept = default;
AdditionalInfoReader& AdditionalInfoReader::operator=(AdditionalInfoReader&&) noexcept = default;

std::string with_braces(std::string_view json) {
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] == '{') return std::string(json);
  std::string out = "{";
  out += json;
  return out += '}';
}

std::optional<AdditionalInfo> AdditionalInfoReader::read(std::string_view json) {
  std::string& padded = parser_->padded;
  padded = with_braces(json);
  const std::size_t size = padded.size();
  padded.append(simdjson::SIMDJSON_PADDING, ' ');
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto failed =
      parser_->parser.iterate(simdjson::padded_string_view(padded.data(), size, padded.size()))
          .get(document);
  if (!failed) failed = document.get_object().get(object);
  if (failed) return std::nullopt;

  AdditionalInfo info;
  for (auto member : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    simdjson::ondemand::json_type type{};
    failed = member.unescaped_key().get(key);
    if (!failed) failed = member.value().get(value);
    if (!failed) failed = value.type().get(type);
    if (failed) return std::nullopt;
    std::string* out = nullptr;
    if (key == "ServiceType") out = &info.service_type;
    if (key == "VMName") out = &info.vm_name;
    if (out == nullptr || type != simdjson::ondemand::json_type::string) continue;
    std::string_view text;
    if (value.get_string().get(text)) return std::nullopt;
    *out = text;
  }
  return info;
}

}  // namespace pennyweight::azure
