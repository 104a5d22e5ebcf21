// Queries advice for a month: what to change, what it would save, and what is missing for more.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/date.h"
#include "core/gpu/cloud_resource.h"
#include "core/label.h"
#include "insight/advice/advise.h"
#include "insight/advice/life.h"
#include "insight/advice/portfolio.h"
#include "insight/queries/advice_cache.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct AdviceQuery {
  std::string month;               // empty: the last one with charges
  std::string cluster = {};        // empty: all
  std::vector<std::string> kinds;  // empty: all
  std::string team = {};           // a value of team_dimension_of(); empty: all
  std::string effort = {};         // at most this: "low", "medium"; empty: any
  std::string confidence = {};     // at least this: "medium", "high"; empty: any
  std::string cost = "effective";
  Instant prices_at;        // list prices of what could be bought
  bool dismissed = false;   // with what somebody dismissed
  Date today = {};          // a dismissal until this day or earlier is over
  bool knows_teams = true;  // false: a team that the month lacks has no advice, and is no error
};

struct AdviceSettings {
  const Policy& policy;
  const Catalog& catalog;
  std::span<const JoinRule> join_rules;
  AdviceCache* cache = nullptr;  // null: it is worked out anew
  std::span<const ClusterConfig> clusters = {};
};

struct AdviceResult {
  std::string month;
  std::string team_dimension;  // whose values stand for teams; empty: the policy has none
  std::vector<advising::Proposal> proposals;  // of all clusters, ranked
  // What was decided about advice, given in this month or not, by id.
  std::map<std::string, advising::AdviceLife> lives = {};
  std::size_t dismissed = 0;  // proposals left out since somebody dismissed them
  std::vector<std::string> gaps;
};

// "team" where the policy has that dimension, else its first one; empty: it has none.
std::string team_dimension_of(const Policy& policy);

// Whether the words that narrow the advice down (kinds, effort, confidence) are understood; an
// Error names those that are.
Result<void> check_advice_words(const AdviceQuery& query);

// The value of the team's dimension, "" where it is about the fleet or nobody is known.
std::string team_of(const AdviceResult& result, const advising::Proposal& proposal);
std::string team_of(const Labels& owner, std::string_view team_dimension);

// Leaves the decisions about advice of the query's clusters, kinds and team.
void keep_asked_lives(std::map<std::string, advising::AdviceLife>& lives, const AdviceQuery& query,
                      std::string_view team_dimension);

// Leaves the proposals that the query's kinds, team, effort and confidence ask for. kBadValue: a
// word that is not understood.
Result<void> keep_asked(AdviceResult& result, const AdviceQuery& query);

// Shows the amounts of the proposals in another currency: each by itself, and ranked anew. Evidence
// and decisions are texts, and stay as they are. An Error of `convert` where a rate is missing.
using AdviceConversion = std::function<Result<Money>(const Money&)>;
Result<void> convert_advice(AdviceResult& result, const AdviceConversion& convert);

// Errors: kBadValue for a word that is not understood, kNotFound where there are no charges.
Result<AdviceResult> query_advice(Store& store, const AdviceQuery& query,
                                  const AdviceSettings& settings);

// From the first to the last hour that the bill of the month charges a resource for.
std::optional<Interval> billed_span(std::span<const Charge> charges);

// All steps, in the order of their imports.
Result<std::vector<AdviceStep>> query_advice_steps(Store& store);

// Of a month in all of which it was in effect, it is new: what is found there is left or came back.
advising::AdviceState state_of(const AdviceResult& result, const advising::Proposal& proposal);

// What can be followed together of what is not done yet, by proposal.
advising::Portfolio open_portfolio(const AdviceResult& result);

// One table a currency, each with the total of what can be followed together; without proposals one
// table that says what is missing.
std::vector<Table> advice_tables(const AdviceResult& result);

// The proposal whose id begins so; null: there is none. kNotFound: there are several.
Result<const advising::Proposal*> find_proposal(const AdviceResult& result, const std::string& id);

// Everything about one proposal, in rows of a name and a text; of the text to apply a row a line.
// kNotFound: there is none of this id, or of those that begin with it more than one.
Result<Table> advice_detail(const AdviceResult& result, const std::string& id);

}  // namespace pennyweight
