#include "ingest/bills/oci/service_category.h"

namespace pennyweight::oci {
namespace {

// Names as in product/service; categories as in FOCUS 1.4, ServiceSubcategory.
constexpr bill::CategorisedService kServices[] = {
    {"ANALYTICS", {"Analytics", "Business Intelligence"}},
    {"API_GATEWAY", {"Integration", "API Management"}},
    {"BLOCK_STORAGE", {"Storage", "Block Storage"}},
    {"CLOUD_GUARD", {"Security", "Security Posture Management"}},
    {"COMPUTE", {"Compute", "Virtual Machines"}},
    {"CONTAINER_INSTANCES", {"Compute", "Containers"}},
    {"DATABASE", {"Databases", "Relational Databases"}},
    {"DATA_FLOW", {"Analytics", "Data Processing"}},
    {"DATA_INTEGRATION", {"Analytics", "Data Processing"}},
    {"DATA_SCIENCE", {"AI and Machine Learning", "Machine Learning"}},
    {"DNS", {"Networking", "Network Infrastructure"}},
    {"FAAS", {"Compute", "Serverless Compute"}},
    {"FILE_STORAGE", {"Storage", "File Storage"}},
    {"FUNCTIONS", {"Compute", "Serverless Compute"}},
    {"GENERATIVE_AI", {"AI and Machine Learning", "Generative AI"}},
    {"KMS", {"Security", "Secret Management"}},
    {"LOAD_BALANCER", {"Networking", "Application Networking"}},
    {"LOGGING", {"Management and Governance", "Observability"}},
    {"MYSQL", {"Databases", "Relational Databases"}},
    {"NETWORK", {"Networking", "Network Infrastructure"}},
    {"NOSQL", {"Databases", "NoSQL Databases"}},
    {"OBJECTSTORE", {"Storage", "Object Storage"}},
    {"OBJECT_STORAGE", {"Storage", "Object Storage"}},
    {"OKE", {"Compute", "Containers"}},
    {"STREAMING", {"Integration", "Messaging"}},
    {"TELEMETRY", {"Management and Governance", "Observability"}},
    {"VAULT", {"Security", "Secret Management"}},
};
static_assert(bill::is_sorted_by_name(kServices));

}  // namespace

bill::ServiceCategory service_category(std::string_view service) {
  const bill::ServiceCategory* found = bill::find_category(kServices, service);
  return found == nullptr ? bill::kOtherService : *found;
}

}  // namespace pennyweight::oci
