// Hostlists: what `scontrol show hostnames` gives, and what must be refused.
#include "ingest/schedulers/slurm/hostlist.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pennyweight::slurm {
namespace {

std::string expanded(std::string_view text) {
  const auto hosts = expand_hostlist(text);
  return hosts ? fmt::format("{}", fmt::join(*hosts, " ")) : hosts.error().message;
}

TEST(Hostlist, Expands) {
  const struct {
    std::string_view list, hosts;
  } table[] = {
      {"vm", "vm"},
      {"cn-a006", "cn-a006"},
      {"a,b", "a b"},
      {"node[1-4,7]", "node1 node2 node3 node4 node7"},
      {"gpu[001-003]x", "gpu001x gpu002x gpu003x"},
      {"gpu[08-11]", "gpu08 gpu09 gpu10 gpu11"},
      {"n[98-101]", "n98 n99 n100 n101"},
      {"n[098-101]", "n098 n099 n100 n101"},
      {"n[0-0]", "n0"},
      {"n[00]", "n00"},
      {"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
      {"r[1,3]-[01-02]-s[5],login.example.org",
       "r1-01-s5 r1-02-s5 r3-01-s5 r3-02-s5 "
       "login.example.org"},
      {"[1-3]", "1 2 3"},
      {"[1-2]a,[1-2]b", "1a 2a 1b 2b"},
      {"n1,n[1-2]", "n1 n2"},
      {"n[1-3,2-4]", "n1 n2 n3 n4"},
  };
  for (const auto& row : table) EXPECT_EQ(expanded(row.list), row.hosts) << row.list;
}

TEST(Hostlist, Refuses) {
  const struct {
    std::string_view list, why;
  } table[] = {
      {"", "a name in it is empty"},
      {"a,", "a name in it is empty"},
      {",a", "a name in it is empty"},
      {"a,,b", "a name in it is empty"},
      {"n[1-2", "a bracket is not closed"},
      {"n[", "a bracket is not closed"},
      {"n]", "not part of a node's name"},
      {"n1-2]", "not part of a node's name"},
      {"n[]", "'' is not a number or range"},
      {"n[1,]", "'' is not a number or range"},
      {"n[1-]", "'1-' is not a number or range"},
      {"n[-1]", "'-1' is not a number or range"},
      {"n[1-2-3]", "'1-2-3' is not a number or range"},
      {"n[a-c]", "'a-c' is not a number or range"},
      {"n[[1-2]]", "is not a number or range"},
      {"n[4-1]", "the range 4-1 runs backwards"},
      {"n[1-9999999999999999999]", "is not a number or range"},
      {"n[0-999999999999999999]", "more than 65536 nodes"},
      {"n[1-65537]", "more than 65536 nodes"},
      {"n[1-60000,70000-130000]", "more than 65536 nodes"},
      {"a[1-60000],b[1-60000]", "more than 65536 nodes"},
      {"a[1-300]b[1-300]", "more than 65536 nodes"},
      {"None assigned", "not part of a node's name"},
      {"(null)", "not part of a node's name"},
      {"n\xff", "not part of a node's name"},
  };
  for (const auto& row : table) {
    ASSERT_FALSE(expand_hostlist(row.list).has_value()) << row.list;
    EXPECT_TRUE(expanded(row.list).find(row.why) != std::string::npos) << expanded(row.list);
  }
  EXPECT_FALSE(expand_hostlist(std::string(254, 'n')).has_value());
  EXPECT_TRUE(expand_hostlist("n[1-65536]").has_value());
}

RC_GTEST_PROP(Hostlist, ListedNamesComeBackInOrder, ()) {
  const auto numbers = *rc::gen::unique<std::vector<int>>(rc::gen::inRange(0, 100'000));
  RC_PRE(!numbers.empty());
  std::vector<std::string> names;
  for (const int n : numbers) names.push_back(fmt::format("n{:03}x", n));
  std::vector<std::string> padded;
  for (const int n : numbers) padded.push_back(fmt::format("{:03}", n));
  RC_ASSERT(expand_hostlist(fmt::format("n[{}]x", fmt::join(padded, ","))).value() == names);
  RC_ASSERT(expand_hostlist(fmt::format("{}", fmt::join(names, ","))).value() == names);
}

}  // namespace
}  // namespace pennyweight::slurm
