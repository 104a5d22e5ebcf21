// Spans of one device, cut so that they can be compared: what was seen over times that overlap in
// part is said of the common parts.
//
// A collector writes what it learns late as a further row: another column of the same time, or
// another part of it. And a pod's rows begin when the pod does, within a minute of its device's.
#pragma once

#include <span>
#include <vector>

#include "allocate/samples.h"

namespace pennyweight {

// Where cut samples live, for as long as the series are looked at.
using CutSamples = std::vector<std::vector<Sample>>;

// Afterwards two spans of the device have one begin and one end or no time in common, and no series
// has two of one begin; what is known of a time by several of them is all in one. Readings stay.
// `cut` is used anew.
void cut_spans(std::span<SampleSeries> series, CutSamples& cut);

}  // namespace pennyweight
