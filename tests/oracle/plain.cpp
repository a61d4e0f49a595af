#include "plain.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_set>

namespace ashlar::oracle {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr ResourceId kAdapterColumn{resource::kFirstExtended};
constexpr LabelKeyId kZoneKey{1u}, kTaintKey{2u};

/// What is taken of one node.
struct Load {
  const PlainNode* node = nullptr;
  std::array<std::int64_t, kPlainResources> used{};
  std::vector<std::int64_t> milli, mib;  ///< by device
  std::vector<int> ports;
  std::int64_t owed = 0;  ///< devices taken of which nobody knows which

  bool is_idle(int device) const {
    return milli[static_cast<std::size_t>(device)] == 0 && mib[static_cast<std::size_t>(device)] == 0;
  }
  /// Idle devices, less those that are owed, and the whole ones that one device is taken for beyond itself: they are
  /// others of the node, nobody knows which.
  std::int64_t idle_for_others() const {
    std::int64_t idle = -owed;
    for (std::size_t c = 0; c < milli.size(); ++c) {
      idle += is_idle(static_cast<int>(c)) ? 1 : 0;
      idle -= std::max<std::int64_t>(milli[c] - 1000, 0) / 1000;
    }
    return idle;
  }
  /// Idle devices like this one. Those that are owed may all be among them, as they may be among those of another kind.
  std::int64_t idle_like(int device) const {
    std::int64_t idle = 0, taken = -idle_for_others();
    for (int c = 0; c < static_cast<int>(milli.size()); ++c) {
      taken += is_idle(c) ? 1 : 0;
      idle += is_idle(c) && node->device(c) == node->device(device) ? 1 : 0;
    }
    return std::max<std::int64_t>(idle - taken, 0);
  }
  /// May a share be given this device? Of the idle ones only as many as are not owed; none at all where more are owed
  /// than idle.
  bool is_open_to_shares(int device) const {
    return idle_for_others() >= 0 && (!is_idle(device) || idle_like(device) > 0);
  }
  /// Of these idle devices as many as may be taken.
  std::int64_t most_of(const std::vector<int>& devices) const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const auto is_like = [&](int c) { return node->device(c) == node->device(devices[i]); };
      const auto end = devices.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::any_of(devices.begin(), end, is_like)) continue;  // counted with that one
      most += std::min<std::int64_t>(idle_like(devices[i]), std::count_if(devices.begin(), devices.end(), is_like));
    }
    return most;
  }
  void add(const PlainDemand& demand, const std::vector<int>& devices, int sign) {
    for (int r = 0; r < kPlainResources; ++r) used[r] += sign * demand.asks[r];
    owed += sign * (demand.devices - static_cast<std::int64_t>(devices.size()));
    for (const int c : devices) {
      milli[static_cast<std::size_t>(c)] += sign * demand.milli;
      mib[static_cast<std::size_t>(c)] += sign * demand.mib;
    }
    if (demand.port == 0) return;
    if (sign > 0)
      ports.push_back(demand.port);
    else
      ports.erase(std::find(ports.begin(), ports.end(), demand.port));
  }
};

Load load_of(const PlainWorld& world, int node) {
  const auto devices = static_cast<std::size_t>(world.nodes[static_cast<std::size_t>(node)].devices);
  const std::vector<std::int64_t> nothing(devices, 0);
  Load load{&world.nodes[static_cast<std::size_t>(node)], {}, nothing, nothing, {}, 0};
  for (const PlainJob& job : world.jobs)
    for (const PlainMember& m : job.members)
      if (m.node == node) load.add(world.demands[static_cast<std::size_t>(m.demand)], m.devices, +1);
  return load;
}

/// Empty, or what keeps the node from such a member for good.
std::string static_fault(const PlainNode& node, const PlainConstraint& constraint) {
  if (!node.is_there) return "is not there";
  switch (lasting_refusal(node, constraint)) {
    case ReasonCode::kNone:
      return "";
    case ReasonCode::kNotReady:
      return "is not ready";
    case ReasonCode::kTaintNotTolerated:
      return "has a taint";
    case ReasonCode::kSelectorMismatch:
      return "is in another zone";
    default:
      return "has another model";
  }
}

/// Empty, or what the node has too little of, devices apart.
std::string amount_fault(const PlainNode& node, const Load& load, const PlainDemand& demand) {
  for (int r = 0; r < kPlainResources; ++r)
    if (demand.asks[r] > 0 && load.used[r] + demand.asks[r] > node.has[r])
      return "has too little of resource " + std::to_string(r);
  if (demand.port != 0 && std::count(load.ports.begin(), load.ports.end(), demand.port) > 0)
    return "has its port taken";
  return "";
}

/// Empty, or why the device cannot serve the demand. Whether one that names no memory may have a device without any
/// left is nobody's rule.
std::string device_fault(const Load& load, const PlainAsk& ask, int device, bool needs_some_memory = true) {
  const PlainDemand& demand = ask.demand;
  if (device < 0 || device >= load.node->devices) return "has no such card";
  const PlainDevice of = load.node->device(device);
  if (!ask.constraint.takes(of.model)) return "has a card of another model";
  if (of.is_sliced) return "has the card cut into slices";
  const auto c = static_cast<std::size_t>(device);
  if (!demand.is_share() && !load.is_idle(device)) return "has the card in use";
  if (load.milli[c] + demand.milli > 1000) return "has too little of the card left";
  if (of.mib == 0 || (demand.mib == 0 && !needs_some_memory)) return "";
  if (load.mib[c] + std::max<std::int64_t>(demand.mib, 1) > of.mib) return "has too little memory on the card left";
  return "";
}

