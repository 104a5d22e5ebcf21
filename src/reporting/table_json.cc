// Tables as JSON. Decimals are strings, since a reader's binary fractions would change them.
#include "core/check.h"
#include "core/json_text.h"
#include "reporting/hour_ratio.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

class JsonCell {
 public:
  JsonCell(std::string& out, const Column& column) : out_(out), column_(column) {}

  void operator()(std::monostate) {
    name();
    out_ += "null";
  }
  void operator()(const std::string& text) { member(text); }
  void operator()(const Money& money) { member(to_text(money.amount())); }
  void operator()(const GpuTime& time) {
    hours(format_gpu_hours(time, 4, Thousands::kPlain), exact_gpu_hours(time));
  }
  void operator()(const Ratio& ratio) {
    if (column_.kind == ColumnKind::kGpuHours) {
      return hours(format_hours(ratio, Thousands::kPlain), exact_hours(ratio));
    }
    const auto percent = format_percent(ratio.part, ratio.whole, 4);
    if (percent) {
      member(*percent);
    } else {
      (*this)(std::monostate{});
    }
  }
  void operator()(std::uint64_t count) {
    name();
    out_ += std::to_string(count);
  }

 private:
  void name() {
    append_json_string(out_, column_.name);
    out_ += ": ";
  }
  void hours(std::string_view rounded, std::string_view exact) {
    member(rounded);
    out_ += ", ";
    append_json_string(out_, column_.name + "_exact");
    out_ += ": ";
    append_json_string(out_, exact);
  }
  void member(std::string_view value) {
    name();
    append_json_string(out_, value);
  }
  std::string& out_;
  const Column& column_;
};

void append_row(std::string& out, const Table& table, const Row& row) {
  CHECK(row.size() == table.columns.size(), "a cell for each column");
  out += '{';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ", ";
    std::visit(JsonCell(out, table.columns[i]), row[i]);
  }
  out += '}';
}

void append_table(std::string& out, const Table& table) {
  out += "{\"title\": ";
  append_json_string(out, table.title);
  if (table.currency) {
    out += ", \"currency\": ";
    append_json_string(out, table.currency->text());
  }
  out += ",\n  \"rows\": [";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    out += i == 0 ? "\n    " : ",\n    ";
    append_row(out, table, table.rows[i]);
  }
  out += "]";
  if (table.total) {
    out += ",\n  \"total\": ";
    append_row(out, table, *table.total);
  }
  if (!table.notes.empty()) {
    out += ",\n  \"notes\": [";
    for (std::size_t i = 0; i < table.notes.size(); ++i) {
      if (i > 0) out += ", ";
      append_json_string(out, table.notes[i]);
    }
    out += "]";
  }
  out += "}";
}

}  // namespace

std::string render_json(const std::vector<Table>& tables) {
  std::string out = "[";
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) out += ",\n ";
    append_table(out, tables[i]);
  }
  return out + "]\n";
}

}  // namespace pennyweight
