#include "worlds.h"

#include <algorithm>
#include <utility>

#include "base/rng.h"
#include "policy/order_policy.h"
#include "policy/queue_order_policy.h"

namespace ashlar::bench {
namespace {

constexpr std::int64_t kMinute = 60'000;

std::string number(std::uint64_t value) { return std::to_string(value); }

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : rng_(seed), peers_(~seed) {}

  DrawnSimulation take() {
    const std::uint64_t racks = 2 + rng_.below(3);
    drawn_.per_rack = 2 + rng_.below(4);
    drawn_.nodes = racks * drawn_.per_rack;
    drawn_.must_finish = true;
    text() = "topology: [rack]\nnodes:\n  - {count: " + number(drawn_.nodes) +
             ", cpu: 96, memory: 1Ti, gpus: 8, topology: {rack: \"r{i/" + number(drawn_.per_rack) + "}\"}}\n";
    draw_profile();
    draw_queues();
    draw_peer();
    draw_work();
    draw_troubles();
    return std::move(drawn_);
  }

 private:
  bool is_one_in(std::uint64_t times) { return rng_.below(times) == 0; }
  template <std::size_t kCount>
  const char* one_of(const char* const (&words)[kCount]) {
    return words[rng_.below(kCount)];
  }
  std::string& text() { return drawn_.scenario; }

