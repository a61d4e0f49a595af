#include <algorithm>
#include <bit>
#include <set>

#include "together.h"

namespace ashlar::oracle::together {
namespace {

constexpr int kStepsMax = 20'000;  ///< of one search

bool has(std::uint64_t devices, std::size_t d) { return (devices >> d & 1) != 0; }

/// What is used of a node: on a device, or, where `device` is its number of devices, of its cores and slots.
struct Sum {
  std::int64_t milli = 0, mib = 0, cores = 0, slots = 0;
  void add(const Sum& other) { milli += other.milli, mib += other.mib, cores += other.cores, slots += other.slots; }
  void leave(const Sum& other) {
    milli = std::max<std::int64_t>(milli - other.milli, 0), mib = std::max<std::int64_t>(mib - other.mib, 0);
    cores = std::max<std::int64_t>(cores - other.cores, 0), slots = std::max<std::int64_t>(slots - other.slots, 0);
  }
};

Sum part_of(const World& world, const Member& m, std::size_t device) {
  const Needs& needs = world.needs[static_cast<std::size_t>(m.needs)];
  if (device == world.nodes[static_cast<std::size_t>(m.node)].devices.size()) return {.cores = needs.cores, .slots = 1};
  return has(m.devices, device) ? Sum{.milli = needs.milli, .mib = needs.mib} : Sum{};
}

/// Whether the sum is beyond what there is, of something that the newcomer uses.
bool is_too_much(const Node& node, std::size_t device, const Sum& sum, const Sum& newcomer) {
  if (device == node.devices.size())
    return (newcomer.cores > 0 && sum.cores > node.cores) || (newcomer.slots > 0 && sum.slots > node.slots);
  const Device& d = node.devices[device];
  return (newcomer.milli > 0 && sum.milli > 1000) || (newcomer.milli > 0 && d.mib > 0 && sum.mib > d.mib);
}

std::string name_of(int job) { return "job " + std::to_string(job); }

/// The member alone: is it allowed on its devices?
std::string broken_alone(const World& world, const Member& m) {
  const Node& node = world.nodes[static_cast<std::size_t>(m.node)];
  const Needs& needs = world.needs[static_cast<std::size_t>(m.needs)];
  if (!node.is_there || !node.is_ready) return "is on a node that takes nothing";
  if (std::popcount(m.devices) != needs.devices) return "has another number of devices";
  bool is_of_model = m.model == kNone;
  for (const Device& d : node.devices) is_of_model = is_of_model || d.model == m.model;
  if (!is_of_model) return "is on a node of another model";
  for (std::size_t d = 0; d < 64; ++d) {
    if (!has(m.devices, d)) continue;
    if (d >= node.devices.size()) return "has a device that is not there";
    const Device& device = node.devices[d];
    if (device.is_sliced || device.is_unhealthy) return "has a device that takes nothing";
    if (m.model != kNone && device.model != m.model) return "has a device of another model";
    if (device.mib > 0 && needs.mib > device.mib) return "has a device of too little memory";
  }
  return "";
}

/// The holds chosen by `set` are for none of those that are counted beside them.
std::string broken_by_holds(const World& world, const Start& start) {
  const Job& job = world.jobs[static_cast<std::size_t>(start.job)];
  const Member& m = job.members[static_cast<std::size_t>(start.rank)];
  const Node& node = world.nodes[static_cast<std::size_t>(m.node)];
  std::set<std::int64_t> times{world.now};
  for (const Hold& hold : world.holds)
    if (hold.has_come && !hold.is_over(world.now) && hold.from > world.now && hold.from < job.late_end)
      times.insert(hold.from);
  for (const std::int64_t t : times) {
    std::vector<const Hold*> active;
    for (const Hold& hold : world.holds)
      if (hold.has_come && !hold.is_over(world.now) && hold.from <= t && t < hold.until) active.push_back(&hold);
    for (std::uint64_t set = 0; set < std::uint64_t{1} << active.size(); ++set) {
      const auto is_for = [&](int other) {
        for (std::size_t h = 0; h < active.size(); ++h)
          if (has(set, h) && world.is_held_for(*active[h], other)) return true;
        return false;
      };
      if (is_for(start.job)) continue;
      for (std::size_t d = 0; d <= node.devices.size(); ++d) {
        Sum sum;
        for (std::size_t h = 0; h < active.size(); ++h)
          for (const Member& part : active[h]->parts)
            if (has(set, h) && part.node == m.node) sum.add(part_of(world, part, d));
        for (int j = 0; j < static_cast<int>(world.jobs.size()); ++j) {
          const Job& other = world.jobs[static_cast<std::size_t>(j)];
          if ((t > world.now && other.late_end <= t) || is_for(j)) continue;
          for (const Member& r : other.members)
            if (r.node == m.node) sum.add(part_of(world, r, d));
        }
        if (is_too_much(node, d, sum, part_of(world, m, d)))
          return "takes at " + std::to_string(t) + " s what is not there or held, of node " + std::to_string(m.node) +
                 " at device " + std::to_string(d);
      }
    }
  }
  return "";
}

std::string broken_by_gang(const World& world, const Job& job) {
  if (job.lacking() > 0) return "starts without its minimum";
  const auto is_split = [&](int group, int within) {
    int domain = kNone;
    for (const Member& m : job.members) {
      if (within == kNone || m.node == kNone || (group != kNone && m.group != group)) continue;
      const int own = world.nodes[static_cast<std::size_t>(m.node)].domain[within];
      if (domain != kNone && domain != own) return true;
      domain = own;
    }
    return false;
  };
  if (is_split(kNone, job.within)) return "is in two domains";
  for (int g = 0; g < static_cast<int>(job.groups.size()); ++g)
    if (is_split(g, job.groups[static_cast<std::size_t>(g)].within)) return "has a group in two domains";
  return "";
}

/// What the member counts against a limit of all GPUs, or of those of one model.
std::int64_t milli_of(const World& world, const Member& m, int model) {
  const Needs& needs = world.needs[static_cast<std::size_t>(m.needs)];
  if (model == kNone) return needs.devices * needs.milli;
  std::int64_t milli = 0;
  const Node& node = world.nodes[static_cast<std::size_t>(m.node)];
  for (std::size_t d = 0; d < node.devices.size(); ++d)
    milli += has(m.devices, d) && node.devices[d].model == model ? needs.milli : 0;
  return milli;
}

/// The queue whose limit the job's members now placed are part of breaking; kNone if none is.
int exceeded_queue(const World& world, int job, const std::vector<int>& ranks) {
  const Job& of = world.jobs[static_cast<std::size_t>(job)];
  for (int q = of.queue; q != kNone; q = world.queues[static_cast<std::size_t>(q)].parent) {
    const Queue& queue = world.queues[static_cast<std::size_t>(q)];
    for (int model = kNone; model <= 2; ++model) {  // 2: cores
      const auto amount = [&](const Member& m) {
        if (m.node == kNone) return std::int64_t{0};
        return model == 2 ? world.needs[static_cast<std::size_t>(m.needs)].cores : milli_of(world, m, model);
      };
      const std::int64_t limit = model == kNone ? queue.milli
                                 : model == 2   ? queue.cores
                                                : queue.by_model[static_cast<std::size_t>(model)];
      std::int64_t sum = 0, own = 0;
      for (int j = 0; j < static_cast<int>(world.jobs.size()); ++j)
        if (world.is_below(world.jobs[static_cast<std::size_t>(j)].queue, q))
          for (const Member& m : world.jobs[static_cast<std::size_t>(j)].members) sum += amount(m);
      for (const int rank : ranks) own += amount(of.members[static_cast<std::size_t>(rank)]);
      if (own > 0 && sum > limit) return q;
    }
  }
  return kNone;
}

class Search {
 public:
  Search(const World& world, int job) : world_(world), job_(job) {
    Job& of = world_.jobs[static_cast<std::size_t>(job)];
    if (!of.is_running) {  // as if it started now
      const std::int64_t left = of.p50 == kForever ? kForever : std::max<std::int64_t>(of.p50 - of.served, 0);
      of.late_end = left == kForever ? kForever : world.now + left + std::max<std::int64_t>(of.p90 - of.p50, 0);
    }
    ranks_ = of.needed();
  }
  Found run() {
    const bool is_found = place(0);
    return is_found ? Found::kYes : steps_ > kStepsMax ? Found::kUnknown : Found::kNo;
  }

