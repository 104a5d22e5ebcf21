#include "ledger/posting.h"

#include <array>

namespace pennyweight {
namespace {

constexpr std::array<std::string_view, 7> kKinds = {
    "used", "held_idle", "unallocated", "stranded", "overhead", "unavailable", "shared"};
constexpr std::array<std::string_view, 4> kComponents = {"gpu", "cpu", "memory", "whole"};

}  // namespace

std::string_view to_text(PostingKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string_view to_text(Component component) {
  return kComponents[static_cast<std::size_t>(component)];
}

std::optional<PostingKind> parse_posting_kind(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == text) return static_cast<PostingKind>(i);
  }
  return std::nullopt;
}

std::optional<Component> parse_component(std::string_view text) {
  for (std::size_t i = 0; i < kComponents.size(); ++i) {
    if (kComponents[i] == text) return static_cast<Component>(i);
  }
  return std::nullopt;
}

}  // namespace pennyweight
