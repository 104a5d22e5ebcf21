// Reads the parameters of API requests and builds their answers.
//
//   QueryParams   the query of a request, parsed and checked; unknown parameters are a 422
//   JsonBody      the JSON object in the body, in the same way
//   JsonWriter    writes JSON piece by piece
//   json(), list(), refusal()   answers
//
// A handler reads its parameters, checks problem() once, and then does its work:
//
//   QueryParams params(request);
//   const auto month = params.month("month");
//   const Page page = params.page("runs");
//   if (auto problem = params.problem()) return *std::move(problem);
//   …
//   return list(rows, next_cursor("runs", last_key), [](JsonWriter& out, const Row& row) {
//     out.begin_object().field("month", row.month).field("number", row.number).end_object();
//   });
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/summary.h"
#include "server/server.h"

namespace pennyweight::api {

inline constexpr std::size_t kPageDefault = 100;
inline constexpr std::size_t kPageMax = 1000;
inline constexpr std::size_t kJsonBodyBytesMax = 64u << 10;
inline constexpr std::size_t kParameterBytesMax = 4096;

// Writes JSON text. It takes care of commas and quotes; the caller pairs begin and end.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_list();
  JsonWriter& end_list();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(Instant at);
  JsonWriter& value(Date date);
  template <std::same_as<bool> T>
  JsonWriter& value(T truth) {
    return raw(truth ? "true" : "false");
  }
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  // Nothing is written as null.
  template <class T>
  JsonWriter& value(const std::optional<T>& value_or_null) {
    return value_or_null ? value(*value_or_null) : null();
  }
  JsonWriter& null() { return raw("null"); }
  // Writes text that is JSON already.
  JsonWriter& raw(std::string_view json);

  // "name": value
  template <class T>
  JsonWriter& field(std::string_view name, const T& what) {
    return key(name).value(what);
  }
  JsonWriter& raw_field(std::string_view name, std::string_view json) {
    return key(name).raw(json);
  }
  // "name": ["a", "b"]
  JsonWriter& texts(std::string_view name, const std::vector<std::string>& values);
  // "name": [{"dimension": "team", "values": ["nlp"]}]
  JsonWriter& scope(std::string_view name, const std::vector<SummaryFilter>& scope);

  const std::string& text() const { return text_; }

 private:
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

// An answer of application/json. `etag`: see server::Response; empty: none.
server::Response json(std::string body, int status = 200, std::string etag = {});
server::Response json(const JsonWriter& body, int status = 200, std::string etag = {});

// {"data": [...], "next": "..." or null}; `write` writes one element.
template <class List, class Write>
server::Response list(const List& data, const std::optional<std::string>& next, const Write& write,
                      std::string etag = {}) {
  JsonWriter out;
  out.begin_object().key("data").begin_list();
  for (const auto& one : data) write(out, one);
  out.end_list().field("next", next).end_object();
  return json(out, 200, std::move(etag));
}

// The answer to an Error, with its message: 404 for kNotFound, 409 for a conflict, 422 for a bad
// value, 503 with Retry-After for what the machine refuses, 500 for the rest.
server::Response refusal(const Error& error);
// A 422; `what` says what is wrong with the parameter, or with the key of the body.
server::Response bad_parameter(std::string_view name, std::string_view what);
server::Response not_found(std::string_view what);  // "there is no run 7"

// A position in a list: opaque to clients, the key of the last entry to the server. A cursor of
// another list is refused. Keys are no secrets, and clients may send any text as a cursor.
std::string to_cursor(std::string_view list, std::string_view key);
std::optional<std::string> parse_cursor(std::string_view list, std::string_view cursor);

struct Page {
  std::size_t limit = kPageDefault;
  std::optional<std::string>
      after;  // key of the last entry of the previous page; nothing: the first page
};

// The query of a request. Parameters are read by name; problem() reports the first wrong value, and
// otherwise a parameter that was sent but not read.
class QueryParams {
 public:
  // REQUIRES: the request outlives it.
  explicit QueryParams(const server::Request& request) : request_(request) {}

  std::optional<std::string> text(const std::string& name);  // at most once
  std::vector<std::string> texts(const std::string& name);   // any number of times
  // "team,user" as two names, each at most once.
  std::vector<std::string> name_list(const std::string& name);
  std::optional<bool> boolean(const std::string& name);
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least,
                                      std::uint64_t most);
  std::optional<std::string> month(const std::string& name);  // "2026-03", a valid month
  std::optional<Date> date(const std::string& name);
  std::optional<Instant> instant(const std::string& name);
  // One of `choices`; by default the first. REQUIRES: `choices` is not empty.
  std::string choice(const std::string& name, const std::vector<std::string_view>& choices);
  // Reads `limit` and `cursor`.
  Page page(std::string_view list);
  // Like text(), but a missing or empty one is a problem.
  std::string required(const std::string& name);

  // Adds a problem that the handler has found.
  void reject(std::string_view name, std::string_view what);
  std::optional<server::Response> problem();

 private:
  const server::Request& request_;
  std::set<std::string, std::less<>> taken_;
  std::optional<server::Response> refusal_;
};

// The JSON object in a request's body, of at most kJsonBodyBytesMax. An empty body is an object
// without keys. Keys are read as parameters are.
class JsonBody {
 public:
  explicit JsonBody(const server::Request& request);
  ~JsonBody();
  JsonBody(const JsonBody&) = delete;
  JsonBody& operator=(const JsonBody&) = delete;

  bool has(std::string_view name) const;  // present and not null
  std::optional<std::string> text(const std::string& name);
  std::string required(const std::string& name);
  std::optional<bool> boolean(const std::string& name);
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least,
                                      std::uint64_t most);
  std::optional<Instant> instant(const std::string& name);
  std::optional<std::vector<std::string>> texts(const std::string& name);
  // [{"dimension": "team", "values": ["nlp"]}]: each dimension at most once, with one value or
  // more.
  std::optional<std::vector<SummaryFilter>> scope(const std::string& name);

  void reject(std::string_view name, std::string_view what);
  std::optional<server::Response> problem();
  // Why nothing of it can be read, whatever its keys are; for those who read it themselves.
  std::optional<server::Response> unreadable() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::api
