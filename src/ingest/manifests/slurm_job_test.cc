#include "ingest/manifests/slurm_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pennyweight::manifests {
namespace {

std::uint64_t gpus_of(const ReplicaGroup& group) {
  std::uint64_t count = 0;
  for (const RequestedDevice& device : group.gpus) count += device.count;
  return count;
}

struct AskedJob {
  std::string_view options;
  std::uint64_t replicas;
  std::uint64_t gpus_each;
  bool may_span = false;
};

// Each is a way to ask for GPUs, by sbatch(1).
TEST(SlurmJob, CountsGpusHoweverTheyAreAskedFor) {
  const AskedJob jobs[] = {
      {"--gres=gpu:4", 1, 4},
      {"--gres=gpu", 1, 1},
      {"--gres=gpu:a100:2 -N 3", 3, 2},
      {"--gres gpu:a100:8 --nodes=2", 2, 8},
      {"--gres=gres/gpu:2,lustre:1", 1, 2},
      {"--gpus=8", 1, 8, true},
      {"-G 8 -N2", 2, 4},
      {"-G8 -N 2", 2, 4},
      {"--gpus=h100:16 --gpus-per-node=8", 2, 8},
      {"--gpus-per-node=4 -N 4", 4, 4},
      {"--gpus-per-node=4 --gres=gpu:2", 1, 4},
      {"--gpus-per-task=1 -n 8", 1, 8, true},
      {"--gpus-per-task=1 -n 8 -N 2", 2, 4},
      {"--gpus-per-task=2 -N 2 --ntasks-per-node=4", 2, 8},
      {"--ntasks=8 --ntasks-per-node=4 --gres=gpu:4", 2, 4},
      {"--gpus-per-socket=2 --sockets-per-node=2 -N 2", 2, 4},
      {"--tres-per-task=gres/gpu:2 -n 2 -N 1", 1, 4},
      {"--tres-per-task=gres/gpu:a100=2 -n 2 -N 1", 1, 4},
      {"--gpus=3 -N 2", 1, 3, true},
      {"--ntasks-per-gpu=2 -n 8", 1, 4, true},
      {"--ntasks-per-gpu=3 -n 8", 1, 3, true},
      {"--ntasks-per-gpu=2 -n 8 -N 2", 2, 2},
      {"--ntasks-per-gpu=2 -n 8 --gpus=8", 1, 8, true},
      {"--ntasks-per-gpu=2 -n 8 --gres=gpu:3", 1, 3},
      {"--ntasks-per-gpu=2", 1, 0},
      {"--exclusive --nodes=2 --ntasks-per-node=1 --gpus=7", 2, 4},
      {"--gres=none", 1, 0},
      {"-n 4 -c 8", 1, 0},
      {"-N 2 --tasks-per-node=4 --gpus-per-task=1", 2, 4},
      {"--nice=5 --no-requeue --hold -vv -O --gpus-per-n=4 -N2", 2, 4},
      {"-w gpu[01-03] --gres=gpu:4", 3, 4},
      {"-sN2 --gres=gpu:8", 2, 8},
      {"--tres-per-task=cpu=8,gres/gpu=1 -n 4 -N 1", 1, 4},
      {"--site-plugin=x --gres=gpu:2", 1, 2},
  };
  for (const AskedJob& asked : jobs) {
    const auto reading = read_slurm_text("srun " + std::string(asked.options) + " -t 1 a.out", "x");
    ASSERT_EQ(reading.workloads.size(), 1U)
        << asked.options << ": " << reading.unpriced.at(0).reason;
    const ReplicaGroup& group = reading.workloads[0].groups[0];
    EXPECT_EQ(group.replicas, asked.replicas) << asked.options;
    EXPECT_EQ(gpus_of(group), asked.gpus_each) << asked.options;
    EXPECT_EQ(group.may_span_machines, asked.may_span) << asked.options;
  }
}

TEST(SlurmJob, RefusesWhatTheTextDoesNotDecide) {
  for (const std::string_view options :
       {"--gres=shard:4", "--gres=gpu:a100:2,gpu:v100:2", "--gpus-per-socket=2",
        "--gres=gpu:", "--gres=gpu:a100:x", "--gpus=x:y:z", "-N 0", "-N x", "--mem=12Q",
        "-t tomorrow", "--array=5-1", "--array=0-9999999", "-n -1", "--gpus", "--gpu=4",
        "--site-plugin x --gres=gpu:2", "train.sh", "-n 4 train.sh", "-w 'n[1-'"}) {
    const auto reading = read_slurm_text("sbatch " + std::string(options), "x");
    EXPECT_TRUE(reading.workloads.empty()) << options;
    EXPECT_EQ(reading.unpriced.size(), 1U) << options;
  }
}

TEST(SlurmJob, ReadsABatchScriptUpToItsFirstCommand) {
  const auto reading = read_slurm_text(
      "#!/bin/bash\n"
      "#SBATCH --job-name=train   # a comment\n"
      "#SBATCH -A nlp\n"
      "#SBATCH --partition gpu\n"
      "##SBATCH --gres=gpu:1\n"
      "#SBATCH --gres=gpu:a100_3g.20gb:2\n"
      "#SBATCH --time=1-12:00:00\n"
      "#SBATCH --array=0-15%4\n"
      "#SBATCH --mem=64G --cpus-per-task=8\n"
      "srun python train.py\n"
      "#SBATCH --gres=gpu:8\n",
      "jobs/train.sh");
  ASSERT_EQ(reading.workloads.size(), 1U);
  const WorkloadRequest& job = reading.workloads[0];
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.labels.at("account"), "nlp");
  const ReplicaGroup& group = job.groups.at(0);
  EXPECT_EQ(group.replicas, 4U);
  EXPECT_EQ(group.replica_ms_max, 16ULL * 36 * 3'600'000);
  EXPECT_EQ(group.cpu_milli, 8000U);
  EXPECT_EQ(group.memory_bytes, 64ULL << 30U);
  ASSERT_EQ(group.gpus.size(), 1U);
  EXPECT_EQ(group.gpus[0].mig_profile, "3g.20gb");
  EXPECT_EQ(group.gpus[0].count, 2U);
  EXPECT_EQ(group.place.gpu_model, "a100");
}

