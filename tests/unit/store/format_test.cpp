// The bytes of this version are fixed. When one of these tests fails, events, plans or snapshots have changed their
// layout: raise kFormatVersion in store/codec.h, say in docs/reference/decision-log.md what changed, and then take over
// the new values here.
#include <gtest/gtest.h>

#include "base/digest.h"
#include "random_world.h"
#include "store/codec.h"
#include "store/log_format.h"
#include "store/snapshot.h"

namespace ashlar::store {
namespace {

template <std::size_t... I>
std::string names_of_kinds(std::index_sequence<I...>) {
  std::string names;
  ((names += std::string(kind_name(EventBody(std::variant_alternative_t<I, EventBody>{}))) + " "), ...);
  return names;
}

// A kind of event is written as its place in this list: new kinds go to the end.
TEST(Format, kinds_of_events_keep_their_numbers) {
  EXPECT_EQ(names_of_kinds(std::make_index_sequence<std::variant_size_v<EventBody>>()),
            "Tick LevelsDefined DemandDefined ConstraintDefined QueueDefined NodeSeen NodeGone Submitted MembersAdded "
            "MemberGone Ended Bound "
            "BindRejected Evicted EstimateChanged ConstraintChanged PriorityChanged Nominated NodeCapacityChanged "
            "NodeDevicesChanged LabelSetDefined PodSelectorDefined NamespaceSeen "
            "HoldPlaced DeviceHealthChanged DeviceLayoutDefined GangSpecDefined DeviceClassDefined LabelsChanged "
            "ImageSeen CheckpointSaved ");
  EXPECT_EQ(std::variant_size_v<EventBody>, 31u);
  EXPECT_EQ(std::variant_size_v<Action>, 2u);
}

TEST(Format, an_event_has_the_documented_bytes) {
  const Event bound{Millis(1000), Bound{MemberId(3), NodeId(200), DeviceMask{0x0f, 0}}};
  EXPECT_EQ(bytes_of(bound), std::string("\xd2\x0f\x0b\x04\xc9\x01\x0f\x00\x00", 9));
  const Event granted{Millis(1000), Bound{MemberId(3), NodeId(200), DeviceMask{2, 0}, {{1, {MilliGpu(3), 1, MiB(4)}}}}};
  EXPECT_EQ(bytes_of(granted), std::string("\xd2\x0f\x0b\x04\xc9\x01\x02\x00\x01\x04\x08\x01\x0a", 13));
}

TEST(Format, a_world_of_events_and_plans_has_the_bytes_of_version_25) {
  ASSERT_EQ(kFormatVersion, 25u);
  std::string events;
  RandomWorld world(7);
  for (const Event& event : world.opening()) events += bytes_of(event);
  EXPECT_EQ(hash_bytes(events.data(), events.size()), 17213713006393889444u);
  const Plan plan{
      5,
      Millis(1'000'000),
      Millis::max(),
      {Bind{MemberId(1), JobId(2), NodeId(3), {0xff, 0}},
       Evict{JobId(4), Millis(30), {}, JobId(2), StopReason::kReclaimed}},
      {{JobId(6), {VerdictKind::kWaits, WakeOn::kCapacity, Millis(8), {{ReasonCode::kInsufficientGpu, 1, {2, 3, 4}}}}}},
      10};
  const std::string bytes = bytes_of(plan) + bytes_of(profile_named("fgd"));
  EXPECT_EQ(hash_bytes(bytes.data(), bytes.size()), 12126237569877206626u);
}

// Rows of a snapshot: a field that is added to one of these is in the bytes by itself, so the size tells that the
// layout has changed.
TEST(Format, rows_of_a_snapshot_keep_their_fields) {
  EXPECT_EQ(sizeof(Job), 208u);
  EXPECT_EQ(sizeof(Member), 48u);
  EXPECT_EQ(sizeof(Hold), 56u);
  EXPECT_EQ(sizeof(NodeFacts), 128u);
  EXPECT_EQ(sizeof(PendingQueue::Class), 328u);
  EXPECT_EQ(sizeof(Reservation), 344u);
  EXPECT_EQ(sizeof(Reservation::QuotaSpare), 56u);
  EXPECT_EQ(sizeof(Reservation::Spare), 88u);
  EXPECT_EQ(sizeof(Reservation::Claim), 88u);
  EXPECT_EQ(sizeof(EngineOptions), 8u);
}

TEST(Format, file_names_are_numbers_and_back) {
  EXPECT_EQ(file_name(1), "decisions-000001.alog");
  EXPECT_EQ(file_name(12'345'678), "decisions-12345678.alog");
  EXPECT_EQ(file_number("decisions-000017.alog"), 17u);
  EXPECT_EQ(file_number("decisions-.alog"), 0u);
  EXPECT_EQ(file_number("decisions-1x.alog"), 0u);
  EXPECT_EQ(file_number("other-000001.alog"), 0u);
}

TEST(Format, the_check_sees_every_byte_and_the_number_of_the_record) {
  const std::string bytes = "the quick brown fox jumps over the lazy dog";
  const std::uint32_t check = record_check(bytes, 5);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_NE(record_check(changed, 5), check);
    }
  }
  EXPECT_NE(record_check(bytes, 6), check);
  EXPECT_NE(record_check(bytes + '\0', 5), check);
  // Logs outlive the program that wrote them.
  EXPECT_EQ(record_check("", 0), 4272773340u);
  EXPECT_EQ(record_check("12345678", 1), 2728546910u);
  EXPECT_EQ(record_check(bytes, 5), 2297085592u);
}

}  // namespace
}  // namespace ashlar::store
