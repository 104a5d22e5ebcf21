// PageWriter: text and rules on the pages of a PDF, over libharu. Coordinates are points from the
// top left corner; a text's y is its baseline.
#pragma once

#include <hpdf.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "reporting/pdf/font_coverage.h"

namespace pennyweight::pdf {

struct PageSize {
  float width = 595.276F;  // A4
  float height = 841.89F;
};

enum class Align { kLeft, kRight };

class PageWriter {
 public:
  static Result<PageWriter> open(const PageSize& size, const std::string& font_file,
                                 const std::string& title);

  void add_page();
  std::size_t pages() const { return pages_.size(); }
  void choose_page(std::size_t index) { page_ = pages_.at(index); }

  void text(float x, float y, std::string_view utf8, float size, Align align = Align::kLeft,
            float grey = 0);
  // The same, a little thicker, for headings and totals.
  void bold(float x, float y, std::string_view utf8, float size, Align align = Align::kLeft);
  void rule(float x, float y, float width, float thickness, float grey = 0);
  // A large word across the page, behind what is drawn later.
  void mark(std::string_view utf8);
  float width_of(std::string_view utf8, float size) const;
  // Lines of at most `width`, broken at spaces where that is possible.
  std::vector<std::string> wrapped(std::string_view utf8, float size, float width) const;
  // PNG or JPEG bytes, at most this large; the height that it takes.
  Result<float> image(std::string_view bytes, bool is_png, float x, float y, float width_max,
                      float height_max);

  // The document. An Error where a character had no glyph, or libharu failed.
  Result<std::string> finish();

 private:
  struct FreeDocument {
    void operator()(HPDF_Doc document) const { HPDF_Free(document); }
  };
  using Document = std::unique_ptr<std::remove_pointer_t<HPDF_Doc>, FreeDocument>;

  PageWriter(Document document, const PageSize& size, FontCoverage coverage)
      : document_(std::move(document)), size_(size), coverage_(std::move(coverage)) {}
  std::string printable(std::string_view utf8);
  void show(float x, float y, std::string_view utf8, float size, Align align, float grey,
            bool is_bold);

  Document document_;
  PageSize size_;
  FontCoverage coverage_;
  HPDF_Font font_ = nullptr;
  std::string font_file_;
  std::vector<HPDF_Page> pages_;
  HPDF_Page page_ = nullptr;
  std::optional<std::string> without_glyph_;  // the first text that the font can't show
};

}  // namespace pennyweight::pdf
