#include "server/api/answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base_encoding.h"
#include "core/json_text.h"
#include "core/limits.h"
#include "core/whole_count.h"

namespace pennyweight::api {
namespace {

using server::problem;
using server::Response;

// When to retry what the machine refused.
constexpr std::chrono::seconds kRetryAfterTrouble{10};
constexpr std::size_t kDimensionBytesMax = 128;
constexpr std::size_t kScopeValuesMax = 1000;

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

// ---- JsonWriter

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  text_ += '{';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  text_ += '}';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_list() {
  separate();
  text_ += '[';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_list() {
  text_ += ']';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(text_, name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(text_, text);
  return *this;
}

JsonWriter& JsonWriter::value(Instant at) { return value(to_text(at)); }

JsonWriter& JsonWriter::value(Date date) { return value(to_text(date)); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  key(name).begin_list();
  for (const std::string& text : values) value(text);
  return end_list();
}

JsonWriter& JsonWriter::scope(std::string_view name, const std::vector<SummaryFilter>& scope) {
  key(name).begin_list();
  for (const SummaryFilter& part : scope) {
    begin_object().field("dimension", part.dimension).texts("values", part.values).end_object();
  }
  return end_list();
}

// ---- Answers

Response json(std::string body, int status, std::string etag) {
  body += '\n';
  return {.status = status,
          .content_type = "application/json",
          .body = std::move(body),
          .etag = std::move(etag)};
}

Response json(const JsonWriter& body, int status, std::string etag) {
  return json(body.text(), status, std::move(etag));
}

Response refusal(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return server::problem(404, "Not found", error.message);
    case ErrorCode::kConflict:
      return server::problem(409, "Conflict", error.message);
    case ErrorCode::kBadValue:
    case ErrorCode::kUnsupported:
      return server::problem(422, "Bad parameter", error.message);
    case ErrorCode::kStore:
    case ErrorCode::kIo:
    case ErrorCode::kLimit: {
      Response later = problem(503, "Service unavailable", error.message);
      later.retry_after = kRetryAfterTrouble;
      return later;
    }
    case ErrorCode::kBadFile:
    case ErrorCode::kConfig:
      return problem(500, "Internal server error", error.message);
  }
  return problem(500, "Internal server error", error.message);
}

Response bad_parameter(std::string_view name, std::string_view what) {
  return server::problem(422, "Bad parameter", fmt::format("{}: {}", name, what));
}

Response not_found(std::string_view what) { return server::problem(404, "Not found", what); }

std::string to_cursor(std::string_view list, std::string_view key) {
  return to_base64url(fmt::format("{}\n{}", list, key));
}

std::optional<std::string> parse_cursor(std::string_view list, std::string_view cursor) {
  std::optional<std::string> text = from_base64url(cursor);
  if (!text || !text->starts_with(list) || text->size() <= list.size() ||
      (*text)[list.size()] != '\n') {
    return std::nullopt;
  }
  text->erase(0, list.size() + 1);
  return text;
}

// ---- QueryParams

void QueryParams::reject(std::string_view name, std::string_view what) {
  if (!refusal_) refusal_ = bad_parameter(name, what);
}

std::vector<std::string> QueryParams::texts(const std::string& name) {
  taken_.insert(name);
  std::vector<std::string> values;
  const auto [begin, end] = request_.query.equal_range(name);
  for (auto at = begin; at != end; ++at) {
    if (at->second.size() > kParameterBytesMax) {
      reject(name, fmt::format("at most {} bytes", kParameterBytesMax));
      return {};
    }
    values.push_back(at->second);
  }
  return values;
}

std::optional<std::string> QueryParams::text(const std::string& name) {
  std::vector<std::string> values = texts(name);
  if (values.size() > 1) reject(name, "given more than once");
  if (values.empty()) return std::nullopt;
  return std::move(values.front());
}

std::string QueryParams::required(const std::string& name) {
  const auto found = text(name);
  if (!found || found->empty()) reject(name, "missing");
  return found.value_or("");
}

std::vector<std::string> QueryParams::name_list(const std::string& name) {
  const auto found = text(name);
  if (!found || found->empty()) return {};
  std::vector<std::string> parts = split_at_commas(*found);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) reject(name, "must be names separated by commas, such as team,user");
    if (std::find(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i), parts[i]) !=
        parts.begin() + static_cast<std::ptrdiff_t>(i)) {
      reject(name, parts[i] + " is listed twice");
    }
  }
  return parts;
}

