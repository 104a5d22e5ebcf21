// YamlReader: reads keys and typed values of a document, and collects mistakes with their places.
//
// Reading goes on after a mistake, so that a person sees all mistakes at once. A value that could
// not be read is a default or nothing; readers add no mistake that only follows from another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml.h"
#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight {

// A mistake in a document, or a warning about it.
struct Problem {
  int line = 1;
  int column = 1;
  bool is_warning = false;  // valid, but hardly what was meant
  std::string message;      // "policy.yaml:3:7: …", "policy.yaml:3:7: warning: …"
  bool operator==(const Problem&) const = default;
};

// Nothing, or the first mistake.
std::optional<Error> first_error(std::span<const Problem> problems);

class YamlReader {
 public:
  using Reader = std::function<void(const YamlNode&)>;
  using Readers = std::vector<std::pair<std::string, Reader>>;
  // The keys that each mapping may have, by the mapping's path, such as "policy.spread[]".
  using KnownKeys = std::map<std::string, std::vector<std::string>>;

  explicit YamlReader(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // In the order of the document. At most limits::kProblemsMax mistakes and as many warnings are
  // kept.
  std::vector<Problem> problems() const;
  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  // The keys of the mappings that were read.
  const KnownKeys& known_keys() const { return known_keys_; }

  void refuse(int line, int column, std::string_view why) { add_problem(line, column, false, why); }
  void refuse(const YamlNode& node, std::string_view why) { refuse(node.line, node.column, why); }
  void warn(const YamlNode& node, std::string_view why) {
    add_problem(node.line, node.column, true, why);
  }

  bool is(const YamlNode& node, YamlNode::Kind kind, std::string_view what);
  // Calls the reader of each key that is there. A mapping without keys ("store:") leaves the
  // defaults.
  void mapping(const YamlNode& node, const std::string& what, const Readers& readers);
  // Calls `read` for each item. A missing list counts as an empty one.
  void sequence(const YamlNode& node, std::string_view what, std::size_t items_max,
                const Reader& read);

  // A plain text of 1 to limits::kLabelValueBytesMax bytes.
  std::optional<std::string> text(const YamlNode& node, std::string_view what);
  // The same, but it may be empty.
  std::optional<std::string> any_text(const YamlNode& node, std::string_view what);
  std::vector<std::string> texts(const YamlNode& node, std::string_view what,
                                 std::size_t items_max);
  std::optional<std::int64_t> integer(const YamlNode& node, std::string_view what, std::int64_t min,
                                      std::int64_t max);
  std::optional<bool> yes_or_no(const YamlNode& node, std::string_view what);
  std::optional<Decimal> decimal(const YamlNode& node, std::string_view what, Decimal min,
                                 Decimal max);
  // Thousandths: "0.3" is 300.
  std::optional<std::uint32_t> permille(const YamlNode& node, std::string_view what,
                                        std::uint32_t min, std::uint32_t max);
  // "90%" is 900 thousandths.
  std::optional<std::uint32_t> percent(const YamlNode& node, std::string_view what,
                                       std::uint32_t percent_max);
  // "60s", "250ms", "5m" or "-1h", in milliseconds.
  std::optional<std::int64_t> duration(const YamlNode& node, std::string_view what,
                                       std::int64_t min_ms, std::int64_t max_ms);
  // The index of one of the words.
  std::optional<std::size_t> choice(const YamlNode& node, std::string_view what,
                                    std::span<const std::string_view> words);

 private:
  void add_problem(int line, int column, bool is_warning, std::string_view why);

  std::string name_;
  std::vector<Problem> problems_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  KnownKeys known_keys_;
};

// "a, b or c".
std::string alternatives(std::span<const std::string_view> words);

}  // namespace pennyweight
