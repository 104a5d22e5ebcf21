// The JSON that FOCUS puts into columns: Tags, SkuPriceDetails; and the JSON object in which a
// Charge keeps the columns that no rule reads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/label.h"

namespace pennyweight::bill {

// A text as a JSON string, quotes and all.
void append_json_string(std::string& out, std::string_view text);

// Keeps the parser's memory between rows. Used by one thread at a time.
class JsonColumns {
 public:
  JsonColumns();
  ~JsonColumns();
  JsonColumns(JsonColumns&&) noexcept;
  JsonColumns& operator=(JsonColumns&&) noexcept;

  // One flat JSON object; a number, true and false as they stand in the text, null as an empty
  // text. A list of {"key":…,"value":…} is read as well, as Google's FOCUS export has it; its
  // labels of projects get the prefix project/, its tags tag/ and their namespace. An Error for
  // anything else: nested values, a key twice, more than limits.h allows.
  Result<Labels> parse_tags(std::string_view json);
  // The member InstanceType of a JSON object; empty when it has none. An Error if it is no object.
  Result<std::string> parse_instance_type(std::string_view json);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace pennyweight::bill