PlainAsk ask_of(const PlainWorld& world, const PlainMember& member) {
  return {world.demands[static_cast<std::size_t>(member.demand)],
          world.constraints[static_cast<std::size_t>(member.constraint)]};
}

std::string bind_fault(const PlainWorld& world, const PlainMember& member, const PlainBind& bind) {
  const PlainNode& node = world.nodes[static_cast<std::size_t>(bind.node)];
  const Load load = load_of(world, bind.node);
  const PlainAsk ask = ask_of(world, member);
  const PlainDemand& demand = ask.demand;
  if (std::string fault = static_fault(node, ask.constraint); !fault.empty()) return fault;
  if (std::string fault = amount_fault(node, load, demand); !fault.empty()) return fault;
  if (static_cast<int>(bind.devices.size()) != demand.devices) return "gives not as many cards as asked";
  for (const int device : bind.devices)
    if (std::string fault = device_fault(load, ask, device, false); !fault.empty()) return fault;
  const bool is_open = demand.is_share() ? std::all_of(bind.devices.begin(), bind.devices.end(),
                                                       [&](int c) { return load.is_open_to_shares(c); })
                                         : load.most_of(bind.devices) == demand.devices;
  if (demand.devices > 0 && !is_open) return "owes its idle cards to others";
  return "";
}

/// Memory and what is in use apart: may such a member have the device?
bool could_serve(const Load& load, const PlainAsk& ask, int device) {
  const PlainDevice of = load.node->device(device);
  return !of.is_sliced && ask.constraint.takes(of.model);
}

bool is_below(const PlainWorld& world, int queue, int ancestor) {
  for (; queue != kNowhere; queue = world.queues[static_cast<std::size_t>(queue)].parent)
    if (queue == ancestor) return true;
  return false;
}

struct Charge {
  std::int64_t milli = 0, cores = 0;
  void add(const PlainDemand& demand) {
    milli += static_cast<std::int64_t>(demand.devices) * demand.milli;
    cores += demand.asks[kCores];
  }
};

/// Empty, or the queue that these members would put over its limit. `is_alone`: nobody else counts; `only`: just this
/// queue.
std::string quota_fault(const PlainWorld& world, const PlainJob& job, const std::vector<int>& ranks, bool is_alone,
                        int only = kNowhere) {
  Charge asked;
  for (const int rank : ranks)
    asked.add(world.demands[static_cast<std::size_t>(job.members[static_cast<std::size_t>(rank)].demand)]);
  for (std::size_t q = 0; q < world.queues.size(); ++q) {
    if (!is_below(world, job.queue, static_cast<int>(q)) || (only != kNowhere && only != static_cast<int>(q))) continue;
    Charge used;
    for (const PlainJob& other : world.jobs)
      if (!is_alone && is_below(world, other.queue, static_cast<int>(q)))
        for (const PlainMember& m : other.members)
          if (m.is_placed()) used.add(world.demands[static_cast<std::size_t>(m.demand)]);
    const PlainQueue& queue = world.queues[q];
    const bool is_over =
        (asked.milli > 0 && queue.milli_max != kUnlimited && used.milli + asked.milli > queue.milli_max) ||
        (asked.cores > 0 && queue.cores_max != kUnlimited && used.cores + asked.cores > queue.cores_max);
    if (is_over) return "exceeds the quota of queue " + std::to_string(q);
  }
  return "";
}

/// Of placed members, of all or of one group, all or those of these ranks, at a level.
std::set<int> domains_at(const PlainWorld& world, const PlainJob& job, int level, int group,
                         const std::vector<int>* ranks = nullptr) {
  std::set<int> domains;
  for (std::size_t r = 0; r < job.members.size(); ++r) {
    const PlainMember& m = job.members[r];
    if (!m.is_placed() || (group != kNowhere && m.group != group)) continue;
    if (ranks != nullptr && std::count(ranks->begin(), ranks->end(), static_cast<int>(r)) == 0) continue;
    domains.insert(world.nodes[static_cast<std::size_t>(m.node)].domain[static_cast<std::size_t>(level)]);
  }
  return domains;
}

std::set<int> domains_of(const PlainWorld& world, const PlainJob& job, const std::vector<int>* ranks = nullptr) {
  return domains_at(world, job, job.within, kNowhere, ranks);
}

/// Empty, or the rule of its groups that what was placed of the job breaks; `before` is the job as it was.
std::string groups_fault(const PlainWorld& world, const PlainJob& before, const PlainJob& now,
                         const std::vector<int>& placed) {
  for (std::size_t g = 0; g < now.groups.size(); ++g) {
    const int group = static_cast<int>(g);
    const std::string who = "group " + std::to_string(g);
    if (now.lacking_of(group) > 0) return who + " is below its minimum";
    if (now.groups[g].within == kNowhere) continue;
    const std::set<int> domains = domains_at(world, now, now.groups[g].within, group, &placed);
    if (domains.empty()) continue;
    if (domains.size() != 1 || *domains.begin() == kNowhere) return who + " is spread over domains";
    const std::set<int> held = domains_at(world, before, now.groups[g].within, group);
    if (held.size() == 1 && held != domains) return who + " is away from its other members";
  }
  return "";
}

