#include "core/http/client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>

#include "core/ascii.h"
#include "core/check.h"
#include "core/http/address.h"
#include "core/http/curl_handles.h"
#include "core/http/peer_policy.h"
#include "core/http/retry_after.h"
#include "core/try.h"

namespace pennyweight::http {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr int kRedirectsMax = 5;
constexpr std::size_t kSecretFileBytesMax = 64u << 10;
constexpr std::size_t kErrorBodyBytesMax = 64u << 10;  // kept of a stream's refusal
constexpr int kPollMsMax = 1'000;

// Why libcurl gave up before it sent anything.
constexpr CURLcode kNothingSentCodes[] = {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT};

void add_header(CurlList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  CHECK(longer != nullptr, "memory for a header");
  static_cast<void>(list.release());  // it is the head of the longer one
  list.reset(longer);
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 127; });
}

// Reads a token or password, without the line end that editors add.
Result<std::string> read_secret(const std::string& path, std::string_view what) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kSecretFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || !(file || file.eof())) {
    return fail(ErrorCode::kIo, fmt::format("cannot read the {} file {}: make it readable for "
                                            "pennyweight, or correct its path",
                                            what, path));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kSecretFileBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("the {} file {} has more than {} bytes", what, path,
                                               kSecretFileBytesMax));
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  if (text.empty()) {
    return fail(ErrorCode::kConfig, fmt::format("the {} file {} is empty", what, path));
  }
  if (has_control(text)) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("the {} file {} holds more than one line, or control characters", what, path));
  }
  return text;
}

// REQUIRES: the text outlives the request.
void set_pem(CURL* easy, CURLoption option, std::string& pem) {
  curl_blob blob{.data = pem.data(), .len = pem.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

// One transfer: libcurl's callbacks fill it, perform() reads it.
struct Transfer {
  CURL* easy = nullptr;
  const std::function<bool(std::string_view)>* sink = nullptr;  // of a stream
  std::size_t body_bytes_max = 0;
  std::string body = {};
  bool over_limit = false;
  bool sink_is_done = false;
  bool refusal_is_cut = false;
  std::exception_ptr thrown = {};  // by the sink; it must not pass through C
  SteadyTime last_byte = {};

  // Returns whether to go on.
  bool take(std::string_view bytes) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (sink != nullptr && status >= 200 && status < 300) {
      try {
        sink_is_done = !(*sink)(bytes);
      } catch (...) {
        thrown = std::current_exception();
        return false;
      }
      return !sink_is_done;
    }
    if (sink != nullptr) {
      body += bytes.substr(0, kErrorBodyBytesMax - body.size());
      refusal_is_cut = body.size() == kErrorBodyBytesMax;
      return !refusal_is_cut;
    }
    over_limit = bytes.size() > body_bytes_max - body.size();
    if (!over_limit) body += bytes;
    return !over_limit;
  }
};

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  const bool on = transfer.take({bytes, size * count});
  transfer.last_byte = std::chrono::steady_clock::now();  // after the sink: its time is its own
  return on ? size * count : CURL_WRITEFUNC_ERROR;
}

std::size_t on_header(char*, std::size_t size, std::size_t count, void* to) {
  static_cast<Transfer*>(to)->last_byte = std::chrono::steady_clock::now();
  return size * count;
}

// What may be connected to, and why an address was refused.
struct PeerCheck {
  bool public_addresses_only = false;
  std::string refusal = {};
};

