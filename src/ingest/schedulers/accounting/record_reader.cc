#include "ingest/schedulers/accounting/record_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::accounting {

std::unexpected<Mistake> mistake(std::string_view field, std::string reason) {
  return std::unexpected(Mistake{std::string(field), std::move(reason)});
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> seconds_as_ms(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto seconds = whole_number(text.substr(0, point));
  if (!seconds || *seconds > 100 * kSecondsMax) return std::nullopt;
  std::uint64_t ms = *seconds * 1000;
  if (point == std::string_view::npos) return ms;
  const std::string_view fraction = text.substr(point + 1);
  if (fraction.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint64_t scale = 100;
  for (const char digit : fraction.substr(0, 3)) {
    ms += static_cast<std::uint64_t>(digit - '0') * scale;
    scale /= 10;
  }
  return ms;
}

Read<std::optional<Interval>> run_interval(const RunTime& time, const Options& options,
                                           std::string_view end_field) {
  if (!time.end) {
    return mistake(end_field,
                   time.begin ? fmt::format("it has no end, but began at {}", to_text(*time.begin))
                              : "it has no end");
  }
  if (*time.end > options.read_at) {
    return mistake(end_field,
                   fmt::format("it ended at {}, after the file was read", to_text(*time.end)));
  }
  if (!time.begin || *time.begin == *time.end) return std::nullopt;
  if (*time.end < *time.begin) {
    return mistake(end_field, fmt::format("it ended at {}, before it began at {}",
                                          to_text(*time.end), to_text(*time.begin)));
  }
  return Interval(*time.begin, *time.end);
}

RecordReader::RecordReader(ReadRecord read, Options options, Sinks sinks, IsSeparator is_separator)
    : read_(read),
      is_separator_(is_separator),
      options_(std::move(options)),
      holdings_(std::move(sinks.holdings)),
      outcomes_(std::move(sinks.outcomes)),
      rejected_(std::move(sinks.rejected)),
      lines_([this](const FedLine& line) { return read_line(line); }) {}

Result<void> RecordReader::finish() {
  TRY(lines_.finish());
  TRY(end_record());
  TRY(holdings_.flush());
  TRY(outcomes_.flush());
  return rejected_.flush();
}

Result<void> RecordReader::read_line(const FedLine& line) {
  if (line.text.starts_with('#')) return {};
  if (is_separator_ == nullptr) return read_record(line);
  if (is_separator_(line.text)) {
    TRY(end_record());
    record_ = FedLine{{}, line.number, false};
    return {};
  }
  // What stands before the first separator is of no record: a prompt with the command.
  if (!record_) return {};
  const bool has_room = record_text_.size() + line.text.size() < limits::kRowBytesMax;
  record_->is_too_long = record_->is_too_long || line.is_too_long || !has_room;
  if (has_room) record_text_.append(line.text).push_back('\n');
  return {};
}

Result<void> RecordReader::end_record() {
  if (!record_) return {};
  FedLine record = *record_;
  record_.reset();
  const std::string text = std::exchange(record_text_, {});
  record.text = text;
  return read_record(record);
}

Result<void> RecordReader::read_record(const FedLine& line) {
  const auto reject = [&](std::string_view field, std::string_view reason) -> Result<void> {
    ++counts_.rejected;
    return rejected_.add({.file = options_.file,
                          .line = line.number,
                          .column = printable_text(field, limits::kRejectedTextBytesMax),
                          .reason = printable_text(reason, limits::kRejectedTextBytesMax),
                          .text = printable_text(line.text, limits::kRejectedTextBytesMax)});
  };
  if (line.is_too_long) {
    return reject("", fmt::format("it has more than {} bytes", limits::kRowBytesMax));
  }
  if (!is_plain_text(line.text)) return reject("", "it is not UTF-8 text");
  auto read = read_(line.text, options_);
  if (!read) return reject(read.error().field, read.error().reason);
  if (!*read) {
    ++counts_.others;
    return {};
  }
  if (!(*read)->disregarded.empty()) {
    ++counts_.others;
    ++counts_.disregarded[(*read)->disregarded];
    return {};
  }
  return take(**std::move(read), line.number);
}

Result<void> RecordReader::take(Run run, std::uint64_t line) {
  ++counts_.runs;
  if (run.without_time) {
    ++(run.without_time->measure == kJobsNeverStarted ? counts_.never_started
                                                      : counts_.zero_length);
    run.without_time->source = {line};
    return outcomes_.add(*std::move(run.without_time));
  }
  if (!run.holding) {
    ++counts_.never_started;
    return {};
  }
  ++counts_.holdings;
  run.holding->source = {line};
  auto used =
      host_usage_outcomes(run.holding->cluster, run.holding->workload, run.holding->held, run.used);
  if (!used.empty()) ++counts_.used;
  for (Outcome& outcome : used) {
    outcome.source = {line};
    TRY(outcomes_.add(std::move(outcome)));
  }
  return holdings_.add(*std::move(run.holding));
}

std::string_view without_comments(std::string_view beginning) {
  while (beginning.starts_with('#')) {
    const std::size_t end = beginning.find('\n');
    if (end == std::string_view::npos) return {};
    beginning.remove_prefix(end + 1);
  }
  return beginning;
}

}  // namespace pennyweight::accounting
