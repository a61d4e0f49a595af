// The decision log end to end: what is recorded replays byte for byte, each file alone; files are bounded and rotated;
// cut, damaged and garbled files are told apart and never crash a reader; a disk that fails costs the log, not the
// schedule.
#include "store/decision_log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "log_folder.h"
#include "random_world.h"
#include "store/log_reader.h"
#include "store/replay.h"

namespace ashlar::store {
namespace {

namespace fs = std::filesystem;

std::function<Profile(const NameTable&)> by(std::string_view profile) {
  return [profile](const NameTable&) { return profile_named(profile); };
}

class EveryProfileLogged : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryProfileLogged, replays_byte_for_byte) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Folder folder;
    const std::uint64_t steps = record_life(folder.str(), GetParam(), seed, 320);
    const auto report = replay_file(folder.str());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->is_identical()) << report_text(*report);
    EXPECT_EQ(report->steps, steps);
    EXPECT_GT(report->binds, 20u);
    EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryProfileLogged, ::testing::ValuesIn(every_profile()), [](const auto& info) {
  std::string name(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-'; }, '_');
  return name;
});

TEST(DecisionLog, rotates_into_bounded_files_that_replay_alone) {
  const Folder folder;
  const std::uint64_t steps =
      record_life(folder.str(), "ashlar", 3, 3000, {.file_bytes_max = 20'000, .files_max = 1000});
  const auto files = log_files(folder.str());
  ASSERT_TRUE(files.ok());
  ASSERT_GT(files->size(), 4u);
  std::uint64_t sum = 0;
  for (const std::string& file : *files) {
    EXPECT_LT(fs::file_size(file), 60'000u);
    const auto report = replay_file(file);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->is_identical()) << report_text(*report);
    EXPECT_TRUE(report->notes.empty());
    sum += report->steps;
  }
  EXPECT_EQ(sum, steps);
  const auto whole = replay_file(folder.str());
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->steps, steps);
  EXPECT_TRUE(whole->is_identical());
  EXPECT_TRUE(whole->notes.empty());
}

TEST(DecisionLog, keeps_the_newest_files_only) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 3000, {.file_bytes_max = 20'000, .files_max = 3});
  const auto files = log_files(folder.str());
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->size(), 3u);
  EXPECT_GT(file_number(fs::path(files->front()).filename().string()), 1u);
  EXPECT_TRUE(replay_file(folder.str())->is_identical());
}

TEST(DecisionLog, a_second_run_continues_the_numbers) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 50);
  record_life(folder.str(), "fgd", 4, 50);
  EXPECT_EQ(log_files(folder.str())->size(), 2u);
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->is_identical());
}

TEST(DecisionLog, opened_in_the_middle_of_a_life_starts_from_there) {
  const Folder folder;
  Life life("ashlar", 9);
  life.open();
  life.run(100);
  {
    auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine});
    ASSERT_TRUE(log.ok());
    life.recorder = log->get();
    life.run(100);
  }
  EXPECT_TRUE(replay_file(folder.str())->is_identical());
}

TEST(DecisionLog, records_engine_options_that_change_on_the_way) {
  const Folder folder;
  Life life("ashlar", 9);
  {
    auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine});
    life.recorder = log->get();
    life.open();
    life.run(60);
    life.engine.options().binds_per_step_max = 1;
    life.run(60);
    life.engine.options().has_verdicts = false;
    life.run(60);
  }
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->is_identical()) << report_text(*report);
}

TEST(DecisionLog, from_a_revision_on_compares_only_what_follows) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 1000, {.file_bytes_max = 20'000, .files_max = 1000});
  const auto whole = replay_file(folder.str());
  const Revision middle = whole->last_revision / 2;
  const auto tail = replay_file(folder.str(), {.from = middle});
  ASSERT_TRUE(tail.ok());
  EXPECT_TRUE(tail->is_identical());
  EXPECT_LT(tail->steps, whole->steps);
  EXPECT_LT(tail->files.size(), whole->files.size());
  EXPECT_EQ(tail->first_revision, middle);
}

TEST(DecisionLog, from_a_revision_that_is_not_there_is_an_error_and_no_proof) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 100);
  const Revision last = replay_file(folder.str())->last_revision;
  const auto none = replay_file(folder.str(), {.from = last + 1});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, Error::Kind::kInvalid);
  EXPECT_NE(none.error().message.find("no plan is based on revision " + std::to_string(last + 1) +
                                      " or a later one; the log ends at revision " + std::to_string(last)),
            std::string::npos)
      << none.error().message;
}

