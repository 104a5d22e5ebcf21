// JsonImport: Google's billing export as newline-delimited JSON, fed in chunks, → batches of
// charges, in bounded memory.
//
// One line, one object, as `bq extract --destination_format NEWLINE_DELIMITED_JSON` writes it:
// records nested, null members left out, numbers as numbers or as texts, which read alike. A line
// that is not so is kept aside with its number, and the lines around it are read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bill/import.h"

namespace pennyweight::gcp {

class JsonImport {
 public:
  // `file` is what rejected rows name; `sink` must outlive the import.
  JsonImport(std::string file, bill::ImportSink& sink);
  ~JsonImport();
  JsonImport(const JsonImport&) = delete;
  JsonImport& operator=(const JsonImport&) = delete;

  // Bytes in any cut. An Error is about the file as a whole or came from the sink; nothing may be
  // fed after it, and what was handed over before it is not to be kept.
  Result<void> feed(std::string_view chunk);
  // An Error when there was no line at all.
  Result<bill::ImportSummary> finish();

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

// A whole text at once.
Result<bill::ImportSummary> import_json(std::string_view text, const std::string& file,
                                        bill::ImportSink& sink);

// Whether a line, the first of a file, is a row of such an export.
bool is_gcp_json(std::string_view line);

}  // namespace pennyweight::gcp