TEST(SlurmJob, ReadsDirectivesAsSbatchDoes) {
  const auto read = [](const std::string& lines) {
    return read_slurm_text("#!/bin/sh\n" + lines + "srun a\n", "x.sh");
  };
  const auto cpus = [&](const std::string& lines) {
    const ManifestReading reading = read(lines);
    return reading.workloads.empty() ? 0 : reading.workloads[0].groups[0].cpu_milli / 1000;
  };
  EXPECT_EQ(cpus("#SBATCH --tres-per-task=cpu=8,gres/gpu=1 -n 4 -N 1 -t 1\n"), 32U);
  for (const auto& [amount, gib] : {std::pair("32gb", 32U), std::pair("32GB", 32U),
                                    std::pair("32g", 32U), std::pair("32768", 32U)}) {
    const auto job = read(fmt::format("#SBATCH --mem={} -t 1\n", amount));
    ASSERT_EQ(job.workloads.size(), 1U) << amount;
    EXPECT_EQ(job.workloads[0].groups[0].memory_bytes >> 30U, gib) << amount;
  }
  EXPECT_TRUE(read("#SBATCH --mem=32Gib -t 1\n").workloads.empty());
  EXPECT_EQ(cpus("#SBATCH --mincpus=16 -n 1 -t 1\n"), 16U);
  // Options of plugins are named, and don't hide those behind them.
  const auto plugin = read("#SBATCH --bb-size 5 --cpus-per-task=4 -t 1\n");
  ASSERT_EQ(plugin.workloads.size(), 1U);
  EXPECT_EQ(plugin.workloads[0].groups[0].cpu_milli, 4000U);
  ASSERT_EQ(plugin.workloads[0].notes.size(), 1U);
  EXPECT_NE(plugin.workloads[0].notes[0].find("'--bb-size'"), std::string::npos);
  const auto stray = read("#SBATCH --gpus 4 8\n");
  ASSERT_EQ(stray.unpriced.size(), 1U);
  EXPECT_NE(stray.unpriced[0].reason.find("line 2: '8' is no option"), std::string::npos);
}

