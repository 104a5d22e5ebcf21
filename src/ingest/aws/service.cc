// Long because its first half is a table.
#include "ingest/aws/service.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pennyweight::aws {
namespace {

struct CodedService {
  std::string_view code;
  Service service;
};

// By code. Names are those of product/ProductName; categories those of FOCUS, "Service Category"
// and "Service Subcategory". A service has one category, so what AWS bills under AmazonEC2 (also
// volumes) is Compute.
constexpr CodedService kServices[] = {
    {"AWSBackup", {"AWS Backup", "Storage", "Backup Storage"}},
    {"AWSBudgets", {"AWS Budgets", "Management and Governance", "Cost Management"}},
    {"AWSCloudShell", {"AWS CloudShell", "Developer Tools", "Development Environments"}},
    {"AWSCloudTrail", {"AWS CloudTrail", "Management and Governance", "Compliance"}},
    {"AWSConfig", {"AWS Config", "Management and Governance", "Compliance"}},
    {"AWSCostExplorer", {"AWS Cost Explorer", "Management and Governance", "Cost Management"}},
    {"AWSDataTransfer", {"AWS Data Transfer", "Networking", "Network Connectivity"}},
    {"AWSDirectConnect", {"AWS Direct Connect", "Networking", "Network Connectivity"}},
    {"AWSELB", {"Elastic Load Balancing", "Networking", "Application Networking"}},
    {"AWSEvents", {"Amazon EventBridge", "Integration", "Messaging"}},
    {"AWSGlobalAccelerator", {"AWS Global Accelerator", "Networking", "Network Routing"}},
    {"AWSGlue", {"AWS Glue", "Analytics", "Data Processing"}},
    {"AWSIoT", {"AWS IoT", "Internet of Things", "IoT Platforms"}},
    {"AWSLambda", {"AWS Lambda", "Compute", "Serverless Compute"}},
    {"AWSMigrationHubRefactorSpaces",
     {"AWS Migration Hub Refactor Spaces", "Migration", "Resource Migration"}},
    {"AWSNetworkFirewall", {"AWS Network Firewall", "Networking", "Network Security"}},
    {"AWSParallelComputingService",
     {"AWS Parallel Computing Service", "Compute", "Other (Compute)"}},
    {"AWSQueueService", {"Amazon Simple Queue Service", "Integration", "Messaging"}},
    {"AWSSecretsManager", {"AWS Secrets Manager", "Security", "Secret Management"}},
    {"AWSSecurityHub", {"AWS Security Hub", "Security", "Security Posture Management"}},
    {"AWSSupportBusiness", {"AWS Support (Business)", "Management and Governance", "Support"}},
    {"AWSSupportEnterprise", {"AWS Support (Enterprise)", "Management and Governance", "Support"}},
    {"AWSSystemsManager",
     {"AWS Systems Manager", "Management and Governance", "Endpoint Management"}},
    {"AWSXRay", {"AWS X-Ray", "Management and Governance", "Observability"}},
    {"AmazonApiGateway", {"Amazon API Gateway", "Integration", "API Management"}},
    {"AmazonAthena", {"Amazon Athena", "Analytics", "Analytics Platforms"}},
    {"AmazonBedrock", {"Amazon Bedrock", "AI and Machine Learning", "Generative AI"}},
    {"AmazonCloudFront", {"Amazon CloudFront", "Networking", "Content Delivery"}},
    {"AmazonCloudWatch", {"AmazonCloudWatch", "Management and Governance", "Observability"}},
    {"AmazonDocDB",
     {"Amazon DocumentDB (with MongoDB compatibility)", "Databases", "NoSQL Databases"}},
    {"AmazonDynamoDB", {"Amazon DynamoDB", "Databases", "NoSQL Databases"}},
    {"AmazonEC2", {"Amazon Elastic Compute Cloud", "Compute", "Virtual Machines"}},
    {"AmazonECR", {"Amazon EC2 Container Registry (ECR)", "Compute", "Containers"}},
    {"AmazonECS", {"Amazon Elastic Container Service", "Compute", "Containers"}},
    {"AmazonEFS", {"Amazon Elastic File System", "Storage", "File Storage"}},
    {"AmazonEKS", {"Amazon Elastic Container Service for Kubernetes", "Compute", "Containers"}},
    {"AmazonES", {"Amazon OpenSearch Service", "Analytics", "Search"}},
    {"AmazonElastiCache", {"Amazon ElastiCache", "Databases", "Caching"}},
    {"AmazonFSx", {"Amazon FSx", "Storage", "File Storage"}},
    {"AmazonGuardDuty", {"Amazon GuardDuty", "Security", "Threat Detection and Response"}},
    {"AmazonInspectorV2", {"Amazon Inspector", "Security", "Security Posture Management"}},
    {"AmazonKinesis", {"Amazon Kinesis", "Analytics", "Streaming Analytics"}},
    {"AmazonMQ", {"Amazon MQ", "Integration", "Messaging"}},
    {"AmazonMSK", {"Amazon Managed Streaming for Apache Kafka", "Integration", "Messaging"}},
    {"AmazonMWAA",
     {"Amazon Managed Workflows for Apache Airflow", "Integration", "Workflow Orchestration"}},
    {"AmazonNeptune", {"Amazon Neptune", "Databases", "NoSQL Databases"}},
    {"AmazonQuickSight", {"Amazon QuickSight", "Analytics", "Business Intelligence"}},
    {"AmazonRDS", {"Amazon Relational Database Service", "Databases", "Relational Databases"}},
    {"AmazonRedshift", {"Amazon Redshift", "Databases", "Data Warehouses"}},
    {"AmazonRoute53", {"Amazon Route 53", "Networking", "Network Routing"}},
    {"AmazonS3", {"Amazon Simple Storage Service", "Storage", "Object Storage"}},
    {"AmazonSES", {"Amazon Simple Email Service", "Integration", "Messaging"}},
    {"AmazonSNS", {"Amazon Simple Notification Service", "Integration", "Messaging"}},
    {"AmazonSageMaker", {"Amazon SageMaker", "AI and Machine Learning", "Machine Learning"}},
    {"AmazonStates", {"AWS Step Functions", "Integration", "Workflow Orchestration"}},
    {"AmazonTimestream", {"Amazon Timestream", "Databases", "Time Series Databases"}},
    {"AmazonVPC", {"Amazon Virtual Private Cloud", "Networking", "Network Infrastructure"}},
    {"ComputeSavingsPlans", {"Savings Plans for AWS Compute usage", "Compute", "Other (Compute)"}},
    {"ElasticMapReduce", {"Amazon Elastic MapReduce", "Analytics", "Data Processing"}},
    {"MachineLearningSavingsPlans",
     {"Savings Plans for AWS Machine Learning", "AI and Machine Learning",
      "Other (AI and Machine Learning)"}},
    {"OCBPremiumSupport", {"AWS Premium Support", "Management and Governance", "Support"}},
    {"OCBEC2", {"Amazon Elastic Compute Cloud", "Compute", "Virtual Machines"}},
    {"awskms", {"AWS Key Management Service", "Security", "Secret Management"}},
    {"awswaf", {"AWS WAF", "Networking", "Network Security"}},
};

constexpr Service kUnknown = {"", "Other", "Other (Other)"};

// Usage types that are hours of an instance; what stands before the colon, without the region.
constexpr std::string_view kInstanceUsage[] = {
    "BoxUsage",  "SpotUsage", "DedicatedUsage", "HeavyUsage",   "HostBoxUsage",    "HostUsage",
    "UnusedBox", "UnusedDed", "Reservation",    "DedicatedRes", "ReservedBoxUsage"};

// What AWS writes before the first '-' of an id.
constexpr std::pair<std::string_view, std::string_view> kIdPrefixes[] = {
    {"cr", "capacity-reservation"},
    {"eni", "network-interface"},
    {"fs", "file-system"},
    {"i", "instance"},
    {"nat", "natgateway"},
    {"snap", "snapshot"},
    {"vol", "volume"},
    {"vpc", "vpc"},
};

constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
    {"Hrs", "Hours"},           {"hrs", "Hours"},           {"Hour", "Hours"},
    {"hours", "Hours"},         {"GB-Mo", "GB-Months"},     {"GB-month", "GB-Months"},
    {"GB-Month", "GB-Months"},  {"IOPS-Mo", "IOPS-Months"}, {"LCU-Hrs", "LCU-Hours"},
    {"vCPU-Hrs", "vCPU-Hours"},
};

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "p4d.24xlarge", "u-6tb1.112xlarge", "ml.p5.48xlarge" is none of EC2 and is named all the same.
bool is_instance_type(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return false;
  if (!is_small(text.front())) return false;
  return std::ranges::all_of(
      text, [](char c) { return is_small(c) || is_digit(c) || c == '.' || c == '-'; });
}

}  // namespace

