#include "together.h"

#include <algorithm>
#include <initializer_list>

#include "chances.h"

namespace ashlar::oracle::together {
namespace {

class Drawing : Chances {
 public:
  explicit Drawing(Rng& rng) : Chances(rng) {}

  World draw() {
    nodes();
    needs();
    queues();
    for (int j = 4 + below(14); j > 0; --j) job();
    for (int f = below(4); f > 0; --f) foreign();
    for (int h = below(5); h > 0; --h) hold();
    for (int t = below(4); t > 0; --t) trouble();
    std::stable_sort(world_.troubles.begin(), world_.troubles.end(),
                     [](const Trouble& a, const Trouble& b) { return a.at < b.at; });
    return std::move(world_);
  }

 private:
  int some_node() { return below(static_cast<int>(world_.nodes.size())); }
  int some_needs() { return below(static_cast<int>(world_.needs.size())); }

  void nodes() {
    const int count = 1 + below(4);
    for (int n = 0; n < count; ++n) {
      Node node;
      node.cores = any_of<std::int64_t>({4, 8, 16});
      node.slots = any_of<std::int64_t>({4, 100});
      node.domain[0] = n / 2;
      node.domain[1] = n % 2;
      node.is_mixed = one_in(2);
      const int model = below(2);
      const std::int64_t mib = any_of<std::int64_t>({0, 40'000, 80'000});
      for (int d = one_in(8) ? 0 : 1 + below(4); d > 0; --d) {
        node.devices.push_back({model, mib});
        if (!node.is_mixed) continue;
        node.devices.back() = {below(2), any_of<std::int64_t>({40'000, 80'000})};
        node.devices.back().is_sliced = one_in(10);
      }
      if (node.devices.empty()) node.is_mixed = false;
      world_.nodes.push_back(node);
    }
  }
  void needs() {
    for (int n = 2 + below(3); n > 0; --n) {
      Needs needs{.cores = below(5), .devices = any_of({0, 1, 1, 1, 2, 2, 3})};
      if (needs.devices == 1 && one_in(2)) needs.milli = any_of<std::int64_t>({300, 500, 700});
      if (needs.devices > 0 && one_in(2)) needs.mib = any_of<std::int64_t>({10'000, 20'000, 40'000, 60'000});
      if (needs.devices == 0 && needs.cores == 0) needs.cores = 1;
      world_.needs.push_back(needs);
    }
  }
  void queues() {
    world_.queues = {{}, {.parent = 0}, {.parent = 1}, {.parent = 0}};
    if (one_in(2)) return;
    for (std::size_t q = 1; q < world_.queues.size(); ++q) {
      Queue& queue = world_.queues[q];
      if (one_in(3)) queue.milli = 500 * below(12);
      if (one_in(5)) queue.cores = below(20);
      if (one_in(3)) queue.by_model[static_cast<std::size_t>(below(2))] = 500 * below(10);
    }
  }

  void job() {
    Job job{.queue = below(4), .priority = below(3)};
    const int count = one_in(2) ? 1 : 2 + below(3);
    const int kinds = one_in(2) ? 1 : 2;
    const int needs[] = {some_needs(), some_needs()}, model[] = {below(3) - 1, below(3) - 1};
    for (int m = 0; m < count; ++m) {
      const int kind = m * kinds / count;
      job.members.push_back({.needs = needs[kind], .model = model[kind]});
    }
    job.min = one_in(3) ? 1 + below(count) : count;
    if (one_in(3)) job.within = below(kLevels);
    if (one_in(3)) job.prefer = below(kLevels);
    if (count > 1 && one_in(2)) divide(job);
    job.arrives = one_in(3) ? 0 : below(kSeconds * 3 / 4);
    if (!one_in(4)) {
      job.runs = 1 + below(20);
      job.p90 = one_in(8) ? 1 + below(20) : job.runs + below(5);  // seldom it runs longer
      job.p50 = one_in(2) ? job.p90 : 1 + below(static_cast<int>(job.p90));
    } else if (!one_in(3)) {
      job.runs = 1 + below(20);  // nobody knows
    }
    world_.jobs.push_back(job);
  }
  void divide(Job& job) {
    const int groups = 1 + below(2);
    const int count = static_cast<int>(job.members.size());
    job.min = 0;
    for (int g = 0; g < groups; ++g) {
      int size = 0;
      for (int m = 0; m < count; ++m)
        if (m * groups / count == g) ++size, job.members[static_cast<std::size_t>(m)].group = g;
      Group group{.min = one_in(3) ? below(size + 1) : size};
      if (one_in(2)) group.within = below(kLevels);
      if (one_in(3)) group.prefer = below(kLevels);
      job.min += group.min;
      job.groups.push_back(group);
    }
    if (job.min == 0) job.min = job.groups[0].min = 1;
  }
  /// Another scheduler's pod: bound wherever it likes, or nominated.
  void foreign() {
    Job job{.priority = below(3), .arrives = below(kSeconds / 2), .runs = 1 + below(20), .is_foreign = true};
    job.is_nominated = one_in(2);
    job.members.push_back({.needs = some_needs(), .node = some_node()});
    world_.jobs.push_back(job);
  }

