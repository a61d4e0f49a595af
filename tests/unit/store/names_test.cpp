// Names beside the rows of a log.
#include "store/names.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

namespace ashlar::store {
namespace {

class Words final : public NameSource {
 public:
  std::map<std::uint32_t, std::string> domains;
  void append_name(const NameKey& key, std::string& out) const override {
    if (key.kind == NameKind::kDomain) out += domains.at(key.row);
  }
};

TEST(NameLedger, ARowThatStandsForSomethingElseIsToldAnew) {
  Words words;
  words.domains = {{0, "rack-a"}, {1, "rack-b"}};
  NameLedger ledger(&words);
  NameTable read;
  const auto tell = [&](DomainId domain) {
    NodeSeen seen{NodeId(0u), {}};
    seen.facts.domains = {domain};
    std::string bytes;
    ByteWriter out(bytes);
    ledger.tell_new({Millis(0), seen}, out);
    const std::size_t told = bytes.size();
    NameLedger::end(out);
    ByteReader in(bytes);
    read_names(in, read);
    return told;
  };
  tell(DomainId(0u));
  tell(DomainId(1u));
  EXPECT_EQ(read.of({NameKind::kDomain, 1, 0}), "rack-b");
  EXPECT_EQ(tell(DomainId(1u)), 0u) << "known";
  words.domains[1] = "rack-c";
  EXPECT_GT(tell(DomainId(1u)), 0u);
  EXPECT_EQ(read.of({NameKind::kDomain, 1, 0}), "rack-c");
  EXPECT_EQ(read.of({NameKind::kDomain, 0, 0}), "rack-a");
}

TEST(NameLedger, EveryLevelIsToldWithTheState) {
  class Numbers final : public NameSource {
   public:
    void append_name(const NameKey& key, std::string& out) const override {
      out += (key.kind == NameKind::kLevel ? "level" : "other") + std::to_string(key.row);
    }
  } numbers;
  State state;
  apply(state, {Millis(0), LevelsDefined{2, 1}});
  NameLedger ledger(&numbers);
  std::string bytes;
  ByteWriter out(bytes);
  ledger.tell_all(state, out);
  NameLedger::end(out);
  NameTable read;
  ByteReader in(bytes);
  read_names(in, read);
  for (std::uint32_t l = 0; l < 3; ++l) EXPECT_EQ(read.of({NameKind::kLevel, l}), "level" + std::to_string(l));
}

/// Every kind of row has a name of its kind and number.
class Everything final : public NameSource {
 public:
  void append_name(const NameKey& key, std::string& out) const override {
    out += "nJmqlDrMca"[static_cast<int>(key.kind)] + std::to_string(key.row);
  }
};

/// A list as it is written, in words: "n5" node 5, "D7@2" domain 7 of level 2.
std::string list_of(const std::string& bytes) {
  std::string text;
  ByteReader in(bytes);
  while (in.left() > 0) {
    const std::uint8_t kind = in.byte();
    if (kind == 0) return text + (in.left() == 0 ? "." : " and more");
    const std::uint64_t row = in.varint();
    const std::uint64_t level = kind == 6 ? in.varint() : 0;
    const std::string name(in.text());
    EXPECT_EQ(name, "?nJmqlDrMca"[kind] + std::to_string(row)) << "the name is that of the row";
    text += (text.empty() ? "" : " ") + name + (kind == 6 ? "@" + std::to_string(level) : "");
  }
  return text;
}

struct Telling {
  Everything everything;
  NameLedger ledger{&everything};
  template <class Body>
  std::string operator()(Body body) {
    std::string bytes;
    ByteWriter out(bytes);
    ledger.tell_new({Millis(0), std::move(body)}, out);
    return list_of(bytes);
  }
};

TEST(NameLedger, an_event_brings_the_names_of_its_rows) {
  Telling told;
  EXPECT_EQ(told(LevelsDefined{2, 1}), "l0 l1 l2");
  EXPECT_EQ(told(LevelsDefined{2, 2}), "l3") << "the others are known";
  EXPECT_EQ(told(QueueDefined{QueueId(4), QueueId(0), {}}), "q4");
  EXPECT_EQ(told(DemandDefined{DemandId(0), {{{ResourceId(2), 1}, {ResourceId(9), 1}}, {}, {}}}), "r2 r9");
  const DeviceLayout layout{{{.device_class = DeviceClassId(12)}, {.device_class = DeviceClassId(11)}, {}}};
  EXPECT_EQ(told(DeviceLayoutDefined{DeviceLayoutId(0), layout}), "M11 M12");
  Constraint constraint;
  constraint.models = {DeviceClassId(3), DeviceClassId(5)};
  constraint.capabilities = {CapabilityId(2)};
  EXPECT_EQ(told(ConstraintDefined{ConstraintId(0), constraint}), "M3 M5 c2");
  const DeviceClass able{{DeviceModelId(4), DeviceModelId(1)}, {CapabilityId(2), CapabilityId(3)}};
  EXPECT_EQ(told(DeviceClassDefined{DeviceClassId(6), able}), "M6 a4 a1 c3") << "the others are known";
  NodeFacts facts;
  facts.domains = {DomainId(7), DomainId::none(), DomainId(7)};
  facts.allocatable = {1, 1, 1};
  facts.devices.device_class = DeviceClassId(6);
  EXPECT_EQ(told(NodeSeen{NodeId(5), facts}), "n5 D7@0 D7@2 r0 r1") << "resource 2 and class 6 are known";
  EXPECT_EQ(told(NodeSeen{NodeId(5), facts}), "");
  EXPECT_EQ(told(NodeGone{NodeId(5)}), "");
  EXPECT_EQ(told(NodeSeen{NodeId(5), facts}), "n5") << "another node in its row";
  facts.devices.device_class = DeviceClassId::none();
  EXPECT_EQ(told(NodeSeen{NodeId(6), facts}), "n6");
  EXPECT_EQ(told(NodeCapacityChanged{NodeId(6), {1, 1, 1, 1}}), "r3");
  EXPECT_EQ(told(NodeDevicesChanged{NodeId(6), {8, MiB(0), DeviceClassId(4)}}), "M4");
  EXPECT_EQ(told(NodeDevicesChanged{NodeId(6), {4, MiB(0), DeviceClassId::none()}}), "");
  Workload w;
  w.job = JobId(8);
  w.members = {{MemberId(1), {}, {}}, {MemberId(2), {}, {}}};
  EXPECT_EQ(told(Submitted{w}), "J8 m1 m2");
  EXPECT_EQ(told(MembersAdded{JobId(8), 1, {{MemberId(3), {}, {}}}}), "m3");
  EXPECT_EQ(told(Submitted{w}), "J8 m1 m2") << "a job's row may be another's: it is written each time";
  EXPECT_EQ(told(Tick{}), "");
}

TEST(NameLedger, a_state_is_told_whole_and_only_what_lives) {
  State state;
  const auto tell = [&](auto body) { apply(state, {Millis(0), std::move(body)}); };
  tell(LevelsDefined{1, 1});
  tell(QueueDefined{QueueId(2), QueueId(0), {}});
  tell(DemandDefined{DemandId(0), {}});
  tell(ConstraintDefined{ConstraintId(0), {}});
  for (std::uint32_t n = 0; n < 3; ++n)
    tell(NodeSeen{NodeId(n), {{1}, {1, MiB(0), DeviceClassId(n)}, true, {}, {}, {DomainId(n), DomainId::none()}}});
  tell(NodeGone{NodeId(1)});
  for (std::uint32_t j = 0; j < 3; ++j) {
    Workload w;
    w.job = JobId(j);
    w.submitted = Millis(0);
    w.members = {{MemberId(2 * j), DemandId(0), ConstraintId(0)}};
    tell(Submitted{w});
  }
  tell(Ended{JobId(1)});
  tell(DeviceClassDefined{DeviceClassId(2), {{DeviceModelId(1)}, {CapabilityId(0)}}});
  tell(ConstraintDefined{ConstraintId(1), {.capabilities = {CapabilityId(5)}}});
  Telling told;
  EXPECT_EQ(told(NodeSeen{NodeId(0), {}}), "n0");
  std::string bytes;
  ByteWriter out(bytes);
  told.ledger.tell_all(state, out);
  std::string resources;
  for (std::uint32_t r = 0; r < state.cluster().resource_count(); ++r) resources += " r" + std::to_string(r);
  EXPECT_EQ(list_of(bytes), "l0 l1" + resources + " q0 q2 M2 a1 c0 c5 n0 D0@0 M0 n2 D2@0 J0 J2 m0 m4.")
      << "and what was written before is written again";
  EXPECT_EQ(told(NodeSeen{NodeId(0), {}}), "") << "told with the state";
}

TEST(NameLedger, without_names_a_list_is_its_end) {
  NameLedger ledger(nullptr);
  std::string bytes;
  ByteWriter out(bytes);
  ledger.tell_new({Millis(0), NodeSeen{NodeId(0), {}}}, out);
  EXPECT_EQ(bytes, "");
  ledger.tell_all(State(), out);
  EXPECT_EQ(bytes, std::string(1, '\0'));
}

TEST(NameLedger, a_long_name_is_cut) {
  class Long final : public NameSource {
   public:
    void append_name(const NameKey&, std::string& out) const override { out.append(2000, 'x'); }
  } source;
  NameLedger ledger(&source);
  std::string bytes;
  ByteWriter out(bytes);
  ledger.tell_new({Millis(0), QueueDefined{QueueId(1), QueueId(0), {}}}, out);
  NameLedger::end(out);
  NameTable read;
  ByteReader in(bytes);
  read_names(in, read);
  EXPECT_EQ(read.of({NameKind::kQueue, 1}), std::string(1024, 'x'));
}

TEST(NameTable, finds_a_class_by_its_name_and_by_the_models_that_it_lists) {
  NameTable names;
  names.set({NameKind::kModel, 0}, "A100");
  names.set({NameKind::kModel, 3}, "H100");
  names.set({NameKind::kModelOfClass, 7}, "NVIDIA-H100-PCIe");
  EXPECT_TRUE(names.class_called("NVIDIA-H100-PCIe").is_none());
  names.note_class({DeviceClassId(3), {{DeviceModelId(7), DeviceModelId(8)}, {}}});
  EXPECT_EQ(names.class_called("NVIDIA-H100-PCIe"), DeviceClassId(3));
  EXPECT_EQ(names.class_called("H100"), DeviceClassId(3));
  EXPECT_EQ(names.class_called("A100"), DeviceClassId(0));
  EXPECT_TRUE(names.class_called("L4").is_none());
}

TEST(NameTable, speaks_of_kinds_and_rows_where_no_name_was_told) {
  const NameTable none;
  const char* words[] = {"node 7",   "job 7",      "member 7", "queue 7",      "level 7",
                         "domain 7", "resource 7", "model 7",  "capability 7", "model name 7"};
  for (std::size_t kind = 0; kind < kNameKinds; ++kind)
    EXPECT_EQ(none.of({static_cast<NameKind>(kind), 7}), words[kind]);
  NameTable table;
  table.set({NameKind::kDomain, 1, 2}, "rack");
  table.set({NameKind::kQueue, 2}, "research");
  EXPECT_TRUE(table.has({NameKind::kDomain, 1, 2}));
  for (const NameKey& key : {NameKey{NameKind::kDomain, 1, 1},
                             {NameKind::kDomain, 1, 3},
                             {NameKind::kDomain, 0, 2},
                             {NameKind::kDomain, 2, 2},
                             {NameKind::kQueue, 1},
                             {NameKind::kQueue, 3},
                             {NameKind::kNode, 2}})
    EXPECT_FALSE(table.has(key)) << table.of(key);
  EXPECT_EQ(table.row_of(NameKind::kQueue, "research"), 2u);
  EXPECT_EQ(table.row_of(NameKind::kQueue, "other"), 3u) << "as many as there are rows";
  EXPECT_EQ(table.row_of(NameKind::kNode, "other"), 0u);
}

TEST(NameTable, a_name_of_a_far_row_costs_no_more_than_one_of_a_near_row) {
  NameTable table;
  for (std::size_t kind = 0; kind < kNameKinds; ++kind)
    for (std::uint32_t level = 0; level < 16; ++level) {
      const NameKey last{static_cast<NameKind>(kind), std::numeric_limits<std::uint32_t>::max() - 1, level};
      table.set(last, "far");  // a column as long as this row would take 128 GiB
      EXPECT_EQ(table.of(last), "far");
    }
}

TEST(NameTable, bytes_that_are_no_list_are_told) {
  const auto fault = [](std::uint8_t kind, std::uint64_t row, std::uint64_t level) -> std::string {
    std::string bytes;
    ByteWriter out(bytes);
    out.byte(kind);
    out.varint(row);
    if (kind == 6) out.varint(level);
    out.text("x");
    out.byte(0);
    ByteReader in(bytes);
    NameTable table;
    read_names(in, table);
    EXPECT_EQ(table.row_of(NameKind::kNode, "x"), kind == 1 ? row : 0);
    return in.has_failed() ? in.fault() : "";
  };
  constexpr std::uint64_t kLargest = 1u << 27;
  EXPECT_EQ(fault(1, 3, 0), "");
  EXPECT_EQ(fault(10, 3, 0), "");
  EXPECT_EQ(fault(11, 3, 0), "a name of an unknown kind");
  EXPECT_EQ(fault(3, kLargest + 1, 0), "a name's row number is too large");
  EXPECT_EQ(fault(6, 3, 16), "");
  EXPECT_EQ(fault(6, 3, 17), "a name's row number is too large");
  ByteReader cut(std::string_view("\1\3\5x", 4));
  NameTable table;
  read_names(cut, table);
  EXPECT_STREQ(cut.fault(), "the bytes end early");
  EXPECT_FALSE(table.has({NameKind::kNode, 3}));
}

}  // namespace
}  // namespace ashlar::store
