#include "trail/line.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"
#include "core/plain_text.h"

namespace pennyweight::trail {
namespace {

constexpr std::string_view kBeforeHash = ",\"hash\":\"";
constexpr std::size_t kHashDigits = 64;
// ,"hash":"…"}
constexpr std::size_t kTailBytes = kBeforeHash.size() + kHashDigits + 2;

std::string sha256(std::string_view first, std::string_view second) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(),
                                                                      &EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned size = 0;
  CHECK(state && EVP_DigestInit_ex(state.get(), EVP_sha256(), nullptr) == 1 &&
            EVP_DigestUpdate(state.get(), first.data(), first.size()) == 1 &&
            EVP_DigestUpdate(state.get(), second.data(), second.size()) == 1 &&
            EVP_DigestFinal_ex(state.get(), bytes.data(), &size) == 1,
        "SHA-256 is part of OpenSSL");
  std::string digits;
  for (unsigned i = 0; i < size; ++i) digits += fmt::format("{:02x}", bytes[i]);
  return digits;
}

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<void> add_text(std::string& line, std::string_view name, std::string_view value) {
  if (value.size() > kNameBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes; {} is the most in the audit log",
                                               name, value.size(), kNameBytesMax));
  }
  if (!is_plain_text(value)) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is not UTF-8", name));
  }
  line += fmt::format(",\"{}\":\"", name);
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (static_cast<unsigned char>(c) < ' ' || c == 127) {
      line += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      line += c;
    }
  }
  line += '"';
  return {};
}

// On one line and without spaces; otherwise to the letter, so that no digit of a number is lost.
Result<void> add_json(std::string& line, std::string_view name, std::string_view json) {
  if (json.size() > kJsonBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes; {} is the most in the audit log",
                                               name, json.size(), kJsonBytesMax));
  }
  line += fmt::format(",\"{}\":", name);
  if (json.empty()) {
    line += "null";
    return {};
  }
  simdjson::dom::parser parser;
  std::string minified(json.size() + simdjson::SIMDJSON_PADDING, '\0');
  std::size_t size = 0;
  if (parser.parse(json.data(), json.size()).error() != simdjson::SUCCESS ||
      simdjson::minify(json.data(), json.size(), minified.data(), size) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is not JSON", name));
  }
  line += std::string_view(minified).substr(0, size);
  return {};
}

using Object = simdjson::ondemand::object;

Result<std::string> text_of(Object& object, std::string_view name) {
  std::string_view text;
  if (object.find_field(name).get_string().get(text) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, fmt::format("it has no text '{}' where one belongs", name));
  }
  if (text.size() > kNameBytesMax) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is over the limit", name));
  }
  return std::string(text);
}

Result<std::string> json_of(Object& object, std::string_view name) {
  simdjson::ondemand::value value;
  std::string_view raw;
  if (object.find_field(name).get(value) != simdjson::SUCCESS ||
      simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, fmt::format("it has no '{}' where it belongs", name));
  }
  return raw == "null" ? std::string() : std::string(raw);
}

Result<Entry> read_object(Object& object) {
  Entry entry;
  if (object.find_field("number").get_uint64().get(entry.number) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "it has no number");
  }
  std::string at;
  const std::pair<std::string_view, std::string*> texts[] = {{"at", &at},
                                                             {"actor", &entry.actor},
                                                             {"peer", &entry.peer},
                                                             {"action", &entry.action},
                                                             {"subject", &entry.subject}};
  for (const auto& [name, into] : texts) {
    auto text = text_of(object, name);
    if (!text) return std::unexpected(text.error());
    *into = *std::move(text);
  }
  const std::pair<std::string_view, std::string*> values[] = {{"before", &entry.before},
                                                              {"after", &entry.after}};
  for (const auto& [name, into] : values) {
    auto json = json_of(object, name);
    if (!json) return std::unexpected(json.error());
    *into = *std::move(json);
  }
  const auto instant = parse_instant(at);
  if (!instant) return std::unexpected(instant.error());
  entry.at = *instant;
  return entry;
}

}  // namespace

