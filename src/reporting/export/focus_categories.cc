#include "reporting/export/focus_categories.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pennyweight {
namespace {

using CategoryPair = std::pair<std::string_view, std::string_view>;

constexpr CategoryPair kSubcategories[] = {
    {"AI and Machine Learning", "AI Platforms"},
    {"AI and Machine Learning", "Bots"},
    {"AI and Machine Learning", "Generative AI"},
    {"AI and Machine Learning", "Machine Learning"},
    {"AI and Machine Learning", "Natural Language Processing"},
    {"AI and Machine Learning", "Other (AI and Machine Learning)"},
    {"Analytics", "Analytics Platforms"},
    {"Analytics", "Business Intelligence"},
    {"Analytics", "Data Processing"},
    {"Analytics", "Other (Analytics)"},
    {"Analytics", "Search"},
    {"Analytics", "Streaming Analytics"},
    {"Business Applications", "Other (Business Applications)"},
    {"Business Applications", "Productivity and Collaboration"},
    {"Compute", "Containers"},
    {"Compute", "End User Computing"},
    {"Compute", "Other (Compute)"},
    {"Compute", "Quantum Compute"},
    {"Compute", "Serverless Compute"},
    {"Compute", "Virtual Machines"},
    {"Databases", "Caching"},
    {"Databases", "Data Warehouses"},
    {"Databases", "Ledger Databases"},
    {"Databases", "NoSQL Databases"},
    {"Databases", "Other (Databases)"},
    {"Databases", "Relational Databases"},
    {"Databases", "Time Series Databases"},
    {"Developer Tools", "Continuous Integration and Deployment"},
    {"Developer Tools", "Developer Platforms"},
    {"Developer Tools", "Development Environments"},
    {"Developer Tools", "Other (Developer Tools)"},
    {"Developer Tools", "Quality Assurance"},
    {"Developer Tools", "Source Code Management"},
    {"Identity", "Identity and Access Management"},
    {"Identity", "Other (Identity)"},
    {"Integration", "API Management"},
    {"Integration", "Messaging"},
    {"Integration", "Other (Integration)"},
    {"Integration", "Workflow Orchestration"},
    {"Internet of Things", "IoT Analytics"},
    {"Internet of Things", "IoT Platforms"},
    {"Internet of Things", "Other (Internet of Things)"},
    {"Management and Governance", "Architecture"},
    {"Management and Governance", "Compliance"},
    {"Management and Governance", "Cost Management"},
    {"Management and Governance", "Data Governance"},
    {"Management and Governance", "Disaster Recovery"},
    {"Management and Governance", "Endpoint Management"},
    {"Management and Governance", "Observability"},
    {"Management and Governance", "Other (Management and Governance)"},
    {"Management and Governance", "Support"},
    {"Media", "Content Creation"},
    {"Media", "Gaming"},
    {"Media", "Media Streaming"},
    {"Media", "Mixed Reality"},
    {"Media", "Other (Media)"},
    {"Migration", "Data Migration"},
    {"Migration", "Other (Migration)"},
    {"Migration", "Resource Migration"},
    {"Mobile", "Other (Mobile)"},
    {"Multicloud", "Multicloud Integration"},
    {"Multicloud", "Other (Multicloud)"},
    {"Networking", "Application Networking"},
    {"Networking", "Content Delivery"},
    {"Networking", "Network Connectivity"},
    {"Networking", "Network Infrastructure"},
    {"Networking", "Network Routing"},
    {"Networking", "Network Security"},
    {"Networking", "Other (Networking)"},
    {"Other", "Other (Other)"},
    {"Security", "Other (Security)"},
    {"Security", "Secret Management"},
    {"Security", "Security Posture Management"},
    {"Security", "Threat Detection and Response"},
    {"Storage", "Backup Storage"},
    {"Storage", "Block Storage"},
    {"Storage", "File Storage"},
    {"Storage", "Object Storage"},
    {"Storage", "Other (Storage)"},
    {"Storage", "Storage Platforms"},
    {"Web", "Application Platforms"},
    {"Web", "Other (Web)"},
};
static_assert(std::ranges::is_sorted(kSubcategories));

}  // namespace

bool is_focus_category(std::string_view category) {
  const auto* const at =
      std::ranges::lower_bound(kSubcategories, category, {}, &CategoryPair::first);
  return at != std::end(kSubcategories) && at->first == category;
}

bool is_focus_subcategory(std::string_view category, std::string_view subcategory) {
  return std::ranges::binary_search(kSubcategories, CategoryPair(category, subcategory));
}

}  // namespace pennyweight
