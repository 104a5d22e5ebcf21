#include "server/dashboard/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/ascii.h"

namespace pennyweight::dashboard {
namespace {

constexpr std::string_view kMagic = "pennyweight-pack 1 ";
constexpr std::size_t kFilesMax = 10'000;
constexpr std::size_t kFields = 5;

Error broken(std::string_view what) {
  return Error{ErrorCode::kConfig, fmt::format("the pack of the dashboard is broken: {}", what)};
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the text before `end` off, with `end`; nothing if there is no `end`.
std::optional<std::string_view> take_until(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  return taken;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (const auto part = take_until(text, at)) parts.push_back(*part);
  parts.push_back(text);
  return parts;
}

std::optional<Encoding> parse_encoding(std::string_view name) {
  if (name == "identity") return Encoding::kIdentity;
  if (name == "gzip") return Encoding::kGzip;
  if (name == "br") return Encoding::kBrotli;
  return std::nullopt;
}

struct Sized {
  Encoding encoding;
  std::size_t size;
};

// "identity=876 gzip=469 br=326"
std::optional<std::vector<Sized>> parse_sizes(std::string_view text) {
  std::vector<Sized> sizes;
  for (std::string_view part : split(text, ' ')) {
    const auto name = take_until(part, '=');
    const auto encoding = name ? parse_encoding(*name) : std::nullopt;
    const auto size = parse_size(part);
    if (!encoding || !size) return std::nullopt;
    sizes.push_back({*encoding, *size});
  }
  if (sizes.front().encoding != Encoding::kIdentity) return std::nullopt;
  return sizes;
}

// Whether Accept-Encoding ("gzip;q=0.5, br") accepts `name`, by name or by "*", and not with q=0.
bool accepts(std::string_view header, std::string_view name) {
  bool any = false;
  for (std::string_view part : split(header, ',')) {
    std::string plain;
    for (const char c : part) {
      if (c != ' ' && c != '\t') plain += ascii::to_lower(c);
    }
    const auto fields = split(plain, ';');
    const bool refused =
        std::any_of(fields.begin() + 1, fields.end(), [](std::string_view parameter) {
          return parameter.starts_with("q=0") &&
                 parameter.find_first_not_of("0.", 2) == std::string_view::npos;
        });
    if (fields.front() == name) return !refused;
    if (fields.front() == "*") any = !refused;
  }
  return any;
}

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kIdentity:
      return "identity";
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kBrotli:
      return "br";
  }
  return "";
}

}  // namespace

Result<std::vector<PackedFile>> read_pack(std::string_view pack) {
  std::string_view rest = pack;
  const auto head = take_until(rest, '\n');
  if (!head || !head->starts_with(kMagic))
    return std::unexpected(broken("it has the wrong beginning"));
  const auto count = parse_size(head->substr(kMagic.size()));
  if (!count || *count > kFilesMax)
    return std::unexpected(broken("it has no valid number of files"));

  std::vector<PackedFile> files;
  std::vector<std::vector<Sized>> sizes;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto line = take_until(rest, '\n');
    if (!line) return std::unexpected(broken("files are missing"));
    const auto fields = split(*line, '\t');
    if (fields.size() != kFields || !fields[0].starts_with('/') ||
        (fields[3] != "immutable" && fields[3] != "revalidate")) {
      return std::unexpected(broken(*line));
    }
    auto sized = parse_sizes(fields[4]);
    if (!sized) return std::unexpected(broken(*line));
    files.push_back({.path = fields[0],
                     .content_type = fields[1],
                     .etag = fields[2],
                     .immutable = fields[3] == "immutable",
                     .variants = {}});
    sizes.push_back(*std::move(sized));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const auto& [encoding, size] : sizes[i]) {
      if (size > rest.size()) return std::unexpected(broken("it is cut off"));
      files[i].variants.push_back({encoding, rest.substr(0, size)});
      rest.remove_prefix(size);
    }
  }
  if (!rest.empty()) return std::unexpected(broken("bytes follow the last file"));
  return files;
}

const Variant& choose_variant(const PackedFile& file, std::string_view accept_encoding) {
  const Variant* best = &file.variants.front();
  for (const Variant& variant : file.variants) {
    if (variant.bytes.size() < best->bytes.size() &&
        accepts(accept_encoding, name_of(variant.encoding))) {
      best = &variant;
    }
  }
  return *best;
}

}  // namespace pennyweight::dashboard
