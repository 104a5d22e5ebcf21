#include "ingest/bills/aws/service_category.h"

#include <algorithm>
#include <iterator>

namespace pennyweight::aws {
namespace {

struct CodedService {
  std::string_view code;
  Service service;
};

// Names are those of product/ProductName, categories those of FOCUS, "Service Category" and
// "Service Subcategory". A service has one category, so what AWS bills under AmazonEC2 (also
// volumes) is Compute.
constexpr CodedService kServices[] = {
    {"AWSBackup", {"AWS Backup", {"Storage", "Backup Storage"}}},
    {"AWSBudgets", {"AWS Budgets", {"Management and Governance", "Cost Management"}}},
    {"AWSCloudShell", {"AWS CloudShell", {"Developer Tools", "Development Environments"}}},
    {"AWSCloudTrail", {"AWS CloudTrail", {"Management and Governance", "Compliance"}}},
    {"AWSConfig", {"AWS Config", {"Management and Governance", "Compliance"}}},
    {"AWSCostExplorer", {"AWS Cost Explorer", {"Management and Governance", "Cost Management"}}},
    {"AWSDataTransfer", {"AWS Data Transfer", {"Networking", "Network Connectivity"}}},
    {"AWSDirectConnect", {"AWS Direct Connect", {"Networking", "Network Connectivity"}}},
    {"AWSELB", {"Elastic Load Balancing", {"Networking", "Application Networking"}}},
    {"AWSEvents", {"Amazon EventBridge", {"Integration", "Messaging"}}},
    {"AWSGlobalAccelerator", {"AWS Global Accelerator", {"Networking", "Network Routing"}}},
    {"AWSGlue", {"AWS Glue", {"Analytics", "Data Processing"}}},
    {"AWSIoT", {"AWS IoT", {"Internet of Things", "IoT Platforms"}}},
    {"AWSLambda", {"AWS Lambda", {"Compute", "Serverless Compute"}}},
    {"AWSMigrationHubRefactorSpaces",
     {"AWS Migration Hub Refactor Spaces", {"Migration", "Resource Migration"}}},
    {"AWSNetworkFirewall", {"AWS Network Firewall", {"Networking", "Network Security"}}},
    {"AWSParallelComputingService",
     {"AWS Parallel Computing Service", {"Compute", "Other (Compute)"}}},
    {"AWSQueueService", {"Amazon Simple Queue Service", {"Integration", "Messaging"}}},
    {"AWSSecretsManager", {"AWS Secrets Manager", {"Security", "Secret Management"}}},
    {"AWSSecurityHub", {"AWS Security Hub", {"Security", "Security Posture Management"}}},
    {"AWSSupportBusiness", {"AWS Support (Business)", {"Management and Governance", "Support"}}},
    {"AWSSupportEnterprise",
     {"AWS Support (Enterprise)", {"Management and Governance", "Support"}}},
    {"AWSSystemsManager",
     {"AWS Systems Manager", {"Management and Governance", "Endpoint Management"}}},
    {"AWSXRay", {"AWS X-Ray", {"Management and Governance", "Observability"}}},
    {"AmazonApiGateway", {"Amazon API Gateway", {"Integration", "API Management"}}},
    {"AmazonAthena", {"Amazon Athena", {"Analytics", "Analytics Platforms"}}},
    {"AmazonBedrock", {"Amazon Bedrock", {"AI and Machine Learning", "Generative AI"}}},
    {"AmazonCloudFront", {"Amazon CloudFront", {"Networking", "Content Delivery"}}},
    {"AmazonCloudWatch", {"AmazonCloudWatch", {"Management and Governance", "Observability"}}},
    {"AmazonDocDB",
     {"Amazon DocumentDB (with MongoDB compatibility)", {"Databases", "NoSQL Databases"}}},
    {"AmazonDynamoDB", {"Amazon DynamoDB", {"Databases", "NoSQL Databases"}}},
    {"AmazonEC2", {"Amazon Elastic Compute Cloud", {"Compute", "Virtual Machines"}}},
    {"AmazonECR", {"Amazon EC2 Container Registry (ECR)", {"Compute", "Containers"}}},
    {"AmazonECS", {"Amazon Elastic Container Service", {"Compute", "Containers"}}},
    {"AmazonEFS", {"Amazon Elastic File System", {"Storage", "File Storage"}}},
    {"AmazonEKS", {"Amazon Elastic Container Service for Kubernetes", {"Compute", "Containers"}}},
    {"AmazonES", {"Amazon OpenSearch Service", {"Analytics", "Search"}}},
    {"AmazonElastiCache", {"Amazon ElastiCache", {"Databases", "Caching"}}},
    {"AmazonFSx", {"Amazon FSx", {"Storage", "File Storage"}}},
    {"AmazonGuardDuty", {"Amazon GuardDuty", {"Security", "Threat Detection and Response"}}},
    {"AmazonInspectorV2", {"Amazon Inspector", {"Security", "Security Posture Management"}}},
    {"AmazonKinesis", {"Amazon Kinesis", {"Analytics", "Streaming Analytics"}}},
    {"AmazonMQ", {"Amazon MQ", {"Integration", "Messaging"}}},
    {"AmazonMSK", {"Amazon Managed Streaming for Apache Kafka", {"Integration", "Messaging"}}},
    {"AmazonMWAA",
     {"Amazon Managed Workflows for Apache Airflow", {"Integration", "Workflow Orchestration"}}},
    {"AmazonNeptune", {"Amazon Neptune", {"Databases", "NoSQL Databases"}}},
    {"AmazonQuickSight", {"Amazon QuickSight", {"Analytics", "Business Intelligence"}}},
    {"AmazonRDS", {"Amazon Relational Database Service", {"Databases", "Relational Databases"}}},
    {"AmazonRedshift", {"Amazon Redshift", {"Databases", "Data Warehouses"}}},
    {"AmazonRoute53", {"Amazon Route 53", {"Networking", "Network Routing"}}},
    {"AmazonS3", {"Amazon Simple Storage Service", {"Storage", "Object Storage"}}},
    {"AmazonSES", {"Amazon Simple Email Service", {"Integration", "Messaging"}}},
    {"AmazonSNS", {"Amazon Simple Notification Service", {"Integration", "Messaging"}}},
    {"AmazonSageMaker", {"Amazon SageMaker", {"AI and Machine Learning", "Machine Learning"}}},
    {"AmazonStates", {"AWS Step Functions", {"Integration", "Workflow Orchestration"}}},
    {"AmazonTimestream", {"Amazon Timestream", {"Databases", "Time Series Databases"}}},
    {"AmazonVPC", {"Amazon Virtual Private Cloud", {"Networking", "Network Infrastructure"}}},
    {"ComputeSavingsPlans",
     {"Savings Plans for AWS Compute usage", {"Compute", "Other (Compute)"}}},
    {"ElasticMapReduce", {"Amazon Elastic MapReduce", {"Analytics", "Data Processing"}}},
    {"MachineLearningSavingsPlans",
     {"Savings Plans for AWS Machine Learning",
      {"AI and Machine Learning", "Other (AI and Machine Learning)"}}},
    {"OCBEC2", {"Amazon Elastic Compute Cloud", {"Compute", "Virtual Machines"}}},
    {"OCBPremiumSupport", {"AWS Premium Support", {"Management and Governance", "Support"}}},
    {"awskms", {"AWS Key Management Service", {"Security", "Secret Management"}}},
    {"awswaf", {"AWS WAF", {"Networking", "Network Security"}}},
};
static_assert(std::ranges::is_sorted(kServices, {}, &CodedService::code));

constexpr Service kUnknown = {"", bill::kOtherService};

}  // namespace

const Service& find_service(std::string_view product_code) {
  const auto* at = std::ranges::lower_bound(kServices, product_code, {}, &CodedService::code);
  return at != std::end(kServices) && at->code == product_code ? at->service : kUnknown;
}

}  // namespace pennyweight::aws
