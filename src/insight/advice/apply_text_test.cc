#include "insight/advice/apply_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pennyweight::advising {
namespace {

TEST(ApplyText, NamesOfKubernetesAreNames) {
  const std::pair<const char*, std::string> names[] = {
      {"p3.8xlarge", "p3-8xlarge"},
      {"Standard_ND96asr_v4", "standard-nd96asr-v4"},
      {"--", "x"},
      {"", "x"},
      {"a..b-", "a-b"},
      {"a2-highgpu-1g+g6f-with-a-name-that-is-much-longer-than-any-of-a-cloud-x",
       "a2-highgpu-1g-g6f-with-a-name-that-is-much-longer-than-any-of-a"}};
  for (const auto& [text, label] : names) EXPECT_EQ(dns_label(text), label);
}

TEST(ApplyText, WordsOfAShellStayWords) {
  const std::pair<const char*, const char*> words[] = {
      {"gpu-01", "gpu-01"},           {"", "''"},       {"a b", "'a b'"},
      {"it's", "'it'\\''s'"},         {"-rf", "'-rf'"}, {"$(reboot)", "'$(reboot)'"},
      {"one\nrm two", "'one?rm two'"}};
  for (const auto& [text, word] : words) EXPECT_EQ(shell_word(text), word) << text;
}

// Names come from bills and from users, and none of them may add a line or a key.
TEST(ApplyText, NoNameAddsALine) {
  const std::string name = "a\"\n  evil: 'true'";
  const std::vector<std::string> nodes = {name};
  const SpotText spot{.manager = WorkManager::kKubernetes,
                      .work = name,
                      .provider = "aws",
                      .instance_type = name,
                      .save_minutes = 7};
  SpotText gcp = spot;
  gcp.provider = "gcp";
  SpotText other = spot;
  other.provider = "";
  for (const std::string& text :
       {drain_text(WorkManager::kKubernetes, nodes), drain_text(WorkManager::kSlurm, nodes),
        drain_text(WorkManager::kUnknown, nodes), scale_down_text(WorkManager::kSlurm, name, name),
        scale_down_text(WorkManager::kKubernetes, name, name),
        other_gpu_text(WorkManager::kKubernetes, name, name, name, 1), spot_text(spot),
        spot_text(gcp), spot_text(other), autoscaler_text(name, 1, 2, 60),
        autoscaler_text(name + "/" + name, 1, 2, 60),
        sharing_text(WorkManager::kSlurm, 4, 8, nodes, 1),
        sharing_text(WorkManager::kKubernetes, 4, 8, nodes, 1), purchase_list(name, name, 1, 3)}) {
    EXPECT_EQ(text.find("\n  evil"), std::string::npos) << text;
  }
}

// The autoscaler is for the Deployment that there is, and its name is never a number or a boolean.
TEST(ApplyText, AnAutoscalerTargetsTheWorkByItsName) {
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string dotted = autoscaler_text("ml/llama-3.1-serve", 1, 4, 60);
  EXPECT_TRUE(has(dotted, "metadata:\n  name: \"llama-3-1-serve\"\n  namespace: \"ml\"\n"))
      << dotted;
  EXPECT_TRUE(has(dotted, "    kind: Deployment\n    name: \"llama-3.1-serve\"\n")) << dotted;
  for (const std::string name : {"007", "no", "null", "1e3", "true"}) {
    const std::string text = autoscaler_text(name + "/" + name, 1, 4, 60);
    EXPECT_TRUE(has(text, fmt::format("metadata:\n  name: \"{0}\"\n  namespace: \"{0}\"\n", name)))
        << text;
    EXPECT_TRUE(has(text, fmt::format("    kind: Deployment\n    name: \"{}\"\n", name))) << text;
  }
  EXPECT_TRUE(has(autoscaler_text("serve", 1, 4, 60), "  namespace: \"default\"\n"));
  for (const char* product : {"007", "no", ".5e-3", "-a", "1-2"}) {
    const std::string text = other_gpu_text(WorkManager::kKubernetes, "ml/a", product, "A100", 1);
    EXPECT_TRUE(has(text, fmt::format("gpu.product: \"{}\"\n", product))) << text;
  }
}

TEST(ApplyText, IsForWhatRunsTheWork) {
  Holding pod(ClusterId("lab"), WorkloadId("ml/api-1"),
              Interval(Instant{}, Instant{} + std::chrono::hours(1)), InPool{{}, 1});
  EXPECT_EQ(work_manager_of(pod, WorkManager::kUnknown), WorkManager::kUnknown);
  pod.labels.set("namespace", "ml").value();
  EXPECT_EQ(work_manager_of(pod, WorkManager::kUnknown), WorkManager::kKubernetes);
  Holding job = pod;
  job.labels = {};
  job.labels.set("partition", "gpu").value();
  EXPECT_EQ(work_manager_of(job, WorkManager::kUnknown), WorkManager::kSlurm);
  // The configuration knows better than labels, and another scheduler's queue is no partition.
  EXPECT_EQ(work_manager_of(job, WorkManager::kKubernetes), WorkManager::kKubernetes);
  Holding pbs = job;
  pbs.labels.set("queue", "gpu").value();
  EXPECT_EQ(work_manager_of(pbs, WorkManager::kUnknown), WorkManager::kUnknown);
  const std::vector<Holding> holdings = {pod, job, job};
  EXPECT_EQ(work_manager_of(holdings, WorkManager::kUnknown), WorkManager::kSlurm);
  EXPECT_EQ(work_manager_of(std::span<const Holding>(), WorkManager::kUnknown),
            WorkManager::kUnknown);
}

}  // namespace
}  // namespace pennyweight::advising
