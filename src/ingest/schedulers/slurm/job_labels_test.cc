#include "ingest/schedulers/slurm/job_labels.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight::slurm {
namespace {

// Guardrails ask is_job_fact() what is not known of a job before it runs, and whoever submits it
// writes the comment: whatever Slurm states has to be in the list.
TEST(JobLabels, WhatSlurmStatesIsAFactAndNoCommentPassesForIt) {
  const RecordedTime submitted{from_unix_seconds(1'790'000'000), from_unix_seconds(1'790'000'000)};
  const RecordedTime eligible{from_unix_seconds(1'790'000'060), from_unix_seconds(1'790'000'060)};
  JobRecord job{};
  job.account = "nlp";
  job.user = "ana";
  job.partition = "gpu";
  job.qos = "high";
  job.job_name = "train";
  job.wckey = "w";
  job.comment = "no pairs";
  job.reservation = "r";
  job.time_limit_minutes = 60;
  job.submit = submitted;
  job.eligible = eligible;
  job.exit_code = "1:0";
  const auto stated = job_labels(job, "COMPLETED");
  ASSERT_TRUE(stated);
  EXPECT_EQ(stated->entries().size(), 13U) << "a field of Slurm is not filled in here";
  std::string comment = "project=chat";
  for (const auto& [key, value] : stated->entries()) {
    EXPECT_TRUE(is_job_fact(key)) << key;
    comment += ";" + key + "=of-the-comment";
  }
  EXPECT_FALSE(is_job_fact("project"));
  // Neither in the place of a fact, nor where Slurm states none.
  for (JobRecord other : {job, JobRecord()}) {
    other.comment = comment;
    const auto labels = job_labels(other, "COMPLETED");
    ASSERT_TRUE(labels);
    EXPECT_EQ(labels->find("project"), "chat");
    for (const auto& [key, value] : stated->entries()) {
      EXPECT_NE(labels->find(key), "of-the-comment") << key;
    }
  }
}

}  // namespace
}  // namespace pennyweight::slurm
