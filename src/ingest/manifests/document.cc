#include "ingest/manifests/document.h"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "core/plain_text.h"

namespace pennyweight::manifests {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::string_view kYamlTagPrefix = "tag:yaml.org,2002:";

const DocumentNode& missing_node() {
  static const DocumentNode missing;
  return missing;
}

std::size_t count_values(const DocumentNode& node) {
  std::size_t values = 1;
  for (const DocumentNode& item : node.items) values += count_values(item);
  for (const DocumentNode::Field& field : node.fields) values += 1 + count_values(field.value);
  return values;
}

std::size_t depth_below(const DocumentNode& node) {
  std::size_t depth = 0;
  for (const DocumentNode& item : node.items) depth = std::max(depth, depth_below(item));
  for (const DocumentNode::Field& field : node.fields) {
    depth = std::max(depth, depth_below(field.value));
  }
  return depth + 1;
}

// Builds trees from the parser's events. It stops by throwing, as yaml-cpp itself does.
class DocumentBuilder : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(std::size_t values_max) : values_max_(values_max) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override { anchors_.clear(); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    put(mark, anchor, make(mark, Kind::kNull));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) {
      throw YAML::ParserException(mark, "an alias of something that contains it");
    }
    values_ += target->second.values - 1;  // put() counts the last one
    if (open_.size() + target->second.depth > kDepthMax) {
      throw YAML::ParserException(mark, "nested too deeply");
    }
    if (values_ > values_max_) refuse_values(mark);
    put(mark, YAML::NullAnchor, target->second.node);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    DocumentNode scalar = make(mark, Kind::kScalar);
    const bool is_text = tag == "!" || tag == std::string(kYamlTagPrefix) + "str";
    if (!is_text && (value.empty() || value == "~" || value == "null")) {
      scalar.kind = Kind::kNull;
    } else {
      if (!is_plain_text(value)) throw YAML::ParserException(mark, "not plain UTF-8 text");
      scalar.scalar = value;
      scalar.is_text = is_text;
    }
    put(mark, anchor, std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Kind::kMapping);
  }
  void OnMapEnd() override { close(); }

  DocumentNode take() { return std::exchange(root_, DocumentNode()); }

 private:
  struct OpenNode {
    DocumentNode node;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<std::string> key = std::nullopt;  // of a mapping: its value comes next
    std::set<std::string, std::less<>> keys = {};
    std::vector<DocumentNode> merged = {};  // of the key <<
  };
  struct Anchored {
    DocumentNode node;
    std::size_t values;
    std::size_t depth;
  };

  static DocumentNode make(const YAML::Mark& mark, Kind kind) {
    DocumentNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    return node;
  }
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    static constexpr std::string_view kCoreTags[] = {"", "?", "!"};
    static constexpr std::string_view kCoreTypes[] = {"str",  "int", "float", "bool",
                                                      "null", "map", "seq"};
    if (std::ranges::find(kCoreTags, tag) != std::end(kCoreTags)) return;
    const std::string_view type = std::string_view(tag).substr(
        tag.starts_with(kYamlTagPrefix) ? kYamlTagPrefix.size() : tag.size());
    if (std::ranges::find(kCoreTypes, type) != std::end(kCoreTypes)) return;
    throw YAML::ParserException(mark, "a tag (!name), which no manifest needs");
  }
  void refuse_values(const YAML::Mark& mark) const {
    throw YAML::ParserException(
        mark, fmt::format("more than {} values, with its aliases written out", values_max_));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Kind kind) {
    refuse_tag(mark, tag);
    if (open_.size() >= kDepthMax) throw YAML::ParserException(mark, "nested too deeply");
    open_.push_back({make(mark, kind), mark, anchor});
  }
  void close() {
    OpenNode done = std::move(open_.back());
    open_.pop_back();
    for (const DocumentNode& from : done.merged) merge(done, from);
    put(done.mark, done.anchor, std::move(done.node));
  }
  // Keys that the mapping has itself, or that an earlier merge gave it, stay.
  void merge(OpenNode& into, const DocumentNode& from) {
    if (from.kind == Kind::kSequence) {
      for (const DocumentNode& item : from.items) merge(into, item);
      return;
    }
    if (!from.is_mapping()) {
      throw YAML::ParserException(into.mark, "'<<' merges something that is no mapping");
    }
    for (const DocumentNode::Field& field : from.fields) {
      if (into.keys.insert(field.key).second) into.node.fields.push_back(field);
    }
  }
  void put(const YAML::Mark& mark, YAML::anchor_t anchor, DocumentNode value) {
    if (++values_ > values_max_) refuse_values(mark);
    if (anchor != YAML::NullAnchor) {
      const std::size_t values = count_values(value);
      anchored_values_ += values;
      if (anchored_values_ > values_max_) refuse_values(mark);
      anchors_.insert_or_assign(anchor, Anchored{value, values, depth_below(value)});
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    OpenNode& parent = open_.back();
    if (parent.node.kind == Kind::kSequence) {
      parent.node.items.push_back(std::move(value));
    } else if (!parent.key) {
      if (value.kind != Kind::kScalar) throw YAML::ParserException(mark, "a key must be a text");
      if (value.scalar != "<<" && !parent.keys.insert(value.scalar).second) {
        throw YAML::ParserException(
            mark, fmt::format("the key '{}' is here twice", printable_text(value.scalar, 80)));
      }
      parent.key = std::move(value.scalar);
    } else if (*parent.key == "<<") {
      parent.key.reset();
      parent.merged.push_back(std::move(value));
    } else {
      parent.node.fields.emplace_back(std::move(*parent.key), std::move(value));
      parent.key.reset();
    }
  }

  std::size_t values_max_;
  std::vector<OpenNode> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t values_ = 0;
  std::size_t anchored_values_ = 0;
  DocumentNode root_;
};

