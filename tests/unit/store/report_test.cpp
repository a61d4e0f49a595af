// The report of a replay, as text and as JSON, and decisions in words: exactly as people and programs get them.
#include <gtest/gtest.h>

#include "documented/documented.h"
#include "store/replay.h"
#include "store/words.h"
#include "text/device_text.h"

namespace ashlar::store {
namespace {

/// Its JSON, which has only fields that are documented.
std::string described_json(const ReplayReport& report) {
  EXPECT_EQ(undocumented(report_json(report)), "");
  return report_json(report);
}

ReplayReport identical() {
  ReplayReport r;
  r.files = {"a.alog"};
  r.profile = "ashlar";
  r.seed = 7;
  r.first_revision = 3;
  r.last_revision = 90;
  r.steps = r.plans_identical = r.events = r.binds = r.evictions = r.verdicts = 1;
  return r;
}

TEST(ReplayReport, of_an_identical_replay_is_two_lines) {
  EXPECT_EQ(report_text(identical()),
            "1 file, profile ashlar, seed 7, revisions 3 to 90: 1 event, 1 placement, 1 eviction, 1 verdict\n"
            "1 step, 1 plan identical\n");
  ReplayReport many = identical();
  many.files = {"a.alog", "b.alog"};
  many.steps = many.plans_identical = 2;
  many.events = 3, many.binds = 4, many.evictions = 0, many.verdicts = 5;
  many.notes = {"first", "second"};
  EXPECT_EQ(report_text(many),
            "note: first\nnote: second\n"
            "2 files, profile ashlar, seed 7, revisions 3 to 90: 3 events, 4 placements, 0 evictions, 5 verdicts\n"
            "2 steps, 2 plans identical\n");
  EXPECT_TRUE(many.is_identical());
  many.plans_identical = 1;
  EXPECT_FALSE(many.is_identical());
}

TEST(ReplayReport, names_the_first_difference) {
  ReplayReport r = identical();
  r.first_difference = StepDifference{"a.alog", 12, 34, Millis(5'067), "recorded: this; replayed: that"};
  EXPECT_FALSE(r.is_identical());
  EXPECT_EQ(report_text(r),
            "1 file, profile ashlar, seed 7, revisions 3 to 90: 1 event, 1 placement, 1 eviction, 1 verdict\n"
            "first difference: a.alog step 12 (revision 34, at 5.067 s)\n  recorded: this; replayed: that\n1 plan "
            "before it identical\n");
  EXPECT_EQ(
      described_json(r),
      R"({"apiVersion":"ashlar.dev/v1alpha1","kind":"ReplayReport","files":["a.alog"],"profile":"ashlar","seed":7,"firstRevision":3,)"
      R"("lastRevision":90,"steps":1,"plansIdentical":1,"events":1,"placements":1,"evictions":1,"verdicts":1,"identical":false,)"
      R"("firstDifference":{"file":"a.alog","step":12,"revision":34,"atMilliseconds":5067,"what":"recorded: this; replayed: that"},"notes":[]})"
      "\n");
}

TEST(ReplayReport, lists_where_another_profile_differs) {
  ReplayReport r = identical();
  r.other_profile = "spread";
  r.jobs_compared = 1;
  EXPECT_TRUE(report_text(r).ends_with("identical\nprofile spread would have treated 0 of 1 job otherwise\n"))
      << report_text(r);
  r.jobs_compared = 50;
  r.jobs_different = 1;
  r.differences = {{4, 5, Millis(6'000), "job x", "node1", "node2"}};
  r.notes = {"noted"};
  const std::string difference = "  step 4 (revision 5, at 6.000 s)  job x\n    ashlar: node1\n    spread: node2\n";
  EXPECT_TRUE(
      report_text(r).ends_with("identical\nprofile spread would have treated 1 of 50 jobs otherwise\n" + difference))
      << report_text(r);
  EXPECT_EQ(
      described_json(r),
      R"({"apiVersion":"ashlar.dev/v1alpha1","kind":"ReplayReport","files":["a.alog"],"profile":"ashlar","seed":7,"firstRevision":3,)"
      R"("lastRevision":90,"steps":1,"plansIdentical":1,"events":1,"placements":1,"evictions":1,"verdicts":1,"identical":true,)"
      R"("otherProfile":"spread","jobsCompared":50,"jobsDifferent":1,"differences":[{"step":4,"revision":5,"atMilliseconds":6000,)"
      R"("job":"job x","recorded":"node1","other":"node2"}],"notes":["noted"]})"
      "\n");
}

TEST(ReplayReport, has_every_field_that_is_documented) {
  ReplayReport r = identical();
  r.first_difference = StepDifference{"a.alog", 12, 34, Millis(5'067), "recorded: this; replayed: that"};
  const std::string differs = described_json(r);
  EXPECT_NE(unprinted("ReplayReport", {differs}), "");
  r.other_profile = "spread";
  r.differences = {{4, 5, Millis(6'000), "job x", "node1", "node2"}};
  r.notes = {"noted"};
  EXPECT_EQ(unprinted("ReplayReport", {differs, described_json(r)}), "");
}

TEST(ReplayReport, shows_forty_differences_and_counts_the_rest) {
  ReplayReport r = identical();
  r.other_profile = "spread";
  const auto shown = [&](std::uint64_t different) {
    r.jobs_different = r.jobs_compared = different;
    r.differences.assign(different, {4, 5, Millis(6'000), "job x", "node1", "node2"});
    const std::string text = report_text(r);
    std::size_t count = 0;
    for (std::size_t at = text.find("job x"); at != std::string::npos; at = text.find("job x", at + 1)) ++count;
    return std::pair(count, text.substr(text.rfind('\n', text.size() - 2) + 1));
  };
  EXPECT_EQ(shown(40), (std::pair<std::size_t, std::string>(40, "    spread: node2\n")));
  EXPECT_EQ(shown(43), (std::pair<std::size_t, std::string>(40, "  ... and 3 more; -o json has them\n")));
}

DeviceMask devices_of(std::initializer_list<int> devices) {
  DeviceMask mask;
  for (const int device : devices) mask.set(device);
  return mask;
}

NameTable names() {
  NameTable table;
  table.set({NameKind::kNode, 1}, "node1");
  table.set({NameKind::kJob, 2}, "nlp/train");
  table.set({NameKind::kMember, 3}, "worker-0");
  table.set({NameKind::kQueue, 4}, "research");
  table.set({NameKind::kLevel, 5}, "rack");
  table.set({NameKind::kResource, 6}, "nic");
  return table;
}

TEST(Words, devices_are_ranges) {
  EXPECT_EQ(device_ranges({}), "");
  EXPECT_EQ(device_ranges(devices_of({0})), "0");
  EXPECT_EQ(device_ranges(devices_of({1, 2})), "1-2");
  EXPECT_EQ(device_ranges(devices_of({0, 1, 2, 3, 5, 7, 8})), "0-3,5,7-8");
  EXPECT_EQ(device_ranges(devices_of({62, 63, 64, 126, 127})), "62-64,126-127");
  EXPECT_EQ(device_ranges(DeviceMask::unknown()), "0-127");
}

TEST(Words, placements_name_four_members) {
  std::vector<Bind> binds{{MemberId(1), JobId(2), NodeId(1), devices_of({0, 1})}};
  EXPECT_EQ(placement_in_words({}, names()), "");
  EXPECT_EQ(placement_in_words(binds, names()), "node1 gpu 0-1");
  for (std::uint32_t n = 2; n <= 4; ++n) binds.push_back({MemberId(n), JobId(2), NodeId(n), {}});
  EXPECT_EQ(placement_in_words(binds, names()), "node1 gpu 0-1, node 2, node 3, node 4");
  binds.push_back({MemberId(5), JobId(2), NodeId(5), {}});
  EXPECT_EQ(placement_in_words(binds, names()), "node1 gpu 0-1, node 2, node 3, node 4, ... (5 members)");
}

TEST(Words, actions_are_named) {
  EXPECT_EQ(action_in_words(Bind{MemberId(3), JobId(2), NodeId(1), devices_of({7})}, names()),
            "bind nlp/train worker-0 to node1 gpu 7");
  EXPECT_EQ(action_in_words(Bind{MemberId(4), JobId(9), NodeId(8), {}}, names()), "bind job 9 to node 8");
  EXPECT_EQ(action_in_words(Evict{JobId(2), Millis(30)}, names()), "evict nlp/train with 30 ms of grace");
  EXPECT_EQ(action_in_words(Evict{JobId(2), Millis(30), MemberId(77), JobId(2)}, names()),
            "evict nlp/train member 77 with 30 ms of grace for nlp/train");
  EXPECT_EQ(action_in_words(Evict{JobId(2), Millis(30), {}, JobId(2), StopReason::kWhileBorrowing}, names()),
            "evict nlp/train with 30 ms of grace for nlp/train: WhileBorrowing");
}

TEST(Words, verdicts_have_their_reasons_and_what_they_are_about) {
  const auto words = [](std::vector<Reason> reasons, WakeOn wake = WakeOn::kNothing) {
    return verdict_in_words({VerdictKind::kWaits, wake, Millis(0), std::move(reasons)}, names());
  };
  EXPECT_EQ(words({}), "Waits");
  EXPECT_EQ(words({}, WakeOn::kCapacity), "Waits, wakes on JobEnded");
  EXPECT_EQ(words({{ReasonCode::kInsufficientResource, 6, {1, 2, 3}}, {ReasonCode::kInsufficientGpu, 1, {4, 5, 6}}},
                  WakeOn::kQuota),
            "Waits: InsufficientResource nic (1, 2, 3); InsufficientGPU (4, 5, 6), wakes on QuotaFreed");
  for (const ReasonCode code : {ReasonCode::kTopologyFragmented, ReasonCode::kNoSuchDomain})
    EXPECT_EQ(words({{code, 5, {}}}), "Waits: " + std::string(reason_name(code)) + " rack (0, 0, 0)");
  for (const ReasonCode code : {ReasonCode::kQuotaExhausted, ReasonCode::kExceedsQuota, ReasonCode::kQueueUnknown})
    EXPECT_EQ(words({{code, 4, {}}}), "Waits: " + std::string(reason_name(code)) + " research (0, 0, 0)");
}

}  // namespace
}  // namespace ashlar::store
