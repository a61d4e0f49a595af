// names: the names of rows. The core knows rows only; the owner of the names (the cluster's cache, the simulator's
// catalog, a test) lends them to the log, which writes each name when its row first appears or is reassigned, so that a
// log read a year later mentions "nlp/train-a" and not job 17.
// Cost: one lookup, and some 40 bytes for a new row.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "state/state.h"
#include "store/bytes.h"

namespace ashlar::store {

enum class NameKind : std::uint8_t {
  kNode,
  kJob,
  kMember,
  kQueue,
  kLevel,
  kDomain,
  kResource,
  kModel,  ///< of a device class
  kCapability,
  kModelOfClass,  ///< of a DeviceModelId
};
inline constexpr std::size_t kNameKinds = 10;

struct NameKey {
  NameKind kind = NameKind::kNode;
  std::uint32_t row = 0;
  std::uint32_t level = 0;  ///< of a domain
};

/// Lent by the edge. Called on the recording thread, with rows that are in use at that moment.
class NameSource {
 public:
  virtual ~NameSource() = default;
  /// Appends the name; appends nothing if there is none (the member of a job of one is named by its job).
  virtual void append_name(const NameKey& key, std::string& out) const = 0;
};

/// Names as read from a log.
class NameTable {
 public:
  void set(const NameKey& key, std::string_view name);
  /// The name, or "node 17" if none was written.
  std::string of(const NameKey& key) const;
  bool has(const NameKey& key) const { return find(key) != nullptr; }
  /// The first row of this kind (not a domain) with this name; or the number of rows if there is none.
  std::uint32_t row_of(NameKind kind, std::string_view name) const;
  /// Which models a class lists.
  void note_class(const DeviceClassDefined& defined) { classes_.insert_or_assign(defined.id, defined.device_class); }
  /// The class of this name, or that lists a model of this name; none if there is none.
  DeviceClassId class_called(std::string_view name) const;

 private:
  /// By row, and not as long as the largest one: a forged log may name one row of billions.
  using Names = std::map<std::uint32_t, std::string>;
  const std::string* find(const NameKey& key) const;
  std::array<Names, kNameKinds> rows_;
  std::map<std::uint32_t, Names> domains_;  ///< by level
  std::map<DeviceClassId, DeviceClass> classes_;
};

/// Writes the names of rows that are not written yet. The list ends with a zero byte; an entry is its kind + 1, row,
/// level (of a domain), text.
class NameLedger {
 public:
  /// `source` may be null: then no names are written. Kept by reference.
  explicit NameLedger(const NameSource* source) : source_(source) {}

  /// Forgets what was written and writes everything in the state: the name table at the start of a file.
  void tell_all(const State& state, ByteWriter& out);
  /// Names introduced by these events. Does not write the end of the list.
  void tell_new(const Event& event, ByteWriter& out);
  static void end(ByteWriter& out) { out.byte(0); }

 private:
  void tell(const NameKey& key, ByteWriter& out);
  void write(const NameKey& key, ByteWriter& out) const;
  void tell_once(const NameKey& key, ByteWriter& out);
  void tell_facts(const NodeFacts& facts, ByteWriter& out);
  void tell_resources(std::size_t count, ByteWriter& out);
  void tell_model(const NodeDevices& devices, ByteWriter& out);
  void tell_models(const DeviceLayout& layout, ByteWriter& out);
  void tell_class(DeviceClassId id, const DeviceClass& device_class, ByteWriter& out);
  void tell_capabilities(const std::vector<CapabilityId>& capabilities, ByteWriter& out);
  void tell_counted(const QuotaKey& key, ByteWriter& out);
  void tell_members(const std::vector<MemberSpec>& members, ByteWriter& out);
  std::vector<std::uint64_t>& written(const NameKey& key);

  const NameSource* source_;
  std::array<std::vector<std::uint64_t>, kNameKinds>
      written_;  ///< by row: fingerprint of the name last written; 0: none
  std::vector<std::vector<std::uint64_t>> written_domains_;
  std::string name_;  ///< scratch
};

/// Reads a list that a NameLedger wrote.
void read_names(ByteReader& in, NameTable& names);

}  // namespace ashlar::store
