// case_file: benchmarks in the YAML language of upstream's scheduler_perf, as plain values. A file is a list of cases;
// a case is a list of operations and of workloads, which give the parameters ($NAME) their values. Errors read
// FILE:LINE:COLUMN: what is wrong; an operation or field that is not carried out is refused by name.
//
// One key is our own: `ashlar: {times: 10, notYet: WHY, remark: TEXT}` of a case.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::bench::perf {

enum class Opcode : std::uint8_t {
  kCreateNodes,
  kCreateNamespaces,
  kCreatePods,
  kCreatePodSets,
  kCreatePodGroups,
  kCreateAny,
  kChurn,
  kBarrier,
  kSleep,
  kDeletePods,
};

/// A number, or the name of the parameter that gives it.
struct Amount {
  std::int64_t value = 1;
  std::string param;  ///< without "$"; empty: the value counts
};

using Texts = std::vector<std::pair<std::string, std::string>>;

/// One operation. Fields that its opcode lacks keep their defaults.
struct Operation {
  Opcode opcode = Opcode::kBarrier;
  std::string place;          ///< "FILE:LINE:COLUMN: "
  Amount count;               ///< objects, or namespaces, or pod sets
  Amount multiplier;          ///< objects for each of `count`
  std::string template_path;  ///< of the object; empty: a built-in one
  Texts template_params;      ///< values for the template; "$NAME" stands for a parameter
  std::string name_space;     ///< empty: one of the operation's own
  std::string prefix;         ///< of namespaces
  bool collects_metrics = false;
  bool skips_wait = false;
  std::string volume_path, claim_path;  ///< templates of a PersistentVolume and its claim for each pod

  // createNodes
  std::string label_key;  ///< label with `label_values` in turn
  std::vector<std::string> label_values;
  std::string unique_label_key;
  Texts allocatable;

  // churn
  bool recreates = false;
  std::int64_t number = 0;  ///< objects; 0: no end
  Millis interval{500};
  std::vector<std::string> template_paths;

  // sleep, deletePods
  Millis duration;
  std::string duration_param;
  std::int64_t deletions_per_second = 0;  ///< 0: at once

  /// createPodSets: what is done in each of `count` namespaces; one createPods.
  std::vector<Operation> of_each_set;
};

using Params = std::map<std::string, std::string, std::less<>>;

struct Workload {
  std::string name;
  std::vector<std::string> labels;
  Params params;
  std::int64_t threshold = 0;  ///< pods/s; 0: none
};

struct Case {
  std::string name, file;
  std::string pod_template_path;  ///< of createPods without one
  std::vector<Operation> operations;
  std::vector<Workload> workloads;
  std::vector<std::string> unapplied;  ///< fields that configure upstream's own scheduler; reported, not used
  std::int64_t times = 4;              ///< goal: this many times kube-scheduler's rate
  std::string not_yet;                 ///< why Ashlar does not take part yet; empty: it does
  std::string remark;

  const Workload* workload(std::string_view name) const;
};

Result<std::vector<Case>> parse_cases(std::string_view text, const std::string& file);  // for tests
Result<std::vector<Case>> read_cases(const std::string& file);

/// The operations with numbers for parameters, pod sets written out and templates of pods filled in. An error names the
/// place of an operation whose parameter the workload lacks.
Result<std::vector<Operation>> instantiated(const Case& a_case, const Params& params);

/// Params in proportion: those that end in Nodes by `nodes`, those that end in Pods or Gangs by `pods`, at least 1.
Params scaled(const Params& params, double nodes, double pods);

}  // namespace ashlar::bench::perf
