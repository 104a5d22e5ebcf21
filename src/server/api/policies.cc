// Policies: the configured one and those that runs used, in words, and two side by side.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "allocation/policy/difference.h"
#include "allocation/policy/in_words.h"
#include "config/config.h"
#include "config/policy_text.h"
#include "core/hash.h"
#include "core/try.h"
#include "ledger/run.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kPolicyList = "policies";

// A policy, and the runs that used it.
struct PolicyUse {
  std::string version;
  std::string text;
  std::string name;  // empty: none
  std::optional<Instant> first;
  std::optional<Instant> last;
  std::uint64_t runs = 0;
  bool current = false;  // the next run will use it
};

Result<std::vector<PolicyUse>> list_policies(const Services& services) {
  const auto runs = TRY(ask_ledger(services, [](Store& store) { return store.runs(); }));
  std::map<std::string, PolicyUse> found;
  const Policy& configured = services.config.policy;
  const std::string current = to_text(configured.version());
  found[current] = {.version = current,
                    .text = configured.text(),
                    .name = configured.name,
                    .first = {},
                    .last = {},
                    .runs = 0,
                    .current = true};
  for (const Run& run : runs) {
    const std::string version = to_text(run.policy_version);
    const auto [at, is_new] = found.try_emplace(version);
    PolicyUse& use = at->second;
    if (is_new) {
      use.version = version;
      use.text = run.policy;
      // The text of an old version can no longer be parsed, so its name is unknown.
      if (const auto policy = parse_policy_text(run.policy)) use.name = policy->name;
    }
    ++use.runs;
    if (!use.first || run.at < *use.first) use.first = run.at;
    if (!use.last || run.at > *use.last) use.last = run.at;
  }
  std::vector<PolicyUse> all;
  for (auto& [version, use] : found) all.push_back(std::move(use));
  return all;
}

// By first use; unused policies come last.
std::string policy_key(const PolicyUse& use) {
  return (use.first ? pennyweight::to_text(*use.first) : "never") + '\n' + use.version;
}

Result<PolicyUse> find(const Services& services, const std::string& version) {
  auto all = TRY(list_policies(services));
  for (PolicyUse& use : all) {
    if (use.version == version) return std::move(use);
  }
  return fail(ErrorCode::kNotFound, fmt::format("there is no policy {}", version));
}

void write_facts(JsonWriter& out, const PolicyUse& use) {
  out.field("version", use.version).key("name");
  if (use.name.empty()) {
    out.null();
  } else {
    out.value(use.name);
  }
  out.field("first_used", use.first)
      .field("last_used", use.last)
      .field("runs", use.runs)
      .field("current", use.current);
}

// The lines that only one side has, in their order.
void write_differences(JsonWriter& out, std::string_view where,
                       const std::vector<ChangedLine>& lines) {
  std::vector<std::string> a;
  std::vector<std::string> b;
  for (const ChangedLine& line : lines) {
    (line.side == ChangedLine::Side::kBefore ? a : b).push_back(line.line);
  }
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    out.begin_object()
        .field("where", where)
        .field("a", i < a.size() ? std::optional(a[i]) : std::nullopt)
        .field("b", i < b.size() ? std::optional(b[i]) : std::nullopt)
        .end_object();
  }
}

}  // namespace

server::Response get_policies(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const Page page = params.page(kPolicyList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = list_policies(services);
  if (!all) return refusal(all.error());
  std::ranges::sort(*all, {}, policy_key);
  const auto part = cut_page(kPolicyList, page, *std::move(all), policy_key);
  return with_body_etag(list(part.entries, part.next, [](JsonWriter& out, const PolicyUse& use) {
    out.begin_object();
    write_facts(out, use);
    out.end_object();
  }));
}

server::Response get_policy(const Services& services, const server::Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto use = find(services, request.param("version"));
  if (!use) return refusal(use.error());
  const auto rules = parse_policy_text(use->text);
  if (!rules) return refusal(rules.error());
  JsonWriter out;
  out.begin_object();
  write_facts(out, *use);
  out.field("text", use->text).key("in_words").begin_list();
  for (const PolicySection& section : policy_in_words(*rules)) {
    out.begin_object()
        .field("title", section.title)
        .texts("sentences", section.sentences)
        .end_object();
  }
  out.end_list().end_object();
  return with_body_etag(json(out));
}

server::Response compare_policies(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const std::string a = params.required("a");
  const std::string b = params.required("b");
  for (const auto& [name, version] : {std::pair("a", a), std::pair("b", b)}) {
    if (!parse_hash(version))
      params.reject(name, "must be the version of a policy: 32 hexadecimal digits");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  std::vector<Policy> both;
  for (const std::string& version : {a, b}) {
    const auto use = find(services, version);
    if (!use) return refusal(use.error());
    auto rules = parse_policy_text(use->text);
    if (!rules) return refusal(rules.error());
    both.push_back(*std::move(rules));
  }
  const PolicyDifference found = diff_policies(both.front(), both.back());
  JsonWriter out;
  out.begin_object().field("a", a).field("b", b).key("differences").begin_list();
  for (const ChangedSection& section : found.in_words) {
    write_differences(out, section.title, section.lines);
  }
  out.end_list().key("text").begin_list();
  for (const ChangedLine& line : found.text) {
    out.begin_object()
        .field("side", line.side == ChangedLine::Side::kBefore ? "a" : "b")
        .field("line", line.line)
        .end_object();
  }
  out.end_list().end_object();
  return with_body_etag(json(out));
}

}  // namespace pennyweight::api