/// Tries every arrangement of some members on some nodes.
class Search {
 public:
  /// `domains`: of each group with a level of its own, the one where it must be.
  Search(const PlainWorld& world, const PlainJob& job, std::vector<int> ranks, std::vector<int> nodes,
         std::vector<int> domains = {})
      : world_(world), job_(job), ranks_(std::move(ranks)), nodes_(std::move(nodes)), domains_(std::move(domains)) {
    for (std::size_t n = 0; n < world.nodes.size(); ++n) loads_.push_back(load_of(world, static_cast<int>(n)));
    std::stable_sort(ranks_.begin(), ranks_.end(), [&](int a, int b) {
      const PlainMember &x = member(a), &y = member(b);
      const std::int64_t devices_x = demand(x).devices * demand(x).milli,
                         devices_y = demand(y).devices * demand(y).milli;
      return std::tuple(devices_y, x.demand, x.constraint, x.group) <
             std::tuple(devices_x, y.demand, y.constraint, y.group);
    });
  }
  Answer run() {
    const bool is_placed = place(0, 0);
    return is_placed ? Answer::kYes : steps_ > kStepsMax ? Answer::kUnknown : Answer::kNo;
  }

 private:
  static constexpr std::int64_t kStepsMax = 300'000;  ///< a few instances in ten thousand need more

  const PlainMember& member(int rank) const { return job_.members[static_cast<std::size_t>(rank)]; }
  const PlainDemand& demand(const PlainMember& m) const { return world_.demands[static_cast<std::size_t>(m.demand)]; }
  bool is_like_before(std::size_t i) const {
    const PlainMember &a = member(ranks_[i]), &b = member(ranks_[i - 1]);
    return a.demand == b.demand && a.constraint == b.constraint && a.group == b.group;
  }
  /// Members that are alike need not be tried in both orders: each goes no further left than the one before it.
  bool place(std::size_t i, std::size_t first_node) {
    if (i == ranks_.size()) return true;
    if (++steps_ > kStepsMax || !seen_.insert(fingerprint(i, first_node)).second) return false;
    const PlainMember& m = member(ranks_[i]);
    for (std::size_t k = first_node; k < nodes_.size(); ++k) {
      const auto n = static_cast<std::size_t>(nodes_[k]);
      if (!is_in_its_domain(m, n)) continue;
      if (!static_fault(world_.nodes[n], world_.constraints[static_cast<std::size_t>(m.constraint)]).empty()) continue;
      if (!amount_fault(world_.nodes[n], loads_[n], demand(m)).empty()) continue;
      for (const std::vector<int>& devices : choices(n, ask_of(world_, m))) {
        loads_[n].add(demand(m), devices, +1);
        const bool is_next_like = i + 1 < ranks_.size() && is_like_before(i + 1);
        if (place(i + 1, is_next_like ? k : 0)) return true;
        loads_[n].add(demand(m), devices, -1);
      }
    }
    return false;
  }
  /// Sets of devices that differ: idle devices of one kind are all the same, and so are those with as much taken. Idle
  /// ones that are owed to others are nobody's to give.
  std::vector<std::vector<int>> choices(std::size_t n, const PlainAsk& ask) const {
    if (ask.demand.devices == 0) return {{}};
    const Load& load = loads_[n];
    std::vector<std::vector<int>> like;  // devices that fit, those that are all the same together
    for (int c = 0; c < world_.nodes[n].devices; ++c) {
      if (ask.demand.is_share() && !load.is_open_to_shares(c)) continue;
      if (!device_fault(load, ask, c).empty()) continue;
      const auto row = static_cast<std::size_t>(c);
      const auto is_same = [&](const std::vector<int>& others) {
        const auto other = static_cast<std::size_t>(others.front());
        return load.milli[row] == load.milli[other] && load.mib[row] == load.mib[other] &&
               load.node->device(c) == load.node->device(others.front());
      };
      const auto it = std::find_if(like.begin(), like.end(), is_same);
      if (it == like.end())
        like.push_back({c});
      else
        it->push_back(c);
    }
    std::vector<std::vector<int>> found;
    if (ask.demand.is_share())
      for (const std::vector<int>& devices : like) found.push_back({devices.front()});
    else
      add_wholes(load, like, 0, ask.demand.devices, {}, found);
    return found;
  }
  bool is_in_its_domain(const PlainMember& m, std::size_t node) const {
    if (job_.groups.empty()) return true;
    const int within = job_.groups[static_cast<std::size_t>(m.group)].within;
    return within == kNowhere ||
           world_.nodes[node].domain[static_cast<std::size_t>(within)] == domains_[static_cast<std::size_t>(m.group)];
  }
  /// Every number of devices of each kind that comes to as many.
  static void add_wholes(const Load& load, const std::vector<std::vector<int>>& like, std::size_t kind, int missing,
                         const std::vector<int>& chosen, std::vector<std::vector<int>>& found) {
    if (missing == 0) found.push_back(chosen);
    if (missing == 0 || kind == like.size()) return;
    const auto most = std::min<std::int64_t>(
        {missing, load.idle_like(like[kind].front()), static_cast<std::int64_t>(like[kind].size())});
    for (std::int64_t count = most; count >= 0; --count) {
      std::vector<int> with = chosen;
      with.insert(with.end(), like[kind].begin(), like[kind].begin() + count);
      add_wholes(load, like, kind + 1, missing - static_cast<int>(count), with, found);
    }
  }
  std::uint64_t fingerprint(std::size_t i, std::size_t first_node) const {
    std::uint64_t hash = 14695981039346656037ull;
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ (value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2))) * 1099511628211ull;
    };
    mix(i * 64 + first_node);
    for (const int n : nodes_) {
      const Load& load = loads_[static_cast<std::size_t>(n)];
      std::vector<std::array<std::int64_t, 4>> devices;
      for (std::size_t c = 0; c < load.milli.size(); ++c) {
        const PlainDevice of = load.node->device(static_cast<int>(c));
        devices.push_back({load.milli[c], load.mib[c], of.mib, 2 * of.model + (of.is_sliced ? 1 : 0)});
      }
      std::sort(devices.begin(), devices.end());
      for (const auto& device : devices)
        for (const std::int64_t part : device) mix(static_cast<std::uint64_t>(part));
      for (const std::int64_t used : load.used) mix(static_cast<std::uint64_t>(used));
      mix(load.ports.size());
    }
    return hash;
  }

  const PlainWorld& world_;
  const PlainJob& job_;
  std::vector<int> ranks_, nodes_, domains_;
  std::vector<Load> loads_;
  std::unordered_set<std::uint64_t> seen_;
  std::int64_t steps_ = 0;
};

}  // namespace

