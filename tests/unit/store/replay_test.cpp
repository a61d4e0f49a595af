// What a replay counts, compares and says: every number of its report from the file itself, every difference in its
// words.
#include "store/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "log_folder.h"
#include "log_pieces.h"
#include "store/codec.h"
#include "store/log_reader.h"
#include "store/words.h"

namespace ashlar::store {
namespace {

std::function<Profile(const NameTable&)> by(std::string_view profile) {
  return [profile](const NameTable&) { return profile_named(profile); };
}

/// What stands in a file, counted without the engine.
struct Counted {
  std::uint64_t steps = 0, events = 0, binds = 0, evictions = 0, verdicts = 0;
};
Counted counted(const std::string& path, Revision from = 0) {
  Counted c;
  auto log = LogReader::open(path);
  while (true) {
    const auto step = log->next();
    if (!step.ok() || !*step) return c;
    const Plan& plan = (*step)->plan;
    if (plan.based_on < from) continue;
    ++c.steps;
    c.events += (*step)->batch.size();
    c.verdicts += plan.verdicts.size();
    for (const Action& action : plan.actions) {
      if (std::holds_alternative<Bind>(action)) ++c.binds;
      if (std::holds_alternative<Evict>(action)) ++c.evictions;
    }
  }
}

void expect_counts(const ReplayReport& report, const Counted& c) {
  EXPECT_EQ(report.steps, c.steps);
  EXPECT_EQ(report.plans_identical, c.steps);
  EXPECT_EQ(report.events, c.events);
  EXPECT_EQ(report.binds, c.binds);
  EXPECT_EQ(report.evictions, c.evictions);
  EXPECT_EQ(report.verdicts, c.verdicts);
}

TEST(Replay, counts_what_the_file_holds) {
  for (const char* profile : {"ashlar", "srtf"}) {  // srtf evicts
    const Folder folder;
    record_life(folder.str(), profile, 3, 300);
    const Counted whole = counted(first_file(folder));
    EXPECT_EQ(whole.evictions > 0, profile == std::string("srtf"));
    const auto report = replay_file(folder.str());
    ASSERT_TRUE(report.ok());
    expect_counts(*report, whole);
    EXPECT_EQ(report->profile, profile);
    EXPECT_EQ(report->seed, profile_named(profile).seed);
    EXPECT_EQ(report->files, std::vector<std::string>{first_file(folder)});
    EXPECT_EQ(report->first_revision, 0u);
    EXPECT_EQ(report->last_revision, whole.events);
    EXPECT_EQ(report->other_profile, "");
  }
}

TEST(Replay, from_a_revision_counts_the_plans_from_there) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 100);
  auto log = LogReader::open(first_file(folder));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(log->next().ok());
  const Revision revision = (**log->next()).plan.based_on;
  for (const Revision from : {revision, revision + 1}) {
    const auto report = replay_file(folder.str(), {.from = from});
    ASSERT_TRUE(report.ok());
    expect_counts(*report, counted(first_file(folder), from));
    EXPECT_EQ(report->first_revision, from);
  }
}

/// A recorder in between that changes what the fifth step with a bind says.
struct Tampering final : Recorder {
  Recorder& next;
  std::function<void(Plan&, std::uint64_t&)> change;
  int left = 5;
  std::uint64_t steps = 0;
  Plan original;
  std::uint64_t step_changed = 0;
  Tampering(Recorder& recorder, std::function<void(Plan&, std::uint64_t&)> c) : next(recorder), change(std::move(c)) {}
  void record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) override {
    ++steps;
    Plan changed = plan;
    if (!plan.actions.empty() && !plan.verdicts.empty() && --left == 0) {
      change(changed, digest);
      original = plan;
      step_changed = steps;
    }
    next.record(batch, changed, digest);
  }
};

