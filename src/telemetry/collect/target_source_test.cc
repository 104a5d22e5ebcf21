#include "telemetry/collect/target_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/check.h"

namespace pennyweight::collect {
namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "targets.XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "a folder for the test");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// "n1:1,n2:1{a=b} …"
std::string shown(const Result<std::vector<TargetGroup>>& groups) {
  if (!groups) return groups.error().message;
  std::string all;
  for (const TargetGroup& group : *groups) {
    for (const std::string& address : group.addresses) all += address + ",";
    all += "{";
    for (const prometheus::Label& label : group.labels) all += label.name + "=" + label.value;
    all += "} ";
  }
  return all;
}

TEST(TargetSource, JsonAndYamlSayTheSame) {
  const std::string json =
      R"([{"targets": ["n1:9400", "n2:9400"], "labels": {"rack": "7"}}, {"targets": []}])";
  const std::string yaml = "- targets: ['n1:9400', n2:9400]\n  labels: {rack: 7}\n- targets: []\n";
  EXPECT_EQ(shown(parse_target_file(json, "t.json")), "n1:9400,n2:9400,{rack=7} {} ");
  EXPECT_EQ(shown(parse_target_file(yaml, "t.yml")), "n1:9400,n2:9400,{rack=7} {} ");
  EXPECT_EQ(shown(parse_target_file(json, "t.yaml")), "n1:9400,n2:9400,{rack=7} {} ");
  EXPECT_EQ(shown(parse_target_file("", "t.yml")), "");
  EXPECT_EQ(shown(parse_target_file("[]", "t.json")), "");
}

TEST(TargetSource, WhatIsNoTargetFileIsRefused) {
  for (const char* const bad :
       {"{", "{}", "[1]", R"([{"targets": "n1"}])", R"([{"targets": [1]}])", R"([{"labels": []}])",
        R"([{"labels": {"a": 1}}])", R"([{"target": []}])", "", "[\xff]"}) {
    const auto groups = parse_target_file(bad, "t.json");
    ASSERT_FALSE(groups) << bad;
    EXPECT_TRUE(groups.error().message.starts_with("t.json: ")) << groups.error().message;
  }
  for (const char* const bad : {"a: b", "- 1", "- targets: n1", "- labels: [a]", "- [", "- x: 1",
                                "- targets: [[a]]", "- ? [a]\n  : b"}) {
    const auto groups = parse_target_file(bad, "t.yml");
    ASSERT_FALSE(groups) << bad;
    EXPECT_TRUE(groups.error().message.starts_with("t.yml: ")) << groups.error().message;
  }
  EXPECT_FALSE(parse_target_file("[]", "t.txt"));
}

TEST(TargetSource, FilesAreReadAgainWhenTheyChange) {
  const Folder folder;
  folder.write("a.json", R"([{"targets": ["n1:1"]}])");
  folder.write("b.json", R"([{"targets": ["n2:1"]}])");
  folder.write("c.txt", "not asked for");
  FileTargets source({(folder.path() / "*.json").string(), (folder.path() / "no.yml").string()});
  EXPECT_EQ(shown(source.groups()), "n1:1,{} n2:1,{} ");
  folder.write("a.json", R"([{"targets": ["n1:1", "n3:1"]}])");
  EXPECT_EQ(shown(source.groups()), "n1:1,n3:1,{} n2:1,{} ");
  // Half written: its earlier targets stay, and the problem is reported until it is fixed.
  folder.write("a.json", R"([{"targets": [)");
  EXPECT_EQ(shown(source.groups()), "n1:1,n3:1,{} n2:1,{} ");
  EXPECT_EQ(source.problems().size(), 1u);
  EXPECT_EQ(shown(source.groups()), "n1:1,n3:1,{} n2:1,{} ");
  EXPECT_EQ(source.problems().size(), 1u);
  std::filesystem::remove(folder.path() / "b.json");
  folder.write("a.json", "[]");
  EXPECT_EQ(shown(source.groups()), "");
  EXPECT_TRUE(source.problems().empty());
  FileTargets nowhere({(folder.path() / "gone" / "*.json").string()});
  EXPECT_FALSE(nowhere.groups());
}

}  // namespace
}  // namespace pennyweight::collect