int PlainJob::placed() const {
  return static_cast<int>(
      std::count_if(members.begin(), members.end(), [](const PlainMember& m) { return m.is_placed(); }));
}

int PlainJob::placed_of(int group) const {
  return static_cast<int>(std::count_if(members.begin(), members.end(),
                                        [&](const PlainMember& m) { return m.is_placed() && m.group == group; }));
}

int PlainJob::lacking_of(int group) const {
  return is_each_needed ? 0 : std::max(groups[static_cast<std::size_t>(group)].min - placed_of(group), 0);
}

int PlainJob::lacking() const {
  int lacking = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) lacking += lacking_of(static_cast<int>(g));
  const int all = groups.empty() || is_each_needed ? min : 1;
  return std::max(lacking, std::max(all - placed(), 0));
}

std::vector<int> PlainJob::waiting(int count) const {
  std::vector<int> ranks, later;
  std::vector<int> left;
  for (std::size_t g = 0; g < groups.size(); ++g) left.push_back(lacking_of(static_cast<int>(g)));
  const bool is_below = std::any_of(left.begin(), left.end(), [](int lacks) { return lacks > 0; });
  for (std::size_t r = 0; r < members.size(); ++r) {
    if (members[r].is_placed()) continue;
    const bool is_needed = !is_below || left[static_cast<std::size_t>(members[r].group)]-- > 0;
    (is_needed ? ranks : later).push_back(static_cast<int>(r));
  }
  ranks.insert(ranks.end(), later.begin(), later.end());
  if (static_cast<int>(ranks.size()) > count) ranks.resize(static_cast<std::size_t>(count));
  return ranks;
}