struct Tampered {
  Folder folder;
  std::string what;
  Plan original, changed;
  explicit Tampered(const std::function<void(Plan&, std::uint64_t&)>& change) {
    Life life("ashlar", 5);
    std::uint64_t step = 0;
    {
      auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine});
      Tampering tampering(**log, [&](Plan& plan, std::uint64_t& digest) {
        change(plan, digest);
        changed = plan;
      });
      life.recorder = &tampering;
      life.open();
      life.run(100);
      original = tampering.original;
      step = tampering.step_changed;
    }
    const auto report = replay_file(folder.str());
    EXPECT_TRUE(report.ok() && report->first_difference);
    EXPECT_EQ(report->first_difference->file, first_file(folder));
    EXPECT_EQ(report->first_difference->step, step);
    EXPECT_EQ(report->first_difference->revision, original.based_on);
    EXPECT_EQ(report->first_difference->at, original.at);
    EXPECT_EQ(report->steps, step) << "nothing is compared after it";
    EXPECT_EQ(report->plans_identical, step - 1);
    EXPECT_TRUE(report->notes.empty());
    what = report->first_difference->what;
  }
};

TEST(Replay, a_plan_that_does_more_less_or_otherwise_is_told) {
  const NameTable none;
  const Tampered more([](Plan& plan, std::uint64_t&) { plan.actions.push_back(Evict{JobId(8), Millis(9)}); });
  EXPECT_EQ(more.what, "recorded: evict job 8 with 9 ms of grace; replayed: nothing more");
  const Tampered less([](Plan& plan, std::uint64_t&) { plan.actions.pop_back(); });
  EXPECT_EQ(less.what, "recorded: nothing more; replayed: " + action_in_words(less.original.actions.back(), none));
  const Tampered verdict([](Plan& plan, std::uint64_t&) {
    plan.verdicts.back().verdict = {VerdictKind::kPending, WakeOn::kTime, {}, {}};
  });
  const VerdictChange& was = verdict.original.verdicts.back();
  EXPECT_EQ(verdict.what, "recorded: job " + std::to_string(was.job.value) +
                              " Pending, wakes on TimePassed; replayed: job " + std::to_string(was.job.value) + " " +
                              verdict_in_words(was.verdict, none));
}

TEST(Replay, a_plan_that_only_says_otherwise_is_told) {
  const Tampered numbers([](Plan& plan, std::uint64_t&) {
    plan.examined += 1;
    plan.look_again_at = Millis(77);
  });
  const auto text = [](const Plan& p) {
    return "plan based on revision " + std::to_string(p.based_on) + ", examined " + std::to_string(p.examined) +
           ", look again at " + std::to_string(p.look_again_at.value);
  };
  EXPECT_EQ(numbers.what, "recorded: " + text(numbers.changed) + "; replayed: " + text(numbers.original));
  const Tampered digest([](Plan&, std::uint64_t& d) { ++d; });
  EXPECT_EQ(digest.what, "the plans are identical, but the state is not: its digest differs");
}

/// A file of a short life whose records can be changed.
struct Changed : ::testing::Test {
  Folder folder;
  std::string path = first_file(folder);
  std::uint64_t steps = record_life(folder.str(), "ashlar", 3, 12);
  std::vector<Piece> pieces = pieces_of(read_bytes(path));
  std::string error(const ReplayOptions& options = {}) {
    write_bytes(path, file_of(pieces));
    const auto report = replay_file(path, options);
    if (report.ok()) return "";
    EXPECT_TRUE(report.error().message.starts_with(path + ": "));
    return report.error().message.substr(path.size() + 2);
  }
  void change_header(const std::function<void(LogHeader&)>& change) {
    LogHeader header;
    ByteReader in(pieces[0].payload);
    decode_header(in, header);
    change(header);
    std::string payload;
    ByteWriter out(payload);
    encode_header(out, header);
    pieces[0].payload = payload;
  }
  void set_only_step(const std::vector<Event>& batch, Millis at) {
    std::string payload;
    ByteWriter out(payload);
    out.byte(0);  // no new options
    out.byte(0);  // no names
    out.varint(batch.size());
    for (const Event& event : batch) encode_event(out, event);
    out.fixed64(0);
    Plan plan;
    plan.at = at;
    encode_plan(out, plan);
    pieces.resize(3);
    pieces.push_back({RecordKind::kStep, payload});
    pieces.push_back(end_after(1));
  }
};

