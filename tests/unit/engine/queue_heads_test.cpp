// QueueHeads against plain sorting: their order, and that a key says so whenever it may have changed it.
#include "engine/pending/queue_heads.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "../state/small_state.h"
#include "policy/queue_order/queue_order.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kQueuesOfHeads = 9;

/// A head for each of some queues of a tree, whose keys are few so that many of them tie.
struct TreeOfHeads {
  QueueKeys keys{*find_queue_order("least-share"), Millis(0)};
  QueueHeads heads;
  std::map<QueueId, ClassHead> plain;

  TreeOfHeads() {
    State state = small_state();
    for (std::uint32_t q = 1; q < kQueuesOfHeads; ++q)
      tell(state, QueueDefined{QueueId(q), QueueId(*rc::gen::inRange(0u, q)), {}});
    keys.look(state, Millis(0));
    for (std::uint32_t q = 1; q < kQueuesOfHeads; ++q) keys.set(QueueId(q), {*rc::gen::inRange(0, 4), 0});
  }
  void put(QueueId queue, std::uint32_t job) {
    ClassHead head;
    head.entry.job = JobId(job);
    head.queue = queue;
    plain[queue] = head;
    heads.put(keys, queue, head);
  }
  std::vector<JobId> sorted() const {
    std::vector<ClassHead> all;
    for (const auto& [queue, head] : plain) all.push_back(head);
    std::sort(all.begin(), all.end(), [&](const ClassHead& a, const ClassHead& b) {
      const auto order = keys.compare(a.queue, b.queue);
      return order != 0 ? order < 0 : a.entry < b.entry;
    });
    std::vector<JobId> jobs;
    for (const ClassHead& head : all) jobs.push_back(head.entry.job);
    return jobs;
  }
  std::vector<JobId> visited() const {
    std::vector<JobId> jobs;
    heads.each([&](const ClassHead& head) {
      jobs.push_back(head.entry.job);
      return true;
    });
    return jobs;
  }
};

RC_GTEST_PROP(QueueHeads, AreInTheOrderOfSortingAndSayWhenAKeyMayHaveChangedIt, ()) {
  TreeOfHeads tree;
  for (std::uint32_t step = 0; step < 40; ++step) {
    const QueueId queue(*rc::gen::inRange(1u, kQueuesOfHeads));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        tree.put(queue, *rc::gen::inRange(0u, 20u) * 100 + step);
        break;
      case 1:
        tree.plain.erase(queue);
        tree.heads.erase(tree.keys, queue);
        break;
      default: {
        const std::vector<JobId> before = tree.visited();
        tree.keys.set(queue, {*rc::gen::inRange(0, 4), 0});
        const bool may_be_reordered = tree.heads.rekey(tree.keys, queue);
        if (!may_be_reordered) RC_ASSERT(tree.visited() == before);
      }
    }
    RC_ASSERT(tree.visited() == tree.sorted());
    RC_ASSERT(tree.heads.is_empty() == tree.plain.empty());
    if (!tree.plain.empty()) RC_ASSERT(tree.heads.first()->entry.job == tree.sorted().front());
  }
}

}  // namespace
}  // namespace ashlar
