#include "ingest/devices/json/json_capture.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::json_capture {
namespace {

// The output of a node with a thousand devices is some 10 MB.
constexpr std::size_t kDocumentBytesMax = 64u << 20;

}  // namespace

std::optional<element> find(element from, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!from.is_object() || from[key].get(from) != simdjson::SUCCESS) return std::nullopt;
  }
  if (from.is_null()) return std::nullopt;
  return from;
}

std::string text_of(std::optional<element> value) {
  if (!value) return "";
  std::string_view text;
  if (value->get(text) == simdjson::SUCCESS) return std::string(text);
  std::int64_t number = 0;
  if (value->get(number) == simdjson::SUCCESS) return std::to_string(number);
  double real = 0;
  if (value->get(real) == simdjson::SUCCESS) return fmt::format("{:.6f}", real);
  return "";
}

Result<void> for_each_document(std::string_view text, std::string_view flag,
                               const std::function<Result<void>(element)>& visit) {
  if (text.size() > kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("more than {} bytes", kDocumentBytesMax));
  }
  if (!is_plain_text(text)) return fail(ErrorCode::kBadFile, "it is not UTF-8");
  const simdjson::padded_string padded(text);
  simdjson::dom::parser parser;
  simdjson::dom::document_stream stream;
  const std::size_t batch = std::max<std::size_t>(text.size(), 1024);
  if (const auto error = parser.parse_many(padded, batch).get(stream)) {
    return fail(ErrorCode::kBadFile,
                fmt::format("it is not JSON: {}", simdjson::error_message(error)));
  }
  for (auto each : stream) {
    element root;
    if (const auto error = each.get(root)) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("it is not whole JSON: {}; capture it once more with {}",
                              simdjson::error_message(error), flag));
    }
    TRY(visit(root));
  }
  if (stream.truncated_bytes() > 0) {
    return fail(ErrorCode::kBadFile, "the JSON is cut off at its end; capture it once more");
  }
  return {};
}

RejectedRow rejected_gpu(const std::string& file, std::uint64_t index, std::string_view reason) {
  return {.file = file,
          .line = 0,
          .column = {},
          .reason = printable_text(fmt::format("GPU {}: {}", index, reason),
                                   limits::kRejectedTextBytesMax),
          .text = fmt::format("GPU {}", index)};
}

}  // namespace pennyweight::json_capture
