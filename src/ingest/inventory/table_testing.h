// For the tests of this module: reads tables in small pieces, and the examples of docs/formats.md.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

inline Instant instant(std::string_view text) { return parse_instant(text).value(); }

template <class Fact>
struct Read {
  Result<void> done;
  std::vector<Fact> facts;
  std::vector<RejectedRow> rejected;
  TableCounts counts;
};

template <class Fact>
FactSink<Fact> into(std::vector<Fact>& facts) {
  return [&facts](std::span<const Fact> batch) -> Result<void> {
    facts.insert(facts.end(), batch.begin(), batch.end());
    return {};
  };
}

template <class Reader, class Fact, class ReaderOptions>
Read<Fact> read_with(const ReaderOptions& options, std::string_view text) {
  Read<Fact> read;
  Reader reader(options, into(read.facts), into(read.rejected));
  constexpr std::size_t kChunk = 50;
  while (read.done && !text.empty()) {
    read.done = reader.feed(text.substr(0, kChunk));
    text.remove_prefix(std::min(kChunk, text.size()));
  }
  if (read.done) read.done = reader.finish();
  read.counts = reader.counts();
  return read;
}

// The example of docs/formats.md whose block opens with "```csv <name>".
inline std::string documented(const std::string& name) {
  std::ifstream file(std::string(PROJECT_ROOT) + "/docs/formats.md");
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```" && inside) return text;
    if (inside) text += line + "\n";
    inside = inside || line == "```csv " + name;
  }
  ADD_FAILURE() << "docs/formats.md has no example of " << name;
  return {};
}

}  // namespace pennyweight::inventory
