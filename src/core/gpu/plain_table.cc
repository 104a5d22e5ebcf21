#include "core/gpu/plain_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/limits.h"
#include "core/text_lines.h"

namespace pennyweight {
namespace {

void split_at_commas(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::string> what_is_wrong_with(std::string_view line) {
  if (line.size() > limits::kRowBytesMax) {
    return fmt::format("a line of {} bytes; at most {} are read", line.size(),
                       limits::kRowBytesMax);
  }
  for (const char c : line) {
    if (c == '"') return "a quote; this format has none, so write the value without";
    if (static_cast<unsigned char>(c) < ' ') {
      return "a control character; is this a text file with commas?";
    }
  }
  return std::nullopt;
}

struct Header {
  std::vector<std::optional<std::size_t>> cell_of_field;  // nothing: the column is ignored
};

Result<Header> read_header(const std::vector<std::string_view>& fields,
                           const PlainTableShape& shape) {
  std::vector<std::string_view> wanted(shape.required.begin(), shape.required.end());
  wanted.insert(wanted.end(), shape.optional.begin(), shape.optional.end());
  Header header;
  std::vector<bool> found(wanted.size());
  for (const std::string_view field : fields) {
    const auto at = std::find(wanted.begin(), wanted.end(), field);
    if (at == wanted.end()) {
      if (!shape.others_ignored) {
        return fail(ErrorCode::kBadFile, fmt::format("unknown column '{}'; known are {}", field,
                                                     fmt::join(wanted, ", ")));
      }
      header.cell_of_field.push_back(std::nullopt);
      continue;
    }
    const auto cell = static_cast<std::size_t>(at - wanted.begin());
    if (found[cell]) {
      return fail(ErrorCode::kBadFile, fmt::format("column '{}' appears twice", field));
    }
    found[cell] = true;
    header.cell_of_field.push_back(cell);
  }
  for (std::size_t cell = 0; cell < shape.required.size(); ++cell) {
    if (!found[cell]) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("no column '{}' in the first line", wanted[cell]));
    }
  }
  return header;
}

}  // namespace

Result<PlainTable> PlainTable::parse(std::string_view text, std::string_view name,
                                     const PlainTableShape& shape) {
  PlainTable table;
  table.name_ = name;
  table.width_ = shape.required.size() + shape.optional.size();
  const auto fail_at = [&](std::uint64_t line, std::string_view reason) {
    return fail(ErrorCode::kBadFile, fmt::format("{}:{}: {}", name, line, reason));
  };

  text = without_byte_order_mark(text);
  std::optional<Header> header;
  std::vector<std::string_view> fields;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    if (const auto wrong = what_is_wrong_with(line)) return fail_at(number, *wrong);
    split_at_commas(line, fields);
    if (!header) {
      auto read = read_header(fields, shape);
      if (!read) return fail_at(number, read.error().message);
      header = *std::move(read);
      continue;
    }
    if (fields.size() != header->cell_of_field.size()) {
      return fail_at(number, fmt::format("{} fields; the first line has {}", fields.size(),
                                         header->cell_of_field.size()));
    }
    const std::size_t first = table.cells_.size();
    table.cells_.resize(first + table.width_);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (const auto cell = header->cell_of_field[i]) table.cells_[first + *cell] = fields[i];
    }
    table.lines_.push_back(number);
  }
  if (!header) {
    return fail(ErrorCode::kBadFile, fmt::format("{}: empty; the first line names the columns {}",
                                                 name, fmt::join(shape.required, ",")));
  }
  return table;
}

std::string PlainTable::place(std::size_t index) const {
  return fmt::format("{}:{}", name_, lines_[index]);
}

}  // namespace pennyweight
