// What the books' routes have in common: one short opening of the ledger, pages of a list that is
// in memory, versions of an answer.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "access/principal.h"
#include "api/answers.h"
#include "api/parts.h"
#include "core/check.h"
#include "core/error.h"
#include "ledger/store.h"
#include "server/server.h"

namespace pennyweight::api {

// What `ask` has to say of the ledger, a Result; opened once, and closed before this returns.
template <class Ask>
std::invoke_result_t<const Ask&, Store&> ask_ledger(const Parts& parts, const Ask& ask) {
  std::optional<std::invoke_result_t<const Ask&, Store&>> answer;
  const Result<void> opened = parts.ledger([&](Store& store) -> Result<void> {
    answer.emplace(ask(store));
    if (!*answer) return std::unexpected(answer->error());
    return {};
  });
  if (!opened) return std::unexpected(opened.error());
  CHECK(answer.has_value(), "a ledger that was opened was asked");
  return *std::move(answer);
}

// The entries of a page, and the cursor of the next one. REQUIRES: `all` is in the order of their
// keys, which are texts and all different.
template <class T>
struct PageOf {
  std::vector<T> entries;
  std::optional<std::string> next;
};
template <class T, class Key>
PageOf<T> page_of(std::string_view list, const Page& page, std::vector<T> all, const Key& key) {
  PageOf<T> part;
  auto at = all.begin();
  if (page.after) {
    at = std::ranges::find_if(all, [&](const T& one) { return key(one) > *page.after; });
  }
  while (at != all.end() && part.entries.size() < page.limit) {
    part.entries.push_back(std::move(*at++));
  }
  if (at != all.end()) part.next = to_cursor(list, key(part.entries.back()));
  return part;
}

// A number as a part of a key: the order of the texts is that of the numbers.
std::string in_order(std::uint64_t number);
// The same, backwards: the largest first.
std::string in_reverse(std::uint64_t number);

// With the fingerprint of its body as its version.
server::Response with_version(server::Response response);

// Who asks; the guard has seen to it that somebody does.
const access::Principal& asker(const server::Request& request);

// What is answered where something was done, and the audit log could not be written.
server::Response not_recorded(const Error& error);

}  // namespace pennyweight::api
