#include "ingest/bills/aws/column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/bills/aws/aws_names.h"
#include "ingest/bills/aws/service_category.h"

namespace pennyweight::aws {
namespace {

TEST(CanonicalName, IsOneForAllThreeSpellings) {
  const std::pair<std::string, std::string> cases[] = {
      {"lineItem/UnblendedCost", "line_item_unblended_cost"},
      {"lineItem/LineItemType", "line_item_line_item_type"},
      {"line_item_unblended_cost", "line_item_unblended_cost"},
      {"savingsPlan/SavingsPlanARN", "savings_plan_savings_plan_a_r_n"},
      {"savingsPlan/SavingsPlanArn", "savings_plan_savings_plan_a_r_n"},
      {"reservation/ReservationARN", "reservation_reservation_a_r_n"},
      {"reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
       "reservation_unused_amortized_upfront_fee_for_billing_period"},
      {"pricing/publicOnDemandCost", "pricing_public_on_demand_cost"},
      {"product/ProductName", "product_product_name"},
      {"product/instanceType", "product_instance_type"},
      {"product/sku", "product_sku"},
      {"splitLineItem/ParentResourceId", "split_line_item_parent_resource_id"},
      {"resourceTags/user:Team", "resourceTags/user:Team"},
      {"something else", "something else"},
      {"", ""},
  };
  for (const auto& [header, name] : cases) EXPECT_EQ(canonical_name(header), name);
}

TEST(CanonicalName, FindsEveryColumnThatARuleReads) {
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    const auto column = static_cast<Column>(i);
    EXPECT_EQ(find_column(canonical_name(name_of(column))), column) << name_of(column);
  }
  EXPECT_EQ(find_column("product_storage"), std::nullopt);
}

TEST(TagKey, LosesThePrefixOfUsersAndKeepsThatOfAws) {
  const std::pair<std::string, std::string> cases[] = {
      {"resourceTags/user:Cost Center", "Cost Center"},
      {"resourceTags/aws:createdBy", "aws:createdBy"},
      {"resource_tags_user_team", "team"},
      {"resource_tags_aws_created_by", "aws:created_by"},
  };
  for (const auto& [header, key] : cases) EXPECT_EQ(tag_key_of_column(header), key);
  EXPECT_EQ(tag_key("user_team"), "team");
  EXPECT_EQ(tag_key("user:team"), "team");
  EXPECT_EQ(tag_key("aws:eks:cluster-name"), "aws:eks:cluster-name");
  EXPECT_EQ(tag_key("team"), "team");
  for (const std::string other :
       {"resource_tags", "resourceTags/", "resourceTags/user:", "noTags/user:app", "line_item_x"}) {
    EXPECT_EQ(tag_key_of_column(other), std::nullopt) << other;
  }
}

TEST(NameKept, EndsAsAmountsDoWhereItIsOne) {
  const std::pair<std::string, std::string> cases[] = {
      {"lineItem/UsageType", "x_UsageType"},
      {"lineItem/Operation", "x_Operation"},
      {"lineItem/ProductCode", "x_ServiceCode"},
      {"lineItem/BlendedCost", "x_BlendedCost"},
      {"lineItem/BlendedRate", "x_BlendedUnitPrice"},
      {"lineItem/UsageAmount", "x_UsageQuantity"},
      {"bill/BillType", "x_BillType"},
      {"identity/TimeInterval", "x_TimeInterval"},
      {"product_vcpu", "x_ProductVcpu"},
      {"product", "x_Product"},
      {"discount", "x_DiscountsCost"},
      {"discount_total_discount", "x_DiscountTotalDiscountCost"},
      {"cost_category", "x_CostCategories"},
      {"costCategory/Charge type", "x_CostCategory:Charge type"},
      {"reservation/UnusedQuantity", "x_ReservationUnusedQuantity"},
      {"reservation/UnusedRecurringFee", "x_ReservationUnusedRecurringFeeCost"},
      {"reservation/EffectiveCost", "x_ReservationEffectiveCost"},
      {"reservation/AmortizedUpfrontCostForUsage", "x_ReservationAmortizedUpfrontCostForUsageCost"},
      {"savingsPlan/TotalCommitmentToDate", "x_SavingsPlanTotalCommitmentToDateCost"},
      {"savingsPlan/SavingsPlanRate", "x_SavingsPlanUnitPrice"},
      {"savingsPlan/SavingsPlanARN", "x_SavingsPlanArn"},
      {"splitLineItem/SplitUsage", "x_SplitLineItemSplitUsageQuantity"},
      {"splitLineItem/ParentResourceId", "x_SplitLineItemParentResourceId"},
      {"noTags/user:app", "x_NoTagsUserApp"},
      {"x_Mine", "x_Mine"},
  };
  for (const auto& [header, name] : cases) EXPECT_EQ(name_kept(header), name);
}

TEST(IsAwsHeader, TakesEverySpellingAndNoFocus) {
  EXPECT_TRUE(is_aws_header(std::vector<std::string>{"bill/BillType", "lineItem/LineItemType",
                                                     "lineItem/UnblendedCost"}));
  EXPECT_TRUE(is_aws_header(
      std::vector<std::string>{"line_item_line_item_type", "line_item_unblended_cost"}));
  EXPECT_FALSE(is_aws_header(std::vector<std::string>{"lineItem/LineItemType"}));
  EXPECT_FALSE(is_aws_header(std::vector<std::string>{}));
  EXPECT_FALSE(is_aws_header(std::vector<std::string>{"BilledCost", "line_item_line_item_type",
                                                      "line_item_unblended_cost"}));
}

TEST(Service, HasACategoryAlways) {
  EXPECT_EQ(find_service("AmazonEC2").name, "Amazon Elastic Compute Cloud");
  EXPECT_EQ(find_service("AmazonEC2").category.subcategory, "Virtual Machines");
  EXPECT_EQ(find_service("AmazonSageMaker").category.category, "AI and Machine Learning");
  EXPECT_EQ(find_service("of tomorrow").name, "");
  EXPECT_EQ(find_service("of tomorrow").category.category, "Other");
}

TEST(InstanceType, IsInUsageTypesAndSpotDescriptions) {
  const std::pair<std::string, std::string> usage[] = {
      {"USW2-BoxUsage:p4d.24xlarge", "p4d.24xlarge"},
      {"BoxUsage:p5.48xlarge", "p5.48xlarge"},
      {"EUC1-SpotUsage:g5.12xlarge", "g5.12xlarge"},
      {"HeavyUsage:p4d.24xlarge", "p4d.24xlarge"},
      {"UnusedBox:p5.48xlarge", "p5.48xlarge"},
      {"BoxUsage:u-6tb1.112xlarge", "u-6tb1.112xlarge"},
      {"EBS:VolumeUsage.gp3", ""},
      {"CW:GMD-Metrics", ""},
      {"BoxUsage", ""},
      {"BoxUsage:", ""},
      {"", ""},
  };
  for (const auto& [text, type] : usage) EXPECT_EQ(instance_type_from_usage(text), type) << text;
  EXPECT_EQ(instance_type_from_description("p4d.24xlarge Linux/UNIX Spot Instance-hour in US West"),
            "p4d.24xlarge");
  EXPECT_EQ(instance_type_from_description("$0.5 per hour"), "");
  EXPECT_EQ(instance_type_from_description(""), "");
}

TEST(Names, OfRegionsResourcesAndUnits) {
  EXPECT_EQ(region_from_zone("us-west-2a"), "us-west-2");
  EXPECT_EQ(region_from_zone("us-gov-west-1b"), "us-gov-west-1");
  EXPECT_EQ(region_from_zone("us-west-2-lax-1a"), "us-west-2");
  EXPECT_EQ(region_from_zone("nowhere"), "");
  EXPECT_EQ(region_from_zone(""), "");
  EXPECT_EQ(resource_type_from_id("i-0abc"), "instance");
  EXPECT_EQ(resource_type_from_id("vol-1"), "volume");
  EXPECT_EQ(resource_type_from_id("arn:aws:ec2:us-east-1:1:instance/i-1"), "instance");
  EXPECT_EQ(resource_type_from_id("arn:aws:s3:::bucket"), "");
  EXPECT_EQ(resource_type_from_id("my-bucket"), "");
  EXPECT_EQ(focus_unit("Hrs"), "Hours");
  EXPECT_EQ(focus_unit("Requests"), "Requests");
}

}  // namespace
}  // namespace pennyweight::aws
