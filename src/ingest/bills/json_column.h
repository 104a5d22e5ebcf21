// Reads the JSON in columns of bills: tags, and FOCUS's SkuPriceDetails.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "core/label.h"

namespace pennyweight::bill {

// Keeps the parser's memory between rows. Used by one thread at a time.
class JsonColumnParser {
 public:
  JsonColumnParser();
  ~JsonColumnParser();
  JsonColumnParser(JsonColumnParser&&) noexcept;
  JsonColumnParser& operator=(JsonColumnParser&&) noexcept;

  // Accepts one flat JSON object: numbers, true and false as written, null as an empty text.
  // Accepts also a list of {"key":…,"value":…}, as in Google's FOCUS export: project labels get the
  // prefix project/, tags the prefix tag/ and their namespace. An Error for anything else: nested
  // values, a key twice, more than limits.h allows.
  Result<Labels> parse_tags(std::string_view json);
  // The member InstanceType of a JSON object; empty if it has none. An Error if it is not an
  // object.
  Result<std::string> parse_instance_type(std::string_view json);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// Parses tags, and caches them: bills repeat the same tags from row to row.
class TagsCache {
 public:
  // Nothing for a text that parse_tags refuses. The reference lives until the next call.
  const std::optional<Labels>& parse(std::string_view json);

 private:
  JsonColumnParser parser_;
  std::unordered_map<std::string, std::optional<Labels>> parsed_;
};

}  // namespace pennyweight::bill
