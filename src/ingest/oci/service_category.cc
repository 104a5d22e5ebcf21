#include "ingest/oci/service_category.h"

#include <algorithm>
#include <iterator>

namespace pennyweight::oci {
namespace {

struct Service {
  std::string_view name;
  ServiceCategory category;
};

// Names as product/service has them; categories from FOCUS 1.4, ServiceSubcategory.
constexpr Service kServices[] = {
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

}  // namespace

ServiceCategory service_category(std::string_view service) {
  const auto* found = std::ranges::find(kServices, service, &Service::name);
  if (found == std::end(kServices)) return {"Other", "Other (Other)"};
  return found->category;
}

}  // namespace pennyweight::oci