  void draw_profile() {
    Profile& p = drawn_.profile;
    p = *builtin_profile("ashlar");
    p.victim = VictimRule(rng_.below(3) == 0 ? VictimRule::kNone
                                             : (is_one_in(2) ? VictimRule::kPriority : VictimRule::kLostWork));
    p.order = find_order(p.victim == VictimRule::kNone && is_one_in(2) ? one_of({"fifo", "sjf"})
                         : is_one_in(2)                                ? "priority-remaining"
                                                                       : "priority-age");
    p.queue_order = find_queue_order(one_of({"by-job", "least-share", "drf", "fair-tree", "strict-priority"}));
    p.blocking = is_one_in(4) ? Blocking::kStrict : is_one_in(2) ? Blocking::kSkip : Blocking::kEasy;
    if (p.victim != VictimRule::kNone && is_one_in(3)) p.grace = Millis(30'000);
    if (is_one_in(2)) p.half_life = Millis(60 * kMinute);
    p.seed = rng_.below(1000);
  }

  /// By numbers of its own, so that the other worlds stay as they were.
  void draw_peer() {
    if (peers_.below(5) != 0) return;
    static constexpr const char* kPeers[] = {"kai", "kueue-classic", "kueue-fair"};
    Profile peer = *builtin_profile(kPeers[peers_.below(std::size(kPeers))]);
    peer.grace = drawn_.profile.grace;
    peer.seed = drawn_.profile.seed;
    drawn_.profile = std::move(peer);
    drawn_.is_of_a_peer = true;
    drawn_.must_finish = false;
  }

  std::string amount(const char* key, std::uint64_t gpus) {
    return std::string(", ") + key + ": {gpus: " + number(gpus) + "}";
  }
  void draw_queues() {
    const std::uint64_t count = 1 + rng_.below(6), devices = kDevicesPerNode * drawn_.nodes;
    const bool has_guarantees = is_one_in(2), has_quotas = is_one_in(3), has_limits = is_one_in(4);
    const bool is_kept_waiting = has_quotas || (has_guarantees && has_limits);
    if (is_kept_waiting) drawn_.must_finish = false;
    text() += "queues:\n";
    for (std::uint64_t q = 0; q < count; ++q) {
      DrawnQueue queue;
      text() += "  - {name: q" + number(q);
      if (q > 0 && is_one_in(2)) {
        queue.parent = static_cast<int>(rng_.below(q));
        text() += ", parent: q" + number(static_cast<std::uint64_t>(queue.parent));
      }
      if (has_quotas && is_one_in(2)) {
        queue.quota_gpus = static_cast<std::int64_t>(8 + rng_.below(devices));
        text() += amount("quota", static_cast<std::uint64_t>(queue.quota_gpus));
      }
      if (has_guarantees && !is_one_in(3)) {
        text() += amount("guarantee", 1 + rng_.below(devices));
        if (has_limits && is_one_in(2)) text() += amount("borrowLimit", rng_.below(devices));
        if (has_limits && is_one_in(2)) text() += amount("lendLimit", rng_.below(devices));
      }
      if (is_one_in(2)) text() += ", weight: " + number(1 + rng_.below(4));
      if (is_one_in(2)) text() += ", priority: " + number(rng_.below(3));
      draw_stops(queue);
      text() += "}\n";
      drawn_.queues.push_back(queue);
    }
  }
  void draw_stops(DrawnQueue& queue) {
    if (is_one_in(2)) {
      text() += std::string(", stops: {own: ") + one_of({"never", "lower", "lower-or-newer", "lower-or-longer"}) +
                ", reclaims: " + one_of({"never", "lower", "any"}) +
                ", whileBorrowing: " + one_of({"never", "lower", "lower-or-longer"}) + "}";
    }
    if (queue.parent >= 0) {
      queue.from_own = drawn_.queues[static_cast<std::size_t>(queue.parent)].from_own;
      queue.from_others = drawn_.queues[static_cast<std::size_t>(queue.parent)].from_others;
    }
    if (!is_one_in(3)) return;
    const std::uint64_t own = rng_.below(10), others = rng_.below(10);
    queue.from_own = Millis(static_cast<std::int64_t>(own) * kMinute);
    queue.from_others = Millis(static_cast<std::int64_t>(others) * kMinute);
    text() += ", protected: {preempt: " + number(own) + "m, reclaim: " + number(others) + "m}";
  }

  void draw_work() {
    drawn_.jobs = static_cast<std::int64_t>(80 + rng_.below(120));
    text() += "arrivals:\n  - load: " + std::string(one_of({"0.6", "0.8", "0.95", "1.2"})) +
              "\n    count: " + number(static_cast<std::uint64_t>(drawn_.jobs)) + "\n    queues: {";
    for (std::size_t q = 0; q < drawn_.queues.size(); ++q)
      text() += (q > 0 ? ", q" : "q") + number(q) + ": " + number(1 + rng_.below(3));
    text() += "}\n    jobs:\n";
    const std::string estimate =
        one_of({"", "estimate: none, ", "estimate: {error: 1.5}, ", "estimate: {error: 1, p90: 3}, "});
    const auto shape = [&](std::uint64_t weight, const std::string& size, std::uint64_t gpus, const char* within) {
      text() += "      - {weight: " + number(weight) + ", " + size + ", cpu: " + number(8 * gpus) +
                ", memory: " + number(64 * gpus) + "Gi" + within + ", priority: " + one_of({"0", "0", "5", "10"}) +
                ", " + estimate + "duration: {lognormal: {median: " + number(2 + rng_.below(60)) +
                "m, sigma: 1.2}, max: 8h}}\n";
    };
    shape(40, "gpus: 1", 1, "");
    if (is_one_in(2)) shape(20, "gpu_milli: " + number(100 + 100 * rng_.below(9)), 1, "");
    shape(10 + rng_.below(10), "gpus: 4", 4, "");
    shape(8, "gpus: 8", 8, is_one_in(3) ? ", prefer: rack" : "");
    shape(1 + rng_.below(8), "members: 2, gpus: 8", 8, "");
    shape(1 + rng_.below(8), "members: " + number(2 + rng_.below(3)) + ", gpus: 3", 3, "");
    const std::uint64_t most = std::max<std::uint64_t>(drawn_.per_rack, 2);
    shape(1 + rng_.below(6), "members: " + number(2 + rng_.below(most - 1)) + ", gpus: 8", 8, ", within: rack");
  }

  void draw_windows(const char* list, bool has_queue) {
    text() += std::string(list) + ":\n";
    for (std::uint64_t i = 0, count = 1 + rng_.below(3); i < count; ++i) {
      DrawnWindow window;
      window.node = rng_.below(drawn_.nodes);
      const std::uint64_t at = rng_.below(600), lasts = 10 + rng_.below(300);
      window.from = Millis(static_cast<std::int64_t>(at) * kMinute);
      window.until = Millis(static_cast<std::int64_t>(at + lasts) * kMinute);
      if (has_queue) window.queue = static_cast<int>(rng_.below(drawn_.queues.size()));
      text() += "  - {node: node-" + number(window.node) + ", at: " + number(at) + "m, for: " + number(lasts) + "m";
      if (is_one_in(2)) text() += ", announced: " + number(rng_.below(120)) + "m";
      if (has_queue) text() += ", queue: q" + number(static_cast<std::uint64_t>(window.queue));
      text() += "}\n";
      drawn_.windows.push_back(window);
    }
  }
  void draw_troubles() {
    text() += std::string("restart: ") + one_of({"0s", "60s", "[7s, 30s, 60s]"}) + "\n";
    if (is_one_in(2))
      text() += "failures:\n  - {mean_between: " + number(4 + rng_.below(40)) +
                "h, for: " + number(1 + rng_.below(90)) + "m, until: 24h}\n";
    if (is_one_in(3)) draw_windows("maintenance", false);
    if (is_one_in(3)) draw_windows("reservations", true);
  }

  Rng rng_, peers_;
  DrawnSimulation drawn_;
};

}  // namespace

DrawnSimulation drawn_simulation(std::uint64_t seed) {
  DrawnSimulation drawn = Drawing(seed).take();
  drawn.scenario = "seed: " + std::to_string(seed) + "\n" + drawn.scenario;
  return drawn;
}

}  // namespace ashlar::bench