Result<std::string> write_line(Entry& entry, std::string_view hash_before) {
  std::string line = fmt::format("{{\"number\":{},\"at\":\"{}\"", entry.number, to_text(entry.at));
  const std::pair<std::string_view, std::string_view> texts[] = {{"actor", entry.actor},
                                                                 {"peer", entry.peer},
                                                                 {"action", entry.action},
                                                                 {"subject", entry.subject}};
  for (const auto& [name, value] : texts) {
    if (auto added = add_text(line, name, value); !added) return std::unexpected(added.error());
  }
  if (auto added = add_json(line, "before", entry.before); !added) {
    return std::unexpected(added.error());
  }
  if (auto added = add_json(line, "after", entry.after); !added) {
    return std::unexpected(added.error());
  }
  entry.hash = sha256(hash_before, line);
  line += kBeforeHash;
  line += entry.hash;
  line += "\"}";
  CHECK(line.size() <= kLineBytesMax, "its fields are within their limits");
  return line;
}

Result<Entry> read_line(std::string_view line) {
  if (line.size() > kLineBytesMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("it has {} bytes; {} is the most", line.size(), kLineBytesMax));
  }
  if (line.size() < kTailBytes || !line.ends_with("\"}") ||
      !line.substr(line.size() - kTailBytes).starts_with(kBeforeHash) ||
      !is_hash(line.substr(line.size() - kHashDigits - 2, kHashDigits))) {
    return fail(ErrorCode::kBadValue, "it does not end with a hash");
  }
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(line);
  simdjson::ondemand::document document;
  Object object;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "it is not a JSON object");
  }
  auto entry = read_object(object);
  if (!entry) return entry;
  std::string_view hash;
  if (object.find_field("hash").get_string().get(hash) != simdjson::SUCCESS ||
      hash != line.substr(line.size() - kHashDigits - 2, kHashDigits)) {
    return fail(ErrorCode::kBadValue, "it has no hash where one belongs");
  }
  entry->hash = hash;
  return entry;
}

std::string hash_of_line(std::string_view line, std::string_view hash_before) {
  CHECK(line.size() >= kTailBytes, "read_line() has read it");
  return sha256(hash_before, line.substr(0, line.size() - kTailBytes));
}

Result<Entry> Chain::add(std::string_view line) {
  auto entry = read_line(line);
  if (!entry) return entry;
  const std::uint64_t due = head_.number + 1;
  if (entry->number > due) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("it has the number {} where {} is due: {} missing before it", entry->number,
                    due, entry->number == due + 1 ? "a line is" : "lines are"));
  }
  if (entry->number < due) {
    return fail(ErrorCode::kConflict,
                fmt::format("it has the number {} where {} is due: it was put in, or moved",
                            entry->number, due));
  }
  if (hash_of_line(line, head_.number == 0 ? kNoHash : std::string_view(head_.hash)) !=
      entry->hash) {
    return fail(ErrorCode::kConflict, "its hash is another: it, or a line before it, was changed");
  }
  head_ = {entry->number, entry->hash};
  return entry;
}

bool Verification::refuse(std::string reason) {
  bad_ = Verdict{false, chain_.head(), line_, std::move(reason)};
  return false;
}

bool Verification::add_line(std::string_view line) {
  ++line_;
  const auto entry = chain_.add(line);
  if (!entry) return refuse(entry.error().message);
  if (known_ && known_->number == entry->number && known_->hash != entry->hash) {
    return refuse("its hash is not the known one: the log was written anew from here or before");
  }
  return true;
}

bool Verification::add(std::string_view bytes) {
  while (!bad_ && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (rest_.size() + piece.size() > kLineBytesMax) {
      ++line_;
      return refuse(fmt::format("it has more than {} bytes", kLineBytesMax));
    }
    if (end == std::string_view::npos) {
      rest_ += piece;
      return true;
    }
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      add_line(piece);
    } else {
      rest_ += piece;
      add_line(std::exchange(rest_, {}));
    }
  }
  return !bad_;
}

Verdict Verification::finish() {
  ++line_;
  if (!bad_ && !rest_.empty()) refuse("it does not end: half written, or cut off");
  if (!bad_ && known_ && known_->number > chain_.head().number) {
    refuse(fmt::format("it is missing: the log ends with number {}, and number {} is known",
                       chain_.head().number, known_->number));
  }
  return bad_ ? *bad_ : Verdict{true, chain_.head(), 0, ""};
}

}  // namespace pennyweight::trail
