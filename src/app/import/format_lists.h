// The parts of the list of input formats, each in a file of its own.
#pragma once

#include <vector>

#include "app/import/input_format.h"

namespace pennyweight {

std::vector<InputFormat> bill_inputs();        // one for each encoding of each bill format
std::vector<InputFormat> scheduler_inputs();   // Slurm, openb
std::vector<InputFormat> kubernetes_inputs();  // kubectl get -o json
std::vector<InputFormat> inventory_inputs();   // our own CSV tables
std::vector<InputFormat> device_inputs();      // nvidia-smi, dcgm-exporter
std::vector<InputFormat> provider_totals_inputs();

}  // namespace pennyweight
