#include "app/import/pull_deliveries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using objects::ObjectEntry;
using testing::ElementsAre;
using testing::HasSubstr;

ObjectEntry entry(const std::string& key, std::uint64_t bytes = 10, const std::string& at = "1") {
  return {.key = key, .bytes = bytes, .version = key + at, .modified_at = at};
}

std::vector<std::string> described(const std::vector<PulledDelivery>& all) {
  std::vector<std::string> out;
  for (const PulledDelivery& one : all) {
    std::string text = one.name + ":";
    for (const ObjectEntry& part : one.parts) text += " " + part.key;
    for (const std::string& part : one.missing) text += " -" + part;
    out.push_back(text);
  }
  return out;
}

TEST(GroupObjects, FilesWithoutAManifestGoFolderByFolder) {
  const std::vector<ObjectEntry> listing = {entry("a/1.csv"),    entry("a/2.csv"), entry("b/1.csv"),
                                            entry("b/_SUCCESS"), entry("b/x.crc"), entry("c.csv")};
  EXPECT_THAT(described(*group_objects(listing, {})),
              ElementsAre("(top): c.csv", "a: a/1.csv a/2.csv", "b: b/1.csv"));
}

// AWS: the manifest of a month stands above those of its assemblies, and names the newest files.
TEST(GroupObjects, TheManifestOfAMonthCounts) {
  const std::vector<ObjectEntry> listing = {
      entry("cur/m/a1/r-1.csv.gz"),      entry("cur/m/a1/r-Manifest.json"),
      entry("cur/m/a2/r-1.csv.gz"),      entry("cur/m/a2/r-2.csv.gz"),
      entry("cur/m/a2/r-Manifest.json"), entry("cur/m/r-Manifest.json")};
  const std::string old = R"({"reportKeys":["cur/m/a1/r-1.csv.gz"]})";
  const std::string now = R"({"reportKeys":["cur/m/a2/r-1.csv.gz","cur/m/a2/r-2.csv.gz"]})";
  EXPECT_THAT(described(*group_objects(listing, {{"cur/m/a1/r-Manifest.json", old},
                                                 {"cur/m/a2/r-Manifest.json", now},
                                                 {"cur/m/r-Manifest.json", now}})),
              ElementsAre("cur/m/r-Manifest.json: cur/m/a2/r-1.csv.gz cur/m/a2/r-2.csv.gz"));
}

// Azure: each run has a folder; the newest counts. A part of another size is not whole.
TEST(GroupObjects, TheNewestRunOfAnExportCounts) {
  const std::vector<ObjectEntry> listing = {
      entry("e/m/r1/manifest.json", 10, "1"), entry("e/m/r1/part_0.csv"),
      entry("e/m/r2/manifest.json", 10, "2"), entry("e/m/r2/part_0.csv", 9)};
  const auto grouped = group_objects(
      listing,
      {{"e/m/r1/manifest.json", R"({"blobs":[{"blobName":"e/m/r1/part_0.csv","byteCount":10}]})"},
       {"e/m/r2/manifest.json",
        R"({"blobs":[{"blobName":"e/m/r2/part_0.csv","byteCount":10},{"blobName":"e/m/r2/p"}]})"}});
  EXPECT_THAT(described(*grouped),
              ElementsAre("e/m/r2/manifest.json: -e/m/r2/part_0.csv (9 bytes of 10) -e/m/r2/p"));
}

TEST(GroupObjects, AVersionFollowsItsParts) {
  PulledDelivery delivery{.name = "a", .parts = {entry("a/1.csv")}, .missing = {}, .absent = {}};
  const std::string before = delivery.version();
  EXPECT_EQ(delivery.version(), before);
  delivery.parts[0].version = "2";
  EXPECT_NE(delivery.version(), before);
}

// A bucket's lifecycle rule deletes what was imported.
TEST(ImportedDelivery, StaysWhenItsPartsAreDeleted) {
  const std::string text = R"({"reportKeys":["m/1.csv","m/2.csv"]})";
  const auto delivery_of = [&](std::vector<ObjectEntry> listing, const std::string& manifest) {
    listing.push_back(entry("m/r-Manifest.json"));
    return group_objects(listing, {{"m/r-Manifest.json", manifest}})->at(0);
  };
  const auto whole = delivery_of({entry("m/1.csv"), entry("m/2.csv")}, text);
  const auto imported = ImportedDelivery::parse(ImportedDelivery::of(whole).to_text());
  EXPECT_TRUE(imported.is_unchanged(whole));
  EXPECT_TRUE(imported.is_unchanged(delivery_of({entry("m/2.csv")}, text)));
  EXPECT_TRUE(imported.is_unchanged(delivery_of({}, text)));
  EXPECT_FALSE(imported.is_unchanged(delivery_of({entry("m/2.csv", 10, "2")}, text)));
  EXPECT_FALSE(imported.is_unchanged(delivery_of({entry("m/2.csv", 9)}, text)));
  const std::string other = R"({"reportKeys":["m/1.csv","m/2.csv","m/3.csv"]})";
  EXPECT_FALSE(imported.is_unchanged(delivery_of({entry("m/1.csv"), entry("m/2.csv")}, other)));
  const std::string renamed = R"({"reportKeys":["m/1.csv","m/3.csv"]})";
  EXPECT_FALSE(imported.is_unchanged(delivery_of({entry("m/1.csv")}, renamed)));
  // As an earlier program remembered it.
  const auto bare = ImportedDelivery::parse(whole.version());
  EXPECT_TRUE(bare.is_unchanged(whole));
  EXPECT_FALSE(bare.is_unchanged(delivery_of({entry("m/2.csv")}, text)));
}

TEST(ReadManifest, IsOfAKnownKind) {
  EXPECT_EQ(read_export_manifest(R"({"dataFiles":["s3://bucket/x/y.parquet"]})")->at(0).key,
            "x/y.parquet");
  for (const char* text :
       {"", "[]", "{}", "{\"blobs\":[{}]}", "{\"reportKeys\":[1]}", "{\"blobs\":"}) {
    EXPECT_FALSE(read_export_manifest(text)) << text;
  }
  const std::vector<ObjectEntry> listing = {entry("a/manifest.json")};
  EXPECT_THAT(group_objects(listing, {{"a/manifest.json", "{}"}}).error().message,
              HasSubstr("a/manifest.json"));
}

}  // namespace
}  // namespace pennyweight