TEST_F(Changed, a_header_of_another_snapshot_is_refused) {
  change_header([](LogHeader& h) { ++h.revision; });
  EXPECT_EQ(error(), "the snapshot is not the one that the header names");
  change_header([](LogHeader& h) { --h.revision, ++h.digest; });
  EXPECT_EQ(error(), "the snapshot is not the one that the header names");
  change_header([](LogHeader& h) { --h.digest; });
  EXPECT_EQ(error(), "");
  change_header([](LogHeader& h) { h.profile = "\x05"; });
  EXPECT_EQ(error(), "at byte 1: the bytes end early");
}

TEST_F(Changed, a_snapshot_that_is_none_is_refused_with_its_fault) {
  pieces[2].payload += "x";
  EXPECT_EQ(error(), "at byte " + std::to_string(pieces[2].payload.size() - 1) + ": there are bytes left over");
  pieces[2].payload = "";
  EXPECT_EQ(error(), "at byte 0: the bytes end early");
}

TEST_F(Changed, events_and_times_that_cannot_be_are_refused_with_their_step) {
  set_only_step({{Millis(0), Tick{}}, {Millis(0), NodeSeen{NodeId(100'000'000), {}}}}, Millis(0));
  EXPECT_EQ(error(), "step 1: NodeSeen: a node's row is out of bounds");
  set_only_step({}, Millis(-1));
  EXPECT_EQ(error(), "step 1: its time is impossible");
  set_only_step({}, Millis::max());
  EXPECT_EQ(error(), "step 1: its time is impossible");
  set_only_step({}, Millis(0));
  EXPECT_EQ(error(), "") << "a time there may be";
}

// A member that is placed keeps its constraint unless one of the two keeps others away, so its row stays in use.
TEST_F(Changed, a_row_that_a_placed_member_keeps_is_not_redefined) {
  Workload job;
  job.job = JobId(0);
  job.members = {{MemberId(0), DemandId(0), ConstraintId(0)}};
  const Constraint other{.models = {DeviceClassId(1)}};
  const std::vector<EventBody> bodies = {DemandDefined{DemandId(0), {{{resource::kCpu, 100}}, {}, {}}},
                                         ConstraintDefined{ConstraintId(0), {}},
                                         ConstraintDefined{ConstraintId(1), other},
                                         NodeSeen{NodeId(0), {{1000}, {}, true, {}, {}, {}}},
                                         Submitted{job},
                                         Bound{MemberId(0), NodeId(0), {}},
                                         ConstraintChanged{MemberId(0), ConstraintId(1)},
                                         ConstraintDefined{ConstraintId(0), other}};
  std::vector<Event> batch;
  for (const EventBody& body : bodies) batch.push_back({Millis(0), body});
  set_only_step(batch, Millis(0));
  for (const ReplayOptions& options : {ReplayOptions{}, ReplayOptions{.other = by("spread")}})
    EXPECT_EQ(error(options), "step 1: ConstraintDefined: a constraint in use is redefined");
}

TEST_F(Changed, damage_is_told_with_another_profile_too) {
  pieces[6].payload = "\x02";
  EXPECT_NE(error({.other = by("spread")}).find("an unknown kind of step"), std::string::npos);
}

TEST_F(Changed, a_file_without_its_end_is_noted) {
  pieces.pop_back();
  EXPECT_EQ(error(), "");
  const auto report = replay_file(path);
  EXPECT_EQ(
      report->notes,
      std::vector<std::string>{
          path +
          ": has no end record: it is still being written, or its writer was killed, or the disk could not keep up"});
  EXPECT_EQ(report->steps, steps);
  EXPECT_TRUE(report->is_identical());
}