// The line of the first Helm action in the text; 0 where there is none.
int helm_line(std::string_view text) {
  const std::size_t at = text.find("{{");
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

}  // namespace

const DocumentNode& DocumentNode::operator[](std::string_view key) const {
  for (const Field& field : fields) {
    if (field.key == key) return field.value;
  }
  return missing_node();
}

const DocumentNode& DocumentNode::at(std::string_view path) const {
  const DocumentNode* node = this;
  while (!path.empty()) {
    const std::size_t end = path.find('.');
    node = &(*node)[path.substr(0, end)];
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return *node;
}

Result<std::vector<DocumentNode>> parse_documents(std::string_view text, std::string_view name,
                                                  const DocumentLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: {} bytes are more than a manifest may have ({})", name,
                            text.size(), limits.bytes));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile, fmt::format("{}: is a binary file, not a manifest", name));
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::vector<DocumentNode>();
  if (text.substr(first, 2) != "{{" && (text[first] == '{' || text[first] == '[')) {
    return parse_json_documents(text, name, limits);
  }
  std::istringstream stream{std::string(text)};
  DocumentBuilder builder(limits.values);
  std::vector<DocumentNode> documents;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
      DocumentNode document = builder.take();
      if (document.kind == Kind::kNull) continue;
      documents.push_back(std::move(document));
      if (documents.size() > kDocumentsMax) {
        return fail(ErrorCode::kLimit,
                    fmt::format("{}: more than {} documents", name, kDocumentsMax));
      }
    }
  } catch (const YAML::Exception& error) {
    if (const int line = helm_line(text); line > 0) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("{}:{}: is a Helm template and no YAML; render it first: helm "
                              "template CHART | pennyweight estimate -",
                              name, line));
    }
    return fail(ErrorCode::kBadFile,
                fmt::format("{}:{}: {}", name, error.mark.line + 1, error.msg));
  }
  return documents;
}

}  // namespace pennyweight::manifests
