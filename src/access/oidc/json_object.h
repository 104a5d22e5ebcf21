// JsonObject: an object of a provider's, asked for one value after another: a discovery document,
// a token answer, claims.
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

  // An Error where it is no JSON object, or too large.
  static Result<JsonObject> read(std::string_view json);
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(JsonObject&&) noexcept;
  ~JsonObject();

  // By the name of a member, or by a path with dots where no member has that whole name. Nothing
  // where there is none, or it is of another type.
  bool has(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<bool> yes_or_no(std::string_view name) const;
  // A text is a list of one. Of a list what is no text is left out.
  std::vector<std::string> texts(std::string_view name) const;
  // The objects of a list, as JSON.
  std::vector<std::string> objects(std::string_view name) const;

 private:
  struct State;
  explicit JsonObject(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::access::oidc