std::optional<bool> QueryParams::boolean(const std::string& name) {
  const auto found = text(name);
  if (!found) return std::nullopt;
  if (*found != "true" && *found != "false") reject(name, "must be true or false");
  return *found == "true";
}

std::optional<std::uint64_t> QueryParams::number(const std::string& name, std::uint64_t least,
                                                 std::uint64_t most) {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto count = parse_count(*found, most);
  if (!count || *count < least) {
    reject(name, fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  return *count;
}

std::optional<std::string> QueryParams::month(const std::string& name) {
  auto found = text(name);
  if (!found) return std::nullopt;
  if (!parse_date(*found + "-01")) {
    reject(name, "must be a month such as 2026-03");
    return std::nullopt;
  }
  return found;
}

std::optional<Date> QueryParams::date(const std::string& name) {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto date = parse_date(*found);
  if (!date) {
    reject(name, "must be a date such as 2026-03-31");
    return std::nullopt;
  }
  return *date;
}

std::optional<Instant> QueryParams::instant(const std::string& name) {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto at = parse_instant(*found);
  if (!at) {
    reject(name, "must be an instant such as 2026-03-31T12:00:00Z");
    return std::nullopt;
  }
  return *at;
}

std::string QueryParams::choice(const std::string& name,
                                const std::vector<std::string_view>& choices) {
  const auto found = text(name);
  if (!found) return std::string(choices.front());
  if (std::ranges::find(choices, *found) == choices.end()) {
    reject(name, fmt::format("must be one of {}", fmt::join(choices, ", ")));
    return std::string(choices.front());
  }
  return *found;
}

Page QueryParams::page(std::string_view list) {
  Page page;
  if (const auto limit = number("limit", 1, kPageMax)) page.limit = *limit;
  if (const auto cursor = text("cursor")) {
    page.after = parse_cursor(list, *cursor);
    if (!page.after)
      reject("cursor", "must be `next` of an earlier answer of this list, unchanged");
  }
  return page;
}

std::optional<Response> QueryParams::problem() {
  for (const auto& [name, value] : request_.query) {
    if (taken_.contains(name)) continue;
    reject(name, taken_.empty()
                     ? "unknown parameter; this endpoint has none"
                     : fmt::format("unknown parameter; use {}", fmt::join(taken_, ", ")));
  }
  return refusal_;
}

// ---- JsonBody

struct JsonBody::State {
  simdjson::dom::parser parser;
  std::map<std::string, simdjson::dom::element, std::less<>> keys;
  std::set<std::string, std::less<>> taken;
  std::optional<Response> refusal;

  void refuse(Response what) {
    if (!refusal) refusal = std::move(what);
  }
  const simdjson::dom::element* take(const std::string& name) {
    taken.insert(name);
    const auto found = keys.find(name);
    return found == keys.end() || found->second.is_null() ? nullptr : &found->second;
  }
};

JsonBody::JsonBody(const server::Request& request) : state_(std::make_unique<State>()) {
  if (request.body.empty()) return;
  const std::string_view kind =
      std::string_view(request.content_type).substr(0, request.content_type.find(';'));
  if (kind != "application/json") {
    state_->refuse(server::problem(415, "Unsupported media type", "Send application/json."));
    return;
  }
  if (request.body.size() > kJsonBodyBytesMax) {
    state_->refuse(server::problem(
        413, "Content too large",
        fmt::format("This endpoint accepts bodies of at most {} bytes.", kJsonBodyBytesMax)));
    return;
  }
  simdjson::dom::object object;
  if (state_->parser.parse(simdjson::padded_string(request.body)).get(object) !=
      simdjson::SUCCESS) {
    state_->refuse(server::problem(400, "Bad request", "The body is not a JSON object."));
    return;
  }
  for (const auto& [key, value] : object) {
    if (!state_->keys.emplace(key, value).second) reject(key, "given twice");
  }
}

JsonBody::~JsonBody() = default;

bool JsonBody::has(std::string_view name) const {
  const auto found = state_->keys.find(name);
  return found != state_->keys.end() && !found->second.is_null();
}

std::optional<std::string> JsonBody::text(const std::string& name) {
  const simdjson::dom::element* const found = state_->take(name);
  if (found == nullptr) return std::nullopt;
  std::string_view text;
  if (found->get(text) != simdjson::SUCCESS) {
    reject(name, "must be a text");
    return std::nullopt;
  }
  return std::string(text);
}

std::string JsonBody::required(const std::string& name) {
  const auto found = text(name);
  if (!found || found->empty()) reject(name, "missing");
  return found.value_or("");
}

std::optional<bool> JsonBody::boolean(const std::string& name) {
  const simdjson::dom::element* const found = state_->take(name);
  if (found == nullptr) return std::nullopt;
  bool truth = false;
  if (found->get(truth) != simdjson::SUCCESS) {
    reject(name, "must be true or false");
    return std::nullopt;
  }
  return truth;
}

std::optional<std::uint64_t> JsonBody::number(const std::string& name, std::uint64_t least,
                                              std::uint64_t most) {
  const simdjson::dom::element* const found = state_->take(name);
  if (found == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  if (found->get(number) != simdjson::SUCCESS || number < least || number > most) {
    reject(name, fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  return number;
}

std::optional<Instant> JsonBody::instant(const std::string& name) {
  const auto found = text(name);
  if (!found) return std::nullopt;
  const auto at = parse_instant(*found);
  if (!at) {
    reject(name, "must be an instant such as 2026-03-31T12:00:00Z");
    return std::nullopt;
  }
  return *at;
}

std::optional<std::vector<std::string>> JsonBody::texts(const std::string& name) {
  const simdjson::dom::element* const found = state_->take(name);
  if (found == nullptr) return std::nullopt;
  simdjson::dom::array list;
  std::vector<std::string> texts;
  if (found->get(list) != simdjson::SUCCESS) {
    reject(name, "must be a list of texts");
    return std::nullopt;
  }
  for (const simdjson::dom::element& one : list) {
    std::string_view text;
    if (one.get(text) != simdjson::SUCCESS) {
      reject(name, "must be a list of texts");
      return std::nullopt;
    }
    texts.emplace_back(text);
  }
  return texts;
}

std::optional<std::vector<SummaryFilter>> JsonBody::scope(const std::string& name) {
  const simdjson::dom::element* const found = state_->take(name);
  if (found == nullptr) return std::nullopt;
  const auto refuse = [&](std::string_view why) -> std::optional<std::vector<SummaryFilter>> {
    reject(name, why);
    return std::nullopt;
  };
  static constexpr std::string_view kForm =
      R"(must be written as [{"dimension": "team", "values": ["nlp"]}])";
  simdjson::dom::array list;
  if (found->get(list) != simdjson::SUCCESS) return refuse(kForm);
  std::vector<SummaryFilter> scope;
  for (const simdjson::dom::element& one : list) {
    simdjson::dom::object part;
    simdjson::dom::array values;
    std::string_view dimension;
    if (one.get(part) != simdjson::SUCCESS || part.size() != 2 ||
        part["dimension"].get(dimension) != simdjson::SUCCESS ||
        part["values"].get(values) != simdjson::SUCCESS) {
      return refuse(kForm);
    }
    if (dimension.empty() || dimension.size() > kDimensionBytesMax) {
      return refuse(fmt::format("a dimension has 1 to {} bytes", kDimensionBytesMax));
    }
    SummaryFilter filter{.dimension = std::string(dimension), .values = {}};
    if (std::ranges::find(scope, filter.dimension, &SummaryFilter::dimension) != scope.end()) {
      return refuse(filter.dimension + " is listed twice");
    }
    for (const simdjson::dom::element& value : values) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) return refuse(kForm);
      if (text.size() > limits::kLabelValueBytesMax) return refuse("a value is too long");
      filter.values.emplace_back(text);
    }
    // A list without values would allow nothing, but is easily read as everything.
    if (filter.values.empty() || filter.values.size() > kScopeValuesMax) {
      return refuse(fmt::format("{} has 1 to {} values", filter.dimension, kScopeValuesMax));
    }
    std::ranges::sort(filter.values);
    const auto repeated = std::ranges::unique(filter.values);
    filter.values.erase(repeated.begin(), repeated.end());
    scope.push_back(std::move(filter));
  }
  return scope;
}

void JsonBody::reject(std::string_view name, std::string_view what) {
  state_->refuse(bad_parameter(name, what));
}

std::optional<Response> JsonBody::problem() {
  for (const auto& [name, value] : state_->keys) {
    if (!state_->taken.contains(name)) reject(name, "unknown key");
  }
  return state_->refusal;
}

std::optional<Response> JsonBody::unreadable() const { return state_->refusal; }

}  // namespace pennyweight::api
