#include "server/api/compliance_access.h"

#include <gtest/gtest.h>

#include "server/access/accounts_for_tests.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {
namespace {

class ComplianceAccessTest : public access::AccountsTest {
 protected:
  guardrails::ClientTerms terms(std::string name, std::vector<std::string> values = {}) const {
    guardrails::ClientTerms made;
    made.name = std::move(name);
    made.dimension = "team";
    made.values = std::move(values);
    return made;
  }
};

TEST_F(ComplianceAccessTest, ShowsWhoSeesAClient) {
  using access::Role;
  add(user("all", Role::kFinance));
  add(user("both", Role::kViewer, {{.dimension = "team", .values = {"nlp", "cv"}}}));
  add(user("other", Role::kViewer, {{.dimension = "team", .values = {"search"}}}));
  add(user("part", Role::kViewer, {{.dimension = "cluster", .values = {"a"}}}));
  add(user("whole", Role::kViewer, {{.dimension = "team", .values = {"nlp", "speech", "rival"}}}));
  // Customers see statements, of one dimension; without a scope nothing.
  add(user("customer", Role::kClient));
  add(user("acme-bo", Role::kClient, {{.dimension = "team", .values = {"nlp"}}}));
  add(user("rival-bo", Role::kClient, {{.dimension = "team", .values = {"rival"}}}));
  add(user("rival-cy", Role::kClient, {{.dimension = "cluster", .values = {"rival"}}}));
  auto gone = user("gone");
  add(gone);
  gone.disabled = true;
  ASSERT_TRUE(accounts_->change_user(gone));
  access::Token token;
  token.name = "ci";
  token.user = "all";
  token.expires_at = clock_.now() + std::chrono::hours(24);
  ASSERT_TRUE(accounts_->add_token(token));
  token.name = "search";
  token.scope = {{.dimension = "team", .values = {"search"}}};
  ASSERT_TRUE(accounts_->add_token(token));
  const std::vector<guardrails::ClientTerms> clients = {terms("acme", {"nlp", "speech"})};
  Compliance compliance;
  ASSERT_TRUE(add_access({.month = "2026-03", .clients = clients}, *accounts_, "team", clock_.now(),
                         compliance));
  std::vector<std::string> shown;
  for (const ComplianceAccess& one : compliance.access) {
    shown.push_back(one.who + ": " + one.sees);
  }
  EXPECT_EQ(shown,
            (std::vector<std::string>{"acme-bo: a part of the client", "all: everything",
                                      "token ci of all: everything", "both: a part of the client",
                                      "part: a part of the client", "whole: all of the client"}));
  // Statements of another dimension say nothing of this client.
  Compliance other;
  ASSERT_TRUE(add_access({.month = "2026-03", .clients = clients}, *accounts_, "cluster",
                         clock_.now(), other));
  EXPECT_EQ(other.access.size(), shown.size() - 1);
}

TEST_F(ComplianceAccessTest, AReportOfOneClientNamesNoOther) {
  const std::string path = folder_ + "/x.audit";
  auto log = audit_log::AuditLog::open(path, clock_);
  ASSERT_TRUE(log);
  for (const char* subject : {"user acme-bo", "user rival-bo", "month 2026-03", "month 2026-02",
                              "invoice NW-2026-03-0002", "event Rival launch", "budget rival"}) {
    ASSERT_TRUE((*log)->append({.actor = "ana", .action = "x", .subject = subject}));
  }
  const std::vector<guardrails::ClientTerms> clients = {terms("acme"), terms("rival")};
  Compliance compliance{.month = "2026-03"};
  compliance.access.push_back({.client = "acme", .who = "acme-bo", .role = "", .sees = ""});
  ASSERT_TRUE(add_changes({.month = "2026-03", .client = "acme", .clients = clients}, path,
                          TimeZone::utc(), compliance));
  std::vector<std::string> shown;
  for (const ComplianceChange& one : compliance.changes) shown.push_back(one.subject);
  EXPECT_EQ(shown, (std::vector<std::string>{"user acme-bo", "month 2026-03"}));
}

TEST_F(ComplianceAccessTest, ShowsWhatWasChangedInTheMonth) {
  const std::string path = folder_ + "/x.audit";
  auto log = audit_log::AuditLog::open(path, clock_);
  ASSERT_TRUE(log);
  const auto at = [&](Instant now, std::string action) {
    clock_.advance(std::chrono::duration_cast<std::chrono::milliseconds>(now - clock_.now()));
    ASSERT_TRUE((*log)->append({.actor = "ana", .action = std::move(action), .subject = "x"}));
  };
  const auto month = BillingPeriod::parse("2026-03", TimeZone::utc())->to_interval();
  at(month.begin() - std::chrono::milliseconds(1), "before");
  at(month.begin(), "user.add");
  at(month.begin() + std::chrono::hours(1), "sign_in");
  at(month.end() - std::chrono::milliseconds(1), "period.close");
  at(month.end(), "after");
  Compliance compliance;
  ASSERT_TRUE(add_changes({.month = "2026-03", .clients = {}}, path, TimeZone::utc(), compliance));
  ASSERT_EQ(compliance.changes.size(), 2U);
  EXPECT_EQ(compliance.changes[0].action, "user.add");
  EXPECT_EQ(compliance.changes[1].action, "period.close");
  EXPECT_EQ(compliance.changes_in_month, 2U);
  Compliance none;
  EXPECT_TRUE(
      add_changes({.month = "2026-03", .clients = {}}, folder_ + "/none", TimeZone::utc(), none));
  EXPECT_TRUE(none.has_changes && none.changes.empty());
}

}  // namespace
}  // namespace pennyweight::api
