// Package figure holds what simulations are measured by: histograms of times, shares
// and how fair they are, means with their intervals over seeds, series over time, and
// the documents that sum a simulation up. It knows nothing of how they are simulated.
//
// All that is computed here is the same on every machine: times are integers of
// nanoseconds, sums run in the order of their arguments, and no product is added to
// something without being rounded first, as a compiler might fuse the two on some
// architectures.
package figure