std::vector<std::vector<int>> PlainJob::choices() const {
  std::vector<std::vector<int>> found{waiting(needed())};
  const std::vector<int> all = waiting(static_cast<int>(members.size()));
  if (all.size() <= found.front().size()) return found;
  std::set<std::vector<std::tuple<int, int, int>>> seen;  // members of one kind are alike
  for (std::uint32_t bits = 0; bits < std::uint32_t{1} << all.size(); ++bits) {
    if (std::popcount(bits) != needed()) continue;
    std::vector<int> ranks, lacks;
    std::vector<std::tuple<int, int, int>> kinds;
    for (std::size_t g = 0; g < groups.size(); ++g) lacks.push_back(lacking_of(static_cast<int>(g)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((bits >> i & 1) == 0) continue;
      const PlainMember& m = members[static_cast<std::size_t>(all[i])];
      ranks.push_back(all[i]);
      kinds.emplace_back(m.demand, m.constraint, m.group);
      if (!lacks.empty()) --lacks[static_cast<std::size_t>(m.group)];
    }
    std::ranges::sort(kinds);
    const bool is_enough = std::ranges::all_of(lacks, [](int lack) { return lack <= 0; });
    if (is_enough && seen.insert(kinds).second) found.push_back(std::move(ranks));
  }
  return found;
}

bool PlainJob::has_enough_members() const {
  const auto present = [&](int group) {
    return std::count_if(members.begin(), members.end(), [&](const PlainMember& m) { return m.group == group; });
  };
  if (groups.empty() || is_each_needed) return static_cast<int>(members.size()) >= min;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (present(static_cast<int>(g)) < groups[g].min) return false;
  return !members.empty();
}

int member_row(const PlainWorld& world, int job, int rank) {
  int row = rank;
  for (int j = 0; j < job; ++j) row += static_cast<int>(world.jobs[static_cast<std::size_t>(j)].members.size());
  return row;
}

PlainBind bind_of(const PlainWorld& world, std::uint32_t member, std::uint32_t node, const DeviceMask& devices) {
  PlainBind bind{0, static_cast<int>(member), static_cast<int>(node), {}};
  while (bind.rank >= static_cast<int>(world.jobs[static_cast<std::size_t>(bind.job)].members.size()))
    bind.rank -= static_cast<int>(world.jobs[static_cast<std::size_t>(bind.job++)].members.size());
  devices.each([&](int c) { bind.devices.push_back(c); });
  return bind;
}

ReasonCode lasting_refusal(const PlainNode& node, const PlainConstraint& constraint) {
  if (!node.is_ready) return ReasonCode::kNotReady;
  const bool has_taint = node.taint != kNowhere && node.taint != static_cast<int>(TaintEffect::kPreferNoSchedule);
  if (has_taint && !constraint.tolerates) return ReasonCode::kTaintNotTolerated;
  if (constraint.zone != kNowhere && node.zone != constraint.zone) return ReasonCode::kSelectorMismatch;
  if (constraint.not_zone != kNowhere && node.zone == constraint.not_zone) return ReasonCode::kSelectorMismatch;
  std::set<int> models;
  for (const PlainDevice& device : node.each) models.insert(device.model);
  if (node.each.empty()) models.insert(node.model);
  const auto takes_model = [&](int of) { return constraint.takes_model(of); };
  if (std::none_of(models.begin(), models.end(), takes_model)) return ReasonCode::kModelMismatch;
  const auto takes = [&](int of) { return constraint.takes(of); };
  if (std::none_of(models.begin(), models.end(), takes)) return ReasonCode::kCapabilityMissing;
  return ReasonCode::kNone;
}

void define_model(PlainWorld& world, int model, unsigned capabilities) {
  for (int c = 0; c < kPlainCapabilities; ++c) {
    unsigned& able = world.able[static_cast<std::size_t>(c)];
    able = (capabilities >> c & 1) != 0 ? able | 1u << model : able & ~(1u << model);
  }
  for (PlainConstraint& constraint : world.constraints)
    if (constraint.capability != kNowhere)
      constraint.able = world.able[static_cast<std::size_t>(constraint.capability)];
}

bool is_port_taken(const PlainWorld& world, int node, const PlainDemand& demand) {
  const Load load = load_of(world, node);
  return demand.port != 0 && std::count(load.ports.begin(), load.ports.end(), demand.port) > 0;
}

std::int64_t amount_left(const PlainWorld& world, int node, PlainResource resource) {
  return world.nodes[static_cast<std::size_t>(node)].has[resource] - load_of(world, node).used[resource];
}

bool has_devices_for(const PlainWorld& world, int node, const PlainAsk& ask) {
  if (ask.demand.devices == 0) return true;
  const Load load = load_of(world, node);
  std::vector<int> fitting;
  for (int c = 0; c < load.node->devices; ++c)
    if (device_fault(load, ask, c).empty() && (!ask.demand.is_share() || load.is_open_to_shares(c)))
      fitting.push_back(c);
  return ask.demand.is_share() ? !fitting.empty() : load.most_of(fitting) >= ask.demand.devices;
}

std::int64_t most_device_memory(const PlainWorld& world, int node, const PlainAsk& ask) {
  const Load load = load_of(world, node);
  std::int64_t most = 0;
  for (int c = 0; c < load.node->devices; ++c) {
    const auto device = static_cast<std::size_t>(c);
    if (load.is_open_to_shares(c) && could_serve(load, ask, c) && 1000 - load.milli[device] >= ask.demand.milli)
      most = std::max(most, load.node->device(c).mib - load.mib[device]);
  }
  return most;
}

std::int64_t milli_left_for(const PlainWorld& world, int node, const PlainAsk& ask) {
  const Load load = load_of(world, node);
  std::int64_t most = 0;
  std::vector<int> idle;
  for (int c = 0; c < load.node->devices; ++c) {
    if (!could_serve(load, ask, c)) continue;
    if (load.is_idle(c)) idle.push_back(c);
    if (load.is_open_to_shares(c)) most = std::max(most, 1000 - load.milli[static_cast<std::size_t>(c)]);
  }
  return ask.demand.is_share() ? most : 1000 * load.most_of(idle);
}

bool is_over_quota(const PlainWorld& world, int job, int queue, bool is_alone) {
  const PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
  const auto is_over = [&](const std::vector<int>& ranks, int of_queue) {
    return !quota_fault(world, of, ranks, is_alone, of_queue).empty();
  };
  const std::vector<std::vector<int>> choices = of.choices();
  return std::ranges::all_of(choices, [&](const auto& ranks) { return is_over(ranks, kNowhere); }) &&
         std::ranges::any_of(choices, [&](const auto& ranks) { return is_over(ranks, queue); });
}

NodeFacts facts_of(const PlainNode& node, int levels) {
  NodeFacts facts;
  facts.devices.count = node.devices;
  facts.devices.memory_each = MiB(node.device_mib);
  facts.allocatable = {node.has[kCores] * 1000, node.has[kGigabytes] * kGiB, 0, node.has[kPodSlots],
                       node.has[kAdapters]};
  facts.devices.device_class = DeviceClassId(node.model);
  if (!node.each.empty()) {
    facts.devices.layout = DeviceLayoutId(node.layout);
    facts.devices.device_class = DeviceClassId(node.each.front().model);
    facts.devices.memory_each = MiB(node.each.front().mib);
    for (const PlainDevice& device : node.each) {
      if (device.model != node.each.front().model) facts.devices.device_class = DeviceClassId::none();
      if (device.mib != node.each.front().mib) facts.devices.memory_each = MiB(0);
    }
  }
  facts.is_ready = node.is_ready;
  facts.labels = {{kZoneKey, LabelId(node.zone), NodeLabel::kNotANumber}};
  if (node.taint != kNowhere) facts.taints = {{kTaintKey, LabelId(100u), static_cast<TaintEffect>(node.taint)}};
  for (const int domain : node.domain)
    facts.domains.push_back(domain == kNowhere ? DomainId::none() : DomainId(domain));
  facts.domains.resize(static_cast<std::size_t>(levels));
  return facts;
}

PlainNode plain_of(const PlainWorld& world, const NodeFacts& facts) {
  PlainNode node;
  node.devices = facts.devices.count;
  node.device_mib = facts.devices.memory_each.value;
  node.has = {facts.allocatable[0] / 1000, facts.allocatable[1] / kGiB, facts.allocatable[3], facts.allocatable[4]};
  if (facts.devices.layout.is_none()) {
    node.model = static_cast<int>(facts.devices.device_class.row());
  } else {
    node.layout = static_cast<int>(facts.devices.layout.row());
    node.each = world.layouts[facts.devices.layout.row()];
  }
  node.is_ready = facts.is_ready;
  node.zone = static_cast<int>(facts.labels[0].id.row());
  if (!facts.taints.empty()) node.taint = static_cast<int>(facts.taints[0].effect);
  for (std::size_t l = 0; l < facts.domains.size(); ++l)
    if (!facts.domains[l].is_none()) node.domain[l] = static_cast<int>(facts.domains[l].row());
  return node;
}

namespace {

Demand demand_of(const PlainDemand& plain) {
  Demand demand;
  const auto add = [&](ResourceId id, std::int64_t amount) {
    if (amount > 0) demand.amounts.push_back({id, amount});
  };
  add(resource::kCpu, plain.asks[kCores] * 1000);
  add(resource::kMemory, plain.asks[kGigabytes] * kGiB);
  add(resource::kPods, plain.asks[kPodSlots]);
  add(kAdapterColumn, plain.asks[kAdapters]);
  if (plain.devices > 0) demand.devices = {plain.devices, MilliGpu(plain.milli), MiB(plain.mib)};
  if (plain.port != 0) demand.ports.push_back({6, 0, static_cast<std::uint16_t>(plain.port)});
  return demand;
}

Constraint constraint_of(const PlainConstraint& plain) {
  using Op = LabelExpression::Op;
  Constraint constraint;
  if (plain.model != kNowhere) constraint.models = {DeviceClassId(plain.model)};
  if (plain.capability != kNowhere) constraint.capabilities = {CapabilityId(plain.capability)};
  if (plain.zone != kNowhere) constraint.selector.all.push_back({kZoneKey, Op::kIn, {LabelId(plain.zone)}, 0});
  if (plain.not_zone != kNowhere)
    constraint.any_of = {NodeTerm{{{kZoneKey, Op::kNotIn, {LabelId(plain.not_zone)}, 0}}}};
  if (plain.wished_zone != kNowhere)
    constraint.preferred = {{50, NodeTerm{{{kZoneKey, Op::kIn, {LabelId(plain.wished_zone)}, 0}}}}};
  if (plain.tolerates) constraint.tolerations = {Toleration{}};
  return constraint;
}

GangSpec spec_of(const PlainJob& job) {
  const auto level = [](int row) { return row == kNowhere ? LevelId::none() : LevelId(row); };
  GangSpec spec;
  for (const PlainGroup& group : job.groups)
    spec.groups.push_back({static_cast<std::uint32_t>(group.min), level(group.within), level(group.prefer)});
  return spec;
}

DeviceLayout layout_of(const std::vector<PlainDevice>& devices) {
  DeviceLayout layout;
  for (const PlainDevice& device : devices)
    layout.devices.push_back({.device_class = DeviceClassId(device.model),
                              .memory = MiB(device.mib),
                              .mode = device.is_sliced ? DeviceMode::kSliced : DeviceMode::kWhole});
  return layout;
}

Workload workload_of(const PlainWorld& world, int index) {
  const PlainJob& job = world.jobs[static_cast<std::size_t>(index)];
  Workload w;
  w.job = JobId(index);
  w.queue = QueueId(job.queue);
  w.members_min = static_cast<std::uint32_t>(job.min);
  if (job.within != kNowhere) w.within = LevelId(job.within);
  if (job.prefer != kNowhere) w.prefer = LevelId(job.prefer);
  w.submitted = Millis(index);
  w.is_ours = job.is_ours;
  if (!job.groups.empty()) w.spec = GangSpecId(index);
  for (std::size_t r = 0; r < job.members.size(); ++r)
    w.members.push_back({MemberId(member_row(world, index, static_cast<int>(r))), DemandId(job.members[r].demand),
                         ConstraintId(job.members[r].constraint), LabelSetId::none(),
                         static_cast<std::uint32_t>(job.members[r].group)});
  return w;
}

}  // namespace

std::vector<Event> events_of(const PlainWorld& world) {
  std::vector<Event> out;
  const auto tell = [&](EventBody body) { out.push_back({Millis(0), std::move(body)}); };
  tell(LevelsDefined{static_cast<std::uint32_t>(world.nested), static_cast<std::uint32_t>(world.orthogonal)});
  for (std::size_t d = 0; d < world.demands.size(); ++d) tell(DemandDefined{DemandId(d), demand_of(world.demands[d])});
  for (int model = 0; model < kPlainModels; ++model) {
    DeviceClass of;
    for (int c = 0; c < kPlainCapabilities; ++c)
      if ((world.able[static_cast<std::size_t>(c)] >> model & 1) != 0) of.capabilities.emplace_back(c);
    if (!of.capabilities.empty()) tell(DeviceClassDefined{DeviceClassId(model), of});
  }
  for (std::size_t c = 0; c < world.constraints.size(); ++c)
    tell(ConstraintDefined{ConstraintId(c), constraint_of(world.constraints[c])});
  for (std::size_t q = 1; q < world.queues.size(); ++q) {
    const PlainQueue& queue = world.queues[q];
    const std::int64_t cores = queue.cores_max == kUnlimited ? kUnlimited : queue.cores_max * 1000;
    tell(QueueDefined{QueueId(q), QueueId(queue.parent), {queue.milli_max, cores, kUnlimited}});
  }
  for (std::size_t l = 0; l < world.layouts.size(); ++l)
    tell(DeviceLayoutDefined{DeviceLayoutId(l), layout_of(world.layouts[l])});
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    tell(NodeSeen{NodeId(n), facts_of(world.nodes[n], world.nested + world.orthogonal)});
  }
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    if (!world.jobs[j].groups.empty()) tell(GangSpecDefined{GangSpecId(j), spec_of(world.jobs[j])});
    tell(Submitted{workload_of(world, static_cast<int>(j))});
    for (std::size_t r = 0; r < world.jobs[j].members.size(); ++r) {
      const PlainMember& m = world.jobs[j].members[r];
      if (!m.is_placed()) continue;
      DeviceMask devices;
      for (const int c : m.devices) devices.set(c);
      tell(Bound{MemberId(member_row(world, static_cast<int>(j), static_cast<int>(r))), NodeId(m.node), devices});
    }
  }
  return out;
}

