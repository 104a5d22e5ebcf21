#include "ingest/schedulers/kubernetes/list_watch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "ingest/schedulers/kubernetes/list_watch_event.h"

namespace pennyweight::kubernetes {
namespace {

using Action = Step::Action;

ListWatch pods(std::uint64_t seed = 1) {
  return ListWatch({.kind = "Pod", .paths = {"/api/v1/pods"}}, seed);
}

ListWatch watching() {
  ListWatch machine = pods();
  machine.page("100", "");
  return machine;
}

Milliseconds waits(ListWatch& machine) {
  const Step step = machine.next();
  if (step.action != Action::kWait) return Milliseconds(0);
  machine.waited();
  return step.wait;
}

TEST(ListWatch, PagesThenWatchesFromTheListsVersion) {
  ListWatch machine = pods();
  EXPECT_EQ(machine.next().target, "/api/v1/pods?limit=500");
  EXPECT_TRUE(machine.next().is_first_page);
  machine.page("100", "a/b=");
  EXPECT_EQ(machine.next().target, "/api/v1/pods?limit=500&continue=a%2Fb%3D");
  EXPECT_FALSE(machine.next().is_first_page);
  EXPECT_FALSE(machine.is_watching());
  machine.page("100", "");
  EXPECT_TRUE(machine.is_watching());
  const Step watch = machine.next();
  EXPECT_EQ(watch.action, Action::kWatch);
  EXPECT_EQ(watch.target.substr(0, watch.target.rfind('=')),
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds");
  // The same request until there is an answer.
  EXPECT_EQ(machine.next().target, watch.target);

  machine.event("105");
  machine.watch_ended(Milliseconds(300'000));
  EXPECT_NE(machine.next().target.find("resourceVersion=105&"), std::string::npos);
}

TEST(ListWatch, WhatTheServerForgotIsListedAnew) {
  ListWatch machine = watching();
  machine.refused(410, {});
  EXPECT_EQ(machine.next().target, "/api/v1/pods?limit=500");  // at once
  machine.page("200", "");
  machine.refused(410, {});
  EXPECT_GE(waits(machine), kBackOffMin);  // but not in a circle
  EXPECT_EQ(machine.next().action, Action::kList);
}

TEST(ListWatch, PagesThatExpireAreReadAsOne) {
  ListWatch machine = pods();
  machine.page("100", "token");
  machine.refused(410, {});
  EXPECT_EQ(machine.next().target, "/api/v1/pods");
  EXPECT_TRUE(machine.next().is_first_page);
  // Too much for one answer: in pages again.
  machine.failed(Milliseconds(0));
  waits(machine);
  EXPECT_EQ(machine.next().target, "/api/v1/pods?limit=500");
}

TEST(ListWatch, WaitsLongerEachTimeUntilAWatchWasGood) {
  ListWatch machine = watching();
  Milliseconds last{0};
  for (int i = 0; i < 20; ++i) {
    machine.failed(Milliseconds(1));
    const Milliseconds wait = waits(machine);
    EXPECT_GE(wait, kBackOffMin);
    EXPECT_LE(wait, kBackOffMax);
    if (i < 5) {
      EXPECT_GE(wait, last);
    }
    last = wait;
    EXPECT_EQ(machine.next().action, Action::kWatch);  // from where it was
    EXPECT_EQ(machine.resource_version(), "100");
  }
  EXPECT_GE(last, kBackOffMax / 2);
  machine.failed(kGoodWatch);
  EXPECT_LE(waits(machine), 2 * kBackOffMin);
  // A server that ends watches as soon as they begin is not asked endlessly.
  machine.watch_ended(Milliseconds(0));
  EXPECT_GE(waits(machine), kBackOffMin);
  machine.watch_ended(kGoodWatch);
  EXPECT_EQ(waits(machine), Milliseconds(0));
}

TEST(ListWatch, HonoursRetryAfter) {
  for (const int status : {429, 503}) {
    ListWatch machine = pods();
    machine.refused(status, Milliseconds(90'000));
    EXPECT_EQ(waits(machine), Milliseconds(90'000));
    machine.refused(status, Milliseconds(0));
    EXPECT_GE(waits(machine), kBackOffMin);
  }
}

TEST(ListWatch, WhatMayNotOrCannotBeReadIsAskedSlowly) {
  ListWatch machine = pods();
  machine.refused(403, {});
  EXPECT_EQ(waits(machine), kForbiddenWait);
  machine.refused(401, {});
  EXPECT_LE(waits(machine), kBackOffMax);

  ListWatch claims({.kind = "ResourceClaim", .paths = {"/apis/r/v1/c", "/apis/r/v1beta1/c"}}, 1);
  claims.refused(404, {});
  EXPECT_EQ(claims.next().target, "/apis/r/v1beta1/c?limit=500");  // at once
  EXPECT_EQ(claims.type().api_version(claims.next().path), "r/v1beta1");
  claims.refused(404, {});
  EXPECT_EQ(waits(claims), kAbsentWait);
  EXPECT_EQ(claims.next().target, "/apis/r/v1/c?limit=500");
  claims.page("7", "");
  EXPECT_TRUE(claims.is_watching());
  // Removed while it is watched.
  claims.refused(404, {});
  EXPECT_FALSE(claims.is_watching());
}

TEST(ListWatch, AVersionFromTheFutureIsGivenUp) {
  ListWatch machine = watching();
  for (int i = 0; i < kRefusalsBeforeList; ++i) {
    EXPECT_TRUE(machine.is_watching()) << i;
    machine.refused(504, {});
    waits(machine);
  }
  EXPECT_EQ(machine.next().action, Action::kList);
}

TEST(ListWatch, WhatCantBeReadIsListedAnew) {
  ListWatch machine = watching();
  machine.lost();
  EXPECT_GE(waits(machine), kBackOffMin);
  EXPECT_EQ(machine.next().action, Action::kList);
  machine.page("", "");  // a list without a version can't be watched from
  EXPECT_FALSE(machine.is_watching());
  EXPECT_GE(waits(machine), kBackOffMin);
}

TEST(ListWatch, ApiVersionIsOfThePath) {
  EXPECT_EQ((ResourceType{.kind = "Pod", .paths = {"/api/v1/pods"}}.api_version(0)), "v1");
  EXPECT_EQ((ResourceType{.kind = "Job", .paths = {"/apis/batch/v1/jobs"}}.api_version(0)),
            "batch/v1");
}

// A server with a history, a network that fails in any way, and a reader that follows the state
// machine: once the faults end, the reader has what the server has.
RC_GTEST_PROP(ListWatch, HasWhatTheServerHas, ()) {
  std::map<int, int> truth;  // object -> version
  struct Change {
    int version, object;
    bool gone;
  };
  std::vector<Change> history;
  int version = 10;
  int oldest = 0;  // changes up to this version are forgotten
  const auto change = [&] {
    ++version;
    const int object = *rc::gen::inRange(0, 12);
    const bool gone = truth.contains(object) && *rc::gen::arbitrary<bool>();
    if (gone) {
      truth.erase(object);
    } else {
      truth[object] = version;
    }
    history.push_back({version, object, gone});
  };
  ListWatch machine = pods(*rc::gen::arbitrary<std::uint64_t>());
  std::map<int, int> known;
  std::set<int> in_this_list;
  std::map<int, int> snapshot;
  int snapshot_version = 0;
  const int faults = *rc::gen::inRange(0, 60);
  bool done = false;
  for (int i = 0; i < faults + 30 && !done; ++i) {
    const bool faulty = i < faults;
    if (faulty) {
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) change();
      if (*rc::gen::inRange(0, 6) == 0) oldest = version;
    }
    const Step step = machine.next();
    if (step.action == Action::kWait) {
      RC_ASSERT(step.wait >= Milliseconds(1));
      RC_ASSERT(step.wait <= kAbsentWait);
      machine.waited();
      continue;
    }
    const int fault = faulty ? *rc::gen::inRange(0, 10) : 9;
    if (fault == 0) {
      machine.failed(Milliseconds(*rc::gen::inRange(0, 10'000)));
      continue;
    }
    if (fault == 1) {
      machine.refused(*rc::gen::element(400, 401, 403, 404, 410, 429, 500, 503), Milliseconds(5));
      continue;
    }
    if (fault == 2) {
      machine.lost();
      continue;
    }
    if (step.action == Action::kList) {
      std::size_t from = 0;
      const auto token = step.target.find("continue=");
      if (token == std::string::npos) {
        RC_ASSERT(step.is_first_page);
        snapshot = truth;
        snapshot_version = version;
        in_this_list.clear();
      } else {
        RC_ASSERT(!step.is_first_page);
        from = std::stoul(step.target.substr(token + 9));
        if (snapshot_version < oldest) {
          machine.refused(410, {});
          continue;
        }
      }
      const std::size_t most = step.target.find("limit=") == std::string::npos ? 1'000 : 3;
      std::size_t index = 0;
      for (const auto& [object, its_version] : snapshot) {
        if (index >= from && index < from + most) {
          known[object] = its_version;
          in_this_list.insert(object);
        }
        ++index;
      }
      const bool more = from + most < snapshot.size();
      machine.page(std::to_string(snapshot_version), more ? std::to_string(from + most) : "");
      if (!more) {
        std::erase_if(known, [&](const auto& one) { return !in_this_list.contains(one.first); });
      }
      continue;
    }
    const int since = std::stoi(std::string(machine.resource_version()));
    if (since < oldest) {
      machine.refused(410, {});
      continue;
    }
    int events = faulty ? *rc::gen::inRange(0, 5) : 1'000;
    for (const Change& one : history) {
      if (one.version <= since || events-- <= 0) continue;
      if (one.gone) {
        known.erase(one.object);
      } else {
        known[one.object] = one.version;
      }
      machine.event(std::to_string(one.version));
    }
    if (*rc::gen::arbitrary<bool>() && faulty) {
      machine.failed(Milliseconds(7'000));
    } else {
      machine.watch_ended(Milliseconds(7'000));
    }
    done = !faulty;
  }
  RC_ASSERT(done);
  RC_ASSERT(known == truth);
}

TEST(EventSplitter, GivesLinesHoweverTheyAreCut) {
  const std::string stream = "{\"a\":1}\n\n{\"b\":2}\r\n   \n{\"c\":3}\n{\"cut";
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    EventSplitter splitter;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      ASSERT_TRUE(splitter.feed(std::string_view(stream).substr(at, piece), [&](auto line) {
        lines.emplace_back(line);
        return true;
      }));
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}\r", "{\"c\":3}"})) << piece;
    EXPECT_EQ(splitter.pending_bytes(), 5u);
  }
}

TEST(EventSplitter, HasALimitAndAnEnd) {
  EventSplitter splitter(10);
  int lines = 0;
  const auto count = [&](std::string_view) { return ++lines < 3; };
  EXPECT_TRUE(splitter.feed("1234567890\n", count));
  EXPECT_TRUE(splitter.feed("12345", count));
  EXPECT_FALSE(splitter.feed("678901", count));
  EXPECT_TRUE(splitter.is_over_limit());
  EXPECT_EQ(lines, 1);
  EventSplitter other(10);
  EXPECT_FALSE(other.feed("a\nb\nc\nd\n", count));
  EXPECT_FALSE(other.is_over_limit());
  EXPECT_EQ(lines, 3);
}

TEST(WatchEvent, IsReadStrictly) {
  simdjson::dom::parser parser;
  const auto added = read_event(
      parser, R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"resourceVersion":"7"}}})");
  ASSERT_TRUE(added);
  EXPECT_EQ(added->type, EventType::kAdded);
  EXPECT_EQ(added->resource_version, "7");
  const auto bookmark = read_event(
      parser, R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}})");
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->type, EventType::kBookmark);
  const auto gone = read_event(
      parser, R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})");
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->error_code, 410);
  EXPECT_EQ(gone->message, "too old");
  const auto busy = read_event(
      parser, R"({"type":"ERROR","object":{"code":429,"details":{"retryAfterSeconds":7},)"
              R"("message":"\u001b"}})");
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->retry_after, Milliseconds(7'000));
  EXPECT_EQ(busy->message, "?");
  EXPECT_EQ(read_event(parser, R"({"type":"ERROR","object":{"code":"x"}})")->error_code, 500);
  for (const char* bad :
       {"", "{", "null", "[]", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":1})",
        R"({"type":"ADDED","object":{}})", R"({"type":1,"object":{}})",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":7}}})",
        R"({"type":"TOLD","object":{"metadata":{"resourceVersion":"7"}}})"}) {
    EXPECT_FALSE(read_event(parser, bad)) << bad;
  }
}

TEST(ListPage, IsReadStrictly) {
  simdjson::dom::parser parser;
  const auto page = read_page(
      parser, R"({"metadata":{"resourceVersion":"7","continue":"t"},"items":[{"a":1},{"b":2}]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->continue_token, "t");
  // Go writes an empty list as null.
  const auto none = read_page(parser, R"({"metadata":{"resourceVersion":"7"},"items":null})");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->items.empty() && none->continue_token.empty());
  for (const char* bad : {"", "<html>", "{}", R"({"items":[]})", R"({"metadata":{},"items":[]})",
                          R"({"metadata":{"resourceVersion":"7"}})",
                          R"({"metadata":{"resourceVersion":"7"},"items":{}})"}) {
    EXPECT_FALSE(read_page(parser, bad)) << bad;
  }
  EXPECT_EQ(status_message(R"({"kind":"Status","message":"pods is forbidden"})"),
            "pods is forbidden");
  EXPECT_EQ(status_message("bad\ngateway\x01"), "bad gateway?");
  EXPECT_EQ(status_message(std::string(9'000, 'x')).size(), 512u);
}

}  // namespace
}  // namespace pennyweight::kubernetes