// Opens the socket for an address that a name has led to, or refuses it.
curl_socket_t open_socket(void* to, curlsocktype, struct curl_sockaddr* address) {
  auto& check = *static_cast<PeerCheck*>(to);
  check.refusal = refused_peer(address->addr, check.public_addresses_only);
  if (!check.refusal.empty()) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::string header(CURL* easy, const char* name) {
  curl_header* found = nullptr;
  if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
  return found->value;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

struct Client::State {
  explicit State(Settings given) : settings(std::move(given)) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(started == CURLE_OK, "libcurl starts");
    multi.reset(curl_multi_init());
    easy.reset(curl_easy_init());
    CHECK(multi && easy, "memory for libcurl");
  }

  // Fills `easy` for one request. The list must live as long as the transfer.
  Result<CurlList> prepare(const Request& request, const std::string& url, bool streams);
  Result<void> authorize(CurlList& headers);
  Result<void> check_as_other_name(const std::string& url, CurlList& headers);
  Result<void> perform(Transfer& transfer, const std::string& address, bool streams);
  Result<Response> once(const Request& request, const std::string& url,
                        const std::function<bool(std::string_view)>* sink);
  Result<Response> follow(const Request& request,
                          const std::function<bool(std::string_view)>* sink);

  // Other threads call stop() alone, which touches these two alone.
  std::atomic<bool> stopped = false;
  CurlMulti multi;

  Settings settings;
  CurlEasy easy;
  CurlList connect_to;
  char error[CURL_ERROR_SIZE] = {};
  PeerCheck peer_check;
  std::string redirect;       // where the last answer pointed
  bool nothing_sent = false;  // of the last request
};

Result<void> Client::State::authorize(CurlList& headers) {
  const bool bearer = !settings.bearer_token.empty();
  const bool bearer_file = !settings.bearer_token_file.empty();
  const bool basic = !settings.basic_user.empty();
  if (bearer + bearer_file + basic > 1) {
    return fail(ErrorCode::kConfig,
                "more than one of bearer token, bearer token file and basic user is set; keep one");
  }
  if (bearer || bearer_file) {
    std::string token = settings.bearer_token;
    if (bearer_file) {
      auto read = TRY(read_secret(settings.bearer_token_file, "bearer token"));
      token = std::move(read);
    }
    if (has_control(token)) {
      return fail(ErrorCode::kConfig, "the bearer token holds control characters");
    }
    add_header(headers, "Authorization: Bearer " + token);
  }
  if (basic) {
    std::string password;
    if (!settings.basic_password_file.empty()) {
      auto read = TRY(read_secret(settings.basic_password_file, "password"));
      password = std::move(read);
    }
    curl_easy_setopt(easy.get(), CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(easy.get(), CURLOPT_USERNAME, settings.basic_user.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_PASSWORD, password.c_str());
  }
  return {};
}

// Checks the server's certificate for another name than the URL's host. libcurl checks it for the
// host of the URL, so the URL gets that name, while the connection still goes to the original host
// and the header Host keeps it.
Result<void> Client::State::check_as_other_name(const std::string& url, CurlList& headers) {
  const CurlUrl parts(curl_url());
  CHECK(parts, "memory for a URL");
  char* host_text = nullptr;
  char* port_text = nullptr;
  char* explicit_port = nullptr;
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parts.get(), CURLUPART_HOST, &host_text, 0) != CURLUE_OK ||
      curl_url_get(parts.get(), CURLUPART_PORT, &port_text, CURLU_DEFAULT_PORT) != CURLUE_OK) {
    curl_free(host_text);
    return fail(ErrorCode::kConfig, "this is not a URL: " + shown_address(url));
  }
  static_cast<void>(curl_url_get(parts.get(), CURLUPART_PORT, &explicit_port, 0));
  const CurlText host(host_text);
  const CurlText port(port_text);
  const CurlText shown_port(explicit_port);
  if (curl_url_set(parts.get(), CURLUPART_HOST, settings.server_name.c_str(), 0) != CURLUE_OK) {
    return fail(ErrorCode::kConfig, "the server name is not a host name");
  }
  char* renamed = nullptr;
  CHECK(curl_url_get(parts.get(), CURLUPART_URL, &renamed, 0) == CURLUE_OK, "a URL of its parts");
  const CurlText named(renamed);
  connect_to.reset(curl_slist_append(
      nullptr, fmt::format("{}:{}:{}:{}", settings.server_name, port.get(), host.get(), port.get())
                   .c_str()));
  curl_easy_setopt(easy.get(), CURLOPT_URL, named.get());
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_TO, connect_to.get());
  add_header(headers, shown_port ? fmt::format("Host: {}:{}", host.get(), shown_port.get())
                                 : fmt::format("Host: {}", host.get()));
  return {};
}

