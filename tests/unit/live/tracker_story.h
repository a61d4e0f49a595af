// What the engine hears of the cluster, in words: each step of a story and the events that it brings, one line each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracker_bench.h"

namespace ashlar::kube {

class TrackerStory : public TrackerBench {
 protected:
  static TrackerOptions with_queues() {
    return {
        .levels = {{PooledString("block"), PooledString("l/block")}, {PooledString("rack"), PooledString("l/rack")}},
        .queues = {{"team", "", {8'000, kUnlimited, kUnlimited}},
                   {"sub", "team", {kUnlimited, kUnlimited, kUnlimited}}},
        .queue_of_namespace = {{"lab", "sub"}}};
  }
  TrackerStory() : TrackerBench(with_queues()) {
    told("start");
    start = take_story();
  }

  /// The events since the last step, and the pods and gangs that are due a condition, under the step's name.
  void told(std::string_view step) {
    story += std::string(step) + "\n";
    tracker.settle();
    std::vector<Event> events;
    source.take(events);
    tracker.note_taken();
    for (const Event& event : events)
      story += "  " + std::visit([&](const auto& body) { return words(body); }, event.body) + "\n";
    if (!due.empty()) story += "  to report:" + names_of(due) + "\n";
    if (!due_groups.empty()) story += "  groups to report:" + names_of(due_groups) + "\n";
    for (const std::string& line : std::exchange(said, {})) story += "  log: " + line + "\n";
  }
  PodSlot slot_of(const std::string& name) { return tracker.pods().find(PooledString("ns"), PooledString(name)); }
  void assume(const std::string& name, std::uint32_t node, DeviceMask devices = {1, 0}) {
    tracker.note_assumed(slot_of(name), NodeId(node), devices);
  }
  void confirm(const std::string& name, const std::string& node, DeviceMask devices = {1, 0}) {
    tracker.note_bound(slot_of(name), PooledString(node), devices);
  }
  std::string take_story() { return "\n" + std::exchange(story, {}); }

  std::string story, start;

 private:
  static std::string names_of(std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : std::exchange(names, {})) text += " " + name;
    return text;
  }
  template <class Tag>
  static std::string row(Id<Tag> id) {
    return id.is_none() ? "-" : std::to_string(id.value);
  }
  static std::string devices_of(const DeviceMask& devices) {
    return devices == DeviceMask::unknown() ? "unknown" : devices.is_empty() ? "none" : devices_text(devices);
  }
  static std::string time_of(Millis t) { return t == Millis::max() ? "unknown" : std::to_string(t.value); }
  static std::string members_of(const std::vector<MemberSpec>& members) {
    std::string text;
    for (const MemberSpec& m : members)
      text += " [" + row(m.member) + " demand " + row(m.demand) + " constraint " + row(m.constraint) + "]";
    return text;
  }
  static std::string words(const Tick&) { return "tick"; }
  static std::string words(const LevelsDefined& e) {
    return "levels " + std::to_string(e.nested) + "+" + std::to_string(e.orthogonal);
  }
  static std::string words(const DemandDefined& e) {
    return "demand " + row(e.id) +
           (e.demand.amounts.empty() ? " given back" : ": cards " + std::to_string(e.demand.devices.count));
  }
  static std::string words(const ConstraintDefined& e) { return "constraint " + row(e.id); }
  static std::string words(const LabelSetDefined& e) {
    return "label set " + row(e.id) + (e.set.ns.is_none() ? " given back" : "");
  }
  static std::string words(const CheckpointSaved& e) { return "checkpoint of job " + row(e.job); }
  static std::string words(const ImageSeen& e) { return "image " + row(e.id); }
  static std::string words(const LabelsChanged& e) {
    return "member " + row(e.member) + " has label set " + row(e.labels);
  }
  static std::string words(const PodSelectorDefined& e) { return "pod selector " + row(e.id); }
  static std::string words(const NamespaceSeen& e) { return "namespace " + row(e.id); }
  static std::string words(const QueueDefined& e) {
    return "queue " + row(e.id) + " under " + row(e.parent) + ", " +
           (e.quota[0] == kUnlimited ? "unlimited" : std::to_string(e.quota[0]));
  }
  static std::string words(const NodeSeen& e) {
    std::string text = "node " + row(e.node) + ": cards " + std::to_string(e.facts.devices.count) +
                       (e.facts.is_ready ? "" : ", closed") + ", domains";
    for (const DomainId d : e.facts.domains) text += " " + row(d);
    return text;
  }
  static std::string words(const NodeCapacityChanged& e) { return "node " + row(e.node) + ": other capacity"; }
  static std::string words(const NodeDevicesChanged& e) {
    return "node " + row(e.node) + ": cards " + std::to_string(e.devices.count);
  }
  static std::string words(const DeviceHealthChanged& e) {
    return "node " + row(e.node) + ": unhealthy cards " + devices_of(e.unhealthy);
  }
  static std::string words(const HoldPlaced& e) { return "hold " + row(e.hold.job); }
  static std::string words(const DeviceLayoutDefined& e) {
    return "layout " + row(e.id) + " of " + std::to_string(e.layout.devices.size()) + " devices";
  }
  static std::string words(const GangSpecDefined& e) {
    return "gang spec " + row(e.id) + " of " + std::to_string(e.spec.groups.size()) + " groups";
  }
  static std::string words(const DeviceClassDefined& e) {
    return "class " + row(e.id) + " of " + std::to_string(e.device_class.models.size()) + " models";
  }
  static std::string words(const NodeGone& e) { return "node " + row(e.node) + " gone"; }
  static std::string words(const Submitted& e) {
    const Workload& w = e.workload;
    return "job " + row(w.job) + (w.is_ours ? "" : " of others") + ": queue " + row(w.queue) + ", priority " +
           std::to_string(w.priority) + ", at least " + std::to_string(w.members_min) + ", within " + row(w.within) +
           ", prefer " + row(w.prefer) + ", since " + time_of(w.submitted) + ", lasts " + time_of(w.estimate.p50) +
           "," + members_of(w.members);
  }
  static std::string words(const MembersAdded& e) {
    return "job " + row(e.job) + ": at least " + std::to_string(e.members_min) +
           (e.members.empty() ? "" : ", more:" + members_of(e.members));
  }
  static std::string words(const MemberGone& e) { return "member " + row(e.member) + " gone"; }
  static std::string words(const Ended& e) { return "job " + row(e.job) + " ended"; }
  static std::string words(const Bound& e) {
    return "member " + row(e.member) + " on node " + row(e.node) + ", cards " + devices_of(e.devices);
  }
  static std::string words(const BindRejected& e) { return "member " + row(e.member) + " rejected"; }
  static std::string words(const Evicted& e) { return "job " + row(e.job) + " evicted"; }
  static std::string words(const EstimateChanged& e) {
    const std::string late = e.estimate.p90 == e.estimate.p50 ? "" : " to " + time_of(e.estimate.p90);
    return "job " + row(e.job) + " lasts " + time_of(e.estimate.p50) + late;
  }
  static std::string words(const ConstraintChanged& e) {
    return "member " + row(e.member) + ": constraint " + row(e.constraint);
  }
  static std::string words(const PriorityChanged& e) {
    return "job " + row(e.job) + ": priority " + std::to_string(e.priority);
  }
  static std::string words(const Nominated& e) {
    return "member " + row(e.member) + " nominated for node " + row(e.node) + ", priority " +
           std::to_string(e.priority);
  }
};

}  // namespace ashlar::kube