TEST(DecisionLog, says_names_not_rows) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 100);
  auto log = LogReader::open(first_file(folder));
  ASSERT_TRUE(log.ok());
  JobId job;
  while (true) {
    const auto step = log->next();
    ASSERT_TRUE(step.ok());
    if (!*step) break;
    for (const Event& event : (*step)->batch)
      if (const auto* submitted = std::get_if<Submitted>(&event.body)) job = submitted->workload.job;
  }
  EXPECT_TRUE(log->is_whole());
  EXPECT_EQ(log->names().of({NameKind::kNode, 3}), "node-3");
  EXPECT_EQ(log->names().of({NameKind::kQueue, 2}), "queue-2");
  EXPECT_EQ(log->names().of({NameKind::kDomain, 1, 0}), "domain-1");
  EXPECT_EQ(log->names().of({NameKind::kMember, 3}), "member 3");
  EXPECT_EQ(log->names().of({NameKind::kJob, job.value}), "team/job-" + std::to_string(job.value));
}

/// Another recorder in between that changes one plan, as a bug in the engine would.
struct Tampering final : Recorder {
  Recorder& next;
  int left;
  Tampering(Recorder& recorder, int steps) : next(recorder), left(steps) {}
  void record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) override {
    Plan changed = plan;
    if (!plan.actions.empty() && std::holds_alternative<Bind>(plan.actions.front()) && --left == 0)
      std::get<Bind>(changed.actions.front()).node = NodeId(77);
    next.record(batch, changed, digest);
  }
};

TEST(DecisionLog, the_first_different_plan_is_told_in_words) {
  const Folder folder;
  const Names names;
  Life life("ashlar", 5);
  {
    auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine, &names});
    Tampering tampering(**log, 5);
    life.recorder = &tampering;
    life.open();
    life.run(100);
  }
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(report->first_difference);
  EXPECT_FALSE(report->is_identical());
  const std::string& what = report->first_difference->what;
  EXPECT_TRUE(what.starts_with("recorded: bind team/job-")) << what;
  EXPECT_NE(what.find(" to node 77"), std::string::npos) << what;
  EXPECT_NE(what.find("; replayed: bind team/job-"), std::string::npos) << what;
  EXPECT_NE(what.find(" to node-"), std::string::npos) << what;
  EXPECT_NE(report_text(*report).find("first difference: "), std::string::npos);
  EXPECT_NE(report_json(*report).find("\"identical\":false"), std::string::npos);
}

TEST(DecisionLog, another_profile_differs_where_it_would_place_otherwise) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 6, 800);
  const auto same = replay_file(folder.str(), {.other = by("ashlar")});
  ASSERT_TRUE(same.ok());
  EXPECT_GT(same->jobs_compared, 20u);
  EXPECT_EQ(same->jobs_different, 0u) << report_text(*same);
  const auto spread = replay_file(folder.str(), {.other = by("spread")});
  ASSERT_TRUE(spread.ok());
  EXPECT_TRUE(spread->is_identical());
  EXPECT_GT(spread->jobs_different, 5u);
  EXPECT_LT(spread->jobs_different, spread->jobs_compared);
  ASSERT_FALSE(spread->differences.empty());
  EXPECT_NE(spread->differences.front().recorded, spread->differences.front().other);
  EXPECT_TRUE(spread->differences.front().job.starts_with("team/job-"));
}

TEST(DecisionLog, every_profile_can_give_a_second_opinion_on_every_other) {
  const Folder folder;
  record_life(folder.str(), "srtf", 6, 300);
  for (const std::string_view name : builtin_profile_names()) {
    const auto report = replay_file(folder.str(), {.other = by(name)});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->is_identical());
    EXPECT_GT(report->jobs_compared, 20u);
  }
}

TEST(DecisionLog, a_tail_cut_off_by_a_crash_is_ignored_with_a_note) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 100);
  const std::string bytes = read_bytes(first_file(folder));
  const auto whole = replay_file(first_file(folder));
  for (std::size_t cut = kEndRecordBytes + 1; cut < 2000; cut += 7) {
    write_bytes(first_file(folder), bytes.substr(0, bytes.size() - cut));
    const auto report = replay_file(first_file(folder));
    ASSERT_TRUE(report.ok()) << cut << ": " << report.error().message;
    EXPECT_TRUE(report->is_identical());
    EXPECT_LT(report->steps, whole->steps + (cut <= kEndRecordBytes ? 1 : 0));
    EXPECT_EQ(report->notes.size(), 1u);
  }
}

TEST(DecisionLog, a_tail_of_zeros_is_a_cut_too) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 100);
  std::string bytes = read_bytes(first_file(folder));
  for (std::size_t i = bytes.size() - 700; i < bytes.size(); ++i) bytes[i] = '\0';
  write_bytes(first_file(folder), bytes);
  const auto report = replay_file(first_file(folder));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->is_identical());
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_NE(report->notes.front().find("cut off at byte"), std::string::npos);
}

