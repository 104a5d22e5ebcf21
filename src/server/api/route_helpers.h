// Helpers of handlers: one short opening of the ledger, pages of a list in memory, ETags.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/error.h"
#include "ledger/store.h"
#include "server/access/principal.h"
#include "server/api/answers.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// Calls `ask` with the ledger and returns its Result. The ledger is closed before this returns.
template <class Ask>
std::invoke_result_t<const Ask&, Store&> ask_ledger(const Services& services, const Ask& ask) {
  std::optional<std::invoke_result_t<const Ask&, Store&>> answer;
  const Result<void> opened = services.ledger([&](Store& store) -> Result<void> {
    answer.emplace(ask(store));
    if (!*answer) return std::unexpected(answer->error());
    return {};
  });
  if (!opened) return std::unexpected(opened.error());
  CHECK(answer.has_value(), "an open ledger was asked");
  return *std::move(answer);
}

// The entries of a page, and the cursor of the next one. REQUIRES: `all` is sorted by keys that are
// texts and unique.
template <class T>
struct ListPage {
  std::vector<T> entries;
  std::optional<std::string> next;
};
template <class T, class Key>
ListPage<T> cut_page(std::string_view list, const Page& page, std::vector<T> all, const Key& key) {
  ListPage<T> part;
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

// A number as part of a key, so that texts sort as numbers do.
std::string ascending_key(std::uint64_t number);
// The same in descending order.
std::string descending_key(std::uint64_t number);

// Adds the fingerprint of the body as the answer's ETag.
server::Response with_body_etag(server::Response response);

// The principal of a request that the guard has accepted.
const access::Principal& principal_of(const server::Request& request);

// The answer if a change of the ledger was announced in the audit log and made, and the entry that
// says so could not be written.
server::Response not_recorded(const Error& error);

}  // namespace pennyweight::api
