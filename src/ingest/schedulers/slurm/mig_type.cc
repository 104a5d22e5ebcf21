#include "ingest/schedulers/slurm/mig_type.h"

#include "core/ascii.h"

namespace pennyweight::slurm {
namespace {

constexpr std::string_view kSeparators = "_-.:";

bool take_digits(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && ascii::is_digit(text[size])) ++size;
  text.remove_prefix(size);
  return size > 0 && size <= 4;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// [<n>c.]<n>g.<n>gb[+me]. ".me" is how Kubernetes must spell "+me".
std::optional<std::string> mig_profile(std::string_view text) {
  std::string_view rest = text;
  if (!take_digits(rest)) return std::nullopt;
  if (take(rest, "c.") && !take_digits(rest)) return std::nullopt;
  if (!take(rest, "g.") || !take_digits(rest) || !take(rest, "gb")) return std::nullopt;
  const std::string base(text.substr(0, text.size() - rest.size()));
  if (rest.empty()) return base;
  if (rest == "+me" || rest == ".me") return base + "+me";
  if (rest == "+gfx" || rest == "+me.all") return base + std::string(rest);
  return std::nullopt;
}

}  // namespace

std::optional<MigType> parse_mig_type(std::string_view gres_type) {
  const std::string type = ascii::lower_case(gres_type);
  for (std::size_t at = 0; at < type.size(); ++at) {
    if (at > 0 && kSeparators.find(type[at - 1]) == std::string_view::npos) continue;
    auto profile = mig_profile(std::string_view(type).substr(at));
    if (!profile) continue;
    std::string_view model = gres_type.substr(0, at == 0 ? 0 : at - 1);
    // "a100-mig-1g.10gb", "mig_1g.10gb"
    if (std::string_view(type).substr(0, model.size()).ends_with("mig")) {
      model.remove_suffix(3);
      if (!model.empty() && kSeparators.find(model.back()) != std::string_view::npos) {
        model.remove_suffix(1);
      }
    }
    return MigType{.model = std::string(model), .profile = std::move(*profile)};
  }
  return std::nullopt;
}

}  // namespace pennyweight::slurm
