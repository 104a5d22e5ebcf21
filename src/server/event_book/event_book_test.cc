#include "server/event_book/event_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/event_book/event_json.h"

namespace pennyweight {
namespace {

using forecasting::KnownEvent;
using testing::ElementsAre;
using testing::HasSubstr;

const Instant kNow = *parse_instant("2026-03-01T00:00:00Z");

KnownEvent event(std::string_view json) { return parse_event_json(json).value(); }

Result<void> recorded(const std::optional<KnownEvent>&, const std::optional<KnownEvent>&) {
  return {};
}

class EventBookTest : public testing::Test {
 protected:
  EventBookTest() {
    std::string name = (std::filesystem::temp_directory_path() / "event-book-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~EventBookTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (std::filesystem::path(folder_) / "events.jsonl").string(); }

 private:
  std::string folder_;
};

TEST(EventJson, IsReadAsItIsWritten) {
  for (const char* json :
       {R"({"name": "Christmas", "from": "2026-12-25", "to": "2026-12-26", "percent": 10})",
        R"({"name": "a \"b\" ü", "from": "2026-05-01", "key": "nlp", "by": "team", )"
        R"("per_day": "-0.000000000000000001 EUR"})",
        R"({"name": "run", "from": "2026-05-01", "key": "gpt", "per_day": "24 gpu_hours"})"}) {
    EXPECT_EQ(event_json(event(json)), json);
  }
}

TEST(EventJson, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "JSON object"},
      {"{}", "from: missing"},
      {R"({"from": "2026-05-01", "percent": 1})", "needs a name"},
      {R"({"name": "a", "from": "2026-05-41", "percent": 1})", "from: "},
      {R"({"name": "a", "from": "2026-05-02", "to": "2026-05-01", "percent": 1})", "ends before"},
      {R"({"name": "a", "from": "2026-05-01"})", "per_day or percent"},
      {R"({"name": "a", "from": "2026-05-01", "percent": 1, "per_day": "1 USD"})", "one of them"},
      {R"({"name": "a", "from": "2026-05-01", "per_day": "1 USD"})", "needs a key"},
      {R"({"name": "a", "from": "2026-05-01", "per_day": "1", "key": "b"})", "no currency"},
      {R"({"name": "a", "from": "2026-05-01", "percent": 1, "by": "team"})", "which team"},
      {R"({"name": "a", "from": "2026-05-01", "percent": 10001})", "percent: "},
      {R"({"name": "a", "from": "2026-05-01", "percent": -1})", "percent: "},
      {R"({"name": "a", "from": "2026-05-01", "percent": 1.5})", "percent: "},
      {R"({"name": "a\u0000b", "from": "2026-05-01", "percent": 1})", "texts of at most"},
      {R"({"name": "a", "from": "2026-05-01", "percent": 1, "kye": "b"})", "no such key"},
  };
  for (const auto& [json, why] : kCases) {
    const auto parsed = parse_event_json(json);
    ASSERT_FALSE(parsed) << json;
    EXPECT_THAT(parsed.error().message, HasSubstr(why)) << json;
  }
}

TEST_F(EventBookTest, KeepsEveryVersionAndWhoMadeIt) {
  const KnownEvent first = event(R"({"name": "a", "from": "2026-05-01", "percent": 10})");
  const KnownEvent second = event(R"({"name": "a", "from": "2026-05-01", "percent": 20})");
  const KnownEvent other = event(R"({"name": "b", "from": "2026-05-01", "percent": 0})");
  EventBook book(path());
  EXPECT_TRUE(book.events()->empty());
  ASSERT_TRUE(book.set(first, "ana", kNow, recorded));
  ASSERT_TRUE(book.set(first, "bo", kNow, recorded));  // it is so already
  ASSERT_TRUE(book.set(second, "bo", kNow, recorded));
  ASSERT_TRUE(book.set(other, "bo", kNow, recorded));
  EventBook beside(path());
  EXPECT_THAT(*beside.events(), ElementsAre(second, other));
  ASSERT_TRUE(beside.remove("b", "ana", kNow, recorded));
  EXPECT_THAT(*book.events(), ElementsAre(second));
  EXPECT_EQ(book.remove("b", "ana", kNow, recorded).error().code, ErrorCode::kNotFound);
  const auto history = book.history("a");
  ASSERT_EQ(history->size(), 2u);
  EXPECT_EQ(history->front().event, first);
  EXPECT_EQ(history->back().who, "bo");
  EXPECT_EQ(book.history("")->size(), 4u);
  EXPECT_EQ(book.history("")->back().number, 4u);
  EXPECT_FALSE(book.history("")->back().event.has_value());
}

TEST_F(EventBookTest, TheConfigurationCounts) {
  const KnownEvent kept = event(R"({"name": "a", "from": "2026-05-01", "percent": 10})");
  const KnownEvent configured = event(R"({"name": "a", "from": "2026-06-01", "percent": 20})");
  EventBook book(path());
  ASSERT_TRUE(book.set(kept, "ana", kNow, recorded));
  EXPECT_THAT(*book.with({}), ElementsAre(kept));
  EXPECT_THAT(*book.with({&configured, 1}), ElementsAre(configured));
}

TEST_F(EventBookTest, WhatCannotBeRecordedIsNotKept) {
  EventBook book(path());
  const KnownEvent one = event(R"({"name": "a", "from": "2026-05-01", "percent": 10})");
  const auto refuse = [](const auto&, const auto&) -> Result<void> {
    return fail(ErrorCode::kIo, "the audit log is full");
  };
  EXPECT_FALSE(book.set(one, "ana", kNow, refuse));
  EXPECT_TRUE(book.events()->empty());
  ASSERT_TRUE(book.set(one, "ana", kNow, recorded));
  EXPECT_FALSE(book.remove("a", "ana", kNow, refuse));
  EXPECT_THAT(*book.events(), ElementsAre(one));
}

TEST_F(EventBookTest, TooManyAreRefused) {
  std::string lines;
  for (std::size_t i = 1; i <= kKeptEventsMax; ++i) {
    lines += R"({"number": )" + std::to_string(i) +
             R"(, "at": "2026-03-01T00:00:00Z", "who": "ana", "name": "e)" + std::to_string(i) +
             R"(", "event": {"name": "e)" + std::to_string(i) +
             R"(", "from": "2026-05-01", "percent": 5}})" + "\n";
  }
  std::ofstream(path()) << lines;
  EventBook book(path());
  const KnownEvent one = event(R"({"name": "a", "from": "2026-05-01", "percent": 10})");
  EXPECT_EQ(book.set(one, "ana", kNow, recorded).error().code, ErrorCode::kLimit);
  ASSERT_TRUE(book.remove("e7", "ana", kNow, recorded));
  EXPECT_TRUE(book.set(one, "ana", kNow, recorded));
}

TEST_F(EventBookTest, ALineThatCannotBeReadIsNamed) {
  std::ofstream(path()) << R"({"number": 1, "at": "2026-03-01T00:00:00Z", "who": "a", "name": "b"})"
                        << "\n";
  const auto events = EventBook(path()).events();
  ASSERT_FALSE(events);
  EXPECT_THAT(events.error().message, HasSubstr("events.jsonl:1 can't be read"));
}

}  // namespace
}  // namespace pennyweight