std::string broken_rule(PlainWorld& world, const std::vector<PlainBind>& binds) {
  std::set<int> jobs;
  const std::vector<PlainJob> jobs_before = world.jobs;
  std::vector<std::vector<int>> before(world.jobs.size());  // domains in which the job sat already
  std::vector<std::vector<int>> placed(world.jobs.size());
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    if (world.jobs[j].within == kNowhere) continue;
    const std::set<int> domains = domains_of(world, world.jobs[j]);
    before[j].assign(domains.begin(), domains.end());
  }
  for (const PlainBind& bind : binds) {
    const auto j = static_cast<std::size_t>(bind.job);
    const std::string who = "job " + std::to_string(bind.job) + " member " + std::to_string(bind.rank);
    PlainMember& m = world.jobs[j].members[static_cast<std::size_t>(bind.rank)];
    if (!world.jobs[j].is_ours) return who + " is another scheduler's";
    if (m.is_placed()) return who + " is placed already";
    if (std::string fault = bind_fault(world, m, bind); !fault.empty())
      return who + " on node " + std::to_string(bind.node) + ", which " + fault;
    if (std::string fault = quota_fault(world, world.jobs[j], {bind.rank}, false); !fault.empty())
      return who + " " + fault;
    m.node = bind.node;
    m.devices = bind.devices;
    jobs.insert(bind.job);
    placed[j].push_back(bind.rank);
  }
  for (const int job : jobs) {
    const auto j = static_cast<std::size_t>(job);
    const PlainJob& of = world.jobs[j];
    if (of.lacking() > 0 && of.groups.empty()) return "job " + std::to_string(job) + " is below its minimum";
    if (std::string fault = groups_fault(world, jobs_before[j], of, placed[j]); !fault.empty())
      return "job " + std::to_string(job) + ": " + fault;
    if (of.within == kNowhere) continue;
    const std::set<int> now = domains_of(world, of, &placed[j]);
    if (now.size() != 1 || *now.begin() == kNowhere) return "job " + std::to_string(job) + " is spread over domains";
    if (before[j].size() == 1 && before[j].front() != *now.begin())
      return "job " + std::to_string(job) + " is away from its other members";
  }
  return "";
}

