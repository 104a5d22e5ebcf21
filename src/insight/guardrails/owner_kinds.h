// Kinds that are judged as a whole, and make pods or others of them: what a controller makes for
// one of them is not judged again.
#pragma once

#include <string_view>

namespace pennyweight::guardrails {

inline constexpr std::string_view kOwnerKinds[] = {
    "Deployment", "ReplicaSet", "StatefulSet",      "ReplicationController",
    "Job",        "CronJob",    "JobSet",           "LeaderWorkerSet",
    "PyTorchJob", "TFJob",      "MPIJob",           "XGBoostJob",
    "PaddleJob",  "JAXJob",     "TrainJob",         "RayCluster",
    "RayJob",     "RayService", "InferenceService", "AppWrapper"};

}  // namespace pennyweight::guardrails
