#include "core/clickhouse/client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/check.h"
#include "core/clickhouse/gzip.h"
#include "core/http/client.h"
#include "core/percent.h"
#include "core/plain_text.h"

namespace pennyweight::clickhouse {
namespace {

using std::chrono::milliseconds;
using SteadyTime = std::chrono::steady_clock::time_point;
using Settings = std::map<std::string, std::string>;

constexpr milliseconds kBackOffFirst{50};
constexpr milliseconds kBackOffMost{2'000};
constexpr std::size_t kTailBytes = 16u << 10;        // searched for ClickHouse's error
constexpr std::size_t kAfterBreakBytes = 64u << 10;  // searched for it behind a broken block
constexpr std::size_t kShownSqlBytes = 160;
constexpr std::size_t kSecretBytesMin = 4;        // a shorter one may occur in any text
constexpr std::size_t kStatementBytes = 200'000;  // a longer one needs a larger max_query_size
constexpr std::size_t kSettingsBytesMax = 1u << 20;

// Sent with every statement. They overrule profiles by which a server would stop early without an
// error.
const Settings& settings_always() {
  static const Settings settings = {
      {"distinct_overflow_mode", "throw"}, {"group_by_overflow_mode", "throw"},
      {"join_overflow_mode", "throw"},     {"read_overflow_mode", "throw"},
      {"result_overflow_mode", "throw"},   {"set_overflow_mode", "throw"},
      {"skip_unavailable_shards", "0"},    {"sort_overflow_mode", "throw"},
      {"timeout_overflow_mode", "throw"},  {"transfer_overflow_mode", "throw"},
      {"insert_deduplicate", "1"},  // so that an insert may be sent again
  };
  return settings;
}

// The same, for releases that have them. Each restores the behaviour of 18.16.
const Settings& settings_of_later_releases() {
  static const Settings settings = {
      {"async_insert", "0"},  // collects the inserts of several, and takes a repeated one twice
      {"cancel_http_readonly_queries_on_client_close", "1"},
      {"deduplicate_insert", "enable"},  // as insert_deduplicate
      {"http_write_exception_in_output_format", "0"},
      {"insert_quorum_parallel", "0"},  // does without select_sequential_consistency
      {"low_cardinality_allow_in_native_format", "0"},
      {"read_overflow_mode_leaf", "throw"},
      {"timeout_overflow_mode_leaf", "throw"},
  };
  return settings;
}

std::string url_of(const std::string& endpoint, const Settings& parameters) {
  std::string url = endpoint + "/";
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    url += separator + percent_encoded(name) + "=" + percent_encoded(value);
    separator = '&';
  }
  return url;
}

std::string shown_sql(std::string_view sql) {
  std::string text = printable_text(sql, kShownSqlBytes);
  std::ranges::replace_if(text, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return sql.size() > kShownSqlBytes ? text + "…" : text;
}

// The last bytes of a body, which hold ClickHouse's error if it failed.
class BodyTail {
 public:
  void add(std::string_view bytes) {
    if (bytes.size() >= kTailBytes) {
      bytes_ = bytes.substr(bytes.size() - kTailBytes);
      return;
    }
    bytes_ += bytes;
    if (bytes_.size() > 2 * kTailBytes) bytes_.erase(0, bytes_.size() - kTailBytes);
  }
  std::optional<ServerError> error() const { return find_server_error(bytes_); }
  // Only an error at the very end, which closes with a line end.
  std::optional<ServerError> error_at_end() const {
    return bytes_.ends_with('\n') ? error() : std::nullopt;
  }

 private:
  std::string bytes_;
};

// Names and types of a block's columns. All blocks of an answer have the same; an error message
// that happens to parse as a block has not.
using ColumnTypes = std::vector<std::pair<std::string, std::string>>;
ColumnTypes column_types(const Block& block) {
  ColumnTypes types;
  for (const Column& column : block.columns) types.emplace_back(column.name(), column.type());
  return types;
}

struct Statement {
  std::string shown;
  bool writes = true;
  const Settings* parameters = nullptr;  // of the URL, by the kind of statement
  http::Request request = {};            // without its URL
};

struct Failure {
  Error error;
  Refusal refusal = Refusal::kRefused;
  int code = 0;
  bool is_final = false;   // not to be sent again, whatever the refusal
  bool others_may = true;  // another endpoint is asked at once
};

// Turns the bytes of an answer into blocks and passes them to the sink.
class RowReceiver {
 public:
  explicit RowReceiver(const Client::Sink& sink) : sink_(sink) {}

  // Returns whether to go on.
  bool take(std::string_view bytes) {
    tail_.add(bytes);
    if (broken_) {
      after_break_ += bytes.size();
      return after_break_ < kAfterBreakBytes;
    }
    reader_.add(bytes);
    for (;;) {
      Block block;
      const auto whole = reader_.next(block);
      if (!whole) {
        broken_ = whole.error();
        return true;  // ClickHouse's error may follow
      }
      if (!*whole) return true;
      if (!first_) first_ = column_types(block);
      if (column_types(block) != *first_) {
        broken_ = Error{ErrorCode::kStore, "the columns change in the middle of the answer"};
        return true;
      }
      if (block.rows == 0) continue;
      seen_ = true;
      auto on = sink_(block);
      if (!on) sink_error_ = on.error();
      stopped_ = !on || !*on;
      if (stopped_) return false;
    }
  }

  bool stopped() const { return stopped_; }  // by the sink
  bool seen() const { return seen_; }        // the sink had rows
  const std::optional<Error>& sink_error() const { return sink_error_; }
  // ClickHouse's error in the middle of the rows. `whole`: the connection did not break off.
  std::optional<ServerError> server_error(bool whole) const {
    return whole && !broken_ && reader_.at_end() ? tail_.error_at_end() : tail_.error();
  }
  // Why rows are missing, where ClickHouse sent no error.
  std::optional<Error> broken() const {
    if (broken_) return broken_;
    if (reader_.at_end()) return std::nullopt;
    return Error{ErrorCode::kStore, "the answer ends in the middle of its rows"};
  }

 private:
  const Client::Sink& sink_;
  BlockReader reader_;
  BodyTail tail_;
  std::optional<ColumnTypes> first_;
  std::optional<Error> broken_;
  std::optional<Error> sink_error_;
  std::size_t after_break_ = 0;
  bool seen_ = false;
  bool stopped_ = false;
};

}  // namespace

std::string sql_literal(std::string_view text) {
  std::string literal = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      literal += '\\';
      literal += c;
    } else if ((c >= 0 && c < ' ') || c == 127) {
      fmt::format_to(std::back_inserter(literal), "\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      literal += c;
    }
  }
  return literal + "'";
}

std::string sql_literal(const Hash128& hash) {
  return fmt::format("toFixedString(unhex('{}'), 16)", to_text(hash));
}

struct Client::State {
  explicit State(Address given)
      : address(std::move(given)),
        kept(http_settings(address)),
        known(address.endpoints.size()),
        random(static_cast<std::uint64_t>(getpid()) * 0x9e3779b97f4a7c15u ^
               static_cast<std::uint64_t>(now().time_since_epoch().count())) {
    CHECK(!address.endpoints.empty(), "a client has an endpoint");
  }

