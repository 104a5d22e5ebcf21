// JsonImport: reads Google's billing export as newline-delimited JSON, fed in chunks, into batches
// of charges, in bounded memory.
//
// Each line is one object, as `bq extract --destination_format NEWLINE_DELIMITED_JSON` writes it:
// records nested, null members left out, numbers as numbers or as texts. A line that is no such
// object is set aside with its number; the lines around it are imported.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bills/import.h"

namespace pennyweight::gcp {

class JsonImport : public bill::BillImport {
 public:
  // `file` is what rejected rows name; `sink` must outlive the import.
  JsonImport(std::string file, bill::ImportSink& sink);
  ~JsonImport() override;
  JsonImport(const JsonImport&) = delete;
  JsonImport& operator=(const JsonImport&) = delete;

  Result<void> feed(std::string_view chunk) override;
  // An Error if there was no line at all.
  Result<bill::ImportSummary> finish() override;

 private:
  class JsonLines;
  std::unique_ptr<JsonLines> lines_;
};

// A whole text at once.
Result<bill::ImportSummary> import_json(std::string_view text, const std::string& file,
                                        bill::ImportSink& sink);

// True if a line, the first of a file, is a row of such an export.
bool is_gcp_json(std::string_view line);

}  // namespace pennyweight::gcp