const Service& service_of(std::string_view product_code) {
  for (const CodedService& known : kServices) {
    if (known.code == product_code) return known.service;
  }
  return kUnknown;
}

std::string_view instance_type_of_usage(std::string_view usage_type) {
  const std::size_t colon = usage_type.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view kind = usage_type.substr(0, colon);
  if (const std::size_t dash = kind.rfind('-'); dash != std::string_view::npos) {
    kind.remove_prefix(dash + 1);
  }
  const std::string_view type = usage_type.substr(colon + 1);
  if (!is_instance_type(type)) return {};
  for (const std::string_view known : kInstanceUsage) {
    if (kind == known) return type;
  }
  return {};
}

std::string_view instance_type_of_description(std::string_view description) {
  const std::string_view word = description.substr(0, description.find(' '));
  return is_instance_type(word) ? word : std::string_view{};
}

std::string_view region_of_zone(std::string_view zone) {
  std::size_t at = 0;
  while (at < zone.size()) {
    const std::size_t dash = std::min(zone.find('-', at), zone.size());
    if (at > 0 && is_digit(zone[at])) {
      while (at < dash && is_digit(zone[at])) ++at;
      return zone.substr(0, at);
    }
    at = dash + 1;
  }
  return {};
}

std::string_view resource_type_of(std::string_view resource_id) {
  if (!resource_id.starts_with("arn:")) {
    const std::string_view prefix = resource_id.substr(0, resource_id.find('-'));
    for (const auto& [known, type] : kIdPrefixes) {
      if (prefix == known && prefix.size() < resource_id.size()) return type;
    }
    return {};
  }
  // arn:partition:service:region:account:type/id or …:type:id
  std::size_t at = 0;
  for (int colons = 0; colons < 5; ++colons) {
    at = resource_id.find(':', at);
    if (at == std::string_view::npos) return {};
    ++at;
  }
  const std::string_view rest = resource_id.substr(at);
  const std::size_t end = rest.find_first_of("/:");
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

std::string_view focus_unit(std::string_view unit) {
  for (const auto& [aws, focus] : kUnits) {
    if (aws == unit) return focus;
  }
  return unit;
}

}  // namespace pennyweight::aws
