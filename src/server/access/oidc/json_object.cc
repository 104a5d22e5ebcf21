#include "server/access/oidc/json_object.h"

#include <simdjson.h>

#include <utility>

namespace pennyweight::access::oidc {

struct JsonObject::State {
  simdjson::dom::parser parser;
  simdjson::dom::object object;

  std::optional<simdjson::dom::element> find(std::string_view name) const {
    simdjson::dom::element found;
    if (object.at_key(name).get(found) == simdjson::SUCCESS) return found;
    simdjson::dom::object inside = object;
    while (true) {
      const std::size_t dot = name.find('.');
      if (inside.at_key(name.substr(0, dot)).get(found) != simdjson::SUCCESS) return std::nullopt;
      if (dot == std::string_view::npos) return found;
      if (found.get_object().get(inside) != simdjson::SUCCESS) return std::nullopt;
      name.remove_prefix(dot + 1);
    }
  }
};

JsonObject::JsonObject(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(JsonObject&&) noexcept = default;
JsonObject::~JsonObject() = default;

Result<JsonObject> JsonObject::read(std::string_view json) {
  if (json.size() > kBytesMax) return fail(ErrorCode::kLimit, "it is too large");
  auto state = std::make_unique<State>();
  simdjson::dom::element root;
  if (state->parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
      root.get_object().get(state->object) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "it is not a JSON object");
  }
  return JsonObject(std::move(state));
}

bool JsonObject::has(std::string_view name) const { return state_->find(name).has_value(); }

bool JsonObject::has_member(std::string_view whole_name) const {
  simdjson::dom::element ignored;
  return state_->object.at_key(whole_name).get(ignored) == simdjson::SUCCESS;
}

std::optional<std::string> JsonObject::object(std::string_view name) const {
  const auto found = state_->find(name);
  if (!found || !found->is_object()) return std::nullopt;
  return simdjson::minify(*found);
}

std::optional<std::string> JsonObject::text(std::string_view name) const {
  const auto found = state_->find(name);
  std::string_view value;
  if (!found || found->get_string().get(value) != simdjson::SUCCESS) return std::nullopt;
  return std::string(value);
}

std::optional<std::int64_t> JsonObject::integer(std::string_view name) const {
  const auto found = state_->find(name);
  std::int64_t value = 0;
  if (!found || found->get_int64().get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<bool> JsonObject::yes_or_no(std::string_view name) const {
  const auto found = state_->find(name);
  bool value = false;
  if (!found || found->get_bool().get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::vector<std::string> JsonObject::texts(std::string_view name) const {
  std::vector<std::string> values;
  const auto found = state_->find(name);
  if (!found) return values;
  std::string_view value;
  if (found->get_string().get(value) == simdjson::SUCCESS) return {std::string(value)};
  simdjson::dom::array list;
  if (found->get_array().get(list) != simdjson::SUCCESS) return values;
  for (const simdjson::dom::element item : list) {
    if (values.size() == kListMax) break;
    if (item.get_string().get(value) == simdjson::SUCCESS) values.emplace_back(value);
  }
  return values;
}

std::vector<std::string> JsonObject::objects(std::string_view name) const {
  std::vector<std::string> values;
  const auto found = state_->find(name);
  simdjson::dom::array list;
  if (!found || found->get_array().get(list) != simdjson::SUCCESS) return values;
  for (const simdjson::dom::element item : list) {
    if (values.size() == kListMax) break;
    if (item.is_object()) values.push_back(simdjson::minify(item));
  }
  return values;
}

}  // namespace pennyweight::access::oidc
