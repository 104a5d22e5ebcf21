#include <cstring>

#include "core/hash.h"
#include "telemetry/prometheus/exposition_parsing.h"
#include "telemetry/prometheus/text_line.h"

namespace pennyweight::prometheus {
namespace {

class TextLabels final : public EncodedLabels {
 public:
  explicit TextLabels(const ParserContext& context) : context_(context) {}
  std::string_view series;
  std::uint64_t line = 0;

  bool decode(std::vector<Label>& labels) const override {
    const LabelLimits& limits = context_.options.labels;
    const char* wrong = decode_text_series(series, limits, labels);
    if (wrong == nullptr) {
      add_target_labels(context_.target, labels);
      if (normalise_labels(labels, limits)) return true;
      wrong = "too many labels, or one that is too long, repeated or not UTF-8";
    }
    record_bad_line(context_.report, line, wrong);
    return false;
  }

 private:
  const ParserContext& context_;
};

class TextParser {
 public:
  TextParser(bool is_open_metrics, const ParserContext& context)
      : dialect_(is_open_metrics ? TextDialect::kOpenMetrics : TextDialect::kText),
        context_(context),
        seed_(target_seed(context.target, is_open_metrics ? "openmetrics" : "text")),
        labels_(context) {}

  // REQUIRES: the text ends with '\n'. False after '# EOF' of OpenMetrics.
  bool parse(const char* at, const char* const end, const char* const readable_end) {
    TextSample sample;
    while (at < end) {
      ++line_;
      while (*at == ' ' || *at == '\t') ++at;
      if (*at == '#' || *at == '\n' || *at == '\r') {
        const char* const line_end = line_end_of(at, end);
        const std::string_view comment(at, static_cast<std::size_t>(line_end - at));
        if (dialect_ == TextDialect::kOpenMetrics && comment == "# EOF") return false;
        at = line_end + 1;
        continue;
      }
      const char* const wrong = parse_text_sample(at, readable_end, dialect_, sample);
      if (wrong != nullptr) {
        record_bad_line(context_.report, line_, wrong);
        at = line_end_of(at, end) + 1;
        continue;
      }
      at = sample.line_end + 1;
      emit(sample);
    }
    return true;
  }

 private:
  static const char* line_end_of(const char* at, const char* end) {
    return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
  }

  void emit(const TextSample& sample) {
    ExpositionReport& report = context_.report;
    if (sample.has_exemplar) ++report.exemplars;
    const bool own_time = sample.has_time && context_.options.honor_timestamps;
    const std::int64_t at_ms = own_time ? sample.at_ms : unix_ms(context_.options.scraped_at);
    if (at_ms < unix_ms(kInstantMin) || at_ms > unix_ms(kInstantMax)) {
      ++report.samples_out_of_range;
      return;
    }
    ++report.samples;
    labels_.series = sample.series;
    labels_.line = line_;
    const Sample one = {.at_ms = at_ms, .value = sample.value};
    context_.sink.series(mixed(hash_of(sample.series), seed_), labels_, std::span(&one, 1));
  }

  TextDialect dialect_;
  const ParserContext& context_;
  Hash128 seed_;
  TextLabels labels_;
  std::uint64_t line_ = 0;
};

}  // namespace

void parse_text(std::string_view document, bool is_open_metrics, const ParserContext& context) {
  TextParser parser(is_open_metrics, context);
  // Every loop over a line stops at its '\n'; a last line without one gets it in a copy.
  const std::size_t whole = document.rfind('\n') + 1;  // 0 where there is none
  const char* const begin = document.data();
  if (whole > 0 && !parser.parse(begin, begin + whole, begin + document.size())) return;
  if (whole == document.size()) return;
  std::string last(document.substr(whole));
  last += '\n';
  parser.parse(last.data(), last.data() + last.size(), last.data() + last.size());
}

}  // namespace pennyweight::prometheus
