#include "core/mail/smtp.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/check.h"
#include "core/http/curl_handles.h"

namespace pennyweight::mail {
namespace {

std::size_t give_message(char* to, std::size_t size, std::size_t count, void* from) {
  auto& rest = *static_cast<std::string_view*>(from);
  const std::size_t bytes = std::min(size * count, rest.size());
  std::memcpy(to, rest.data(), bytes);
  rest.remove_prefix(bytes);
  return bytes;
}

}  // namespace

Result<void> send_mail(const SmtpSettings& settings, const std::string& from,
                       const std::vector<std::string>& to, const std::string& message) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(started == CURLE_OK, "libcurl starts");
  const http::CurlEasy easy(curl_easy_init());
  CHECK(easy != nullptr, "memory for libcurl");
  CURL* const e = easy.get();
  char error[CURL_ERROR_SIZE] = {};
  http::CurlList recipients;
  for (const std::string& address : to) {
    curl_slist* longer = curl_slist_append(recipients.get(), ("<" + address + ">").c_str());
    CHECK(longer != nullptr, "memory for an address");
    static_cast<void>(recipients.release());
    recipients.reset(longer);
  }
  const std::string sender = "<" + from + ">";
  std::string_view rest = message;
  curl_easy_setopt(e, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(e, CURLOPT_PROXY, "");
  curl_easy_setopt(e, CURLOPT_URL, settings.server.c_str());
  curl_easy_setopt(e, CURLOPT_USE_SSL,
                   static_cast<long>(settings.allow_plain ? CURLUSESSL_TRY : CURLUSESSL_ALL));
  curl_easy_setopt(e, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (!settings.ca_file.empty()) {
    curl_easy_setopt(e, CURLOPT_CAINFO, settings.ca_file.c_str());
    curl_easy_setopt(e, CURLOPT_CAPATH, nullptr);
  }
  if (!settings.user.empty()) {
    curl_easy_setopt(e, CURLOPT_USERNAME, settings.user.c_str());
    curl_easy_setopt(e, CURLOPT_PASSWORD, settings.password.c_str());
  }
  curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, static_cast<long>(settings.timeout.count()));
  curl_easy_setopt(e, CURLOPT_MAIL_FROM, sender.c_str());
  curl_easy_setopt(e, CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(e, CURLOPT_READFUNCTION, give_message);
  curl_easy_setopt(e, CURLOPT_READDATA, &rest);
  curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
  const CURLcode ended = curl_easy_perform(e);
  if (ended == CURLE_OK) return {};
  const std::string why = error[0] != '\0' ? error : curl_easy_strerror(ended);
  const std::string remedy =
      ended == CURLE_USE_SSL_FAILED
          ? "; the server offers no TLS: use smtps://, or set mail.allow_plain for a server on "
            "this machine"
      : ended == CURLE_LOGIN_DENIED ? "; check mail.user and its password"
      : ended == CURLE_PEER_FAILED_VERIFICATION
          ? "; check the server's certificate, or name its authority in mail.ca_file"
          : "";
  return fail(ErrorCode::kIo, fmt::format("{}: {}{}", settings.server, why, remedy));
}

}  // namespace pennyweight::mail