TEST(DecisionLog, damage_before_the_end_is_an_error_with_its_place) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 100);
  const std::string bytes = read_bytes(first_file(folder));
  for (std::size_t at = 8; at < bytes.size() - kEndRecordBytes; at += 13) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    write_bytes(first_file(folder), changed);
    const auto report = replay_file(first_file(folder));
    ASSERT_FALSE(report.ok()) << at;
    EXPECT_NE(report.error().message.find("damaged at byte "), std::string::npos) << report.error().message;
  }
}

TEST(DecisionLog, files_of_other_kinds_are_refused) {
  const Folder folder;
  const std::string path = (folder.path / "decisions-000001.alog").string();
  EXPECT_NE(replay_file((folder.path / "none.alog").string())
                .error()
                .message.find("cannot be read: No such file or directory"),
            std::string::npos);
  EXPECT_NE(replay_file(folder.str()).error().message.find("holds no log file"), std::string::npos);
  write_bytes(path, "");
  EXPECT_NE(replay_file(path).error().message.find("is not a decision log"), std::string::npos);
  write_bytes(path, "apiVersion: v1\nkind: Pod\n");
  EXPECT_NE(replay_file(path).error().message.find("is not a decision log"), std::string::npos);
  write_bytes(path, std::string("ALOG\x63\0\0\0", 8));
  EXPECT_NE(replay_file(path).error().message.find("format version 99"), std::string::npos);
  write_bytes(path, std::string("ALOG") + static_cast<char>(kFormatVersion) + std::string(3, '\0'));
  EXPECT_NE(replay_file(path).error().message.find("ends before its snapshot"), std::string::npos);
}

// A log of before grants has other fields in the same places: it must not be read as one of today, nor the other way
// round.
TEST(DecisionLog, one_of_another_format_is_refused_by_its_number) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 12);
  std::string bytes = read_bytes(first_file(folder));
  ASSERT_EQ(bytes.substr(4, 4), std::string("\x19\0\0\0", 4));
  for (const int other : {24, 26}) {
    bytes[4] = static_cast<char>(other);
    write_bytes(first_file(folder), bytes);
    const std::string message = replay_file(first_file(folder)).error().message;
    EXPECT_NE(message.find("has format version " + std::to_string(other) + "; this build reads version 25; replay it"),
              std::string::npos)
        << message;
  }
}

/// Parses a file's records and writes them anew with right checks, after `change` was made to one payload: what a check
/// cannot catch.
std::string with_changed_payload(const std::string& bytes, const std::function<void(std::string&)>& change,
                                 std::uint64_t which) {
  std::string out = bytes.substr(0, 8);
  ByteReader in(std::string_view(bytes).substr(8));
  for (std::uint64_t number = 0; in.left() > 0; ++number) {
    const auto kind = static_cast<RecordKind>(in.byte());
    std::string payload(in.text());
    in.fixed32();
    if (number == which && !payload.empty()) change(payload);
    append_record(out, kind, payload, number);
  }
  return out;
}

RC_GTEST_PROP(DecisionLog, garbled_records_with_right_checks_never_crash, ()) {
  static const Folder folder;
  static const std::string bytes = [] {
    record_life(folder.str(), "ashlar", 11, 60);
    return read_bytes(first_file(folder));
  }();
  const auto which = *rc::gen::inRange<std::uint64_t>(0, 60);
  const std::string path = (folder.path / "garbled.alog").string();
  write_bytes(path, with_changed_payload(
                        bytes,
                        [](std::string& payload) {
                          for (int i = *rc::gen::inRange(1, 4); i > 0; --i)
                            payload[*rc::gen::inRange<std::size_t>(0, payload.size())] = *rc::gen::arbitrary<char>();
                          if (*rc::gen::inRange(0, 6) == 0)
                            payload.resize(*rc::gen::inRange<std::size_t>(0, payload.size()));
                        },
                        which));
  const auto report = replay_file(path, {.other = by("spread")});
  if (!report.ok()) RC_ASSERT(!report.error().message.empty());
}

RC_GTEST_PROP(DecisionLog, any_bytes_are_read_without_a_crash, (const std::string& garbage)) {
  static const Folder folder;
  const std::string path = (folder.path / "garbage.alog").string();
  write_bytes(path, std::string("ALOG") + static_cast<char>(kFormatVersion) + std::string(3, '\0') + garbage);
  RC_ASSERT(!replay_file(path).ok());
}

/// No file of this process may grow beyond `bytes` while this lives: what a full disk is to a writer.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit before_{};
  void (*old_handler_)(int);
};

