// Rules behind a rule that takes everything.
#include "allocation/policy/unreachable.h"

#include <gtest/gtest.h>

#include "core/decimal.h"

namespace pennyweight {
namespace {

using List = UnreachableRule::List;
using Unreachable = std::vector<UnreachableRule>;

LabelMatch in(std::string key, std::vector<std::string> values) {
  return {std::move(key), LabelMatch::Op::kIn, std::move(values)};
}

SharingRule sharing(std::string cluster, std::vector<LabelMatch> workload, bool basis,
                    bool weights) {
  SharingRule rule{std::move(cluster), "", std::move(workload), {}, {}};
  if (basis) rule.basis = Basis{};
  if (weights) rule.weights = ShareWeights{};
  return rule;
}

TEST(Unreachable, SharingRulesDecideBasisAndWeightsEach) {
  Policy policy;
  policy.sharing = {sharing("", {}, true, false), sharing("a", {}, true, false)};
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kSharing, 1, 0}}));
  policy.sharing[1] = sharing("a", {}, true, true);
  EXPECT_EQ(unreachable_rules(policy), Unreachable{}) << "its weights are nobody else's";
  policy.sharing = {sharing("lab*", {in("tier", {"gold"})}, true, true),
                    sharing("lab", {in("tier", {"gold"}), in("env", {"prod"})}, true, false)};
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kSharing, 1, 0}}));
  std::swap(policy.sharing[0], policy.sharing[1]);
  EXPECT_EQ(unreachable_rules(policy), Unreachable{}) << "the narrow one comes first";
}

TEST(Unreachable, PatternsOfInstanceTypes) {
  const auto types = [](std::vector<std::string> names) {
    Policy policy;
    for (std::string& name : names) {
      policy.node_splits.push_back({std::move(name), NodeSplit::kWholeNode, {}, {}, {}});
    }
    return unreachable_rules(policy);
  };
  EXPECT_EQ(types({"p5.*", "p5.48xlarge"}), (Unreachable{{List::kNodeSplits, 1, 0}}));
  EXPECT_EQ(types({"p*", "p5.*"}), (Unreachable{{List::kNodeSplits, 1, 0}}));
  EXPECT_EQ(types({"p5.48xlarge", "p5.*"}), Unreachable{});
  EXPECT_EQ(types({"", "p5.*", ""}),
            (Unreachable{{List::kNodeSplits, 1, 0}, {List::kNodeSplits, 2, 0}}));
  EXPECT_EQ(types({"p5.*", ""}), Unreachable{});
}

TEST(Unreachable, OverheadOfTheSameLabel) {
  Policy policy;
  policy.overhead = {in("namespace", {"kube-*", "gpu"}), in("namespace", {"kube-system"})};
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kOverhead, 1, 0}}));
  policy.overhead[1] = in("namespace", {"kube-system", "mine"});
  EXPECT_EQ(unreachable_rules(policy), Unreachable{});
  policy.overhead = {{"a", LabelMatch::Op::kExists, {}}, in("a", {"x"}), in("b", {"x"})};
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kOverhead, 1, 0}}));
}

TEST(Unreachable, SpreadRulesOfOneKind) {
  Policy policy;
  SpreadRule any;
  any.kind = PostingKind::kShared;
  SpreadRule tax = any;
  tax.charge_category = "Tax";
  policy.spread = {any, tax};
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kSpread, 1, 0}}));
  policy.spread = {tax, any};
  EXPECT_EQ(unreachable_rules(policy), Unreachable{});
  policy.spread[1].kind = PostingKind::kOverhead;
  policy.spread[0].charge_category = "";
  EXPECT_EQ(unreachable_rules(policy), Unreachable{}) << "another kind";
}

TEST(Unreachable, OwnersGoByPriority) {
  Policy policy;
  const OwnerRule all = {0, {}, {{"team", "a"}}};
  const OwnerRule some = {0, {in("namespace", {"x"})}, {{"team", "b"}}};
  policy.owners = {all, some};
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kOwners, 1, 0}}));
  policy.owners[1].priority = 1;
  EXPECT_EQ(unreachable_rules(policy), Unreachable{}) << "a higher priority comes first";
  policy.owners = {some, all};
  policy.owners[1].priority = 7;
  EXPECT_EQ(unreachable_rules(policy), (Unreachable{{List::kOwners, 0, 1}}));
  policy.owners[0].set.emplace_back("client", "c");
  EXPECT_EQ(unreachable_rules(policy), Unreachable{}) << "the client is set by nobody else";
}

}  // namespace
}  // namespace pennyweight
