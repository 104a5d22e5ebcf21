#include "ingest/bills/gcp/service_category.h"

namespace pennyweight::gcp {
namespace {

// Names as in service.description; categories as in FOCUS 1.4, ServiceSubcategory.
constexpr bill::CategorisedService kServices[] = {
    {"AlloyDB", {"Databases", "Relational Databases"}},
    {"Anthos", {"Compute", "Containers"}},
    {"App Engine", {"Web", "Application Platforms"}},
    {"Artifact Registry", {"Developer Tools", "Other (Developer Tools)"}},
    {"Backup and DR Service", {"Storage", "Backup Storage"}},
    {"BigQuery", {"Analytics", "Analytics Platforms"}},
    {"BigQuery BI Engine", {"Analytics", "Business Intelligence"}},
    {"BigQuery Reservation API", {"Analytics", "Analytics Platforms"}},
    {"BigQuery Storage API", {"Analytics", "Analytics Platforms"}},
    {"Cloud Bigtable", {"Databases", "NoSQL Databases"}},
    {"Cloud Build", {"Developer Tools", "Continuous Integration and Deployment"}},
    {"Cloud Composer", {"Integration", "Workflow Orchestration"}},
    {"Cloud DNS", {"Networking", "Network Infrastructure"}},
    {"Cloud Data Fusion", {"Analytics", "Data Processing"}},
    {"Cloud Dataflow", {"Analytics", "Data Processing"}},
    {"Cloud Dataproc", {"Analytics", "Data Processing"}},
    {"Cloud Document AI API", {"AI and Machine Learning", "Other (AI and Machine Learning)"}},
    {"Cloud Filestore", {"Storage", "File Storage"}},
    {"Cloud Firestore", {"Databases", "NoSQL Databases"}},
    {"Cloud Functions", {"Compute", "Serverless Compute"}},
    {"Cloud Key Management Service (KMS)", {"Security", "Secret Management"}},
    {"Cloud Logging", {"Management and Governance", "Observability"}},
    {"Cloud Memorystore for Redis", {"Databases", "Caching"}},
    {"Cloud Monitoring", {"Management and Governance", "Observability"}},
    {"Cloud Natural Language", {"AI and Machine Learning", "Natural Language Processing"}},
    {"Cloud Pub/Sub", {"Integration", "Messaging"}},
    {"Cloud Run", {"Compute", "Serverless Compute"}},
    {"Cloud Run Functions", {"Compute", "Serverless Compute"}},
    {"Cloud SQL", {"Databases", "Relational Databases"}},
    {"Cloud Spanner", {"Databases", "Relational Databases"}},
    {"Cloud Storage", {"Storage", "Object Storage"}},
    {"Cloud TPU", {"AI and Machine Learning", "Machine Learning"}},
    {"Compute Engine", {"Compute", "Virtual Machines"}},
    {"Gemini API", {"AI and Machine Learning", "Generative AI"}},
    {"Invoice", {"Other", "Other (Other)"}},
    {"Kubernetes Engine", {"Compute", "Containers"}},
    {"Networking", {"Networking", "Other (Networking)"}},
    {"Secret Manager", {"Security", "Secret Management"}},
    {"Security Command Center", {"Security", "Security Posture Management"}},
    {"Support", {"Management and Governance", "Support"}},
    {"VMware Engine", {"Compute", "Virtual Machines"}},
    {"Vertex AI", {"AI and Machine Learning", "AI Platforms"}},
};
static_assert(bill::is_sorted_by_name(kServices));

}  // namespace

bill::ServiceCategory service_category(std::string_view service) {
  const bill::ServiceCategory* found = bill::find_category(kServices, service);
  return found == nullptr ? bill::kOtherService : *found;
}

}  // namespace pennyweight::gcp
