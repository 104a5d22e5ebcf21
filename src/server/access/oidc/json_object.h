// JsonObject: a provider's JSON object, such as a discovery document, a token response, or claims.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::access::oidc {

class JsonObject {
 public:
  static constexpr std::size_t kBytesMax = 1u << 20;
  static constexpr std::size_t kListMax = 10'000;

  // An Error: not a JSON object, or too large.
  static Result<JsonObject> read(std::string_view json);
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(JsonObject&&) noexcept;
  ~JsonObject();

  // Finds a member by name, or, if no member has the whole name, by a path with dots. Nothing if
  // there is none, or it has another type.
  bool has(std::string_view name) const;
  bool has_member(std::string_view whole_name) const;  // by its whole name alone
  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<bool> yes_or_no(std::string_view name) const;
  // A text counts as a list of one. Elements of a list that are not texts are skipped.
  std::vector<std::string> texts(std::string_view name) const;
  // The objects in a list, each as JSON.
  std::vector<std::string> objects(std::string_view name) const;
  // An object, as JSON.
  std::optional<std::string> object(std::string_view name) const;

 private:
  struct State;
  explicit JsonObject(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::access::oidc
