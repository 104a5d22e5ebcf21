// The work that limits stop: commands are given of what is due, and of nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/api/people_for_tests.h"

namespace pennyweight::api {
namespace {

using testing::HasSubstr;

class LimitStopsApiTest : public PeopleTest {
 protected:
  LimitStopsApiTest() { serve(); }
};

TEST_F(LimitStopsApiTest, CommandsAreOfWhatIsDueOrRefused) {
  const Browser admin = browser_of("ada");
  for (const std::string stage : {"announced", "exempt"}) {
    const Answer answer = ask(admin, "GET", "/limits/stops?format=commands&stage=" + stage);
    EXPECT_EQ(answer.status, 422) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("commands are of what is due"));
    EXPECT_EQ(ask(admin, "GET", "/limits/stops?format=json&stage=" + stage).status, 200);
  }
  EXPECT_THAT(ask(admin, "GET", "/limits/stops?format=commands&stage=later").body,
              HasSubstr("due, announced or exempt"));
  for (const std::string query : {"?format=commands", "?format=commands&stage=due"}) {
    const Answer answer = ask(admin, "GET", "/limits/stops" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("# Work that is due"));
  }
}

}  // namespace
}  // namespace pennyweight::api
