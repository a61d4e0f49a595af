// CaseRun: carries out the operations of one case against the scheduler of one API server, and says how soon it bound
// the pods that are measured (collectMetrics).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "bound_pods.h"
#include "case_file.h"
#include "kubeclient/api.h"
#include "object_template.h"
#include "provisioner.h"

namespace ashlar::bench::perf {

struct RunOptions {
  enum class Mode : std::uint8_t {
    kDrained,   ///< the measured pods exist, then the scheduler starts
    kArriving,  ///< the scheduler runs, then the measured pods come
    kForeign,   ///< a scheduler that runs all the time, on a cluster that is not ours: it places the other pods too
  };
  Mode mode = Mode::kDrained;
  std::string scheduler_name;                     ///< spec.schedulerName of pods whose template has none
  double pods_per_second = 0;                     ///< arriving; 0: as fast as the server takes them
  std::size_t pods_max = 0;                       ///< of those measured; 0: all
  double patience_seconds = 120;                  ///< then the round ends with what is bound
  std::function<Result<void>()> start_scheduler;  ///< not of kForeign
};

struct RunResult {
  std::size_t pods = 0, bound = 0;
  double seconds = 0;       ///< first bind to last; if not all were bound, the whole round
  std::string why_unbound;  ///< the message of one pod that was not bound
  std::vector<double> millis_from_sent, millis_from_answer;  ///< creation to bind of each bound pod, arriving
  bool is_complete() const { return pods > 0 && bound == pods; }
  double rate() const { return seconds > 0 ? static_cast<double>(bound) / seconds : 0; }
};

/// The nodes of a server from one run to the next, which are kept where the next case has the same.
struct NodeWorld {
  std::string recipe;
  std::vector<std::string> names;
};

class CaseRun {
 public:
  CaseRun(kube::Api& api, RunOptions options, NodeWorld& nodes)
      : api_(api), options_(std::move(options)), nodes_(nodes), bound_(api) {}
  /// Once. An error is one of the case's templates, of the server, or of a scheduler that does not start.
  Result<RunResult> run(const std::vector<Operation>& operations);
  /// Deletes what was created but the nodes and namespaces.
  void clean();

 private:
  struct Churn {
    const Operation* op = nullptr;
    std::vector<ObjectTemplate> templates;
    std::size_t ticks = 0;
    Instant next{};
    std::vector<std::vector<std::string>> alive;  ///< paths by slot
  };
  using Requests = std::vector<http::Request>;

  Result<void> perform(std::size_t index, const Operation& op);
  Result<void> create_nodes(const std::vector<Operation>& operations);
  Result<void> create_namespaces(const Operation& op);
  Result<void> create_pods(std::size_t index, const Operation& op);
  Result<void> create_objects(const Operation& op);
  Result<void> delete_pods(const Operation& op);
  Result<void> begin_churn(const Operation& op);
  void tick_churn(Churn& churn);
  Result<void> ensure_namespace(const std::string& name);
  using Claims = std::vector<ObjectTemplate>;  ///< of the claim, then of the volume; those that the operation has
  static Result<Claims> claims_of(const Operation& op);
  Result<void> add_claim(const std::string& ns, const std::string& pod, TemplateValues values, Claims& claims,
                         Requests& requests);
  Result<void> begin_measuring();
  Result<void> warm_up();
  Result<void> wait_until(const std::function<bool()>& is_done, double seconds, bool must);
  /// With at most 64 unanswered, in their order.
  /// A refusal is an error, but "not found", and "exists" of those without names. Notes when those with names were sent and answered.
  Result<void> send(Requests requests, double per_second = 0, const std::vector<std::string>* names = nullptr);
  bool places(const Operation& op) const {
    return options_.mode != RunOptions::Mode::kForeign && !op.collects_metrics && !op.skips_wait;
  }
  void remove_pods(const std::string& ns);
  RunResult result() const;
  std::string why_unbound() const;
  void step(Millis timeout);

  kube::Api& api_;
  RunOptions options_;
  NodeWorld& nodes_;
  BoundPods bound_;
  std::optional<Provisioner> provisioner_;  ///< where claims come without volumes, on our own cluster
  std::vector<Churn> churns_;
  std::vector<const Operation*> waiting_churns_;
  bool is_measuring_ = false;
  std::size_t measured_ = 0, placed_ = 0, objects_ = 0;
  Instant round_start_{};
  std::set<std::string> namespaces_;
  std::vector<std::string> created_;  ///< paths of objects other than pods, nodes and namespaces
  std::unordered_map<std::string, std::pair<Instant, Instant>> sent_;  ///< by pod: creation sent, answered
  std::unordered_map<std::string, std::vector<std::string>> pods_by_namespace_;
};

}  // namespace ashlar::bench::perf
