// DocumentNode and parse_documents(): what a repository holds in YAML or JSON, as trees whose
// values have their lines.
//
// Manifests come from anybody, so reading one is bounded: bytes, depth, and values after aliases
// are written out. Unlike a configuration (config/yaml.h), a file may hold several documents, and
// anchors, aliases and merge keys (<<) are allowed, because Compose files are full of them; a file
// whose aliases would stand for too much is refused. A key that occurs twice is refused too:
// programs disagree about which one counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::manifests {

inline constexpr std::size_t kFileBytesMax = 16U << 20U;
inline constexpr std::size_t kDepthMax = 100;       // schemas of custom resources are some 60 deep
inline constexpr std::size_t kValuesMax = 500'000;  // of one file, aliases written out
inline constexpr std::size_t kDocumentsMax = 10'000;

// What a file may have; a listing of a whole cluster is larger than any manifest.
struct DocumentLimits {
  std::size_t bytes = kFileBytesMax;
  std::size_t values = kValuesMax;
};

struct DocumentNode {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  struct Field;

  Kind kind = Kind::kNull;
  bool is_text = false;             // a scalar in quotes, or a block: "1" is no number then
  int line = 1;                     // 1-based
  std::string scalar;               // as written, without quotes: "1", "true", "500m"
  std::vector<DocumentNode> items;  // of a sequence
  std::vector<Field> fields;        // of a mapping, in order; keys differ

  bool is_mapping() const { return kind == Kind::kMapping; }
  // The value of a key; a null node where there is none, so that paths can be followed.
  const DocumentNode& operator[](std::string_view key) const;
  // The values of a path of keys: at("spec.template.spec"). No key of it holds a point.
  const DocumentNode& at(std::string_view path) const;
  bool has(std::string_view key) const { return (*this)[key].kind != Kind::kNull; }
  explicit operator bool() const { return kind != Kind::kNull; }
};

struct DocumentNode::Field {
  std::string key;
  DocumentNode value;
};

// The documents of a file, which is YAML or JSON by its first character. Empty documents are left
// out. Every message begins with `name`: "job.yaml:3: …"; a Helm template, which is no YAML, is
// refused with the command that renders it.
Result<std::vector<DocumentNode>> parse_documents(std::string_view text, std::string_view name,
                                                  const DocumentLimits& limits = {});

// The JSON values of a text, one after the other, by RFC 8259; numbers stay as they are written.
Result<std::vector<DocumentNode>> parse_json_documents(std::string_view text, std::string_view name,
                                                       const DocumentLimits& limits = {});

}  // namespace pennyweight::manifests
