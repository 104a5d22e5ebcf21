// What the parsers of all input formats share: their sinks, their remarks, and documents that are
// parsed as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/import/file_parser.h"
#include "ledger/fact_batch.h"

namespace pennyweight {

// Remarks "18 jobs were pending", "1 job was pending"; nothing for none.
void add_remark(const ParserInput& input, std::uint64_t count, std::string_view one,
                std::string_view many);

template <class Fact>
FactSink<Fact> facts_into(SessionSink& sink,
                          Result<void> (SessionSink::*append)(std::span<const Fact>)) {
  return [&sink, append](std::span<const Fact> facts) { return (sink.*append)(facts); };
}

inline FactSink<RejectedRow> rejected_into(SessionSink& sink) {
  return [&sink](std::span<const RejectedRow> rows) { return sink.rejected(rows); };
}

// A parser from a reader with feed() and finish().
template <class Reader>
FileParser stream_parser(const std::shared_ptr<Reader>& reader) {
  return {[reader](std::string_view chunk) { return reader->feed(chunk); },
          [reader] { return reader->finish(); }};
}

// A parser for a format that can only be parsed as a whole.
FileParser document_parser(std::function<Result<void>(const std::string&)> parse);

}  // namespace pennyweight
