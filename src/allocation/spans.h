// Cuts the spans of one device at common borders, so that they can be compared.
//
// A collector writes late information as a further row: another column of the same time, or another
// part of it. And a pod's rows begin when the pod does, within a minute of its device's.
#pragma once

#include <span>
#include <vector>

#include "allocation/samples.h"

namespace pennyweight {

// Owns cut samples for as long as the series are in use.
using CutSamples = std::vector<std::vector<Sample>>;

// Afterwards two spans of the device either have the same bounds or do not overlap, and no series
// has two spans with one begin: what several rows know about one span is merged. Samples without a
// span stay as they are. `cut` is overwritten.
void cut_spans(std::span<SampleSeries> series, CutSamples& cut);

}  // namespace pennyweight