 private:
  Job& of() { return world_.jobs[static_cast<std::size_t>(job_)]; }

  bool place(std::size_t next) {
    if (next == ranks_.size())
      return broken_by_gang(world_, of()).empty() && exceeded_queue(world_, job_, ranks_) == kNone;
    Member& m = of().members[static_cast<std::size_t>(ranks_[next])];
    for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n) {
      const Node& node = world_.nodes[static_cast<std::size_t>(n)];
      if (!node.is_there || !is_known(n)) continue;
      for (std::uint64_t devices = 0; devices < std::uint64_t{1} << node.devices.size(); ++devices) {
        if (++steps_ > kStepsMax) return false;
        m.node = n;
        m.devices = devices;
        if (broken_alone(world_, m).empty() && surely_fits(m) && place(next + 1)) return true;
        m.node = kNone;
        m.devices = 0;
      }
    }
    return false;
  }
  /// Whether it is known of all that is used there on which devices it is. The hold of a device that a job goes on using
  /// when it begins is owed another one.
  bool is_known(int node) const {
    const auto is_named = [&](const Member& m) {
      return m.node != node || std::popcount(m.devices) == world_.needs[static_cast<std::size_t>(m.needs)].devices;
    };
    const auto are_named = [&](const std::vector<Member>& members) {
      return std::all_of(members.begin(), members.end(), is_named);
    };
    return std::all_of(world_.jobs.begin(), world_.jobs.end(), [&](const Job& j) { return are_named(j.members); }) &&
           std::all_of(world_.holds.begin(), world_.holds.end(), [&](const Hold& h) {
             return !h.has_come || h.is_over(world_.now) || (are_named(h.parts) && !is_owed_others(h, node));
           });
  }
  bool is_owed_others(const Hold& hold, int node) const {
    const Node& of = world_.nodes[static_cast<std::size_t>(node)];
    for (const Member& part : hold.parts)
      for (std::size_t d = 0; d < of.devices.size() && part.node == node; ++d) {
        Sum sum = part_of(world_, part, d);
        for (int j = 0; j < static_cast<int>(world_.jobs.size()); ++j)
          for (const Member& m : world_.jobs[static_cast<std::size_t>(j)].members)
            if (m.node == node && !world_.may_use(hold, j)) sum.add(part_of(world_, m, d));
        if (is_too_much(of, d, sum, part_of(world_, part, d))) return true;
      }
    return false;
  }
  bool surely_fits(const Member& m) const {
    const Node& node = world_.nodes[static_cast<std::size_t>(m.node)];
    for (std::size_t d = 0; d <= node.devices.size(); ++d) {
      const Sum newcomer = part_of(world_, m, d);
      Sum sum;
      for (const Job& other : world_.jobs)
        for (const Member& r : other.members)
          if (r.node == m.node) sum.add(part_of(world_, r, d));
      for (const Hold& hold : world_.holds)
        if (hold.has_come && !hold.is_over(world_.now) && !world_.may_use(hold, job_))
          for (const Member& part : hold.parts)
            if (part.node == m.node) sum.add(kept_of(hold, part, d));
      if (is_too_much(node, d, sum, newcomer) || lacks_some_memory(m.node, d, sum)) return false;
    }
    return true;
  }
  /// A share that requests no memory needs some that is free: whichever of the job's members comes first on the device.
  bool lacks_some_memory(int node, std::size_t d, const Sum& sum) const {
    const auto& devices = world_.nodes[static_cast<std::size_t>(node)].devices;
    if (d == devices.size() || devices[d].mib == 0 || sum.mib < devices[d].mib) return false;
    const Job& job = world_.jobs[static_cast<std::size_t>(job_)];
    return std::any_of(job.members.begin(), job.members.end(), [&](const Member& m) {
      const Needs& needs = world_.needs[static_cast<std::size_t>(m.needs)];
      return m.node == node && has(m.devices, d) && needs.milli < 1000 && needs.mib == 0;
    });
  }
  /// At most this is kept by the part: what those leave of it who may use nothing else that is held of the node.
  Sum kept_of(const Hold& hold, const Member& part, std::size_t d) const {
    Sum kept = part_of(world_, part, d);
    if (std::count_if(hold.parts.begin(), hold.parts.end(), [&](const Member& p) { return p.node == part.node; }) > 1)
      return kept;
    for (int j = 0; j < static_cast<int>(world_.jobs.size()); ++j) {
      if (!world_.may_use(hold, j)) continue;
      const bool may_use_others = std::any_of(world_.holds.begin(), world_.holds.end(), [&](const Hold& other) {
        return &other != &hold && other.has_come && !other.is_over(world_.now) && world_.may_use(other, j);
      });
      if (may_use_others) continue;
      for (const Member& r : world_.jobs[static_cast<std::size_t>(j)].members)
        if (r.node == part.node) kept.leave(part_of(world_, r, d));
    }
    return kept;
  }

  World world_;
  int job_;
  std::vector<int> ranks_;
  int steps_ = 0;
};

}  // namespace

std::string broken_law(const World& world, const std::vector<Start>& starts) {
  for (const Start& start : starts) {
    const Job& job = world.jobs[static_cast<std::size_t>(start.job)];
    std::vector<int> ranks;
    for (const Start& other : starts)
      if (other.job == start.job) ranks.push_back(other.rank);
    std::string broken = broken_alone(world, job.members[static_cast<std::size_t>(start.rank)]);
    if (broken.empty()) broken = broken_by_gang(world, job);
    if (broken.empty()) broken = broken_by_holds(world, start);
    if (broken.empty())
      if (const int queue = exceeded_queue(world, start.job, ranks); queue != kNone)
        broken = "exceeds queue " + std::to_string(queue);
    if (!broken.empty()) return name_of(start.job) + " " + broken;
  }
  return "";
}

Found find_place(const World& world, int job) { return Search(world, job).run(); }

}  // namespace ashlar::oracle::together
