#include "server/audit_log/line.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/check.h"
#include "core/crypto/sha256.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::audit_log {
namespace {

constexpr std::string_view kBeforeHash = ",\"hash\":\"";
constexpr std::size_t kHashDigits = 64;
// ,"hash":"…"}
constexpr std::size_t kTailBytes = kBeforeHash.size() + kHashDigits + 2;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::ranges::all_of(text, [](char c) {
           return ascii::is_digit(c) || (c >= 'a' && c <= 'f');
         });
}

Result<void> add_text(std::string& line, std::string_view name, std::string_view value) {
  if (value.size() > kNameBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes; the audit log allows {}", name,
                                               value.size(), kNameBytesMax));
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

// Minified to one line, otherwise unchanged, so that no digit of a number is lost.
Result<void> add_json(std::string& line, std::string_view name, std::string_view json) {
  if (json.size() > kJsonBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes; the audit log allows {}", name,
                                               json.size(), kJsonBytesMax));
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
    return fail(ErrorCode::kBadValue, fmt::format("the text '{}' is missing or misplaced", name));
  }
  if (text.size() > kNameBytesMax) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' exceeds its limit", name));
  }
  return std::string(text);
}

Result<std::string> json_of(Object& object, std::string_view name) {
  simdjson::ondemand::value value;
  std::string_view raw;
  if (object.find_field(name).get(value) != simdjson::SUCCESS ||
      simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is missing or misplaced", name));
  }
  return raw == "null" ? std::string() : std::string(raw);
}

Result<Entry> read_object(Object& object) {
  Entry entry;
  if (object.find_field("number").get_uint64().get(entry.number) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "it has no entry number");
  }
  std::string at;
  const std::pair<std::string_view, std::string*> texts[] = {{"at", &at},
                                                             {"actor", &entry.actor},
                                                             {"peer", &entry.peer},
                                                             {"action", &entry.action},
                                                             {"subject", &entry.subject}};
  for (const auto& [name, into] : texts) {
    auto text = TRY(text_of(object, name));
    *into = std::move(text);
  }
  const std::pair<std::string_view, std::string*> values[] = {{"before", &entry.before},
                                                              {"after", &entry.after}};
  for (const auto& [name, into] : values) {
    auto json = TRY(json_of(object, name));
    *into = std::move(json);
  }
  const auto instant = TRY(parse_instant(at));
  entry.at = instant;
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
    TRY(add_text(line, name, value));
  }
  TRY(add_json(line, "before", entry.before));
  TRY(add_json(line, "after", entry.after));
  entry.hash = to_hex(Sha256().add(hash_before).add(line).digest());
  line += kBeforeHash;
  line += entry.hash;
  line += "\"}";
  CHECK(line.size() <= kLineBytesMax, "its fields are within their limits");
  return line;
}

Result<Entry> read_line(std::string_view line) {
  if (line.size() > kLineBytesMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("it has {} bytes; the limit is {}", line.size(), kLineBytesMax));
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
    return fail(ErrorCode::kBadValue, "the hash is missing or misplaced");
  }
  entry->hash = hash;
  return entry;
}

std::string hash_of_line(std::string_view line, std::string_view hash_before) {
  CHECK(line.size() >= kTailBytes, "read_line() has read it");
  return to_hex(Sha256().add(hash_before).add(line.substr(0, line.size() - kTailBytes)).digest());
}

Result<Entry> Chain::add(std::string_view line) {
  auto entry = read_line(line);
  if (!entry) return entry;
  const std::uint64_t due = head_.number + 1;
  if (entry->number > due) {
    return fail(ErrorCode::kConflict,
                fmt::format("it has number {} instead of {}: {} missing before it", entry->number,
                            due, entry->number == due + 1 ? "a line is" : "lines are"));
  }
  if (entry->number < due) {
    return fail(ErrorCode::kConflict,
                fmt::format("it has number {} instead of {}: it was inserted or moved",
                            entry->number, due));
  }
  if (hash_of_line(line, head_.number == 0 ? kNoHash : std::string_view(head_.hash)) !=
      entry->hash) {
    return fail(ErrorCode::kConflict,
                "its hash does not match: it or a line before it was changed");
  }
  head_ = {entry->number, entry->hash};
  return entry;
}

bool Verifier::refuse(std::string reason) {
  bad_ = Verdict{false, chain_.head(), line_, std::move(reason)};
  return false;
}

bool Verifier::add_line(std::string_view line) {
  ++line_;
  const auto entry = chain_.add(line);
  if (!entry) return refuse(entry.error().message);
  if (known_ && known_->number == entry->number && known_->hash != entry->hash) {
    return refuse("its hash is not the known one: the log was rewritten from here or earlier");
  }
  if (entry->action == kAcceptedAction) accepted_.push_back(*entry);
  if (entry->action == kAdoptedAction) adopted_.push_back(*entry);
  if (take) take(*entry);
  return true;
}

bool Verifier::add(std::string_view bytes) {
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

Verdict Verifier::finish() {
  ++line_;
  if (!bad_ && !rest_.empty()) refuse("it is incomplete: half-written or cut off");
  if (!bad_ && known_ && known_->number > chain_.head().number) {
    refuse(fmt::format("it is missing: the log ends with number {}, and number {} is known",
                       chain_.head().number, known_->number));
  }
  Verdict verdict = bad_ ? *bad_ : Verdict{true, chain_.head(), 0, ""};
  verdict.accepted = std::move(accepted_);
  verdict.adopted = std::move(adopted_);
  return verdict;
}

}  // namespace pennyweight::audit_log
