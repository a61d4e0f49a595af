#include "draw.h"

#include <algorithm>
#include <set>

#include "chances.h"

namespace ashlar::oracle {
namespace {

class Drawing : Chances {
 public:
  Drawing(Rng& rng, const DrawOptions& options) : Chances(rng), options_(options) {}

  PlainWorld world() {
    levels();
    nodes();
    demands();
    constraints();
    if (options_.has_nine_queues)
      world_.queues.resize(9, {0, kUnlimited, kUnlimited});
    else if (options_.has_quota && one_in(3))
      queues();
    int waiting = 1 + below(options_.waiting_jobs_max);
    if (options_.is_one_by_one) {
      for (int i = 0; i < waiting; ++i) alone();
      return finished();
    }
    std::size_t planted = 0;
    while (waiting > 0 && !one_in(3)) {
      --waiting;
      planted += plant() ? 1 : 0;
    }
    if (options_.has_running && !one_in(4)) running();
    for (std::size_t j = 0; j < planted; ++j) take_off(world_.jobs[j]);
    for (int i = 0; i < waiting; ++i) waiting_job();
    return finished();
  }

 private:
  PlainWorld finished() {
    for (PlainJob& job : world_.jobs)
      if (options_.has_groups && job.is_ours && !one_in(3)) divide(job);
    return std::move(world_);
  }
  /// Into up to three groups: neighbours in rank order, or members of one kind.
  void divide(PlainJob& job) {
    const int members = static_cast<int>(job.members.size());
    const int groups = 1 + below(std::min(members, 3));
    const bool is_by_kind = one_in(2);
    for (int r = 0; r < members; ++r) {
      PlainMember& m = job.members[static_cast<std::size_t>(r)];
      m.group = is_by_kind ? m.demand % groups : r * groups / members;
    }
    const bool has_levels = world_.nested + world_.orthogonal > 0;
    job.min = 0;
    for (int g = 0; g < groups; ++g) {
      const int size = static_cast<int>(
          std::count_if(job.members.begin(), job.members.end(), [&](const PlainMember& m) { return m.group == g; }));
      PlainGroup group{.min = job.min > 0 && one_in(3) ? below(size + 1) : size};
      if (has_levels && !one_in(3)) group.within = any_level();
      if (has_levels && one_in(3)) group.prefer = any_level();
      job.min += group.min;
      job.groups.push_back(group);
    }
    job.min = std::max(job.min, 1);
  }

  void levels() {
    world_.nested = below(3);
    world_.orthogonal = below(3);
    if (world_.nested == 2 && one_in(3)) world_.nested = 3;
    world_.orthogonal = std::min(world_.orthogonal, kPlainLevelsMax - world_.nested);
  }

  void nodes() {
    const int count = 1 + below(one_in(2) ? std::min(3, options_.nodes_max) : options_.nodes_max);
    const bool is_uniform = one_in(2);
    PlainNode like;
    for (int n = 0; n < count; ++n) {
      PlainNode node = is_uniform && n > 0 ? like : one_node();
      like = node;
      if (one_in(12)) node.is_ready = false;
      node.zone = below(3);
      if (one_in(8)) node.taint = below(3);
      domains(node, n, count);
      world_.nodes.push_back(node);
    }
    if (options_.has_unlike_devices) unlike_devices();
  }
  /// In every second world. Drawn from a stream of its own, so that the world is otherwise the same.
  void unlike_devices() {
    Rng copy = rng_;
    Rng rng(copy.next() ^ 0x6465766963657321ull);
    if (rng.below(2) == 0) return;
    for (PlainNode& node : world_.nodes) {
      if (node.devices == 0 || rng.below(3) == 0) continue;
      std::vector<PlainDevice> each;
      for (int c = 0; c < node.devices; ++c) {
        if (c > 0 && rng.below(3) > 0) {
          each.push_back(each.back());
          continue;
        }
        constexpr std::int64_t kMemories[] = {0, 40'000, 80'000};
        each.push_back({.model = static_cast<int>(rng.below(2)),
                        .mib = rng.below(2) == 0 ? node.device_mib : kMemories[rng.below(3)],
                        .is_sliced = rng.below(8) == 0});
      }
      const bool is_known = !world_.layouts.empty() && rng.below(2) == 0 &&
                            world_.layouts.back().size() == static_cast<std::size_t>(node.devices);
      if (!is_known) world_.layouts.push_back(std::move(each));
      node.layout = static_cast<int>(world_.layouts.size()) - 1;
      node.each = world_.layouts.back();
    }
  }
  PlainNode one_node() {
    PlainNode node;
    node.devices = any_of({0, 1, 2, 2, 4, 4, 8});
    node.device_mib = any_of<std::int64_t>({0, 40'000, 80'000});
    node.has = {any_of<std::int64_t>({4, 8, 16, 64}), any_of<std::int64_t>({16, 64, 256}),
                any_of<std::int64_t>({3, 6, 100}), below(3)};
    node.model = below(2);
    return node;
  }
  /// Neighbours share nested domains; free-standing levels go across them. Some nodes carry no label of a level.
  void domains(PlainNode& node, int row, int count) {
    const int width = std::max(1, (count + 1) / 2);
    for (int l = 0; l < world_.nested; ++l) node.domain[static_cast<std::size_t>(l)] = row / std::max(1, width >> l);
    for (int l = world_.nested; l < world_.nested + world_.orthogonal; ++l)
      node.domain[static_cast<std::size_t>(l)] = (l - world_.nested) % 2 == 0 ? row % 2 : below(3);
    for (int l = 0; l < world_.nested + world_.orthogonal; ++l)
      if (one_in(24)) node.domain[static_cast<std::size_t>(l)] = kNowhere;
    for (int l = 1; l < world_.nested; ++l)  // below a level that the node is not in, it is in none
      if (node.domain[static_cast<std::size_t>(l - 1)] == kNowhere) node.domain[static_cast<std::size_t>(l)] = kNowhere;
  }

