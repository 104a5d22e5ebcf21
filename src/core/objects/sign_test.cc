#include "core/objects/sign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight::objects {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// The two examples of AWS's documentation that are a GET of a bucket ("Signature Calculations for
// the Authorization Header: Transferring Payload in a Single Chunk").
TEST(SignS3, IsAsAmazonsExamples) {
  const auto signature = [](const Query& query) {
    return sign_s3({.region = "us-east-1",
                    .access_key = "AKIAIOSFODNN7EXAMPLE",
                    .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                    .session_token = "",
                    .at = *parse_instant("2013-05-24T00:00:00Z"),
                    .host = "examplebucket.s3.amazonaws.com",
                    .path = "/",
                    .query = query})
        .at("authorization");
  };
  EXPECT_THAT(signature({{"lifecycle", ""}}),
              EndsWith("Signature="
                       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_THAT(signature({{"max-keys", "2"}, {"prefix", "J"}}),
              EndsWith("Signature="
                       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SignS3, AToken) {
  const auto headers = sign_s3({.region = "auto",
                                .access_key = "a",
                                .secret_key = "b",
                                .session_token = "t",
                                .at = *parse_instant("2026-03-05T10:11:12Z"),
                                .host = "h:1",
                                .path = "/b"});
  EXPECT_EQ(headers.at("x-amz-security-token"), "t");
  EXPECT_EQ(headers.at("x-amz-date"), "20260305T101112Z");
  EXPECT_THAT(headers.at("authorization"), HasSubstr("a/20260305/auto/s3/aws4_request"));
  EXPECT_THAT(headers.at("authorization"), HasSubstr("x-amz-date;x-amz-security-token,"));
}

TEST(PercentEncoded, KeepsWhatIsUnreserved) {
  EXPECT_EQ(percent_encoded("a/b c+d=ä~", true), "a/b%20c%2Bd%3D%C3%A4~");
  EXPECT_EQ(percent_encoded("a/b", false), "a%2Fb");
  EXPECT_EQ(query_text({{"prefix", "a b"}, {"list-type", "2"}}), "list-type=2&prefix=a%20b");
}

}  // namespace
}  // namespace pennyweight::objects
