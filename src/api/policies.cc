// Policies: the rules that runs used and the configured ones, in words, and two side by side.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "api/book_routes.h"
#include "api/books.h"
#include "config/config.h"
#include "config/policy_text.h"
#include "core/hash.h"
#include "ledger/run.h"
#include "policy/difference.h"
#include "policy/in_words.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kList = "policies";

// One set of rules, and who used it.
struct Used {
  std::string version;
  std::string text;
  std::string name;  // empty: it has none
  std::optional<Instant> first;
  std::optional<Instant> last;
  std::uint64_t runs = 0;
  bool current = false;  // what the next run will use
};

Result<std::vector<Used>> policies_of(const Parts& parts) {
  const auto runs = ask_ledger(parts, [](Store& store) { return store.runs(); });
  if (!runs) return std::unexpected(runs.error());
  std::map<std::string, Used> found;
  const Policy& configured = parts.config.policy;
  const std::string current = to_text(configured.version());
  found[current] = {.version = current,
                    .text = configured.text(),
                    .name = configured.name,
                    .first = {},
                    .last = {},
                    .runs = 0,
                    .current = true};
  for (const Run& run : *runs) {
    const std::string version = to_text(run.policy_version);
    const auto [at, is_new] = found.try_emplace(version);
    Used& used = at->second;
    if (is_new) {
      used.version = version;
      used.text = run.policy;
      // The text of an older version that is no longer read has no name that we could tell.
      if (const auto policy = parse_policy_text(run.policy)) used.name = policy->name;
    }
    ++used.runs;
    if (!used.first || run.at < *used.first) used.first = run.at;
    if (!used.last || run.at > *used.last) used.last = run.at;
  }
  std::vector<Used> all;
  for (auto& [version, used] : found) all.push_back(std::move(used));
  return all;
}

// By first use; what no run has used is last.
std::string key_of(const Used& used) {
  return (used.first ? to_text(*used.first) : "never") + '\n' + used.version;
}

Result<Used> find(const Parts& parts, const std::string& version) {
  auto all = policies_of(parts);
  if (!all) return std::unexpected(all.error());
  for (Used& used : *all) {
    if (used.version == version) return std::move(used);
  }
  return fail(ErrorCode::kNotFound, fmt::format("there is no policy {}", version));
}

void write_facts(JsonWriter& out, const Used& used) {
  out.field("version", used.version).key("name");
  if (used.name.empty()) {
    out.null();
  } else {
    out.value(used.name);
  }
  out.field("first_used", used.first)
      .field("last_used", used.last)
      .field("runs", used.runs)
      .field("current", used.current);
}

server::Response policies(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  auto all = policies_of(parts);
  if (!all) return refusal(all.error());
  std::ranges::sort(*all, {}, key_of);
  const auto part = page_of(kList, page, *std::move(all), key_of);
  return with_version(list(part.entries, part.next, [](JsonWriter& out, const Used& used) {
    out.begin_object();
    write_facts(out, used);
    out.end_object();
  }));
}

server::Response policy(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const auto used = find(parts, request.param("version"));
  if (!used) return refusal(used.error());
  const auto rules = parse_policy_text(used->text);
  if (!rules) return refusal(rules.error());
  JsonWriter out;
  out.begin_object();
  write_facts(out, *used);
  out.field("text", used->text).key("in_words").begin_list();
  for (const PolicySection& section : policy_in_words(*rules)) {
    out.begin_object()
        .field("title", section.title)
        .texts("sentences", section.sentences)
        .end_object();
  }
  out.end_list().end_object();
  return with_version(json(out));
}

// Lines that only one side has, side by side in their order.
void write_differences(JsonWriter& out, std::string_view where,
                       const std::vector<DifferentLine>& lines) {
  std::vector<std::string> a;
  std::vector<std::string> b;
  for (const DifferentLine& line : lines) {
    (line.side == DifferentLine::Side::kBefore ? a : b).push_back(line.line);
  }
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    out.begin_object()
        .field("where", where)
        .field("a", i < a.size() ? std::optional(a[i]) : std::nullopt)
        .field("b", i < b.size() ? std::optional(b[i]) : std::nullopt)
        .end_object();
  }
}

server::Response compare(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const std::string a = asked.need("a");
  const std::string b = asked.need("b");
  for (const auto& [name, version] : {std::pair("a", a), std::pair("b", b)}) {
    if (!parse_hash(version)) asked.wrong(name, "the version of a policy, 32 hexadecimal digits");
  }
  if (auto no = asked.refused()) return *std::move(no);
  std::vector<Policy> both;
  for (const std::string& version : {a, b}) {
    const auto used = find(parts, version);
    if (!used) return refusal(used.error());
    auto rules = parse_policy_text(used->text);
    if (!rules) return refusal(rules.error());
    both.push_back(*std::move(rules));
  }
  const PolicyDifference found = difference(both.front(), both.back());
  JsonWriter out;
  out.begin_object().field("a", a).field("b", b).key("differences").begin_list();
  for (const DifferentSection& section : found.in_words) {
    write_differences(out, section.title, section.lines);
  }
  out.end_list().key("text").begin_list();
  for (const DifferentLine& line : found.text) {
    out.begin_object()
        .field("side", line.side == DifferentLine::Side::kBefore ? "a" : "b")
        .field("line", line.line)
        .end_object();
  }
  out.end_list().end_object();
  return with_version(json(out));
}

}  // namespace

std::vector<server::Route> policy_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/policies",
           .handler = [&parts](const server::Request& request) { return policies(parts, request); },
           .needs = "read_rules"},
          {.method = "GET",
           .path = "/api/v1/policies/compare",
           .handler = [&parts](const server::Request& request) { return compare(parts, request); },
           .needs = "read_rules"},
          {.method = "GET",
           .path = "/api/v1/policies/{version}",
           .handler = [&parts](const server::Request& request) { return policy(parts, request); },
           .needs = "read_rules"}};
}

}  // namespace pennyweight::api
