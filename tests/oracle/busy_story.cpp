#include "busy_story.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace ashlar::oracle::busy {
namespace {

constexpr int kSecondsMax = 40;  ///< by when all jobs have come
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr ResourceId kNic{resource::kFirstExtended};
constexpr QueueId kRootQueue{0u};
constexpr int kSharesOfDevices[] = {300, 500, 700};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : rng_(seed * 2 + 1) { story_.seed = seed; }

  Story write() {
    choose_profile();
    levels_ = 1 + below(2);
    say(Millis(0), LevelsDefined{static_cast<std::uint32_t>(levels_), 0});
    classes_ = 1 + below(3);
    queues();
    demands();
    constraints();
    nodes();
    for (int n = 10 + below(35); n > 0; --n) job();
    for (int n = below(16); n > 0; --n) trouble();
    std::stable_sort(story_.script.begin(), story_.script.end(),
                     [](const sim::ScriptedEvent& a, const sim::ScriptedEvent& b) { return a.at < b.at; });
    return std::move(story_);
  }

 private:
  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  const T& any_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  Millis some_time() { return Millis(500 * below(2 * kSecondsMax)); }
  void say(Millis at, EventBody body) { story_.script.push_back({at, std::move(body)}); }

  void choose_profile() {
    Profile& profile = story_.profile;
    profile = *builtin_profile(one_in(4) ? "spread" : "ashlar");
    // Not by count: that looks at all jobs it holds in every decision.
    constexpr Blocking kBlocking[] = {Blocking::kEasy, Blocking::kEasy, Blocking::kEasy,
                                      Blocking::kEasy, Blocking::kSkip, Blocking::kStrict};
    profile.blocking = kBlocking[below(static_cast<int>(std::size(kBlocking)))];
    if (one_in(4)) profile.queue_order = find_queue_order("least-share");
    if (one_in(5)) profile.order = find_order(one_in(2) ? "fifo" : "sjf");
    story_.options.has_verdicts = !one_in(4);
    if (one_in(6)) story_.options.binds_per_step_max = static_cast<std::uint32_t>(1 + below(3));
    story_.rules.keeps_going = one_in(2);
    story_.has_faulty_binds = one_in(3);
  }

  std::vector<QuotaLimit> some_limits() {
    std::vector<QuotaLimit> limits;
    for (int c = 0; c < classes_; ++c)
      if (one_in(3)) limits.push_back({{ResourceId::none(), DeviceClassId(c)}, 1000 * below(13)});
    if (one_in(8)) limits.push_back({{resource::kCpu, DeviceClassId(0u)}, 1000 * below(30)});
    if (one_in(8)) limits.push_back({{kNic, DeviceClassId::none()}, below(4)});
    return limits;
  }
  void limit(Millis at, int queue) {
    QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
    if (one_in(2)) quota[0] = 500 * below(40);
    if (one_in(8)) quota[1] = 1000 * below(60);
    say(at, QueueDefined{QueueId(queue), parents_[static_cast<std::size_t>(queue)], quota, some_limits()});
  }
  void queues() {
    parents_ = {QueueId::none(), kRootQueue};
    for (int n = below(5); n > 0; --n)
      parents_.push_back(one_in(3) ? kRootQueue : QueueId(1 + below(static_cast<int>(parents_.size()) - 1)));
    const bool has_limits = !one_in(4);
    for (int q = 1; q < static_cast<int>(parents_.size()); ++q)
      if (has_limits && !one_in(3))
        limit(Millis(0), q);
      else
        say(Millis(0),
            QueueDefined{QueueId(q), parents_[static_cast<std::size_t>(q)], {kUnlimited, kUnlimited, kUnlimited}});
  }
  int some_queue() { return below(static_cast<int>(parents_.size())); }

