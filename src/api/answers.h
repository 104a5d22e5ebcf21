// Answers, and what was asked: what all routes of the API have in common.
//
//   Asked      the query of a request, read and checked: what no route takes is refused (422)
//   JsonBody   the JSON object of a request's body, the same way
//   JsonWriter JSON text, piece by piece
//   json(), list(), refusal()   answers
//
// A route takes what it needs from Asked, asks refused() once, and then works:
//
//   Asked asked(request);
//   const auto month = asked.month("month");
//   const Page page = asked.page("runs");
//   if (auto no = asked.refused()) return *std::move(no);
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
inline constexpr std::size_t kJsonBodyBytesMax = 64u << 10;  // of a request that changes something
inline constexpr std::size_t kParameterBytesMax = 4096;

// JSON text. Commas and quotes are its own affair; the pairs of begin and end are the caller's.
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
  // Nothing: null.
  template <class T>
  JsonWriter& value(const std::optional<T>& value_or_null) {
    return value_or_null ? value(*value_or_null) : null();
  }
  JsonWriter& null() { return raw("null"); }
  // What is JSON already.
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

// application/json. `etag`: as server::Response has it; empty: none.
server::Response json(std::string body, int status = 200, std::string etag = {});
server::Response json(const JsonWriter& body, int status = 200, std::string etag = {});

// {"data": [...], "next": "..." or null}; `write` writes one of them.
template <class List, class Write>
server::Response list(const List& data, const std::optional<std::string>& next, const Write& write,
                      std::string etag = {}) {
  JsonWriter out;
  out.begin_object().key("data").begin_list();
  for (const auto& one : data) write(out, one);
  out.end_list().field("next", next).end_object();
  return json(out, 200, std::move(etag));
}

// What can't be done, by whose fault it is: 404 not found, 409 conflict, 422 a wrong value, 503 and
// Retry-After what the machine refuses, 500 the rest. `error.message` is told as it is.
server::Response refusal(const Error& error);
// 422; `what` is wrong with the parameter or the key of the body.
server::Response bad_parameter(std::string_view name, std::string_view what);
server::Response not_found(std::string_view what);  // "there is no run 7"

// A place in a list: opaque to who asks, the key of the last entry to us. One of another list is
// refused. The key is no secret, and any text may come back as one.
std::string to_cursor(std::string_view list, std::string_view key);
std::optional<std::string> parse_cursor(std::string_view list, std::string_view cursor);

struct Page {
  std::size_t limit = kPageDefault;
  std::optional<std::string>
      after;  // key of the last entry that was given; nothing: the first page
};

// The query of a request. Each parameter is taken by its name; what was wrong first is what
// refused() tells, and then that a parameter was not asked for.
class Asked {
 public:
  // REQUIRES: the request outlives it.
  explicit Asked(const server::Request& request) : request_(request) {}

  std::optional<std::string> text(const std::string& name);  // once at most
  std::vector<std::string> texts(const std::string& name);   // as often as it was given
  // "team,user" into two; each once.
  std::vector<std::string> names(const std::string& name);
  std::optional<bool> truth(const std::string& name);  // true or false
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least,
                                      std::uint64_t most);
  std::optional<std::string> month(const std::string& name);  // "2026-03", a month that there is
  std::optional<Date> date(const std::string& name);
  std::optional<Instant> instant(const std::string& name);
  // One of `choices`, the first where it was not given. REQUIRES: choices is not empty.
  std::string choice(const std::string& name, const std::vector<std::string_view>& choices);
  // limit and cursor.
  Page page(std::string_view list);
  // As text(), and 422 where it is missing.
  std::string need(const std::string& name);

  // What a route finds wrong by itself.
  void wrong(std::string_view name, std::string_view what);
  std::optional<server::Response> refused();

 private:
  const server::Request& request_;
  std::set<std::string, std::less<>> taken_;
  std::optional<server::Response> refusal_;
};

// The JSON object that a request's body is: at most kJsonBodyBytesMax. An empty body is one without
// keys. Keys are taken as parameters are.
class JsonBody {
 public:
  explicit JsonBody(const server::Request& request);
  ~JsonBody();
  JsonBody(const JsonBody&) = delete;
  JsonBody& operator=(const JsonBody&) = delete;

  bool has(std::string_view name) const;  // and it is not null
  std::optional<std::string> text(const std::string& name);
  std::string need(const std::string& name);
  std::optional<bool> truth(const std::string& name);
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least,
                                      std::uint64_t most);
  std::optional<Instant> instant(const std::string& name);
  std::optional<std::vector<std::string>> texts(const std::string& name);
  // [{"dimension": "team", "values": ["nlp"]}]: each dimension once, and some values of each.
  std::optional<std::vector<SummaryFilter>> scope(const std::string& name);

  void wrong(std::string_view name, std::string_view what);
  std::optional<server::Response> refused();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::api
