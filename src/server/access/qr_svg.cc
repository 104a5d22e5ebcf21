#include "server/access/qr_svg.h"

#include <fmt/format.h>
#include <qrencode.h>

#include <memory>

namespace pennyweight::access {
namespace {

constexpr int kQuietZone = 4;  // ISO/IEC 18004: four modules around it

struct FreeCode {
  void operator()(QRcode* code) const { QRcode_free(code); }
};

}  // namespace

Result<std::string> qr_svg(const std::string& text, std::string_view label) {
  const std::unique_ptr<QRcode, FreeCode> code(
      QRcode_encodeString8bit(text.c_str(), 0, QR_ECLEVEL_M));
  if (code == nullptr) return fail(ErrorCode::kLimit, "the text is too long for a QR code");
  const int width = code->width;
  const auto is_dark = [&](int x, int y) { return (code->data[y * width + x] & 1U) != 0; };
  const int side = width + 2 * kQuietZone;
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {0}" role="img" )"
      R"(aria-label="{1}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{0}v{0}H0z"/>)"
      R"(<path fill="#000" d=")",
      side, label);
  for (int y = 0; y < width; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!is_dark(x, y)) continue;
      int run = 1;
      while (x + run < width && is_dark(x + run, y)) ++run;
      svg += fmt::format("M{} {}h{}v1h-{}z", x + kQuietZone, y + kQuietZone, run, run);
      x += run;
    }
  }
  svg += R"("/></svg>)";
  return svg;
}

}  // namespace pennyweight::access
