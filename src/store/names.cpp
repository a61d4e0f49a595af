#include "store/names.h"

#include <algorithm>

#include "base/digest.h"
#include "base/grown.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

constexpr std::string_view kKindWords[kNameKinds] = {"node",   "job",      "member", "queue",      "level",
                                                     "domain", "resource", "model",  "capability", "model name"};
/// a Kubernetes namespace and name are at most 63 + 253; longer ones are truncated
constexpr std::size_t kNameBytesMax = 1024;

}  // namespace

void NameTable::set(const NameKey& key, std::string_view name) {
  Names& names = key.kind == NameKind::kDomain ? domains_[key.level] : rows_[static_cast<std::size_t>(key.kind)];
  names.insert_or_assign(names.end(), key.row, std::string(name));  // rows mostly ascend
}

const std::string* NameTable::find(const NameKey& key) const {
  const Names* names = &rows_[static_cast<std::size_t>(key.kind)];
  if (key.kind == NameKind::kDomain) {
    const auto level = domains_.find(key.level);
    if (level == domains_.end()) return nullptr;
    names = &level->second;
  }
  const auto found = names->find(key.row);
  return found != names->end() && !found->second.empty() ? &found->second : nullptr;
}

std::string NameTable::of(const NameKey& key) const {
  if (const std::string* name = find(key)) return *name;
  return std::string(kKindWords[static_cast<std::size_t>(key.kind)]) + " " + std::to_string(key.row);
}

std::uint32_t NameTable::row_of(NameKind kind, std::string_view name) const {
  const Names& names = rows_[static_cast<std::size_t>(kind)];
  for (const auto& [row, own] : names)
    if (own == name) return row;
  return names.empty() ? 0 : names.rbegin()->first + 1;
}

DeviceClassId NameTable::class_called(std::string_view name) const {
  const auto is_it = [&](DeviceModelId model) {
    const std::string* own = find({NameKind::kModelOfClass, model.value});
    return own != nullptr && *own == name;
  };
  for (const auto& [id, device_class] : classes_)
    if (std::ranges::any_of(device_class.models, is_it)) return id;
  const std::uint32_t row = row_of(NameKind::kModel, name);
  return has({NameKind::kModel, row}) ? DeviceClassId(row) : DeviceClassId::none();
}

std::vector<std::uint64_t>& NameLedger::written(const NameKey& key) {
  return key.kind == NameKind::kDomain ? grown(written_domains_, key.level)
                                       : written_[static_cast<std::size_t>(key.kind)];
}

void NameLedger::tell(const NameKey& key, ByteWriter& out) {
  if (source_ == nullptr) return;
  name_.clear();
  source_->append_name(key, name_);
  write(key, out);
}

void NameLedger::write(const NameKey& key, ByteWriter& out) const {
  out.byte(static_cast<std::uint8_t>(1 + static_cast<int>(key.kind)));
  out.varint(key.row);
  if (key.kind == NameKind::kDomain) out.varint(key.level);
  out.text(std::string_view(name_).substr(0, kNameBytesMax));
}

void NameLedger::tell_once(const NameKey& key, ByteWriter& out) {
  if (source_ == nullptr) return;
  name_.clear();
  source_->append_name(key, name_);
  const std::uint64_t fingerprint = hash_bytes(name_.data(), name_.size()) | 1;
  std::uint64_t& last = grown(written(key), key.row);
  if (last == fingerprint) return;
  last = fingerprint;
  write(key, out);
}

void NameLedger::tell_facts(const NodeFacts& facts, ByteWriter& out) {
  for (std::uint32_t l = 0; l < facts.domains.size(); ++l)
    if (!facts.domains[l].is_none()) tell_once({NameKind::kDomain, facts.domains[l].value, l}, out);
  tell_resources(facts.allocatable.size(), out);
  tell_model(facts.devices, out);
}

void NameLedger::tell_resources(std::size_t count, ByteWriter& out) {
  for (std::uint32_t r = 0; r < count; ++r) tell_once({NameKind::kResource, r}, out);
}

void NameLedger::tell_model(const NodeDevices& devices, ByteWriter& out) {
  if (!devices.device_class.is_none()) tell_once({NameKind::kModel, devices.device_class.value}, out);
}

void NameLedger::tell_models(const DeviceLayout& layout, ByteWriter& out) {
  for (const DeviceClassId model : classes_of(layout))
    if (!model.is_none()) tell_once({NameKind::kModel, model.value}, out);
}

void NameLedger::tell_class(DeviceClassId id, const DeviceClass& device_class, ByteWriter& out) {
  tell_once({NameKind::kModel, id.value}, out);
  for (const DeviceModelId model : device_class.models) tell_once({NameKind::kModelOfClass, model.value}, out);
  tell_capabilities(device_class.capabilities, out);
}

void NameLedger::tell_capabilities(const std::vector<CapabilityId>& capabilities, ByteWriter& out) {
  for (const CapabilityId capability : capabilities) tell_once({NameKind::kCapability, capability.value}, out);
}

void NameLedger::tell_counted(const QuotaKey& key, ByteWriter& out) {
  if (!key.resource.is_none()) tell_once({NameKind::kResource, key.resource.value}, out);
  if (!key.device_class.is_none()) tell_once({NameKind::kModel, key.device_class.value}, out);
}

void NameLedger::tell_members(const std::vector<MemberSpec>& members, ByteWriter& out) {
  for (const MemberSpec& m : members) tell({NameKind::kMember, m.member.value}, out);
}