std::vector<int> devices_taken_to_get(const PlainWorld& world, int node, const PlainAsk& ask) {
  const Load load = load_of(world, node);
  std::vector<int> devices;
  for (int c = 0; c < load.node->devices && static_cast<int>(devices.size()) < ask.demand.devices; ++c)
    if (!ask.demand.is_share() && device_fault(load, ask, c).empty()) devices.push_back(c);
  for (int c = 0; c < load.node->devices && ask.demand.is_share(); ++c) {
    if (!device_fault(load, ask, c).empty()) continue;
    const auto is_tighter = [&](int than) {
      return load.milli[static_cast<std::size_t>(c)] > load.milli[static_cast<std::size_t>(than)];
    };
    if (devices.empty() || is_tighter(devices[0])) devices = {c};
  }
  return devices;
}

PlainWorld without_outranked(PlainWorld world, int job) {
  const std::int32_t priority = world.jobs[static_cast<std::size_t>(job)].priority;
  for (PlainJob& other : world.jobs)
    for (PlainMember& m : other.members)
      if (m.is_nominated && other.priority < priority) m.take_off();
  return world;
}

bool find_devices(const PlainWorld& world, PlainBind& bind, int first, bool is_forced) {
  const PlainMember& member =
      world.jobs[static_cast<std::size_t>(bind.job)].members[static_cast<std::size_t>(bind.rank)];
  const PlainAsk ask = ask_of(world, member);
  const PlainDemand& demand = ask.demand;
  const PlainNode& node = world.nodes[static_cast<std::size_t>(bind.node)];
  const Load load = load_of(world, bind.node);
  if (!static_fault(node, ask.constraint).empty()) return false;
  if (!is_forced && !amount_fault(node, load, demand).empty()) return false;
  for (int k = 0; k < node.devices && static_cast<int>(bind.devices.size()) < demand.devices; ++k)
    if (const int device = (first + k) % node.devices; device_fault(load, ask, device).empty())
      bind.devices.push_back(device);
  return static_cast<int>(bind.devices.size()) == demand.devices;
}

namespace {

/// Every assignment of a domain to each group with a level of its own of which one of these ranks is; a group that has
/// members keeps theirs. One that was torn apart by somebody else may go anywhere: see can_be_placed.
std::vector<std::vector<int>> domains_of_groups(const PlainWorld& world, const PlainJob& job,
                                                const std::vector<int>& ranks) {
  std::vector<std::vector<int>> all(1, std::vector<int>(job.groups.size(), kNowhere));
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    const int within = job.groups[g].within;
    const bool is_asked = std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
      return job.members[static_cast<std::size_t>(rank)].group == static_cast<int>(g);
    });
    if (within == kNowhere || !is_asked) continue;
    std::set<int> domains = domains_at(world, job, within, static_cast<int>(g));
    if (domains.empty())
      for (const PlainNode& node : world.nodes) domains.insert(node.domain[static_cast<std::size_t>(within)]);
    domains.erase(kNowhere);
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& one : all)
      for (const int domain : domains) {
        longer.push_back(one);
        longer.back()[g] = domain;
      }
    all = longer;
  }
  return all;
}

