// Any bytes, in any cut, give the same rows, and what the rows hold is what the writer writes back.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "ingest/csv/reader.h"
#include "ingest/csv/utf8.h"

namespace {

using namespace pennyweight;

class Digest : public csv::Sink {
 public:
  Result<void> header(const csv::Header& header) override {
    for (const std::string& name : header.names()) seen += name + "\x01";
    return {};
  }
  Result<void> row(const csv::Row& row) override {
    CHECK(row.fields.size() == row.quoted.size(), "each field is quoted or not");
    for (const std::string_view field : row.fields) {
      CHECK(csv::first_bad_byte(field) == field.size(), "only whole UTF-8 text is handed over");
      seen.append(field) += '\x02';
    }
    seen += std::to_string(row.line) + "\x03";
    return {};
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    CHECK(!row.reason.empty(), "a bad row says why");
    seen += std::to_string(row.line) + row.reason + "\x04";
    return {};
  }
  std::string seen;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[0] % 97u;
  const csv::Options options{.delimiter = data[1] % 2 == 0 ? ',' : '|',
                             .has_header = data[1] % 4 < 2,
                             .trim_spaces = data[1] % 8 < 4,
                             .require_rows = false,
                             .row_bytes_max = 4096,
                             .field_bytes_max = 1024,
                             .columns_max = 64,
                             .row_lines_max = 16};
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  Digest whole;
  const auto at_once = csv::read(text, options, whole);
  Digest pieces;
  csv::Reader reader(options, pieces);
  Result<void> fed;
  for (std::size_t at = 0; fed && at < text.size(); at += piece) {
    fed = reader.feed(text.substr(at, std::min(piece, text.size() - at)));
  }
  if (fed) fed = reader.finish();
  CHECK(fed == at_once, "the cut of the bytes decides nothing");
  CHECK(whole.seen == pieces.seen, "the cut of the bytes decides nothing");
  return 0;
}