  void demands() {
    const int count = 2 + below(4);
    for (int d = 0; d < count; ++d) {
      PlainDemand demand;
      demand.asks = {below(3) == 0 ? 0 : any_of<std::int64_t>({1, 1, 2, 4, 7}),
                     one_in(2) ? 0 : any_of<std::int64_t>({1, 8, 30}), 1, one_in(5) ? 1 : 0};
      if (demand.asks[kCores] == 0 && one_in(2)) demand.asks[kCores] = 3;
      switch (below(4)) {
        case 0:
          break;
        case 1:
          demand.devices = 1;
          demand.milli = any_of({250, 300, 400, 500, 600, 700});
          break;
        default:
          demand.devices = any_of({1, 1, 2, 2, 3, 4, 8});
          break;
      }
      if (demand.devices > 0 && one_in(3)) demand.mib = any_of<std::int64_t>({10'000, 20'000, 40'000, 60'000});
      if (one_in(10)) demand.port = 80 + below(2);
      world_.demands.push_back(demand);
    }
  }
  void constraints() {
    world_.constraints.push_back({});
    for (int c = 0; c < 3; ++c) {
      PlainConstraint constraint;
      if (one_in(3)) constraint.model = below(2);
      if (one_in(4)) constraint.zone = below(3);
      if (one_in(4)) constraint.not_zone = below(3);
      if (one_in(3)) constraint.wished_zone = below(3);
      constraint.tolerates = one_in(3);
      world_.constraints.push_back(constraint);
    }
    if (options_.has_capabilities) capabilities();
  }
  /// Drawn from a stream of its own.
  void capabilities() {
    Rng copy = rng_;
    Rng rng(copy.next() ^ 0x63617061626c6521ull);
    for (PlainConstraint& constraint : world_.constraints)
      if (&constraint != &world_.constraints.front() && rng.below(2) == 0)
        constraint.capability = static_cast<int>(rng.below(kPlainCapabilities));
    for (int model = 0; model < kPlainModels; ++model)
      define_model(world_, model, static_cast<unsigned>(rng.below(1u << kPlainCapabilities)));
  }
  void queues() {
    world_.queues.push_back({0, 1000 * (1 + below(24)), kUnlimited});
    world_.queues.push_back(
        {1, one_in(2) ? kUnlimited : 500 * (1 + below(16)), one_in(2) ? kUnlimited : 1 + below(24)});
    if (!one_in(2)) return;
    for (int siblings = below(7); siblings > 0; --siblings)
      world_.queues.push_back(
          {below(2), one_in(2) ? kUnlimited : 500 * (1 + below(16)), one_in(3) ? 1 + below(24) : kUnlimited});
  }

  int any_demand() { return below(static_cast<int>(world_.demands.size())); }
  int any_constraint() { return !one_in(3) ? 0 : below(static_cast<int>(world_.constraints.size())); }
  int any_level() { return below(world_.nested + world_.orthogonal); }

  PlainJob some_job(int members) {
    PlainJob job;
    const int groups = one_in(3) ? 1 : 2 + below(3);
    std::vector<std::pair<int, int>> kinds;
    for (int g = 0; g < groups; ++g) kinds.emplace_back(any_demand(), any_constraint());
    for (int m = 0; m < members; ++m) {
      const auto& [demand, constraint] =
          kinds[static_cast<std::size_t>(one_in(6) ? below(groups) : m * groups / members)];
      job.members.push_back({demand, constraint, kNowhere, {}});
    }
    job.min = one_in(3) ? 1 + below(members) : members;
    if (world_.nested + world_.orthogonal > 0) {
      if (one_in(2)) job.within = any_level();
      if (one_in(2)) job.prefer = any_level();
    }
    job.queue = below(static_cast<int>(world_.queues.size()));
    return job;
  }

