#include "core/gpu/card_fraction.h"

#include "core/whole_count.h"

namespace pennyweight {
namespace {

// The last word where that is a fraction: "1/8" of "L4 1/8".
std::optional<std::string_view> fraction_behind(std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(blank + 1);
  return word.find('/') == std::string_view::npos ? std::nullopt : std::optional(word);
}

std::optional<CardShare> read_fraction(std::string_view text) {
  const std::size_t bar = text.find('/');
  const auto parts = parse_count(text.substr(0, bar), CardShare::kUnitsPerCard);
  const auto whole = parse_count(text.substr(bar + 1), CardShare::kUnitsPerCard);
  if (!parts || !whole || *parts == 0 || *parts > *whole) return std::nullopt;
  return CardShare::of(*parts, *whole);
}

}  // namespace

std::optional<SoldCard> find_sold_card(std::string_view gpu_model_text) {
  std::string_view name = gpu_model_text;
  CardShare part = CardShare::whole();
  if (const auto fraction = fraction_behind(name)) {
    const auto share = read_fraction(*fraction);
    if (!share) return std::nullopt;
    part = *share;
    name.remove_suffix(fraction->size() + 1);
  }
  const GpuModel* model = find_gpu_model(name);
  if (model == nullptr) return std::nullopt;
  return SoldCard{.model = model, .part = part};
}

}  // namespace pennyweight