Result<CurlList> Client::State::prepare(const Request& request, const std::string& url,
                                        bool streams) {
  CURL* const e = easy.get();
  curl_easy_reset(e);  // drops options, keeps connections
  error[0] = '\0';
  curl_easy_setopt(e, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  peer_check = {.public_addresses_only = settings.public_addresses_only};
  curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, &peer_check);
  curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(e, CURLOPT_PROXY, "");  // the environment's variables are not for us to read
  curl_easy_setopt(e, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(e, CURLOPT_USERAGENT, "pennyweight");
  if (!request.keeps_encoding) {
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "gzip, deflate, zstd");
  }
  curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, settings.connect_timeout.count())));
  if (!streams) {
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(std::max<std::int64_t>(1, settings.timeout.count())));
  }
  curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(e, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (!settings.ca_file.empty()) {
    curl_easy_setopt(e, CURLOPT_CAINFO, settings.ca_file.c_str());
    curl_easy_setopt(e, CURLOPT_CAPATH, nullptr);  // only this authority, not the system's
  }
  if (!settings.cert_file.empty()) {
    curl_easy_setopt(e, CURLOPT_SSLCERT, settings.cert_file.c_str());
    curl_easy_setopt(e, CURLOPT_SSLKEY,
                     (settings.key_file.empty() ? settings.cert_file : settings.key_file).c_str());
  }
  if (!settings.ca_pem.empty()) {
    set_pem(e, CURLOPT_CAINFO_BLOB, settings.ca_pem);
    curl_easy_setopt(e, CURLOPT_CAPATH, nullptr);
  }
  if (!settings.cert_pem.empty()) set_pem(e, CURLOPT_SSLCERT_BLOB, settings.cert_pem);
  if (!settings.key_pem.empty()) set_pem(e, CURLOPT_SSLKEY_BLOB, settings.key_pem);
  curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, settings.insecure_skip_verify ? 0L : 1L);
  curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, settings.insecure_skip_verify ? 0L : 2L);
  curl_easy_setopt(e, CURLOPT_URL, url.c_str());

  CurlList headers;
  add_header(headers, "Expect:");  // no waiting for 100 Continue
  if (request.method == "HEAD") {
    curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET" || !request.body.empty()) {
    curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (std::ranges::none_of(request.headers, [](const auto& header) {
          return ascii::equal_ignoring_case(header.first, "Content-Type");
        })) {
      add_header(headers, "Content-Type:");  // libcurl would call it a form
    }
  }
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || has_control(name) || has_control(value) ||
        name.find_first_of(": ") != std::string::npos) {
      return fail(ErrorCode::kConfig,
                  "a header has line ends in it, or a colon or space in its name");
    }
    // With a semicolon libcurl sends an empty header.
    add_header(headers, value.empty() ? name + ";" : fmt::format("{}: {}", name, value));
  }
  TRY(authorize(headers));
  if (!settings.server_name.empty()) {
    TRY(check_as_other_name(url, headers));
  }
  curl_easy_setopt(e, CURLOPT_HTTPHEADER, headers.get());
  return headers;
}

Result<void> Client::State::perform(Transfer& transfer, const std::string& address, bool streams) {
  CHECK(curl_multi_add_handle(multi.get(), easy.get()) == CURLM_OK, "one transfer at a time");
  transfer.last_byte = std::chrono::steady_clock::now();
  std::optional<CURLcode> ended;
  bool silent = false;
  while (!ended && !stopped && !silent) {
    int running = 0;
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      if (message->msg == CURLMSG_DONE) ended = message->data.result;
    }
    if (ended) break;
    int wait_ms = kPollMsMax;
    if (streams) {
      const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(
          transfer.last_byte + settings.timeout - std::chrono::steady_clock::now());
      silent = left_ms.count() <= 0;
      wait_ms = static_cast<int>(std::clamp<std::int64_t>(left_ms.count(), 0, kPollMsMax));
    }
    if (!silent) curl_multi_poll(multi.get(), nullptr, 0, wait_ms, nullptr);
  }
  curl_multi_remove_handle(multi.get(), easy.get());
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (transfer.sink_is_done || transfer.refusal_is_cut) return {};
  if (transfer.over_limit) {
    return fail(
        ErrorCode::kLimit,
        fmt::format("{}: the answer has more than {} bytes; raise the limit, or ask for less",
                    address, transfer.body_bytes_max));
  }
  if (stopped) return fail(ErrorCode::kIo, address + ": stopped");
  if (silent) {
    return fail(ErrorCode::kIo,
                fmt::format("{}: no byte for {} ms", address, settings.timeout.count()));
  }
  if (ended == CURLE_OK) return {};
  const CURLcode why = ended.value_or(CURLE_FAILED_INIT);
  // Of a stream libcurl limits only the time to connect.
  nothing_sent = std::ranges::find(kNothingSentCodes, why) != std::end(kNothingSentCodes) ||
                 (streams && why == CURLE_OPERATION_TIMEDOUT);
  if (why == CURLE_COULDNT_CONNECT && !peer_check.refusal.empty()) {
    return fail(ErrorCode::kIo, fmt::format("{}: {}", address, peer_check.refusal));
  }
  if (why == CURLE_OPERATION_TIMEDOUT) {
    return fail(
        ErrorCode::kIo,
        fmt::format("{}: no complete answer in time (limits: {} ms to connect, {} ms in all)",
                    address, settings.connect_timeout.count(), settings.timeout.count()));
  }
  // libcurl's own messages for these two would show the whole URL.
  if (why == CURLE_URL_MALFORMAT || why == CURLE_UNSUPPORTED_PROTOCOL) {
    return fail(ErrorCode::kConfig, address + ": " + curl_easy_strerror(why));
  }
  return fail(ErrorCode::kIo,
              fmt::format("{}: {}", address, error[0] != '\0' ? error : curl_easy_strerror(why)));
}

