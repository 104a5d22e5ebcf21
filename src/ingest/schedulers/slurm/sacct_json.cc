#include "ingest/schedulers/slurm/sacct_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <vector>

#include "core/limits.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/json_job.h"
#include "ingest/schedulers/slurm/sacct_batches.h"
#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

namespace ondemand = simdjson::ondemand;

// A document with more bytes that are not UTF-8 is binary, or in another encoding.
constexpr std::size_t kMaskedMax = 65'536;

std::unexpected<Error> bad_document(std::string_view why) {
  return fail(ErrorCode::kBadFile,
              fmt::format("this is not a whole document of sacct --json: {}", why));
}

std::unexpected<Error> bad_document(simdjson::error_code error) {
  return bad_document(simdjson::error_message(error));
}

// Walks the jobs of one document. On-demand parsing finds where each begins and ends, so that one
// bad job does not spoil the others, and only one job is in memory at a time.
class Reader {
 public:
  Reader(std::string_view document, const SacctOptions& options, const SacctSink& sink)
      : text_(document),
        masked_(mask_invalid_utf8(text_.data(), text_.size(), kMaskedMax)),
        batches_(options, sink) {}

  Result<SacctCounts> read() {
    if (masked_.size() == kMaskedMax) return bad_document("it is not UTF-8");
    if (const std::string reported = reported_error(); !reported.empty()) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("sacct could not list all jobs, and says why in the document: {}; "
                              "export again",
                              shown_as_utf8(std::string_view(reported).substr(0, 200))));
    }
    ondemand::parser parser;
    ondemand::document document;
    if (const auto error = parser.iterate(text_).get(document)) return bad_document(error);
    ondemand::object root;
    if (const auto error = document.get_object().get(root)) return bad_document(error);
    ondemand::array jobs;
    if (const auto error = root.find_field_unordered("jobs").get_array().get(jobs)) {
      return error == simdjson::NO_SUCH_FIELD || error == simdjson::INCORRECT_TYPE
                 ? bad_document("there is no list named jobs")
                 : bad_document(error);
    }
    for (auto item : jobs) {
      ondemand::value value;
      if (const auto error = item.get(value)) return bad_document(error);
      std::string_view raw;
      if (const auto error = raw_text(value).get(raw)) return bad_document(error);
      TRY(read_job(raw));
    }
    TRY(batches_.flush());
    return batches_.counts;
  }

 private:
  // The first entry of the list "errors", as it is; empty if there is none. A document that can't
  // be walked is neither walked further nor rewound: simdjson releases it.
  std::string reported_error() {
    ondemand::parser parser;
    ondemand::document document;
    if (parser.iterate(text_).get(document) != simdjson::SUCCESS) return "";
    ondemand::object root;
    ondemand::array errors;
    if (document.get_object().get(root) != simdjson::SUCCESS) return "";
    if (root.find_field_unordered("errors").get_array().get(errors) != simdjson::SUCCESS) return "";
    for (auto item : errors) {
      ondemand::value value;
      std::string_view raw;
      if (item.get(value) != simdjson::SUCCESS) return "";
      if (raw_text(value).get(raw) != simdjson::SUCCESS) return "";
      return std::string(raw);
    }
    return "";
  }

  static simdjson::simdjson_result<std::string_view> raw_text(ondemand::value value) {
    ondemand::json_type type;
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      return object.raw_json();
    }
    if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      return array.raw_json();
    }
    return value.raw_json_token();
  }

  Result<void> read_job(std::string_view raw) {
    const auto begin = static_cast<std::size_t>(raw.data() - text_.data());
    line_ += static_cast<std::uint64_t>(
        std::count(text_.data() + counted_to_, text_.data() + begin, '\n'));
    counted_to_ = begin;
    const auto reject = [&](std::string_view column, std::string_view reason) {
      ++batches_.counts.jobs;
      return batches_.reject(line_, column, reason, raw);
    };
    const auto masked = std::lower_bound(masked_.begin(), masked_.end(), begin);
    if (masked != masked_.end() && *masked < begin + raw.size()) {
      return reject("", "it is not UTF-8: convert the file with iconv");
    }
    // The padding after the document also follows the job, so it needs no copy.
    simdjson::dom::element element;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(raw.data());
    if (const auto error = parser_.parse(bytes, raw.size(), false).get(element)) {
      return reject("", fmt::format("it is not JSON: {}", simdjson::error_message(error)));
    }
    const auto job = read_json_job(element);
    if (!job) return reject(job.error().column, job.error().reason);
    batches_.counts.steps += job->steps;
    return batches_.add_job(job->record, line_, raw);
  }

  simdjson::padded_string text_;
  std::vector<std::size_t> masked_;  // where a byte was not UTF-8
  SacctBatches batches_;
  simdjson::dom::parser parser_;
  std::uint64_t line_ = 1;
  std::size_t counted_to_ = 0;  // line breaks before this byte are in line_
};

}  // namespace

Result<SacctCounts> read_sacct_json(std::string_view document, const SacctOptions& options,
                                    const SacctSink& sink) {
  if (document.starts_with("\xEF\xBB\xBF")) document.remove_prefix(3);
  if (document.empty()) return fail(ErrorCode::kBadFile, "the file is empty");
  if (document.size() > limits::kDocumentBytesMax) {
    return fail(
        ErrorCode::kLimit,
        fmt::format("the document has {} bytes, more than the limit of {}: export a shorter "
                    "period at a time, or with sacct --parsable2",
                    document.size(), limits::kDocumentBytesMax));
  }
  return Reader(document, options, sink).read();
}

}  // namespace pennyweight::slurm
