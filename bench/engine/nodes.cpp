// Nodes that change, go and come back while many wait, and the copy of state and engine that a rollout begins with.
#include <string>
#include <vector>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr LabelKeyId kRelease{1u};

/// Waiting gangs, each of its own kind: whole nodes of a block, more than it has.
void add_waiting_kinds(World& w, int kinds) {
  for (int k = 0; k < kinds; ++k)
    w.submit({.demand = w.demand(8, 32'000 + k), .members = 200, .within = kBlock, .duration = Millis(3'600'000)});
  w.settle();
}

/// An idle node is cordoned and returns.
double cordon_seconds(World& w) {
  const NodeId idle(0u);
  NodeFacts facts = w.state.cluster().facts(idle);
  return best_of(5, [&] {
    return seconds([&] {
      for (const bool is_ready : {false, true}) {
        facts.is_ready = is_ready;
        w.tell(NodeSeen{idle, facts});
        w.decide();
      }
    });
  });
}

double gone_and_back_seconds(World& w) {
  const NodeId idle(0u);
  const NodeFacts facts = w.state.cluster().facts(idle);
  return best_of(5, [&] {
    return seconds([&] {
      w.tell(NodeGone{idle});
      w.decide();
      w.tell(NodeSeen{idle, facts});
      w.decide();
    });
  });
}

/// Seconds of a core for each change, if a node's label changes again and again as telemetry labels do.
double label_change_seconds(World& w, int changes) {
  const NodeId node(0u);
  NodeFacts facts = w.state.cluster().facts(node);
  return seconds([&] {
           for (int i = 0; i < changes; ++i) {
             facts.labels = {{kRelease, LabelId(1000u + static_cast<unsigned>(i)), i}};
             w.tell(NodeSeen{node, facts});
             w.decide();
           }
         }) /
         changes;
}

/// 10,000 gangs of as many kinds that can never run; then a node changes that could take members of all of them.
double impossible_event_seconds(World& w) {
  for (int g = 0; g < 10'000; ++g) w.submit({.demand = w.demand(8, 32'000 + g), .members = 40, .within = kRack});
  w.settle();
  NodeFacts facts = w.state.cluster().facts(NodeId(0u));
  std::uint32_t release = 0;
  return best_of(5, [&] {
    facts.labels = {{kRelease, LabelId(++release), NodeLabel::kNotANumber}};
    return seconds([&] {
      w.tell(NodeSeen{NodeId(0u), facts});
      w.decide();
    });
  });
}

/// 8,000 pods, each with a selector of its own, were looked at and ended; one more waits. Then every node gets another
/// label.
double relabelling_seconds(World& w, std::uint32_t nodes) {
  const DemandId one = w.demand(1, 1000);
  for (std::uint32_t i = 1; i <= 8000; ++i) {
    Constraint own;
    own.selector.all = {{LabelKeyId(0u), LabelExpression::Op::kIn, {LabelId(i)}, 0}};
    w.tell(ConstraintDefined{ConstraintId(i), own});
    const JobId job = w.submit({.demand = one, .constraint = ConstraintId(i)});
    w.decide();
    if (i < 8000) w.tell(Ended{job});
  }
  std::uint32_t release = 10'000;
  return best_of(5, [&] {
    ++release;
    return seconds([&] {
      for (std::uint32_t n = 0; n < nodes; ++n) {
        NodeFacts facts = w.state.cluster().facts(NodeId(n));
        facts.labels = {{LabelKeyId(0u), LabelId(release), NodeLabel::kNotANumber}};
        w.tell(NodeSeen{NodeId(n), std::move(facts)});
      }
      w.decide();
    });
  });
}

/// A full cluster of pods with one device each, nodes with twenty labels.
double copy_seconds(World& w) {
  const DemandId one = w.demand(1, 4000);
  for (std::uint32_t n = 0; n < w.state.cluster().rows(); ++n) {
    NodeFacts facts = w.state.cluster().facts(NodeId(n));
    for (std::uint32_t label = 0; label < 20; ++label)
      facts.labels.push_back({LabelKeyId(label), LabelId(n * 20 + label), NodeLabel::kNotANumber});
    w.tell(NodeSeen{NodeId(n), std::move(facts)});
  }
  for (std::uint32_t n = 0; n < w.state.cluster().rows(); ++n)
    for (int d = 0; d < kDevices; ++d) w.tell(Bound{w.state.job(w.submit({.demand = one})).first, NodeId(n), {}});
  w.settle();
  return best_of(20, [&] {
    return seconds([&] {
      const State state = w.state;
      const Engine engine = w.engine;
    });
  });
}

World filled() {
  World w;
  w.add_nodes(5000);
  w.fill(0.6, 80);
  return w;
}

}  // namespace

void measure_nodes(Report& report) {
  {
    World w = filled();
    add_waiting_kinds(w, 500);
    report.at_most("500 kinds of waiting gangs, a node goes and comes back", gone_and_back_seconds(w) * 1e3, "ms", 2);
    report.at_most("500 kinds of waiting gangs, 100 label changes a second, of a core",
                   label_change_seconds(w, 300) * 1e4, "%", 1);
    add_waiting_kinds(w, 1500);
    report.at_most("2,000 kinds of waiting gangs, an idle node is cordoned and returns", cordon_seconds(w) * 1e3, "ms",
                   2);
  }
  {
    World w;
    w.add_nodes(5000);
    report.at_most("10,000 gangs of as many kinds that can never run, a node changes that could take members",
                   impossible_event_seconds(w) * 1e3, "ms", 10);
  }
  World w;
  w.add_nodes(400);
  report.at_most("400 nodes relabelled after 8,000 pods with selectors of their own", relabelling_seconds(w, 400) * 1e3,
                 "ms", 10);
}

void measure_copies(Report& report) {
  World w;
  w.add_nodes(5000);
  report.at_most("copy of state and engine, 5,000 nodes and 40,000 placed members", copy_seconds(w) * 1e3, "ms", 2);
}

}  // namespace ashlar::bench