Result<Response> Client::State::once(const Request& request, const std::string& url,
                                     const std::function<bool(std::string_view)>* sink) {
  const std::string address = shown_address(url);
  auto headers = prepare(request, url, sink != nullptr);
  if (!headers) return std::unexpected(headers.error().during(address));
  Transfer transfer{.easy = easy.get(), .sink = sink, .body_bytes_max = settings.body_bytes_max};
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &transfer);
  TRY(perform(transfer, address, sink != nullptr));

  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  const char* type = nullptr;
  curl_easy_getinfo(easy.get(), CURLINFO_CONTENT_TYPE, &type);
  const char* where = nullptr;
  curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &where);
  redirect = where != nullptr ? where : "";
  std::vector<std::pair<std::string, std::string>> answered;
  for (curl_header* one = nullptr;
       (one = curl_easy_nextheader(easy.get(), CURLH_HEADER, -1, one)) != nullptr;) {
    std::string name(one->name);
    for (char& c : name) c = ascii::to_lower(c);
    answered.emplace_back(std::move(name), one->value);
  }
  return Response{.status = static_cast<int>(status),
                  .content_type = type != nullptr ? type : "",
                  .retry_after = parse_retry_after(header(easy.get(), "Retry-After"),
                                                   header(easy.get(), "Date")),
                  .body = std::move(transfer.body),
                  .headers = std::move(answered)};
}

// Follows redirects itself, and only within the server that was named (or to its TLS): one that
// could send us elsewhere would reach what we can reach, with our certificate and headers.
Result<Response> Client::State::follow(const Request& request,
                                       const std::function<bool(std::string_view)>* sink) {
  std::string url = request.url;
  nothing_sent = false;
  for (int redirects = 0;; ++redirects) {
    auto response = once(request, url, sink);
    if (!response || !is_redirect(response->status) || redirect.empty()) return response;
    if (request.method != "GET" && request.method != "HEAD") return response;
    const std::string from = shown_address(url);
    if (redirects == kRedirectsMax) {
      return fail(ErrorCode::kIo, fmt::format("{}: more than {} redirects", from, kRedirectsMax));
    }
    if (!settings.server_name.empty()) {
      return fail(ErrorCode::kIo, fmt::format("{}: redirects to {}, which is not followed where a "
                                              "server name is set; use that address",
                                              from, shown_address(redirect)));
    }
    if (!same_origin(url, redirect) && !is_upgrade_to_tls(url, redirect)) {
      return fail(
          ErrorCode::kIo,
          fmt::format("{}: redirects to {}, which is not followed, since that could make this "
                      "program query another server; configure that address if it is right",
                      from, shown_address(redirect)));
    }
    url = redirect;
  }
}

std::string Response::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Client::Client(Settings settings) : state_(std::make_unique<State>(std::move(settings))) {}
Client::~Client() = default;

Result<Response> Client::send(const Request& request) { return state_->follow(request, nullptr); }

Result<Response> Client::stream(const Request& request,
                                const std::function<bool(std::string_view)>& sink) {
  return state_->follow(request, &sink);
}

bool Client::nothing_sent() const { return state_->nothing_sent; }

void Client::stop() {
  state_->stopped = true;
  curl_multi_wakeup(state_->multi.get());
}

}  // namespace pennyweight::http
