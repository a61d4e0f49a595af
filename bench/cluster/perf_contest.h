// perf_contest: cases in upstream's language of benchmarks, run by kube-scheduler, Ashlar and a plain client in equal
// rounds on one real API server, each with the rights that it is deployed with; or one case by whatever scheduler a
// foreign cluster has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ashlar::bench {

struct PerfPlan {
  std::size_t nodes = 5000, pods = 10'000;  ///< a case's numbers are of this size; others are in proportion
  int runs = 3, binds_in_flight = 64;
  std::string binary;              ///< ashlar
  std::string cases_path;          ///< a file or a folder of files; empty: our own cases
  std::vector<std::string> cases;  ///< names; empty: all
  std::vector<std::string> modes;  ///< drained, arriving, paced; empty: all
  std::vector<std::string> contestants = {"plain-client", "ashlar", "kube-scheduler"};
  std::string workload = "full";  ///< that of a case with this name, else its first
  std::string results;            ///< folder; empty: nothing is kept
  double round_seconds = 120;
  bool tries_not_yet = false;              ///< cases that Ashlar does not take part in yet, too
  std::string kubeconfig, scheduler_name;  ///< of a foreign cluster and its scheduler; empty: our own
};

/// The exit status: 1 if a goal was missed or a case could not be run.
int run_perf(const PerfPlan& plan);

}  // namespace ashlar::bench