/// A writer that tries again soon.
std::shared_ptr<FileWriter> eager_writer(const std::string& folder) {
  auto writer = FileWriter::open(
      {.folder = folder, .pause_min = std::chrono::milliseconds(1), .pause_max = std::chrono::milliseconds(8)});
  EXPECT_TRUE(writer.ok());
  return writer.value();
}

// Scheduling goes on while the disk is full, and so does the log when there is room again: in a new file, without what
// was decided meanwhile.
TEST(DecisionLog, a_full_disk_costs_steps_until_there_is_room_again) {
  const Folder folder;
  std::vector<std::string> troubles;
  Life life("ashlar", 3);
  const auto writer = eager_writer(folder.str());
  auto log = std::make_unique<DecisionLog>(
      DecisionLogOptions{.on_trouble = [&](const std::string& t) { troubles.push_back(t); }},
      DecisionLog::Subject{life.state, life.engine}, writer);
  life.recorder = log.get();
  life.open();
  log->flush();
  std::uint64_t lost = 0;
  {
    const FullDisk disk(200);
    for (int i = 0; i < 30; ++i) {  // now and then a new file is tried, for whose snapshot there is no room either
      life.run(5);
      log->flush();
    }
    EXPECT_TRUE(log->has_stopped());
    lost = writer->lost();
    EXPECT_GT(lost, 100u);
    ASSERT_EQ(troubles.size(), 1u);
    EXPECT_NE(troubles.front().find("cannot write"), std::string::npos) << troubles.front();
    EXPECT_NE(troubles.front().find("scheduling continues"), std::string::npos);
  }
  while (log->has_stopped()) {
    life.run(1);
    log->flush();
  }
  life.run(50);
  log->flush();
  EXPECT_FALSE(log->has_stopped());
  ASSERT_EQ(troubles.size(), 2u);
  EXPECT_NE(troubles.back().find("continues in a new file"), std::string::npos) << troubles.back();
  log.reset();
  // The first file is good up to where it ends, no file without its snapshot was left behind, and the new one is whole.
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->is_identical());
  EXPECT_EQ(report->files.size(), 2u);
}

TEST(DecisionLog, is_readable_by_its_owner_alone) {
  const Folder folder;
  const std::string path = (folder.path / "a" / "log").string();
  const mode_t before = ::umask(0);
  record_life(path, "ashlar", 3, 10);
  ::umask(before);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(path))
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << entry.path();
}

// Leaderships of one process follow each other on one writer.
TEST(DecisionLog, logs_share_a_writer_one_after_the_other) {
  const Folder folder;
  const auto writer = eager_writer(folder.str());
  for (const std::uint64_t seed : {3u, 4u}) {
    Life life("ashlar", seed);
    DecisionLog log({}, {life.state, life.engine}, writer);
    life.recorder = &log;
    life.open();
    life.run(20);
  }
  writer->flush();
  EXPECT_EQ(writer->next_file(), 3u);
  for (const char* name : {"decisions-000001.alog", "decisions-000002.alog"}) {
    const auto report = replay_file((folder.path / name).string());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->is_identical());
    EXPECT_TRUE(report->notes.empty()) << name << " was not closed in order";
  }
}

TEST(DecisionLog, a_folder_that_cannot_be_used_is_an_error_at_once) {
  const Folder folder;
  write_bytes((folder.path / "file").string(), "x");
  Life life("ashlar", 3);
  const auto log = DecisionLog::open({.folder = (folder.path / "file" / "log").string()}, {life.state, life.engine});
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("cannot create the folder"), std::string::npos);
  const auto file = FileWriter::open({.folder = (folder.path / "file").string()});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, Error::Kind::kInvalid);
  EXPECT_NE(file.error().message.find("it is a file"), std::string::npos) << file.error().message;
}

// A disk that cannot keep up costs steps, and the log begins anew from a snapshot when it has caught up.
TEST(DecisionLog, a_slow_disk_leaves_a_gap_and_a_new_file) {
  const Folder folder;
  Life life("ashlar", 3);
  std::uint64_t lost = 0;
  {
    auto log = DecisionLog::open({.folder = folder.str(), .waiting_bytes_max = 12'000}, {life.state, life.engine});
    ASSERT_TRUE(log.ok()) << log.error().message;
    life.recorder = log->get();
    life.open();
    for (int i = 0; i < 3; ++i) {
      life.run(300);  // faster than the writer wakes up
      (*log)->flush();
    }
    lost = (*log)->counts().steps_lost;
  }
  EXPECT_GT(lost, 0u);
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->is_identical()) << report_text(*report);
  EXPECT_GT(report->files.size(), 1u);
  EXPECT_FALSE(report->notes.empty());
}

}  // namespace
}  // namespace ashlar::store