void NameLedger::tell_new(const Event& event, ByteWriter& out) {
  if (source_ == nullptr) return;
  if (const auto* seen = std::get_if<NodeSeen>(&event.body)) {
    tell_once({NameKind::kNode, seen->node.value}, out);
    tell_facts(seen->facts, out);
  } else if (const auto* capacity = std::get_if<NodeCapacityChanged>(&event.body)) {
    tell_resources(capacity->allocatable.size(), out);
  } else if (const auto* changed = std::get_if<NodeDevicesChanged>(&event.body)) {
    tell_model(changed->devices, out);
  } else if (const auto* layout = std::get_if<DeviceLayoutDefined>(&event.body)) {
    tell_models(layout->layout, out);
  } else if (const auto* gone = std::get_if<NodeGone>(&event.body)) {
    // the row may be reused for another node
    grown(written_[static_cast<std::size_t>(NameKind::kNode)], gone->node.row()) = 0;
  } else if (const auto* submitted = std::get_if<Submitted>(&event.body)) {
    tell({NameKind::kJob, submitted->workload.job.value}, out);
    tell_members(submitted->workload.members, out);
  } else if (const auto* added = std::get_if<MembersAdded>(&event.body)) {
    tell_members(added->members, out);
  } else if (const auto* placed = std::get_if<HoldPlaced>(&event.body)) {
    tell({NameKind::kJob, placed->hold.job.value}, out);
    for (const HoldPart& part : placed->hold.parts) tell({NameKind::kMember, part.member.member.value}, out);
  } else if (const auto* queue = std::get_if<QueueDefined>(&event.body)) {
    tell({NameKind::kQueue, queue->id.value}, out);
    for (const QuotaLimit& limit : queue->limits) tell_counted(limit.of, out);
    for (const QuotaShare& share : queue->shares) tell_counted(share.of, out);
    for (const QueueUsage& usage : queue->usage) tell_counted(usage.of, out);
  } else if (const auto* levels = std::get_if<LevelsDefined>(&event.body)) {
    for (std::uint32_t l = 0; l < levels->nested + levels->orthogonal; ++l) tell_once({NameKind::kLevel, l}, out);
  } else if (const auto* demand = std::get_if<DemandDefined>(&event.body)) {
    for (const ResourceAmount& a : demand->demand.amounts) tell_once({NameKind::kResource, a.resource.value}, out);
  } else if (const auto* constraint = std::get_if<ConstraintDefined>(&event.body)) {
    for (const DeviceClassId model : constraint->constraint.models) tell_once({NameKind::kModel, model.value}, out);
    tell_capabilities(constraint->constraint.capabilities, out);
  } else if (const auto* of = std::get_if<DeviceClassDefined>(&event.body)) {
    tell_class(of->id, of->device_class, out);
  }
}

void NameLedger::tell_all(const State& state, ByteWriter& out) {
  for (auto& column : written_) column.clear();
  written_domains_.clear();
  if (source_ != nullptr) {
    for (std::uint32_t l = 0; l < state.cluster().topology().level_count(); ++l) tell_once({NameKind::kLevel, l}, out);
    for (std::uint32_t r = 0; r < state.cluster().resource_count(); ++r) tell_once({NameKind::kResource, r}, out);
    for (std::uint32_t q = 0; q < state.queues().rows(); ++q)
      if (state.queues().is_known(QueueId(q))) tell({NameKind::kQueue, q}, out);
    for (const QuotaKey& key : state.queues().keys()) tell_counted(key, out);
    const DeviceLayouts& layouts = state.cluster().layouts();
    for (std::size_t l = 0; l < layouts.rows(); ++l) tell_models(layouts.row(DeviceLayoutId(l)), out);
    const DeviceClasses& classes = state.cluster().classes();
    for (std::size_t c = 0; c < classes.rows(); ++c)
      if (const DeviceClassId id(c); classes.row(id) != DeviceClass()) tell_class(id, classes.row(id), out);
    for (const Constraint& constraint : state.cluster().constraints()) tell_capabilities(constraint.capabilities, out);
    for (std::uint32_t n = 0; n < state.cluster().rows(); ++n) {
      if (!state.cluster().is_live(NodeId(n))) continue;
      tell_once({NameKind::kNode, n}, out);
      tell_facts(state.cluster().facts(NodeId(n)), out);
    }
    for (std::uint32_t j = 0; j < state.job_rows(); ++j)
      if (state.is_live(JobId(j))) tell({NameKind::kJob, j}, out);
    for (std::uint32_t m = 0; m < state.member_rows(); ++m)
      if (state.is_live(MemberId(m))) tell({NameKind::kMember, m}, out);
  }
  end(out);
}

void read_names(ByteReader& in, NameTable& names) {
  while (!in.has_failed()) {
    const std::uint8_t kind = in.byte();
    if (kind == 0) return;
    if (kind > kNameKinds) return in.fail("a name of an unknown kind");
    const std::uint64_t row = in.varint();
    const bool is_domain = kind - 1 == static_cast<int>(NameKind::kDomain);
    const std::uint64_t level = is_domain ? in.varint() : 0;
    const std::string_view name = in.text();
    if (row > kRowMax || level > Topology::kLevelsMax) return in.fail("a name's row number is too large");
    if (!in.has_failed())
      names.set({static_cast<NameKind>(kind - 1), static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(level)},
                name);
  }
}

}  // namespace ashlar::store
