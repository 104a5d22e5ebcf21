#include "app/import/bill_survey.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "app/import/input_format.h"
#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kSurveyChunkBytes = 1u << 20;

// What a survey reads is imported later.
class NoSink : public bill::ImportSink {
 public:
  Result<void> charges(std::span<const Charge>) override { return {}; }
  Result<void> rejected(std::span<const RejectedRow>) override { return {}; }
};

Result<void> survey_file(const std::string& path, const InputFormat& format,
                         bill::OptionSurvey& survey) {
  NoSink sink;
  const auto reading = bill::open_survey_of(format.encoding, {path, path}, survey, sink);
  if (format.encoding != bill::BillEncoding::kParquet) {
    auto file = TRY(InputFile::open(path));
    std::vector<char> chunk(kSurveyChunkBytes);
    for (;;) {
      const std::size_t count = TRY(file.read(chunk));
      if (count == 0) break;
      TRY(reading->feed({chunk.data(), count}));
    }
  }
  std::ignore = TRY(reading->finish());
  return {};
}

}  // namespace

Result<void> survey_bills(const std::vector<std::string>& paths, const InputFormat& format,
                          ImportOptions& options, std::vector<std::string>& remarks) {
  if (format.bill == nullptr || format.bill->open_survey == nullptr) return {};
  if (std::ranges::find(paths, "-") != paths.end()) return {};
  const auto survey =
      format.bill->open_survey({.options = options.bill_options, .rate_card = nullptr});
  if (survey == nullptr) return {};
  for (const std::string& path : paths) {
    if (auto read = survey_file(path, format, *survey); !read) {
      return std::unexpected(read.error().during("cannot import " + path));
    }
  }
  auto found = survey->infer();
  if (!found) return std::unexpected(found.error().during("cannot import " + paths.front()));
  for (bill::InferredOption& option : *found) {
    options.bill_options.emplace(std::move(option.key), std::move(option.value));
    if (!option.remark.empty()) remarks.push_back(std::move(option.remark));
  }
  return {};
}

}  // namespace pennyweight
