#include "core/mail/message.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base_encoding.h"
#include "core/hash.h"
#include "core/internet_date.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::mail {
namespace {

constexpr std::size_t kAddressBytesMax = 254;  // RFC 5321, section 4.5.3.1.3
constexpr std::size_t kEncodedWordBytesMax = 45;
constexpr std::size_t kBase64LineBytes = 57;  // 76 characters

bool is_ascii_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 127; });
}

// RFC 2047: encoded words of at most 75 characters, cut between code points.
std::string header_text(std::string_view text) {
  if (is_ascii_text(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::size_t bytes = std::min(text.size(), kEncodedWordBytesMax);
    while (bytes > 0 && bytes < text.size() &&
           (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) {
      --bytes;
    }
    out += (out.empty() ? "" : "\r\n ") +
           fmt::format("=?UTF-8?B?{}?=", to_base64(text.substr(0, bytes)));
    text.remove_prefix(bytes);
  }
  return out;
}

std::string base64_lines(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += kBase64LineBytes) {
    out += to_base64(bytes.substr(at, kBase64LineBytes)) + "\r\n";
  }
  return out;
}

// A file name in a header: what is not plain becomes '_'.
std::string file_name_text(std::string_view name) {
  std::string out;
  for (const char c : name) out += c > ' ' && c < 127 && c != '"' && c != '\\' ? c : '_';
  return out;
}

}  // namespace

Result<void> check_address(std::string_view address) {
  const std::size_t at = address.find('@');
  const bool has_both = at != std::string_view::npos && at > 0 && at + 1 < address.size() &&
                        address.find('@', at + 1) == std::string_view::npos;
  const bool is_plain =
      is_ascii_text(address) && address.find_first_of(" <>(),;:\\\"[]") == std::string_view::npos;
  if (has_both && is_plain && address.size() <= kAddressBytesMax) return {};
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a mail address; write it as accounts@example.com",
                          printable_text(address, kAddressBytesMax)));
}

Result<std::string> write_message(const Message& message) {
  if (message.to.empty()) return fail(ErrorCode::kBadValue, "the mail has no recipient");
  TRY(check_address(message.from));
  std::string to;
  for (const std::string& address : message.to) {
    TRY(check_address(address));
    to += (to.empty() ? "" : ",\r\n ") + address;
  }
  const std::string domain = message.from.substr(message.from.find('@') + 1);
  // A boundary is in no part, since parts are base64 and this has '='.
  const std::string boundary = "=_" + to_text(hash_of(message.id + message.subject));
  std::string out;
  out += "From: " + message.from + "\r\nTo: " + to + "\r\n";
  if (!message.reply_to.empty()) {
    TRY(check_address(message.reply_to));
    out += "Reply-To: " + message.reply_to + "\r\n";
  }
  out += "Subject: " + header_text(printable_text(message.subject, 500)) + "\r\n";
  out += "Date: " + internet_date(message.at, "+0000") + "\r\n";
  out += fmt::format("Message-ID: <{}@{}>\r\n", file_name_text(message.id), domain);
  out += "MIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\n";
  out += fmt::format("Content-Type: multipart/mixed; boundary=\"{}\"\r\n\r\n", boundary);
  out += fmt::format(
      "--{}\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Transfer-Encoding: base64\r\n\r\n{}",
      boundary, base64_lines(message.text));
  for (const Attachment& one : message.attachments) {
    const std::string name = file_name_text(one.file_name);
    out += fmt::format(
        "--{}\r\nContent-Type: {}; name=\"{}\"\r\n"
        "Content-Disposition: attachment; filename=\"{}\"\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\n{}",
        boundary, one.content_type, name, name, base64_lines(one.bytes));
  }
  return out + "--" + boundary + "--\r\n";
}

}  // namespace pennyweight::mail