  void hold() {
    Hold hold;
    for (int parts = one_in(3) ? 2 : 1; parts > 0; --parts)
      hold.parts.push_back({.needs = some_needs(), .node = some_node()});
    const int owner = below(4);
    if (owner == 1) hold.queue = any_of({1, 2, 3});
    if (owner == 2) hold.queue = any_of({0, 1, 3});
    if (owner == 3) hold.job = below(static_cast<int>(world_.jobs.size()));
    hold.placed = hold.from = below(30);
    if (one_in(2)) hold.from = hold.placed + 1 + below(20);
    if (!one_in(3)) hold.until = hold.from + 1 + below(25);
    if (one_in(4)) hold.ended = hold.placed + 1 + below(25);
    world_.holds.push_back(hold);
  }

  void trouble() {
    const std::int64_t at = below(kSeconds * 3 / 4), back = at + 1 + below(12);
    const int node = some_node();
    const auto kind = static_cast<Trouble::Kind>(2 * below(3));
    world_.troubles.push_back({at, node, kind, 1 + static_cast<std::uint64_t>(below(15))});
    world_.troubles.push_back({back, node, static_cast<Trouble::Kind>(kind + 1), 0});
  }

  World world_;
};

}  // namespace

World draw(Rng& rng) { return Drawing(rng).draw(); }

bool Job::is_waiting() const {
  return has_come && !is_over && !is_foreign && placed() < static_cast<int>(members.size());
}

int Job::placed(int group) const {
  return static_cast<int>(std::count_if(members.begin(), members.end(), [&](const Member& m) {
    return m.node != kNone && (group == kNone || m.group == group);
  }));
}

int Job::lacking() const {
  if (groups.empty()) return std::max(min - placed(), 0);
  int lacking = 0;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g)
    lacking += std::max(groups[static_cast<std::size_t>(g)].min - placed(g), 0);
  return lacking;
}

std::vector<int> Job::needed() const {
  std::vector<int> ranks, lacking;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g)
    lacking.push_back(std::max(groups[static_cast<std::size_t>(g)].min - placed(g), 0));
  const auto needs_more = std::max(this->lacking(), 1);
  for (const bool is_surplus : {false, true})
    for (int r = 0; r < static_cast<int>(members.size()); ++r) {
      const Member& m = members[static_cast<std::size_t>(r)];
      if (m.node != kNone || static_cast<int>(ranks.size()) >= needs_more ||
          std::find(ranks.begin(), ranks.end(), r) != ranks.end())
        continue;
      if (!is_surplus && !groups.empty() && lacking[static_cast<std::size_t>(m.group)]-- <= 0) continue;
      ranks.push_back(r);
    }
  return ranks;
}

bool World::is_below(int queue, int ancestor) const {
  for (; queue != kNone; queue = queues[static_cast<std::size_t>(queue)].parent)
    if (queue == ancestor) return true;
  return false;
}

bool World::is_held_for(const Hold& hold, int job) const {
  if (hold.job != kNone) return hold.job == job;
  return hold.queue != kNone && is_below(jobs[static_cast<std::size_t>(job)].queue, hold.queue);
}

bool World::may_use(const Hold& hold, int job) const {
  return is_held_for(hold, job) || (hold.from > now && jobs[static_cast<std::size_t>(job)].late_end <= hold.from);
}

}  // namespace ashlar::oracle::together