  static SteadyTime now() { return std::chrono::steady_clock::now(); }
  static http::Settings http_settings(const Address& address);

  Statement statement(const std::string& sql, bool writes, const Settings& parameters);
  // Sends a statement until an endpoint has done it. `sink` is null for a statement without rows.
  Result<void> run(Statement& statement, const Call& call, const Sink* sink);
  std::optional<Failure> attempt(Statement& statement, const Call& call, std::size_t endpoint,
                                 const Sink* sink);
  // Asks an endpoint once which settings it has.
  std::optional<Failure> learn(std::size_t endpoint);
  Settings parameters_of(const Statement& statement, const Call& call, std::size_t endpoint) const;
  http::Client& http_for(const Call& call);
  // Nothing for success; else why the request failed.
  std::optional<Failure> judge(const Result<http::Response>& response, std::size_t endpoint,
                               const std::optional<ServerError>& words, bool writes,
                               bool nothing_sent);
  Failure refused_by(std::size_t endpoint, const ServerError& error, bool writes) const;
  milliseconds back_off(unsigned failures);
  bool sleep(milliseconds time);  // false: stopped
  Error without_secrets(Error error) const;

  const Address address;

  // stop() is called from another thread and touches these alone.
  std::mutex mutex;
  std::condition_variable stopping;
  bool stopped = false;                 // guarded by `mutex`
  std::unique_ptr<http::Client> fresh;  // the pointer is guarded by `mutex`
  http::Client kept;

