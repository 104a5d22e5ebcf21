#include "ingest/bills/azure/service_category.h"

namespace pennyweight::azure {
namespace {

constexpr std::string_view kCompute = "Compute";
constexpr std::string_view kNetworking = "Networking";
constexpr std::string_view kStorage = "Storage";
constexpr std::string_view kDatabases = "Databases";
constexpr std::string_view kAnalytics = "Analytics";
constexpr std::string_view kAi = "AI and Machine Learning";
constexpr std::string_view kManagement = "Management and Governance";

// Meter categories of Azure's price list, with the categories of FOCUS 1.2 to 1.4.
constexpr bill::CategorisedService kServices[] = {
    {"API Management", {"Integration", "API Management"}},
    {"Application Gateway", {kNetworking, "Application Networking"}},
    {"Automation", {kManagement, "Other (Management and Governance)"}},
    {"Azure App Service", {"Web", "Application Platforms"}},
    {"Azure Bastion", {kNetworking, "Network Security"}},
    {"Azure Container Apps", {kCompute, "Containers"}},
    {"Azure Cosmos DB", {kDatabases, "NoSQL Databases"}},
    {"Azure DNS", {kNetworking, "Network Infrastructure"}},
    {"Azure Data Factory v2", {kAnalytics, "Data Processing"}},
    {"Azure Database for MySQL", {kDatabases, "Relational Databases"}},
    {"Azure Database for PostgreSQL", {kDatabases, "Relational Databases"}},
    {"Azure Databricks", {kAnalytics, "Analytics Platforms"}},
    {"Azure Firewall", {kNetworking, "Network Security"}},
    {"Azure Front Door Service", {kNetworking, "Content Delivery"}},
    {"Azure Kubernetes Service", {kCompute, "Containers"}},
    {"Azure Machine Learning", {kAi, "Machine Learning"}},
    {"Azure Monitor", {kManagement, "Observability"}},
    {"Azure NetApp Files", {kStorage, "File Storage"}},
    {"Azure OpenAI", {kAi, "Generative AI"}},
    {"Azure Red Hat OpenShift", {kCompute, "Containers"}},
    {"Azure Site Recovery", {"Migration", "Other (Migration)"}},
    {"Azure Synapse Analytics", {kAnalytics, "Analytics Platforms"}},
    {"Backup", {kStorage, "Backup Storage"}},
    {"Bandwidth", {kNetworking, "Network Connectivity"}},
    {"Cloud Services", {kCompute, "Virtual Machines"}},
    {"Cognitive Services", {kAi, "Other (AI and Machine Learning)"}},
    {"Container Instances", {kCompute, "Containers"}},
    {"Container Registry", {kCompute, "Containers"}},
    {"Content Delivery Network", {kNetworking, "Content Delivery"}},
    {"Event Grid", {"Integration", "Messaging"}},
    {"Event Hubs", {"Integration", "Messaging"}},
    {"ExpressRoute", {kNetworking, "Network Connectivity"}},
    {"Foundry Models", {kAi, "Generative AI"}},
    {"Functions", {kCompute, "Serverless Compute"}},
    {"HDInsight", {kAnalytics, "Data Processing"}},
    {"Key Vault", {"Security", "Secret Management"}},
    {"Load Balancer", {kNetworking, "Application Networking"}},
    {"Log Analytics", {kManagement, "Observability"}},
    {"Logic Apps", {"Integration", "Workflow Orchestration"}},
    {"Microsoft Defender for Cloud", {"Security", "Threat Detection and Response"}},
    {"NAT Gateway", {kNetworking, "Network Infrastructure"}},
    {"Network Watcher", {kNetworking, "Other (Networking)"}},
    {"Redis Cache", {kDatabases, "Caching"}},
    {"SQL Database", {kDatabases, "Relational Databases"}},
    {"SQL Managed Instance", {kDatabases, "Relational Databases"}},
    {"Sentinel", {"Security", "Threat Detection and Response"}},
    {"Service Bus", {"Integration", "Messaging"}},
    {"Storage", {kStorage, "Storage Platforms"}},
    {"Traffic Manager", {kNetworking, "Network Routing"}},
    {"VPN Gateway", {kNetworking, "Network Connectivity"}},
    {"Virtual Machines", {kCompute, "Virtual Machines"}},
    {"Virtual Machines Licenses", {kCompute, "Virtual Machines"}},
    {"Virtual Network", {kNetworking, "Network Infrastructure"}},
    {"Virtual WAN", {kNetworking, "Network Connectivity"}},
};

// Values of the column ServiceFamily.
constexpr bill::CategorisedService kFamilies[] = {
    {"AI + Machine Learning", {kAi, "Other (AI and Machine Learning)"}},
    {"Analytics", {kAnalytics, "Other (Analytics)"}},
    {"Compute", {kCompute, "Other (Compute)"}},
    {"Containers", {kCompute, "Containers"}},
    {"Data", {kDatabases, "Other (Databases)"}},
    {"Databases", {kDatabases, "Other (Databases)"}},
    {"Developer Tools", {"Developer Tools", "Other (Developer Tools)"}},
    {"Gaming", {"Media", "Gaming"}},
    {"Identity", {"Identity", "Other (Identity)"}},
    {"Integration", {"Integration", "Other (Integration)"}},
    {"Internet of Things", {"Internet of Things", "Other (Internet of Things)"}},
    {"Management and Governance", {kManagement, "Other (Management and Governance)"}},
    {"Media", {"Media", "Other (Media)"}},
    {"Mixed Reality", {"Media", "Mixed Reality"}},
    {"Mobile", {"Mobile", "Other (Mobile)"}},
    {"Networking", {kNetworking, "Other (Networking)"}},
    {"Quantum Computing", {kCompute, "Quantum Compute"}},
    {"Security", {"Security", "Other (Security)"}},
    {"Storage", {kStorage, "Other (Storage)"}},
    {"Web", {"Web", "Other (Web)"}},
    {"Windows Virtual Desktop", {kCompute, "End User Computing"}},
};

static_assert(bill::is_sorted_by_name(kServices));
static_assert(bill::is_sorted_by_name(kFamilies));

}  // namespace

bill::ServiceCategory service_category(std::string_view meter_category,
                                       std::string_view service_family) {
  if (const auto* found = bill::find_category(kServices, meter_category)) return *found;
  if (const auto* found = bill::find_category(kFamilies, service_family)) return *found;
  return bill::kOtherService;
}

}  // namespace pennyweight::azure