  void demands() {
    const auto add = [&](std::int64_t cores, DeviceRequest devices, std::int64_t nics = 0) {
      Demand demand{.amounts = {{resource::kCpu, 1000 * cores}, {resource::kPods, 1}}, .devices = devices};
      if (nics > 0) demand.amounts.push_back({kNic, nics});
      say(Millis(0), DemandDefined{DemandId(demands_.size()), demand});
      demands_.push_back(devices.count);
    };
    for (const int count : {1, 1, 2, 4, 8}) add(1 + below(4), {count, MilliGpu(1000), MiB(0)});
    for (const int milli : kSharesOfDevices) add(1, {1, MilliGpu(milli), MiB(one_in(2) ? 0 : 20'000)});
    add(1 + below(8), {});
    add(1, {1 + below(2), MilliGpu(1000), MiB(0)}, 1);
  }
  /// Often of one device, seldom of all of a node.
  DemandId some_demand() {
    const int row = one_in(3) ? below(2) : below(static_cast<int>(demands_.size()));
    return DemandId(demands_[static_cast<std::size_t>(row)] > devices_max_ ? below(2) : row);
  }

  void constraints() {
    say(Millis(0), ConstraintDefined{ConstraintId(0u), {}});
    for (int c = 0; c < classes_; ++c)
      say(Millis(0), ConstraintDefined{ConstraintId(1 + c), Constraint{.models = {DeviceClassId(c)}}});
    say(Millis(0), ConstraintDefined{ConstraintId(1 + classes_),
                                     Constraint{.models = {DeviceClassId(0u), DeviceClassId(classes_ - 1)}}});
  }
  ConstraintId some_constraint() { return ConstraintId(one_in(2) ? 0 : below(classes_ + 2)); }

  /// Devices of two classes, of unlike memory or not.
  void layout(std::int32_t count) {
    DeviceLayout layout;
    for (std::int32_t d = 0; d < count; ++d)
      layout.devices.push_back({.device_class = DeviceClassId(2 * d < count ? 0 : classes_ - 1),
                                .memory = MiB(2 * d < count ? 80'000 : 40'000)});
    say(Millis(0), DeviceLayoutDefined{DeviceLayoutId(layouts_.size()), layout});
    layouts_.push_back(layout);
  }
  NodeFacts some_node(std::size_t row) {
    NodeFacts f;
    f.allocatable = {1000 * (16 + 16 * below(3)), 256 * kGiB, 0, 6 + below(40), below(4)};
    if (!layouts_.empty() && one_in(3)) {
      const int layout = below(static_cast<int>(layouts_.size()));
      f.devices = devices_with(DeviceLayoutId(layout), layouts_[static_cast<std::size_t>(layout)]);
    } else {
      f.devices = {devices_max_, MiB(one_in(4) ? 0 : 40'000), DeviceClassId(below(classes_))};
      if (one_in(4)) f.devices.count = 2;
      if (one_in(10)) f.devices = {};
    }
    const auto rack = static_cast<std::uint32_t>(row / 2);
    f.domains = {DomainId(levels_ == 1 ? rack : rack / 2)};
    if (levels_ == 2) f.domains.push_back(DomainId(rack));
    return f;
  }
  void nodes() {
    devices_max_ = one_in(3) ? 8 : one_in(2) ? 4 : 2;
    if (one_in(3))
      for (int n = 1 + below(2); n > 0; --n) layout(devices_max_);
    for (int n = 2 + below(7); n > 0; --n) {
      nodes_.push_back(some_node(nodes_.size()));
      const Millis at = one_in(10) ? some_time() : Millis(0);
      say(at, NodeSeen{NodeId(nodes_.size() - 1), nodes_.back()});
    }
  }

  MemberId new_member() { return MemberId(members_++); }
  JobId new_job() { return JobId(jobs_++); }

  void job() {
    const Millis at = one_in(4) ? Millis(0) : some_time();
    const Millis runs(500 * (1 + below(one_in(4) ? 60 : 20)));
    Workload w{.job = new_job(), .queue = QueueId(some_queue()), .priority = one_in(2) ? 0 : below(3)};
    w.submitted = at;
    w.order_hint = below(100);
    if (!one_in(5)) {
      w.estimate.p50 = one_in(4) ? Millis(500 * (1 + below(40))) : runs;  // it ends early or late
      w.estimate.p90 = one_in(2) ? w.estimate.p50 : Millis(w.estimate.p50.value * (100 + below(100)) / 100);
    }
    const int members = one_in(2) ? 1 : 2 + below(3);
    const DemandId demand = some_demand();
    const ConstraintId constraint = some_constraint();
    const bool is_unlike = members > 1 && one_in(3);
    for (int m = 0; m < members; ++m)
      w.members.push_back({new_member(), is_unlike && m > 0 ? some_demand() : demand,
                           is_unlike && one_in(2) ? some_constraint() : constraint});
    w.members_min = static_cast<std::uint32_t>(members > 1 && one_in(4) ? 1 + below(members) : members);
    if (members > 1 && one_in(3)) w.within = LevelId(below(levels_));
    if (members > 1 && one_in(3)) w.prefer = LevelId(below(levels_));
    submitted_.push_back(w);
    story_.script.push_back({at, sim::RunsFor{w.job, runs}});
    say(at, Submitted{std::move(w)});
  }

  void trouble() {
    const Millis at = some_time();
    switch (below(8)) {
      case 0:
      case 1:
        return limit(at, 1 + below(static_cast<int>(parents_.size()) - 1));
      case 2:
      case 3:
        return trouble_with_a_node(at);
      case 4:
        return hold(at);
      case 5:
        return foreign_pod(at);
      default:
        return change_of_a_job(at);
    }
  }

  void trouble_with_a_node(Millis at) {
    const std::size_t row = static_cast<std::size_t>(below(static_cast<int>(nodes_.size())));
    const NodeId node(row);
    const Millis back = at + Millis(500 * (1 + below(30)));
    NodeFacts other = nodes_[row];
    switch (below(6)) {
      case 0:
        other.is_ready = false;
        say(at, NodeSeen{node, other});
        break;
      case 1:
        say(at, NodeGone{node});
        break;
      case 2:
        nodes_[row] = some_node(row);  // for good
        break;
      case 3:
        say(at, DeviceHealthChanged{node, DeviceMask{static_cast<std::uint64_t>(1 + below(255)), 0}});
        return say(back, DeviceHealthChanged{node, {}});
      case 4:
        other.allocatable[0] = other.allocatable[0] / 2;
        say(at, NodeCapacityChanged{node, other.allocatable});
        return say(back, NodeCapacityChanged{node, nodes_[row].allocatable});
      default:
        other.devices = some_node(row).devices;
        say(at, NodeDevicesChanged{node, other.devices});
        break;
    }
    say(back, NodeSeen{node, nodes_[row]});
  }

  void hold(Millis at) {
    Hold hold{.job = new_job(), .parts = {}};
    if (!one_in(4)) hold.until = at + Millis(500 * (1 + below(40)));
    for (int parts = 1 + below(2); parts > 0; --parts)
      hold.parts.push_back({.member = {new_member(), some_demand(), ConstraintId(0u)},
                            .node = NodeId(below(static_cast<int>(nodes_.size()))),
                            .devices = {}});
    const JobId job = hold.job;
    say(at, HoldPlaced{std::move(hold)});
    if (one_in(2)) say(at + Millis(500 * (1 + below(30))), Ended{job});
  }

  /// Another scheduler's: bound wherever it likes, or only nominated.
  void foreign_pod(Millis at) {
    Workload w{.job = new_job(), .is_ours = false};
    w.submitted = at;
    w.members = {{new_member(), some_demand(), ConstraintId(0u)}};
    const MemberId member = w.members[0].member;
    const JobId job = w.job;
    const NodeId node(below(static_cast<int>(nodes_.size())));
    say(at, Submitted{std::move(w)});
    if (one_in(3))
      say(at, Nominated{member, node, below(3)});
    else
      say(at, Bound{member, node, {}});
    say(at + Millis(500 * (1 + below(30))), Ended{job});
  }

  void change_of_a_job(Millis at) {
    const Workload& of = any_of(submitted_);
    const MemberId member = any_of(of.members).member;
    switch (below(8)) {
      case 0:
      case 1:
        return say(at, Ended{of.job});
      case 2:
        return say(at, PriorityChanged{of.job, below(4)});
      case 3: {
        const Millis p50(500 * (1 + below(40)));
        return say(at, EstimateChanged{of.job, {p50, p50 + Millis(500 * below(20))}});
      }
      case 4:
        return say(at, MemberGone{member});
      case 5:
        return say(at, ConstraintChanged{member, some_constraint()});
      case 6:
        return say(at, MembersAdded{of.job,
                                    static_cast<std::uint32_t>(1 + below(static_cast<int>(of.members.size()) + 1)),
                                    {{new_member(), of.members[0].demand, of.members[0].constraint}}});
      default:
        return say(at, Evicted{of.job, Millis(500 * (1 + below(20)))});
    }
  }

  Rng rng_;
  Story story_;
  int levels_ = 1, classes_ = 1;
  std::int32_t devices_max_ = 8;
  std::vector<QueueId> parents_;
  std::vector<std::int32_t> demands_;  ///< devices of each
  std::vector<DeviceLayout> layouts_;
  std::vector<NodeFacts> nodes_;
  std::vector<Workload> submitted_;
  std::uint32_t members_ = 0, jobs_ = 0;
};

}  // namespace

Story draw_busy_story(std::uint64_t seed) { return Writer(seed).write(); }

}  // namespace ashlar::oracle::busy
