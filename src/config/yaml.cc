#include "config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>

#include "core/limits.h"

namespace pennyweight {
namespace {

constexpr std::size_t kDepthMax = 32;  // deeper is a mistake or an attack

// Builds the tree from the parser's events, because yaml-cpp's own tree hides duplicate keys,
// anchors and tags. It stops by throwing, as yaml-cpp itself does; parse_yaml() catches.
class TreeBuilder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    put(node(mark, YamlNode::Kind::kNull));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "aliases (*name) are not used here; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode scalar = node(mark, YamlNode::Kind::kScalar);
    scalar.scalar = value;
    // A plain null is nothing; "null" in quotes (tag "!") is a text.
    if (tag != "!" && (value.empty() || value == "~" || value == "null")) {
      scalar.kind = YamlNode::Kind::kNull;
    }
    put(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { close(); }

  YamlNode take() { return std::move(root_); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlNode::Entry> key;  // of a mapping: its value comes next
  };

  static YamlNode node(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode made;
    made.kind = kind;
    made.line = mark.line + 1;
    made.column = mark.column + 1;
    return made;
  }
  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    throw YAML::ParserException(mark, "anchors (&name) are not used here; write the value out");
  }
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw YAML::ParserException(mark, "tags (!name) are not used here");
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() >= kDepthMax) throw YAML::ParserException(mark, "nested too deeply");
    open_.push_back({node(mark, kind), std::nullopt});
  }
  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    put(std::move(done));
  }
  void put(YamlNode value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(value));
    } else if (parent.key) {
      parent.key->value = std::move(value);
      parent.node.entries.push_back(std::move(*parent.key));
      parent.key.reset();
    } else {
      parent.key = key_from(value, parent.node);
    }
  }
  static YamlNode::Entry key_from(const YamlNode& value, const YamlNode& mapping) {
    const YAML::Mark mark = mark_of(value);
    if (value.kind != YamlNode::Kind::kScalar) {
      throw YAML::ParserException(mark, "a key must be a text");
    }
    for (const YamlNode::Entry& entry : mapping.entries) {
      if (entry.key != value.scalar) continue;
      throw YAML::ParserException(
          mark, fmt::format("the key '{}' is here twice; it was given in line {} before",
                            value.scalar, entry.line));
    }
    return {value.scalar, value.line, value.column, {}};
  }
  static YAML::Mark mark_of(const YamlNode& node) {
    YAML::Mark mark;
    mark.line = node.line - 1;
    mark.column = node.column - 1;
    return mark;
  }

  std::vector<Open> open_;
  YamlNode root_;
};

// The place of a tab in the indentation; nothing where there is none. yaml-cpp's own message does
// not name the tab.
std::optional<std::pair<int, int>> tab_in_indentation(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view this_line = text.substr(0, end);
    const std::size_t tab = this_line.find('\t');
    const std::size_t first = this_line.find_first_not_of(" \t\r");
    if (tab < first && first != std::string_view::npos && this_line[first] != '#') {
      return std::pair(line, static_cast<int>(tab) + 1);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::nullopt;
}

}  // namespace

Result<YamlNode> parse_yaml(std::string_view text, std::string_view name) {
  if (text.size() > limits::kConfigBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: {} bytes are more than a configuration may have ({})", name,
                            text.size(), limits::kConfigBytesMax));
  }
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile, fmt::format("{}: is a binary file, not YAML text", name));
  }
  if (const auto tab = tab_in_indentation(text)) {
    return fail(ErrorCode::kConfig,
                fmt::format("{}:{}:{}: a tab; indent with spaces", name, tab->first, tab->second));
  }
  std::istringstream stream{std::string(text)};
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return YamlNode();
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      return fail(ErrorCode::kConfig, fmt::format("{}: holds more than one document", name));
    }
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::kConfig, fmt::format("{}:{}:{}: {}", name, error.mark.line + 1,
                                                error.mark.column + 1, error.msg));
  }
  return builder.take();
}

std::string_view describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a text";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMapping:
      return "a mapping";
  }
  return "";
}

}  // namespace pennyweight