TEST(Replay, events_between_two_files_are_missed) {
  const Folder folder;
  Life life("ashlar", 3);
  auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine});
  life.recorder = log->get();
  life.open();
  life.run(20);
  (*log)->rotate();
  const Revision second_begins = life.state.revision();
  life.run(20);
  log->reset();
  EXPECT_TRUE(replay_file(folder.str())->notes.empty());
  auto pieces = pieces_of(read_bytes(first_file(folder)));
  pieces.resize(pieces.size() - 3);  // two steps and the end
  pieces.push_back(end_after(pieces.size() - 3));
  write_bytes(first_file(folder), file_of(pieces));
  const Revision first_ends = replay_file(first_file(folder))->last_revision;
  ASSERT_LT(first_ends, second_begins);
  const auto report = replay_file(folder.str());
  EXPECT_EQ(report->notes,
            std::vector<std::string>{folder.file(file_name(2)) + ": " + std::to_string(second_begins - first_ends) +
                                     " events before it are in no file"});
}

TEST(Replay, a_file_that_begins_elsewhere_is_noted) {
  const Folder folder;
  {
    Life life("ashlar", 3);
    const auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine});
    life.recorder = log->get();
    life.open();
  }
  Life other("ashlar", 4);
  other.open();
  static_cast<void>(DecisionLog::open({.folder = folder.str()}, {other.state, other.engine}));
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->notes, std::vector<std::string>{folder.file(file_name(2)) +
                                                    ": begins with another state than the file before it ended with"});
}

TEST(Replay, another_profile_may_name_a_model_that_a_class_lists) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 6, 200);
  std::map<std::string, DeviceClassId> found;
  const auto look = [&](const NameTable& names) {
    for (const char* name : {"model-0", "listed-0", "listed-1", "listed-77"}) found[name] = names.class_called(name);
    return profile_named("spread");
  };
  ASSERT_TRUE(replay_file(folder.str(), {.other = look}).ok());
  EXPECT_EQ(found["model-0"], DeviceClassId(0));
  EXPECT_TRUE(found["listed-77"].is_none());
  // The file begins before the classes are defined; what the last definitions list counts.
  std::map<DeviceClassId, DeviceClass> classes;
  auto log = LogReader::open(first_file(folder));
  for (auto step = log->next(); step.ok() && *step; step = log->next())
    for (const Event& event : (*step)->batch)
      if (const auto* defined = std::get_if<DeviceClassDefined>(&event.body))
        classes[defined->id] = defined->device_class;
  ASSERT_GT(classes.size(), 1u);
  for (const std::uint32_t listed : {0u, 1u}) {
    const auto lists = [&](const auto& of) { return std::ranges::count(of.second.models, DeviceModelId(listed)) > 0; };
    EXPECT_EQ(!found["listed-" + std::to_string(listed)].is_none(), std::ranges::any_of(classes, lists)) << listed;
  }
}

TEST(Replay, keeps_so_many_differences_of_opinion_and_counts_all) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 6, 400);
  const auto all = replay_file(folder.str(), {.other = by("spread")});
  const auto two = replay_file(folder.str(), {.other = by("spread"), .differences_max = 2});
  ASSERT_TRUE(all.ok() && two.ok());
  EXPECT_EQ(all->other_profile, "spread");
  EXPECT_EQ(all->differences.size(), all->jobs_different);
  ASSERT_GT(all->differences.size(), 2u);
  EXPECT_EQ(two->differences.size(), 2u);
  EXPECT_EQ(two->jobs_different, all->jobs_different);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(two->differences[i].job, all->differences[i].job);
    EXPECT_EQ(two->differences[i].step, all->differences[i].step);
  }
  const std::uint64_t last = all->differences.back().revision;
  const auto late = replay_file(folder.str(), {.other = by("spread"), .from = last});
  ASSERT_TRUE(late.ok());
  EXPECT_LT(late->jobs_different, all->jobs_different) << "what another would have done before is not told";
  EXPECT_GE(late->differences.front().revision, last);
}

}  // namespace
}  // namespace ashlar::store