TEST(SlurmJob, FindsCommandsBehindWhatRunsThem) {
  const auto reading = read_slurm_text(
      "CUDA_VISIBLE_DEVICES=0 srun --gpus=2 -t 1 a\nid=$(sbatch --parsable -G 1 -t 1 run.sh)\n"
      "exec srun -n1 --gres=gpu:1 -t 1 : -N2 --gpus-per-node=4 -t 1 a\necho srun --gpus=8\n",
      "x.sh");
  ASSERT_EQ(reading.workloads.size(), 3U);
  EXPECT_EQ(gpus_of(reading.workloads[0].groups[0]), 2U);
  EXPECT_EQ(gpus_of(reading.workloads[1].groups[0]), 1U);
  ASSERT_EQ(reading.workloads[1].notes.size(), 1U);
  EXPECT_NE(reading.workloads[1].notes[0].find("'run.sh'"), std::string::npos);
  ASSERT_EQ(reading.workloads[2].groups.size(), 2U);
  EXPECT_EQ(reading.workloads[2].groups[1].replicas, 2U);
}

TEST(SlurmJob, ReadsPartsOfAHeterogeneousJob) {
  const auto reading = read_slurm_text(
      "#!/bin/sh\n#SBATCH -t 60 --gres=gpu:8 -N 2\n#SBATCH hetjob\n#SBATCH -n 4 -t 60\n", "x.sh");
  ASSERT_EQ(reading.workloads.size(), 1U);
  ASSERT_EQ(reading.workloads[0].groups.size(), 2U);
  EXPECT_EQ(reading.workloads[0].groups[0].replicas, 2U);
  EXPECT_TRUE(reading.workloads[0].groups[1].gpus.empty());
}

TEST(SlurmJob, ReadsCommandsOverSeveralLines) {
  const auto reading = read_slurm_text(
      "# submit all\nsalloc -N 1 \\\n  --exclusive --gpus-per-node=8 \\\n  -t 30\n"
      "echo done\n/usr/bin/sbatch --wrap='x y' -G 1 run.sh\n",
      "x.sh");
  ASSERT_EQ(reading.workloads.size(), 2U);
  EXPECT_TRUE(reading.workloads[0].groups[0].takes_whole_machines);
  EXPECT_EQ(reading.workloads[0].groups[0].replica_ms_max, 1'800'000U);
  EXPECT_EQ(reading.workloads[1].line, 6);
  EXPECT_EQ(gpus_of(reading.workloads[1].groups[0]), 1U);
}

TEST(SlurmJob, ReadsTimeLimitsAsSbatchDoes) {
  const auto ms = [](std::string_view text) {
    const auto read = parse_time_limit_ms(text);
    return read && *read ? static_cast<std::int64_t>(**read) : read ? 0 : -1;
  };
  EXPECT_EQ(ms("30"), 1'800'000);
  EXPECT_EQ(ms("30:15"), 1'815'000);
  EXPECT_EQ(ms("4:00:00"), 14'400'000);
  EXPECT_EQ(ms("2-0"), 172'800'000);
  EXPECT_EQ(ms("2-12:30"), 217'800'000);
  EXPECT_EQ(ms("UNLIMITED"), 0);
  EXPECT_EQ(ms("0"), 0);
  EXPECT_EQ(ms("1h"), -1);
  EXPECT_EQ(ms("-5"), -1);
}

TEST(SlurmJob, ReadsArraysAsSbatchDoes) {
  const auto tasks = [](std::string_view text) { return parse_array_tasks(text).value(); };
  EXPECT_EQ(tasks("0-15"), (ArrayTasks{16, 16}));
  EXPECT_EQ(tasks("1,3,5-7"), (ArrayTasks{5, 5}));
  EXPECT_EQ(tasks("0-100:4%8"), (ArrayTasks{26, 8}));
  EXPECT_EQ(tasks("7%3"), (ArrayTasks{1, 1}));
}

}  // namespace
}  // namespace pennyweight::manifests
