#include "ingest/devices/nvidia_smi/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/whole_count.h"
#include "ingest/csv/cells.h"
#include "ingest/csv/reader.h"
#include "ingest/devices/nvidia_smi/local_time.h"

namespace pennyweight::nvidia_smi {
namespace {

// "memory.used [MiB]": the field, and its unit, which may be empty.
struct Column {
  std::string_view field;
  std::string_view unit;
};

Column find_column(std::string_view name) {
  name = ascii::trim(name);
  const std::size_t bracket = name.find(" [");
  if (bracket == std::string_view::npos || !name.ends_with(']')) return {name, {}};
  return {name.substr(0, bracket), name.substr(bracket + 2, name.size() - bracket - 3)};
}

bool is_field_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return ascii::is_letter_or_digit(c) || c == '_' || c == '.';
  });
}

// Some fields have a second name.
std::string_view plain_field(std::string_view field) {
  if (field == "gpu_uuid") return "uuid";
  if (field == "gpu_name") return "name";
  return field;
}

// The unit of a measurement, its size in ours, and its largest value.
struct QueryUnit {
  std::string_view unit;
  std::uint64_t units;
  std::int64_t most;
};
constexpr QueryUnit kQueryMemory{"MiB", 1u << 20, 1 << 26};
constexpr QueryUnit kQueryUtil{"%", 10'000, 100};
constexpr QueryUnit kQueryPower{"W", 1000, 100'000};

class Table final : public csv::Sink {
 public:
  Table(std::uint64_t first_line, const TimeZone& zone, const std::function<void(GpuReading)>& take,
        const std::function<void(QueryRefusal)>& refuse)
      : first_line_(first_line), zone_(zone), take_(take), refuse_(refuse) {}

  Result<void> header(const csv::Header& header) override {
    for (std::size_t i = 0; i < header.size(); ++i) {
      const Column column = find_column(header.names()[i]);
      const std::string field(plain_field(column.field));
      if (!places_.try_emplace(field, ColumnIndexes{i, std::string(column.unit), header.names()[i]})
               .second) {
        return fail(ErrorCode::kBadFile, fmt::format("the header names '{}' twice", field));
      }
    }
    return {};
  }

  Result<void> row(const csv::Row& row) override {
    refusal_.reset();
    fields_ = row.fields;
    // A table that was appended to in several runs repeats its header.
    if (plain_field(find_column(row.fields[0]).field) == plain_field(first_field())) return {};
    GpuReading card{.line = line_of(row.line),
                    .at = time(),
                    .uuid = std::string(field_text("uuid")),
                    .index = index(),
                    .model = std::string(field_text("name")),
                    .memory_used_bytes = measured("memory.used", kQueryMemory),
                    .memory_total_bytes = measured("memory.total", kQueryMemory),
                    .gpu_util_ppm = measured("utilization.gpu", kQueryUtil),
                    .power_milliwatts = measured("power.draw", kQueryPower),
                    .text = printable_text(row.text, limits::kRejectedTextBytesMax)};
    if (card.uuid.size() > limits::kIdBytesMax || card.model.size() > limits::kIdBytesMax) {
      fault("uuid", fmt::format("a name of more than {} bytes", limits::kIdBytesMax));
    }
    if (refusal_) {
      refuse_({card.line, refusal_->column, refusal_->reason, card.text});
    } else {
      take_(std::move(card));
    }
    return {};
  }

  Result<void> bad_row(const csv::BadRow& row) override {
    refuse_({line_of(row.line), "", row.reason,
             printable_text(row.text, limits::kRejectedTextBytesMax)});
    return {};
  }

 private:
  struct ColumnIndexes {
    std::size_t at;
    std::string unit;
    std::string name;  // as the header has it
  };

  std::uint64_t line_of(std::uint64_t line) const { return first_line_ + line - 1; }
  std::string_view first_field() const {
    for (const auto& [field, place] : places_) {
      if (place.at == 0) return field;
    }
    return {};
  }
  void fault(std::string_view column, std::string reason) {
    if (!refusal_) refusal_ = csv::Refusal{std::string(column), std::move(reason)};
  }
  // A value, or nothing where the device does not report it.
  std::string_view field_text(std::string_view field) const {
    const auto place = places_.find(field);
    if (place == places_.end()) return {};
    const std::string_view value = ascii::trim(fields_[place->second.at]);
    const bool bracketed = value.starts_with('[') && value.ends_with(']');
    return bracketed || value == "N/A" ? std::string_view{} : value;
  }
  std::optional<Instant> time() {
    const std::string_view text = field_text("timestamp");
    if (text.empty()) return std::nullopt;
    const auto at = parse_query_time(text, zone_);
    if (!at) {
      fault("timestamp", at.error().message);
      return std::nullopt;
    }
    return *at;
  }
  std::optional<std::uint32_t> index() {
    const std::string_view text = field_text("index");
    if (text.empty()) return std::nullopt;
    const auto number = parse_count(text, limits::kGpusPerNodeMax - 1);
    if (!number) {
      fault("index", number.error().message);
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(*number);
  }
  std::optional<std::uint64_t> measured(std::string_view field, const QueryUnit& measure) {
    std::string_view text = field_text(field);
    if (text.empty()) return std::nullopt;
    const ColumnIndexes& place = places_.find(field)->second;
    std::string_view unit = place.unit;
    if (const std::size_t blank = text.find(' '); blank != std::string_view::npos) {
      unit = ascii::trim(text.substr(blank));
      text = text.substr(0, blank);
    }
    if (unit != measure.unit) {
      fault(field,
            fmt::format("the unit is '{}', and nvidia-smi gives {}; keep its header as it is",
                        unit.substr(0, 20), measure.unit));
      return std::nullopt;
    }
    const auto value = parse_exact_decimal(text);
    if (!value) {
      fault(field, value.error().message);
      return std::nullopt;
    }
    if (value->is_negative() || *value > Decimal::from_units(measure.most)) {
      fault(field,
            fmt::format("{} {} lies outside of 0 to {}", text.substr(0, 40), unit, measure.most));
      return std::nullopt;
    }
    const auto count = nearest_count(*value, measure.units);
    if (!count) {
      fault(field, count.error().message);
      return std::nullopt;
    }
    return *count;
  }

  const std::uint64_t first_line_;
  const TimeZone& zone_;
  const std::function<void(GpuReading)>& take_;
  const std::function<void(QueryRefusal)>& refuse_;
  std::map<std::string, ColumnIndexes, std::less<>> places_;  // by field
  std::span<const std::string_view> fields_;                  // of the row being read
  std::optional<csv::Refusal> refusal_;
};

}  // namespace

bool is_query_header(std::string_view line) {
  bool card = false;
  bool ours = false;
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view field = plain_field(find_column(line.substr(0, comma)).field);
    line.remove_prefix(std::min(comma + 1, line.size()));
    if (!is_field_name(field) || field == "pid" || field.starts_with("retired_pages.address")) {
      return false;
    }
    card = card || field == "uuid" || field == "index";
    ours = ours || field == "memory.used" || field == "memory.total" ||
           field == "utilization.gpu" || field == "power.draw" || field == "name";
  }
  return card && ours;
}

Result<void> read_query(std::string_view table, std::uint64_t first_line, const TimeZone& zone,
                        const std::function<void(GpuReading)>& take,
                        const std::function<void(QueryRefusal)>& refuse) {
  Table sink(first_line, zone, take, refuse);
  return csv::read(table, {.trim_spaces = true, .require_rows = false}, sink);
}

}  // namespace pennyweight::nvidia_smi