/// Whether somebody else has put members of a group into several domains.
bool is_a_group_torn(const PlainWorld& world, const PlainJob& job) {
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    if (job.groups[g].within == kNowhere) continue;
    const std::set<int> domains = domains_at(world, job, job.groups[g].within, static_cast<int>(g));
    if (domains.size() > 1 || domains.contains(kNowhere)) return true;
  }
  return false;
}

}  // namespace

namespace {

/// Whether exactly these members can be.
Answer can_be_placed(const PlainWorld& world, const PlainJob& of, const std::vector<int>& ranks) {
  if (!quota_fault(world, of, ranks, false).empty()) return Answer::kNo;
  if (is_a_group_torn(world, of)) return Answer::kUnknown;
  std::set<int> domains;  // where to look; one that is kNowhere: everywhere
  if (of.within == kNowhere) {
    domains.insert(kNowhere);
  } else if (of.placed() > 0) {
    domains = domains_of(world, of);
    // torn apart by somebody else: where it should go on is nobody's rule
    if (domains.size() != 1) return Answer::kUnknown;
  } else {
    for (const PlainNode& node : world.nodes) domains.insert(node.domain[static_cast<std::size_t>(of.within)]);
  }
  if (of.within != kNowhere) domains.erase(kNowhere);
  Answer answer = Answer::kNo;
  for (const int domain : domains) {
    std::vector<int> nodes;
    for (std::size_t n = 0; n < world.nodes.size(); ++n)
      if (of.within == kNowhere || world.nodes[n].domain[static_cast<std::size_t>(of.within)] == domain)
        nodes.push_back(static_cast<int>(n));
    for (const std::vector<int>& of_groups : domains_of_groups(world, of, ranks)) {
      const Answer here = Search(world, of, ranks, nodes, of_groups).run();
      if (here == Answer::kYes) return here;
      if (here == Answer::kUnknown) answer = here;
    }
  }
  return answer;
}

}  // namespace

Answer can_be_placed(const PlainWorld& world, int job) {
  const PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
  const std::vector<std::vector<int>> choices = of.choices();
  if (static_cast<int>(choices.front().size()) < of.needed()) return Answer::kNo;
  Answer answer = Answer::kNo;
  for (const std::vector<int>& ranks : choices) {
    const Answer of_these = can_be_placed(world, of, ranks);
    if (of_these == Answer::kYes) return of_these;
    if (of_these == Answer::kUnknown) answer = of_these;
  }
  return answer;
}

namespace {

/// Whether members of a group with a level of its own run already.
bool has_group_with_a_domain(const PlainJob& job) {
  for (std::size_t g = 0; g < job.groups.size(); ++g)
    if (job.groups[g].within != kNowhere && job.placed_of(static_cast<int>(g)) > 0) return true;
  return false;
}

}  // namespace

namespace {

/// Whether exactly these members could.
Answer could_ever_run(PlainWorld world, int job, const std::vector<int>& ranks) {
  for (PlainNode& node : world.nodes) {
    node.is_ready = true;
    node.taint = kNowhere;
  }
  PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
  // Members of a gang below its minimum that run stay where they are, beside those that it needs.
  PlainJob survivors;
  const bool is_below = of.lacking() > 0;
  if (is_below && has_group_with_a_domain(of)) return Answer::kUnknown;  // which it keeps; nobody has written that down
  if (is_below && of.within != kNowhere && of.placed() > 0) {
    const auto level = static_cast<std::size_t>(of.within);
    const std::set<int> held_in = domains_of(world, of);
    if (held_in.size() != 1 || *held_in.begin() == kNowhere) return Answer::kUnknown;  // torn apart by somebody else
    for (PlainNode& node : world.nodes)
      if (node.domain[level] != *held_in.begin()) node.domain[level] = kNowhere;
  }
  if (is_below)
    std::copy_if(of.members.begin(), of.members.end(), std::back_inserter(survivors.members),
                 [](const PlainMember& m) { return m.node != kNowhere; });
  std::vector<PlainMember> needed;
  for (const int rank : ranks) needed.push_back(of.members[static_cast<std::size_t>(rank)]);
  of.members = needed;
  of.min = static_cast<int>(needed.size());
  for (std::size_t g = 0; g < of.groups.size(); ++g)
    of.groups[g].min = static_cast<int>(std::count_if(
        needed.begin(), needed.end(), [&](const PlainMember& m) { return m.group == static_cast<int>(g); }));
  for (PlainJob& other : world.jobs)
    for (PlainMember& m : other.members) {
      m.node = kNowhere;
      m.devices.clear();
    }
  // The engine's proof leaves out the shares of devices that they hold: it is a proof all the same.
  for (PlainMember& m : survivors.members) {
    PlainDemand demand = world.demands[static_cast<std::size_t>(m.demand)];
    if (!demand.is_share()) continue;
    demand.devices = 0;
    m.devices.clear();
    m.demand = static_cast<int>(world.demands.size());
    world.demands.push_back(demand);
  }
  if (!survivors.members.empty()) world.jobs.push_back(survivors);
  return can_be_placed(world, job);
}

}  // namespace

Answer could_ever_run(const PlainWorld& world, int job) {
  Answer answer = Answer::kNo;
  for (const std::vector<int>& ranks : world.jobs[static_cast<std::size_t>(job)].choices()) {
    const Answer of_these = could_ever_run(world, job, ranks);
    if (of_these == Answer::kYes) return of_these;
    if (of_these == Answer::kUnknown) answer = of_these;
  }
  return answer;
}

}  // namespace ashlar::oracle
