#include "reporting/pdf/page_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/files/file.h"
#include "core/utf8.h"

namespace pennyweight::pdf {
namespace {

constexpr std::size_t kFontBytesMax = 64u << 20;

// libharu keeps the first error, which finish() reads; without a handler it would go on silently.
void keep_error(HPDF_STATUS, HPDF_STATUS, void*) {}

std::unexpected<Error> pdf_failed(HPDF_Doc document, std::string_view doing) {
  return fail(ErrorCode::kIo, fmt::format("{}: libharu's error {:#x}", doing,
                                          static_cast<unsigned>(HPDF_GetError(document))));
}

// The code point that begins a text of well-formed UTF-8; `bytes` is its length.
char32_t first_code_point(std::string_view text, std::size_t& bytes) {
  bytes = std::max<std::size_t>(1, code_point_bytes(text));
  const auto lead = static_cast<unsigned char>(text[0]);
  if (bytes == 1) return lead;
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes && i < text.size(); ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return code;
}

std::unexpected<Error> unreadable(const std::string& font_file) {
  return fail(ErrorCode::kNotFound,
              fmt::format("the font {} can't be read; install Debian's fonts-dejavu-core, or set "
                          "invoice.font to a TrueType font",
                          font_file));
}

}  // namespace

Result<PageWriter> PageWriter::open(const PageSize& size, const std::string& font_file,
                                    const std::string& title) {
  Document document(HPDF_New(keep_error, nullptr));
  if (document == nullptr) return fail(ErrorCode::kIo, "no memory for a PDF");
  HPDF_SetCompressionMode(document.get(), HPDF_COMP_ALL);
  HPDF_UseUTFEncodings(document.get());
  const auto font = read_file(font_file, kFontBytesMax);
  if (!font) return unreadable(font_file);
  auto coverage = FontCoverage::of(*font);
  if (!coverage) return std::unexpected(coverage.error().during(font_file));
  PageWriter writer(std::move(document), size, *std::move(coverage));
  HPDF_Doc const pdf = writer.document_.get();
  const char* const name = HPDF_LoadTTFontFromFile(pdf, font_file.c_str(), HPDF_TRUE);
  if (name == nullptr) return unreadable(font_file);
  writer.font_ = HPDF_GetFont(pdf, name, "UTF-8");
  writer.font_file_ = font_file;
  if (writer.font_ == nullptr) return pdf_failed(pdf, "the font " + font_file);
  HPDF_SetInfoAttr(pdf, HPDF_INFO_TITLE, writer.printable(title).c_str());
  HPDF_SetInfoAttr(pdf, HPDF_INFO_PRODUCER, "pennyweight");
  writer.add_page();
  return writer;
}

void PageWriter::add_page() {
  page_ = HPDF_AddPage(document_.get());
  HPDF_Page_SetWidth(page_, size_.width);
  HPDF_Page_SetHeight(page_, size_.height);
  pages_.push_back(page_);
}

// Without control characters; a character without a glyph is noted.
std::string PageWriter::printable(std::string_view utf8) {
  std::string out;
  for (std::string_view rest = utf8; !rest.empty();) {
    std::size_t bytes = 1;
    const char32_t code = first_code_point(rest, bytes);
    const bool is_control = code < 0x20 || code == 0x7F;
    if (is_control) {
      out += ' ';
    } else {
      const bool has_glyph = coverage_.has(code);
      if (!has_glyph && !without_glyph_) without_glyph_ = std::string(rest.substr(0, bytes));
      out += rest.substr(0, bytes);
    }
    rest.remove_prefix(std::min(bytes, rest.size()));
  }
  return out;
}

float PageWriter::width_of(std::string_view utf8, float size) const {
  const std::string text(utf8);
  const HPDF_TextWidth width = HPDF_Font_TextWidth(
      font_, reinterpret_cast<const HPDF_BYTE*>(text.data()), static_cast<HPDF_UINT>(text.size()));
  return static_cast<float>(width.width) * size / 1000;
}

void PageWriter::show(float x, float y, std::string_view utf8, float size, Align align, float grey,
                      bool is_bold) {
  const std::string text = printable(utf8);
  if (text.empty()) return;
  const float left = align == Align::kRight ? x - width_of(text, size) : x;
  HPDF_Page_SetRGBFill(page_, grey, grey, grey);
  HPDF_Page_SetRGBStroke(page_, grey, grey, grey);
  HPDF_Page_SetLineWidth(page_, size * 0.028F);
  HPDF_Page_BeginText(page_);
  HPDF_Page_SetFontAndSize(page_, font_, size);
  HPDF_Page_SetTextRenderingMode(page_, is_bold ? HPDF_FILL_THEN_STROKE : HPDF_FILL);
  HPDF_Page_TextOut(page_, left, size_.height - y, text.c_str());
  HPDF_Page_EndText(page_);
}

void PageWriter::text(float x, float y, std::string_view utf8, float size, Align align,
                      float grey) {
  show(x, y, utf8, size, align, grey, false);
}

void PageWriter::bold(float x, float y, std::string_view utf8, float size, Align align) {
  show(x, y, utf8, size, align, 0, true);
}

void PageWriter::rule(float x, float y, float width, float thickness, float grey) {
  HPDF_Page_SetRGBStroke(page_, grey, grey, grey);
  HPDF_Page_SetLineWidth(page_, thickness);
  HPDF_Page_MoveTo(page_, x, size_.height - y);
  HPDF_Page_LineTo(page_, x + width, size_.height - y);
  HPDF_Page_Stroke(page_);
}

void PageWriter::mark(std::string_view utf8) {
  constexpr float kMarkSize = 120;
  text((size_.width - width_of(utf8, kMarkSize)) / 2, size_.height / 2, utf8, kMarkSize,
       Align::kLeft, 0.93F);
}

std::vector<std::string> PageWriter::wrapped(std::string_view utf8, float size, float width) const {
  std::vector<std::string> lines;
  std::string line;
  const auto fits = [&](const std::string& candidate) {
    return width_of(candidate, size) <= width;
  };
  for (std::string_view rest = utf8; !rest.empty();) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    std::string word(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
    const std::string longer = line.empty() ? word : line + " " + word;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (!line.empty()) lines.push_back(std::exchange(line, {}));
    // A word that is wider than the column is cut between characters.
    while (!word.empty() && !fits(word)) {
      std::size_t bytes = 0;
      while (bytes < word.size()) {
        const std::size_t next =
            bytes +
            std::max<std::size_t>(1, code_point_bytes(std::string_view(word).substr(bytes)));
        if (bytes > 0 && !fits(word.substr(0, next))) break;
        bytes = next;
      }
      lines.push_back(word.substr(0, bytes));
      word.erase(0, bytes);
    }
    line = word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

Result<float> PageWriter::image(std::string_view bytes, bool is_png, float x, float y,
                                float width_max, float height_max) {
  const auto* const data = reinterpret_cast<const HPDF_BYTE*>(bytes.data());
  const auto size = static_cast<HPDF_UINT>(bytes.size());
  HPDF_Image const image = is_png ? HPDF_LoadPngImageFromMem(document_.get(), data, size)
                                  : HPDF_LoadJpegImageFromMem(document_.get(), data, size);
  if (image == nullptr) return pdf_failed(document_.get(), "invoice.logo can't be read");
  const auto width = static_cast<float>(HPDF_Image_GetWidth(image));
  const auto height = static_cast<float>(HPDF_Image_GetHeight(image));
  const float scale = std::min({width_max / width, height_max / height, 1.0F});
  HPDF_Page_DrawImage(page_, image, x, size_.height - y - height * scale, width * scale,
                      height * scale);
  return height * scale;
}

Result<std::string> PageWriter::finish() {
  if (without_glyph_) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the font {} has no '{}'; set invoice.font to a TrueType font that has "
                            "it",
                            font_file_, *without_glyph_));
  }
  HPDF_Doc const pdf = document_.get();
  if (HPDF_GetError(pdf) != HPDF_OK || HPDF_SaveToStream(pdf) != HPDF_OK) {
    return pdf_failed(pdf, "the PDF can't be written");
  }
  std::string bytes(HPDF_GetStreamSize(pdf), '\0');
  auto size = static_cast<HPDF_UINT32>(bytes.size());
  HPDF_ResetStream(pdf);
  HPDF_ReadFromStream(pdf, reinterpret_cast<HPDF_BYTE*>(bytes.data()), &size);
  bytes.resize(size);
  return bytes;
}

}  // namespace pennyweight::pdf