  std::vector<std::optional<std::set<std::string, std::less<>>>> known;  // by endpoint
  std::size_t current = 0;  // the endpoint that answered last
  Refusal refusal = Refusal::kNone;
  int code = 0;
  std::mt19937_64 random;
};

http::Settings Client::State::http_settings(const Address& address) {
  http::Settings settings{.ca_file = address.ca_file,
                          .connect_timeout = address.connect_timeout,
                          .timeout = address.timeout};
  if (!address.password_file.empty()) {
    settings.basic_user = address.user;
    settings.basic_password_file = address.password_file;
  }
  return settings;
}

Statement Client::State::statement(const std::string& sql, bool writes,
                                   const Settings& parameters) {
  Statement statement{.shown = shown_sql(sql), .writes = writes, .parameters = &parameters};
  statement.request.method = "POST";
  if (address.password_file.empty()) {
    statement.request.headers = {{"X-ClickHouse-User", address.user}};
    if (!address.password.empty()) {
      statement.request.headers.emplace_back("X-ClickHouse-Key", address.password);
    }
  }
  return statement;
}

Settings Client::State::parameters_of(const Statement& statement, const Call& call,
                                      std::size_t endpoint) const {
  Settings parameters = call.settings;  // emplace() below never overrides one of these
  for (const Settings* more : {&call.settings_if_known, &settings_of_later_releases()}) {
    for (const auto& [name, value] : *more) {
      if (known[endpoint]->contains(name)) parameters.emplace(name, value);
    }
  }
  parameters.insert(statement.parameters->begin(), statement.parameters->end());
  parameters.insert(settings_always().begin(), settings_always().end());
  if (!address.database.empty()) parameters.emplace("database", address.database);
  return parameters;
}

// libcurl repeats a request by itself where a kept connection turns out to be dead. So a statement
// that must not be done twice gets a fresh connection.
http::Client& Client::State::http_for(const Call& call) {
  if (call.repeatable) return kept;
  const std::lock_guard lock(mutex);
  fresh = std::make_unique<http::Client>(http_settings(address));
  if (stopped) fresh->stop();
  return *fresh;
}

Failure Client::State::refused_by(std::size_t endpoint, const ServerError& error,
                                  bool writes) const {
  return {.error = {ErrorCode::kStore,
                    fmt::format("{}: {} (ClickHouse's code {})", address.endpoints[endpoint],
                                error.words, error.code)},
          .refusal = refusal_of(error.code, writes),
          .code = error.code,
          .others_may = clickhouse::others_may(error.code)};
}

std::optional<Failure> Client::State::judge(const Result<http::Response>& response,
                                            std::size_t endpoint,
                                            const std::optional<ServerError>& words, bool writes,
                                            bool nothing_sent) {
  const Refusal broken_off = writes ? Refusal::kUncertain : Refusal::kUnreachable;
  if (words) return refused_by(endpoint, *words, writes);
  if (!response) {
    const Error& error = response.error();
    known[endpoint].reset();  // it may come back as another release
    return Failure{.error = error,
                   .refusal = nothing_sent ? Refusal::kUnreachable : broken_off,
                   .is_final = error.code == ErrorCode::kConfig};
  }
  const int status = response->status;
  if (status == 200) return std::nullopt;
  if (const auto error = find_server_error(response->body)) {
    return refused_by(endpoint, *error, writes);
  }
  constexpr std::size_t kShownBytes = 200;
  Failure failure{
      .error = {ErrorCode::kStore,
                fmt::format("{}: an answer that is not ClickHouse's, with status {}: {}",
                            address.endpoints[endpoint], status,
                            shown_sql(response->body.substr(0, kShownBytes)))}};
  // A proxy reports that no server answers (502, 504), or that there are too many requests (429,
  // 503).
  if (status == 429 || status == 503) failure.refusal = Refusal::kNotYet;
  if (status == 502 || status == 504) failure.refusal = broken_off;
  return failure;
}

std::optional<Failure> Client::State::learn(std::size_t endpoint) {
  if (known[endpoint]) return std::nullopt;
  static const Settings none;
  Statement asking = statement("SELECT name FROM system.settings", false, none);
  asking.request.url = url_of(address.endpoints[endpoint], {{"wait_end_of_query", "1"}});
  asking.request.body = "SELECT name FROM system.settings FORMAT TabSeparated";
  std::string names;
  const auto response = kept.stream(asking.request, [&](std::string_view bytes) {
    names += bytes.substr(0, kSettingsBytesMax - std::min(kSettingsBytesMax, names.size()));
    return true;
  });
  if (auto failure =
          judge(response, endpoint, find_server_error(names), false, kept.nothing_sent())) {
    return failure;
  }
  known[endpoint].emplace();
  for (std::string_view rest = names; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    known[endpoint]->emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::optional<Failure> Client::State::attempt(Statement& statement, const Call& call,
                                              std::size_t endpoint, const Sink* sink) {
  if (auto failure = learn(endpoint)) return failure;
  statement.request.url =
      url_of(address.endpoints[endpoint], parameters_of(statement, call, endpoint));
  const Sink nobody = [](const Block&) -> Result<bool> { return true; };
  RowReceiver rows(sink != nullptr ? *sink : nobody);
  BodyTail tail;
  http::Client& http = http_for(call);
  const auto response = http.stream(statement.request, [&](std::string_view bytes) {
    if (sink != nullptr) return rows.take(bytes);
    tail.add(bytes);
    return true;
  });
  if (rows.stopped()) {
    if (!rows.sink_error()) return std::nullopt;
    return Failure{.error = *rows.sink_error(), .refusal = Refusal::kNone, .is_final = true};
  }
  const auto words = sink != nullptr ? rows.server_error(response.has_value()) : tail.error();
  auto failure = judge(response, endpoint, words, statement.writes, http.nothing_sent());
  if (!failure && sink != nullptr) {
    if (const auto broken = rows.broken()) {
      failure = Failure{.error = broken->during(address.endpoints[endpoint]),
                        .refusal = Refusal::kUnreachable};
    }
  }
  if (!failure) return std::nullopt;
  failure->is_final = failure->is_final || rows.seen();
  return failure;
}

milliseconds Client::State::back_off(unsigned failures) {
  milliseconds most = kBackOffFirst;
  for (unsigned i = 0; i < failures && most < kBackOffMost; ++i) most *= 2;
  most = std::min(most, kBackOffMost);
  // Random, so that clients that failed together do not return together.
  std::uniform_int_distribution<std::int64_t> part(most.count() / 2, most.count());
  return milliseconds(part(random));
}

bool Client::State::sleep(milliseconds time) {
  std::unique_lock lock(mutex);
  return !stopping.wait_for(lock, time, [this] { return stopped; });
}

// ClickHouse does not repeat passwords, but a proxy might.
Error Client::State::without_secrets(Error error) const {
  constexpr std::string_view kInstead = "***";
  const std::string& secret = address.password;
  if (secret.size() < kSecretBytesMin) return error;
  for (auto at = error.message.find(secret); at != std::string::npos;
       at = error.message.find(secret, at + kInstead.size())) {
    error.message.replace(at, secret.size(), kInstead);
  }
  return error;
}

Result<void> Client::State::run(Statement& statement, const Call& call, const Sink* sink) {
  refusal = Refusal::kNone;
  code = 0;
  std::size_t endpoint = call.endpoint.value_or(current);
  CHECK(endpoint < address.endpoints.size(), "an endpoint of the address");
  std::map<std::size_t, std::string> said;  // by each endpoint, the last time
  std::optional<SteadyTime> until;
  bool uncertain = false;   // one of the attempts may have done it
  std::size_t at_once = 0;  // how many were asked since the last wait
  unsigned waits = 0;
  for (unsigned attempts = 1;; ++attempts) {
    auto failure = attempt(statement, call, endpoint, sink);
    if (!failure) {
      current = endpoint;
      refusal = Refusal::kNone;
      code = 0;
      return {};
    }
    uncertain = uncertain || failure->refusal == Refusal::kUncertain;
    refusal = uncertain ? Refusal::kUncertain : failure->refusal;
    code = failure->code;
    Error error = failure->error.during(statement.shown);
    const bool may_again = !failure->is_final && failure->refusal != Refusal::kRefused &&
                           (call.repeatable || failure->refusal != Refusal::kUncertain);
    if (!may_again || !sleep(milliseconds(0))) {
      return std::unexpected(without_secrets(std::move(error)));
    }

    if (!until) until = now() + address.retry;
    const bool others = failure->others_may && !call.endpoint;
    const milliseconds wait =
        others && ++at_once < address.endpoints.size() ? milliseconds(0) : back_off(waits++);
    if (wait.count() > 0) at_once = 0;
    if (now() + wait > *until) {
      error.message += fmt::format("; given up after {} attempts, {} ms after the first failed",
                                   attempts, address.retry.count());
      said.erase(endpoint);
      for (const auto& [_, words] : said) error.message += "; " + words;
      return std::unexpected(without_secrets(std::move(error)));
    }
    said[endpoint] = failure->error.message;
    if (!sleep(wait)) return std::unexpected(without_secrets(std::move(error)));
    if (!call.endpoint) endpoint = (endpoint + 1) % address.endpoints.size();
  }
}

Client::Client(Address address) : state_(std::make_unique<State>(std::move(address))) {}
Client::~Client() = default;

const Address& Client::address() const { return state_->address; }
Refusal Client::refusal() const { return state_->refusal; }
int Client::code() const { return state_->code; }

Result<void> Client::execute(const std::string& sql, const Call& call) {
  Settings parameters = {{"wait_end_of_query", "1"}};
  if (sql.size() > kStatementBytes) parameters["max_query_size"] = std::to_string(sql.size() + 1);
  Statement statement = state_->statement(sql, true, parameters);
  statement.request.body = sql;
  return state_->run(statement, call, nullptr);
}

Result<void> Client::query(const std::string& sql, const Sink& sink, const Call& call) {
  // The server holds back this much of an answer. Where it fails within it, it sends the error in
  // place of rows, and another server can be asked.
  Settings parameters = {{"buffer_size", "1048576"}, {"default_format", "Native"}};
  if (state_->address.compress) {
    parameters["enable_http_compression"] = "1";
    parameters["http_zlib_compression_level"] = "1";
  }
  if (sql.size() > kStatementBytes) parameters["max_query_size"] = std::to_string(sql.size() + 1);
  Statement statement = state_->statement(sql, false, parameters);
  statement.request.body = sql;
  return state_->run(statement, call, &sink);
}

Result<void> Client::insert(const std::string& table, const std::string& columns,
                            const std::string& block, const Call& call) {
  const std::string sql = fmt::format("INSERT INTO {} ({}) FORMAT Native", table, columns);
  const Settings parameters = {{"wait_end_of_query", "1"}, {"query", sql}};
  Statement statement = state_->statement(sql, true, parameters);
  if (state_->address.compress) {
    statement.request.headers.emplace_back("Content-Encoding", "gzip");
    statement.request.body = gzipped(block);
  } else {
    statement.request.body = block;
  }
  return state_->run(statement, call, nullptr);
}

void Client::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->stopping.notify_all();
  state_->kept.stop();
  if (state_->fresh) state_->fresh->stop();
}

}  // namespace pennyweight::clickhouse
