#include "ledger/correction.h"

#include <fmt/format.h>

#include "core/decimal.h"

namespace pennyweight {
namespace {

std::string owner_text(const Labels& owner) {
  std::string text;
  for (const auto& [key, value] : owner.entries()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  }
  return text;
}

void add_labels(Fingerprint& print, const Labels& labels) {
  print.add(static_cast<std::int64_t>(labels.entries().size()));
  for (const auto& [key, value] : labels.entries()) print.add(key).add(value);
}

std::string amount_text(const Money& amount) {
  return fmt::format("{} {}", amount.currency().text(), to_text(amount.amount()));
}

}  // namespace

Hash128 natural_key(const Correction& correction) {
  return Fingerprint().add("correction").add(correction.cluster.text()).add(correction.name).hash();
}

Hash128 content_hash(const Correction& correction) {
  Fingerprint print;
  print.add(correction.cluster.text())
      .add(correction.name)
      .add(unix_ms(correction.during.begin()))
      .add(unix_ms(correction.during.end()));
  add_labels(print, correction.from);
  add_labels(print, correction.to);
  print.add(amount_text(correction.amount)).add(correction.reason).add(correction.author);
  return print.hash();
}

std::string difference(const Correction& there, const Correction& here) {
  std::string text;
  const auto compare = [&](std::string_view what, const std::string& was, const std::string& is) {
    if (was == is) return;
    text += fmt::format("{}{} '{}' there, '{}' here", text.empty() ? "" : "; ", what, was, is);
  };
  compare("time", to_text(there.during), to_text(here.during));
  compare("from", owner_text(there.from), owner_text(here.from));
  compare("to", owner_text(there.to), owner_text(here.to));
  compare("amount", amount_text(there.amount), amount_text(here.amount));
  compare("reason", there.reason, here.reason);
  compare("author", there.author, here.author);
  return text;
}

}  // namespace pennyweight