  /// Puts the member somewhere where it is allowed, or leaves it. `is_forced`: more than there is of cores and slots,
  /// as another scheduler may do.
  bool settle(std::size_t job, int rank, bool is_forced) {
    const int first = below(static_cast<int>(world_.nodes.size()));
    for (std::size_t k = 0; k < world_.nodes.size(); ++k) {
      const int n = static_cast<int>((static_cast<std::size_t>(first) + k) % world_.nodes.size());
      PlainBind bind{static_cast<int>(job), rank, n, {}};
      if (!find_devices(world_, bind, below(8), is_forced)) continue;
      PlainWorld tried = world_;
      if (is_forced)
        for (std::int64_t& amount : tried.nodes[static_cast<std::size_t>(n)].has) amount = INT64_MAX;
      tried.jobs[job].is_ours = true;
      tried.jobs[job].min = 1;
      if (!broken_rule(tried, {bind}).empty()) continue;
      world_.jobs[job].members[static_cast<std::size_t>(rank)].node = n;
      world_.jobs[job].members[static_cast<std::size_t>(rank)].devices = bind.devices;
      return true;
    }
    return false;
  }

  void running() {
    const bool fills_up = one_in(2);
    const int jobs = fills_up ? 30 : 1 + below(2 * static_cast<int>(world_.nodes.size()));
    for (int j = 0; j < jobs; ++j) {
      world_.jobs.push_back(some_job(!fills_up && one_in(3) ? 1 + below(3) : 1));
      PlainJob& job = world_.jobs.back();
      const bool is_foreign = one_in(6);
      if (is_foreign) {
        job.within = job.prefer = kNowhere;
        job.queue = 0;
      }
      for (std::size_t r = 0; r < job.members.size(); ++r)
        settle(world_.jobs.size() - 1, static_cast<int>(r), is_foreign && one_in(3));
      std::erase_if(world_.jobs.back().members, [](const PlainMember& m) { return !m.is_placed(); });
      world_.jobs.back().is_ours = !is_foreign;
      if (world_.jobs.back().members.empty())
        world_.jobs.pop_back();
      else
        world_.jobs.back().min = 1;
    }
  }

  static void take_off(PlainJob& job) {
    for (PlainMember& m : job.members) m.take_off();
  }
  void alone() {
    if (one_in(6) || !plant())
      waiting_job();
    else
      take_off(world_.jobs.back());
  }

  /// A job that would fit: what is drawn is put somewhere and, once the others have settled around it, taken off again.
  bool plant() {
    world_.jobs.push_back(some_job(1 + below(options_.members_max)));
    const std::size_t job = world_.jobs.size() - 1;
    for (std::size_t r = 0; r < world_.jobs[job].members.size(); ++r) settle(job, static_cast<int>(r), false);
    std::vector<PlainMember>& members = world_.jobs[job].members;
    std::erase_if(members, [](const PlainMember& m) { return !m.is_placed(); });
    if (members.empty()) {
      world_.jobs.pop_back();
      return false;
    }
    const int size = static_cast<int>(members.size());
    world_.jobs[job].min = one_in(3) ? 1 + below(size) : size;
    return true;
  }

  void waiting_job() {
    const int members = one_in(4) ? 1 : 1 + below(options_.members_max);
    world_.jobs.push_back(some_job(members));
    if (!options_.has_running || members == 1 || !one_in(5)) return;
    // Some of them sit somewhere already: a member was lost, or the gang grew.
    const int kept = 1 + below(members - 1);
    for (int k = 0; k < kept; ++k) settle(world_.jobs.size() - 1, below(members) % members, false);
  }

  const DrawOptions& options_;
  PlainWorld world_;
};

}  // namespace

PlainWorld draw_world(Rng& rng, const DrawOptions& options) { return Drawing(rng, options).world(); }

std::string kind_of(const PlainWorld& world, int job) {
  const PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
  std::set<std::pair<int, int>> kinds;
  for (const int rank : of.waiting(of.needed())) {
    const PlainMember& m = of.members[static_cast<std::size_t>(rank)];
    kinds.insert({m.demand, m.constraint});
  }
  std::string kind = of.needed() == 1 ? "single" : kinds.size() == 1 ? "uniform" : "unlike";
  if (of.within != kNowhere) kind += of.within < world.nested ? " within-nested" : " within-free";
  if (of.prefer != kNowhere) kind += " prefer";
  if (of.min < static_cast<int>(of.members.size())) kind += " elastic";
  if (of.placed() > 0) kind += " partly-placed";
  if (!of.groups.empty()) kind += " groups";
  if (std::any_of(of.groups.begin(), of.groups.end(), [](const PlainGroup& g) { return g.within != kNowhere; }))
    kind += " with-domains";
  return kind;
}

}  // namespace ashlar::oracle
