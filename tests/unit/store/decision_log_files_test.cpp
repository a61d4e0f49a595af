// What the decision log counts and how it cuts its files, against the bytes that lie in the folder.
#include <gtest/gtest.h>

#include "log_folder.h"
#include "log_pieces.h"
#include "store/log_reader.h"

namespace ashlar::store {
namespace {

namespace fs = std::filesystem;

TEST(DecisionLogFiles, are_counted_and_cut_where_they_should_be) {
  for (const std::uint64_t bytes_max : {std::uint64_t{1}, std::uint64_t{20'000}}) {
    const Folder folder;
    DecisionLog::Counts counts;
    {
      Life life("ashlar", 3);
      const auto log = DecisionLog::open({.folder = folder.str(), .file_bytes_max = bytes_max, .files_max = 1000},
                                         {life.state, life.engine});
      life.recorder = log->get();
      life.open();
      life.run(1500);
      (*log)->flush();
      counts = (*log)->counts();
      EXPECT_FALSE((*log)->has_stopped());
      EXPECT_EQ((*log)->trouble(), "");
    }
    const auto files = log_files(folder.str()).value();
    ASSERT_GT(files.size(), 3u);
    EXPECT_EQ(counts.files, files.size());
    EXPECT_EQ(counts.steps_lost, 0u);
    std::uint64_t bytes = 0, steps = 0;
    for (std::size_t f = 0; f < files.size(); ++f) {
      const std::vector<Piece> pieces = pieces_of(read_bytes(files[f]));
      std::vector<std::size_t> offsets;
      file_of(pieces, &offsets);
      const std::size_t opening = offsets[3], end = offsets[pieces.size() - 1], last_step = offsets[pieces.size() - 2];
      const std::uint64_t limit = std::max<std::uint64_t>(bytes_max, 2 * opening);
      EXPECT_LT(last_step, limit) << files[f] << " should have ended before";
      EXPECT_TRUE(end >= limit || f + 1 == files.size()) << files[f] << " ended too early";
      bytes += end;
      steps += pieces.size() - 4;
      EXPECT_EQ(LogReader::open(files[f])->header().file_number, f + 1);
    }
    EXPECT_EQ(counts.bytes, bytes) << "all but the ends";
    EXPECT_EQ(counts.steps, steps);
  }
}

TEST(DecisionLogFiles, at_least_one_is_kept) {
  const Folder folder;
  record_life(folder.str(), "ashlar", 3, 600, {.file_bytes_max = 1, .files_max = 0});
  EXPECT_EQ(log_files(folder.str())->size(), 1u);
}

TEST(DecisionLogFiles, begin_anew_when_asked) {
  const Folder folder;
  Life life("ashlar", 3);
  auto log = DecisionLog::open({.folder = folder.str()}, {life.state, life.engine});
  life.recorder = log->get();
  life.open();
  (*log)->rotate();
  life.run(5);
  EXPECT_EQ((*log)->counts().files, 2u);
  log->reset();
  EXPECT_EQ(pieces_of(read_bytes(first_file(folder))).size(), 5u);
  EXPECT_EQ(LogReader::open(folder.file(file_name(2)))->header().revision, RandomWorld(3).opening().size());
}

TEST(DecisionLogFiles, a_snapshot_that_the_buffer_cannot_hold_is_an_error_at_once) {
  const Folder folder;
  Life life("ashlar", 3);
  const auto log = DecisionLog::open({.folder = folder.str(), .waiting_bytes_max = 10}, {life.state, life.engine});
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message, "the snapshot is larger than the buffer of the decision log");
  EXPECT_EQ(log.error().kind, Error::Kind::kUnavailable);
}

// A file stands where the folder was, then goes away again: told twice, counted, and the log goes on in a new file.
TEST(DecisionLogFiles, trouble_is_told_once_and_its_end_once) {
  const Folder folder;
  const std::string path = folder.file("log");
  std::vector<std::string> troubles;
  Life life("ashlar", 3);
  const auto writer =
      FileWriter::open(
          {.folder = path, .pause_min = std::chrono::milliseconds(1), .pause_max = std::chrono::milliseconds(1)})
          .value();
  fs::remove_all(path);
  write_bytes(path, "in the way");
  auto log = std::make_unique<DecisionLog>(
      DecisionLogOptions{.on_trouble = [&](const std::string& t) { troubles.push_back(t); }},
      DecisionLog::Subject{life.state, life.engine}, writer);
  life.recorder = log.get();
  log->flush();
  EXPECT_TRUE(log->has_stopped());
  EXPECT_TRUE(troubles.empty()) << "told from record";
  for (int i = 0; i < 5; ++i) {
    life.open();
    log->flush();
  }
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_EQ(troubles[0],
            "cannot create " + path +
                "/decisions-000001.alog: Not a directory"
                "; steps are missing from the decision log until it can be written again, scheduling continues");
  EXPECT_EQ(log->counts().steps, 0u);
  EXPECT_EQ(log->counts().steps_lost, 5u);
  EXPECT_EQ(writer->lost(), 5u);
  fs::remove(path);
  std::uint64_t more = 0;
  for (; log->has_stopped(); ++more) {
    life.open();
    log->flush();
  }
  EXPECT_EQ(log->counts().steps_lost, 5 + more);
  life.open();
  ASSERT_EQ(troubles.size(), 2u);
  EXPECT_EQ(troubles[1],
            "the decision log continues in a new file; " + std::to_string(5 + more) + " steps are missing so far");
  EXPECT_EQ(log->counts().steps, 1u);
  log.reset();
  writer->flush();
  const auto files = log_files(path).value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(pieces_of(read_bytes(files[0])).size(), 5u);
}

}  // namespace
}  // namespace ashlar::store
