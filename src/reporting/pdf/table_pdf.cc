#include "reporting/pdf/table_pdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/try.h"
#include "reporting/pdf/page_writer.h"
#include "reporting/shown_cell.h"

namespace pennyweight {
namespace {

constexpr pdf::PageSize kLandscape{.width = 841.89F, .height = 595.276F};
constexpr float kEdge = 36;
constexpr float kFoot = 48;
constexpr float kTitleSize = 17;
constexpr float kHeadSize = 11;
constexpr float kCellSize = 7;
constexpr float kLine = 9;
constexpr float kColumnGap = 6;
constexpr float kWidthMin = 34;
constexpr float kWidthMax = 190;
constexpr float kHalf = 0.5F;

bool is_number(ColumnKind kind) { return kind != ColumnKind::kText && kind != ColumnKind::kId; }

class TablePages {
 public:
  TablePages(const TableDocument& document, pdf::PageWriter& out)
      : document_(document), out_(out) {}

  void draw() {
    out_.bold(kEdge, y_ + kTitleSize, document_.title, kTitleSize);
    y_ += kTitleSize + 2 * kLine;
    for (const std::string& sentence : document_.lead) paragraph(sentence, kCellSize + 2);
    for (const Table& table : document_.tables) draw_table(table);
    number_pages();
  }

 private:
  float width() const { return kLandscape.width - 2 * kEdge; }

  bool need(float height) {
    if (y_ + height <= kLandscape.height - kFoot) return false;
    out_.add_page();
    y_ = kEdge;
    return true;
  }

  void paragraph(const std::string& text, float size) {
    for (const std::string& line : out_.wrapped(text, size, width())) {
      need(kLine + 3);
      out_.text(kEdge, y_ + size, line, size, pdf::Align::kLeft, 0.25F);
      y_ += size + 3;
    }
    y_ += 3;
  }

  // As wide as their content where there is room; else the widest texts give up some, and wrap.
  std::vector<float> column_widths(const Table& table) {
    std::vector<float> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      float widest = out_.width_of(table.columns[i].title, kCellSize);
      for (const Row& row : table.rows) {
        widest = std::max(widest, out_.width_of(shown_cell(row[i]), kCellSize));
      }
      if (table.total) {
        widest = std::max(widest, out_.width_of(shown_cell((*table.total)[i]), kCellSize));
      }
      const bool may_wrap = !is_number(table.columns[i].kind);
      widths.push_back(may_wrap ? std::min(widest + 1, kWidthMax) : widest + 1);
    }
    const float room = width() - kColumnGap * static_cast<float>(widths.size() - 1);
    for (;;) {
      const float sum = std::accumulate(widths.begin(), widths.end(), 0.0F);
      if (sum <= room) break;
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (is_number(table.columns[i].kind) || widths[i] <= kWidthMin) continue;
        if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
      }
      if (widest == widths.size()) break;
      widths[widest] = std::max(kWidthMin, widths[widest] - std::max(1.0F, (sum - room) * kHalf));
    }
    return widths;
  }

  void cells(const Table& table, const std::vector<float>& widths,
             const std::vector<std::string>& texts, bool is_bold) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      lines.push_back(out_.wrapped(texts[i], kCellSize, widths[i]));
      height = std::max(height, lines.back().size());
    }
    if (need(static_cast<float>(height) * kLine + 3) && !is_bold) head(table, widths);
    float x = kEdge;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool is_right = is_number(table.columns[i].kind);
      float y = y_ + kCellSize;
      for (const std::string& line : lines[i]) {
        const float at = is_right ? x + widths[i] : x;
        const pdf::Align align = is_right ? pdf::Align::kRight : pdf::Align::kLeft;
        if (is_bold) {
          out_.bold(at, y, line, kCellSize, align);
        } else {
          out_.text(at, y, line, kCellSize, align);
        }
        y += kLine;
      }
      x += widths[i] + kColumnGap;
    }
    y_ += static_cast<float>(height) * kLine + 2;
    out_.rule(kEdge, y_ - 1, width(), 0.3F, 0.8F);
  }

  void head(const Table& table, const std::vector<float>& widths) {
    std::vector<std::string> titles;
    for (const Column& column : table.columns) titles.push_back(column.title);
    cells(table, widths, titles, true);
  }

  void draw_table(const Table& table) {
    y_ += kLine;
    need(5 * kLine);
    out_.bold(kEdge, y_ + kHeadSize, table.title, kHeadSize);
    y_ += kHeadSize + kLine;
    const std::vector<float> widths = column_widths(table);
    head(table, widths);
    const auto shown = [](const Row& row) {
      std::vector<std::string> texts;
      for (const Cell& cell : row) texts.push_back(shown_cell(cell));
      return texts;
    };
    for (const Row& row : table.rows) cells(table, widths, shown(row), false);
    if (table.total) cells(table, widths, shown(*table.total), true);
    y_ += 3;
    for (const std::string& note : table.notes) paragraph(note, kCellSize);
  }

  void number_pages() {
    for (std::size_t i = 0; i < out_.pages(); ++i) {
      out_.choose_page(i);
      out_.text(kLandscape.width - kEdge, kLandscape.height - kFoot * kHalf,
                fmt::format("{} / {}", i + 1, out_.pages()), kCellSize, pdf::Align::kRight, 0.4F);
    }
  }

  const TableDocument& document_;
  pdf::PageWriter& out_;
  float y_ = kEdge;
};

}  // namespace

Result<std::string> render_tables_pdf(const TableDocument& document, const std::string& font_file) {
  auto out = TRY(pdf::PageWriter::open(kLandscape, font_file, document.title));
  TablePages(document, out).draw();
  return out.finish();
}

}  // namespace pennyweight
