// The table of score policies, in the order of docs/reference/policies.md.
#include "policy/score/best_fit.h"
#include "policy/score/best_fit_domain.h"
#include "policy/score/dotprod.h"
#include "policy/score/fgd.h"
#include "policy/score/gpu_clustering.h"
#include "policy/score/gpu_packing.h"
#include "policy/score/pack_tight.h"
#include "policy/score/prefer.h"
#include "policy/score/random.h"
#include "policy/score/spread.h"
#include "policy/score_policy.h"

namespace ashlar {
namespace {

constexpr ScorePolicy kScores[] = {
    {.name = "prefer", .add = add_prefer},
    {.name = "best-fit-domain", .add_domain = add_best_fit_domain},
    {.name = "pack-tight", .add = add_pack_tight},
    {.name = "spread", .add = add_spread},
    {.name = "fgd", .add = add_fgd},
    {.name = "best-fit", .add = add_best_fit},
    {.name = "dotprod", .add = add_dotprod},
    {.name = "gpu-packing", .add = add_gpu_packing},
    {.name = "gpu-clustering", .add = add_gpu_clustering},
    {.name = "random", .add = add_random, .is_drawn = true},
};

}  // namespace

std::span<const ScorePolicy> score_policies() { return kScores; }

const ScorePolicy* find_score(std::string_view name) {
  for (const ScorePolicy& policy : kScores)
    if (policy.name == name) return &policy;
  return nullptr;
}

}  // namespace ashlar
