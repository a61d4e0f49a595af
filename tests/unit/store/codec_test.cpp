// Events, plans and profiles as bytes and back, without loss; bytes that are neither are an Error with their place,
// never a crash.
#include "store/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "arbitrary.h"
#include "random_world.h"

namespace ashlar::store {
namespace {

template <std::size_t I>
bool kind_round_trips() {
  return rc::check([] {
    Event event;
    draw(event.at);
    draw_alternative(event.body, I);
    RC_ASSERT(event.body.index() == I);
    const std::string bytes = bytes_of(event);
    const Result<Event> read = event_of(bytes);
    RC_ASSERT(read.ok());
    RC_ASSERT(read->at == event.at);
    RC_ASSERT(read->body.index() == I);
    RC_ASSERT(bytes_of(*read) == bytes);
  });
}

template <std::size_t... I>
void every_kind(std::index_sequence<I...>) {
  const bool round_trips[] = {kind_round_trips<I>()...};
  for (std::size_t i = 0; i < std::size(round_trips); ++i) EXPECT_TRUE(round_trips[i]) << "kind " << i;
}

TEST(Codec, events_of_every_kind_come_back_as_they_were) {
  every_kind(std::make_index_sequence<std::variant_size_v<EventBody>>());
}

/// Field by field, not by their bytes: what has operator== is compared with it.
RC_GTEST_PROP(Codec, node_facts_come_back_as_they_were, ()) {
  NodeSeen seen;
  draw(seen);
  const Result<Event> read = event_of(bytes_of(Event{Millis(7), seen}));
  RC_ASSERT(read.ok());
  RC_ASSERT(std::get<NodeSeen>(read->body).node == seen.node);
  RC_ASSERT(std::get<NodeSeen>(read->body).facts == seen.facts);
}

RC_GTEST_PROP(Codec, constraints_and_demands_come_back_as_they_were, ()) {
  ConstraintDefined constraint;
  DemandDefined demand;
  draw(constraint);
  draw(demand);
  RC_ASSERT(std::get<ConstraintDefined>(event_of(bytes_of(Event{Millis(7), constraint}))->body).constraint ==
            constraint.constraint);
  RC_ASSERT(std::get<DemandDefined>(event_of(bytes_of(Event{Millis(7), demand}))->body).demand == demand.demand);
}

RC_GTEST_PROP(Codec, plans_come_back_as_they_were, ()) {
  Plan plan;
  draw(plan);
  const std::string bytes = bytes_of(plan);
  const Result<Plan> read = plan_of(bytes);
  RC_ASSERT(read.ok());
  RC_ASSERT(bytes_of(*read) == bytes);
  RC_ASSERT(digest_of(*read) == digest_of(plan));
  RC_ASSERT(read->verdicts.size() == plan.verdicts.size());
  for (std::size_t i = 0; i < plan.verdicts.size(); ++i)
    RC_ASSERT(read->verdicts[i].verdict == plan.verdicts[i].verdict);
}

RC_GTEST_PROP(Codec, a_shortened_event_is_an_error_that_says_where, ()) {
  Event event;
  draw(event);
  const std::string bytes = bytes_of(event);
  const auto kept = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const Result<Event> read = event_of(std::string_view(bytes).substr(0, kept));
  RC_ASSERT(!read.ok());
  RC_ASSERT(read.error().message.starts_with("at byte "));
}

RC_GTEST_PROP(Codec, garbage_never_crashes, (const std::string& garbage)) {
  const Result<Event> event = event_of(garbage);
  if (event.ok()) RC_ASSERT(event_of(bytes_of(*event)).ok());
  const Result<Plan> plan = plan_of(garbage);
  if (plan.ok()) RC_ASSERT(plan_of(bytes_of(*plan)).ok());
  static_cast<void>(profile_of(garbage));
}

RC_GTEST_PROP(Codec, a_changed_plan_never_crashes, ()) {
  Plan plan;
  draw(plan);
  std::string bytes = bytes_of(plan);
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  const Result<Plan> read = plan_of(bytes);
  // a number may have been written longer than it need be
  if (read.ok()) RC_ASSERT(bytes_of(*read).size() <= bytes.size());
}

TEST(Codec, numbers_of_all_sizes_come_back) {
  for (const std::int64_t v : {std::int64_t(0), std::int64_t(-1), std::int64_t(127), std::int64_t(1) << 40, INT64_MAX,
                               INT64_MAX - 1, INT64_MIN, INT64_MIN + 1}) {
    std::string bytes;
    ByteWriter(bytes).zigzag(v);
    ByteReader in(bytes);
    EXPECT_EQ(in.zigzag(), v);
    EXPECT_FALSE(in.has_failed());
    EXPECT_EQ(in.left(), 0u);
  }
}

TEST(Codec, numbers_that_no_cluster_has_are_refused) {
  for (const std::int64_t v : {kNumberMax + 1, -kNumberMax - 1, INT64_MAX - 1})
    EXPECT_FALSE(event_of(bytes_of(Event{Millis(v), Tick{}})).ok()) << v;
  for (const std::int64_t v : {kNumberMax, -kNumberMax, INT64_MAX, INT64_MIN})
    EXPECT_TRUE(event_of(bytes_of(Event{Millis(v), Tick{}})).ok()) << v;
}

TEST(Codec, unknown_and_unlimited_take_one_byte) {
  std::string bytes;
  ByteWriter(bytes).zigzag(Millis::max().value);
  ByteWriter(bytes).zigzag(NodeLabel::kNotANumber);
  EXPECT_EQ(bytes.size(), 2u);
}

TEST(Codec, a_varint_of_more_than_64_bits_is_refused) {
  ByteReader in("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
  in.varint();
  EXPECT_TRUE(in.has_failed());
}

TEST(Codec, every_built_in_profile_comes_back_as_it_was) {
  for (const std::string_view name : builtin_profile_names()) {
    const Profile profile = profile_named(name);
    const Result<Profile> read = profile_of(bytes_of(profile));
    ASSERT_TRUE(read.ok()) << name;
    EXPECT_EQ(bytes_of(*read), bytes_of(profile)) << name;
    EXPECT_EQ(read->name, name);
    EXPECT_EQ(read->feasible, profile.feasible);
    EXPECT_EQ(read->tiers, profile.tiers);
    EXPECT_EQ(read->order, profile.order);
    EXPECT_EQ(read->device, profile.device);
    EXPECT_EQ(read->mix.classes.size(), profile.mix.classes.size());
  }
}

TEST(Codec, a_profile_with_a_policy_of_another_build_is_named) {
  std::string bytes = bytes_of(profile_named("ashlar"));
  const std::size_t at = bytes.find("pack-tight");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 10, "pack-loose");
  const Result<Profile> read = profile_of(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("score policy \"pack-loose\""), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace ashlar::store
