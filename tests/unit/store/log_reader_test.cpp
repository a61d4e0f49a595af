// One log file, record by record: what is read, and what exactly is said of a file that is cut, damaged or none.
#include "store/log_reader.h"

#include <gtest/gtest.h>

#include "log_folder.h"
#include "log_pieces.h"

namespace ashlar::store {
namespace {

namespace fs = std::filesystem;

/// A short life in a file, and the same file changed.
struct Recorded : ::testing::Test {
  Folder folder;
  std::string path = first_file(folder);
  std::vector<Piece> pieces;
  std::vector<std::size_t> offsets;
  std::string whole;
  std::uint64_t steps =
      record_life(folder.str(), "ashlar", 3, 12, {.written_by = "a test", .profile_text = "name: x", .note = "noted"});
  Recorded() {
    whole = read_bytes(path);
    pieces = pieces_of(whole);
  }
  std::string put(const std::vector<Piece>& changed) {
    offsets.clear();
    const std::string bytes = file_of(changed, &offsets);
    write_bytes(path, bytes);
    return bytes;
  }
  /// Reads to the end; the error, if there is one, without the path.
  std::string error() {
    notes.clear();
    steps_read = 0;
    is_whole = false;
    auto log = LogReader::open(path);
    if (!log) return without_path(log.error());
    while (true) {
      const auto step = log->next();
      steps_read = log->steps_read();
      is_whole = log->is_whole();
      notes = log->notes();
      if (!step) {
        const auto after = log->next();
        EXPECT_TRUE(after.ok() && !*after) << "there is nothing after an error";
        return without_path(step.error());
      }
      if (!*step) break;
    }
    const auto after = log->next();
    EXPECT_TRUE(after.ok() && !*after) << "there is nothing after the end";
    return "";
  }
  std::string without_path(const Error& e) const {
    EXPECT_TRUE(e.message.starts_with(path + ": ")) << e.message;
    EXPECT_EQ(e.kind, Error::Kind::kInvalid);
    return e.message.substr(path.size() + 2);
  }
  static std::string at(std::size_t offset, std::string_view what) {
    return "damaged at byte " + std::to_string(offset) + ": " + std::string(what);
  }
  std::vector<std::string> cut_at(std::size_t offset, std::size_t size) const {
    return {path + ": cut off at byte " + std::to_string(offset) + " of " + std::to_string(size) +
            "; the incomplete end is ignored"};
  }
  std::vector<std::string> notes;
  std::uint64_t steps_read = 0;
  bool is_whole = false;
};

TEST_F(Recorded, is_a_header_names_a_snapshot_steps_and_an_end) {
  ASSERT_EQ(pieces.size(), 3 + steps + 1);
  EXPECT_EQ(file_of(pieces), whole) << "records are numbered from 0, and nothing is between them";
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_EQ(static_cast<int>(pieces[i].kind), i < 3 ? static_cast<int>(i) + 1 : i + 1 < pieces.size() ? 4 : 5) << i;
  EXPECT_EQ(pieces.back().payload, end_after(steps).payload);
  EXPECT_EQ(error(), "");
  EXPECT_EQ(steps_read, steps);
  EXPECT_TRUE(is_whole);
  EXPECT_TRUE(notes.empty());
}

TEST_F(Recorded, says_of_itself_what_it_is) {
  const auto log = LogReader::open(path);
  ASSERT_TRUE(log.ok());
  const LogHeader& header = log->header();
  EXPECT_EQ(header.written_by, "a test");
  EXPECT_EQ(header.note, "noted");
  EXPECT_EQ(header.profile_text, "name: x");
  EXPECT_EQ(header.profile_name, "ashlar");
  EXPECT_EQ(header.profile, bytes_of(profile_named("ashlar")));
  EXPECT_EQ(header.seed, profile_named("ashlar").seed);
  EXPECT_EQ(header.file_number, 1u);
  EXPECT_EQ(header.revision, 0u);
  EXPECT_EQ(header.digest, State().digest());
  EXPECT_TRUE(header.options.has_verdicts);
  EXPECT_EQ(header.options.binds_per_step_max, UINT32_MAX);
  EXPECT_GT(header.opened_at_ms, 1'600'000'000'000) << "milliseconds since 1970";
  EXPECT_LT(header.opened_at_ms, 10'000'000'000'000);
  EXPECT_EQ(log->snapshot(), pieces[2].payload);
  EXPECT_FALSE(log->is_whole()) << "not read yet";
}

TEST_F(Recorded, other_files_are_told_what_they_are_not) {
  const auto text_of = [](const std::string& file) { return LogReader::open(file).error(); };
  EXPECT_EQ(text_of(folder.str()).message, folder.str() + ": cannot be read: Is a directory");
  EXPECT_EQ(text_of(folder.file("none")).message, folder.file("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(text_of(folder.file("none")).kind, Error::Kind::kNotFound);
  write_bytes(path, "ALO");
  EXPECT_EQ(error(), "is not a decision log (it does not begin with ALOG)");
  write_bytes(path, std::string("ALOG\x04\0\0\0", 8));
  EXPECT_EQ(error(),
            "has format version 4; this build reads version 25; replay it with the version of Ashlar that wrote it");
  fs::resize_file(path, (4ull << 30) + 1);  // takes no room: it is a hole
  EXPECT_EQ(error(), "cannot be read: it is larger than 4 GiB");
}

TEST_F(Recorded, a_file_without_its_opening_is_damaged_where_it_ends) {
  for (std::size_t kept = 0; kept < 3; ++kept) {
    const std::string bytes = put({pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(kept)});
    EXPECT_EQ(error(), at(bytes.size(), "the file ends before its snapshot is complete"));
    write_bytes(path, bytes + "x");
    EXPECT_EQ(error(), at(bytes.size(), "the file ends before its snapshot is complete")) << "a torn record";
  }
  put({pieces[0], pieces[2], pieces[1]});
  EXPECT_EQ(error(), at(offsets[1], "the file ends before its snapshot is complete"));
}

TEST_F(Recorded, damage_inside_the_opening_is_told_with_its_byte) {
  auto changed = pieces;
  changed[0].payload.resize(3);
  put(changed);
  EXPECT_EQ(error(), at(payload_at(offsets[0], changed[0]) + 1 + 0, "the bytes end early"));
  changed = pieces;
  changed[1].payload = "\x0b";
  put(changed);
  EXPECT_EQ(error(), at(payload_at(offsets[1], changed[1]) + 1, "a name of an unknown kind"));
}

TEST_F(Recorded, an_end_that_counts_otherwise_is_damage) {
  auto changed = pieces;
  for (const std::uint64_t other : {steps - 1, steps + 1}) {
    changed.back() = end_after(other);
    put(changed);
    EXPECT_EQ(error(), at(offsets[3 + steps], "the number of steps differs from that in the end record"));
    EXPECT_FALSE(is_whole);
  }
  changed.back() = {RecordKind::kEnd, "1234567"};
  put(changed);
  EXPECT_EQ(error(), at(offsets[3 + steps], "the number of steps differs from that in the end record"));
}

TEST_F(Recorded, nothing_may_follow_the_end) {
  auto changed = pieces;
  changed.push_back(pieces[3]);
  put(changed);
  EXPECT_EQ(error(), at(offsets[3 + steps + 1], "there are bytes after the end"));
  EXPECT_EQ(steps_read, steps);
  EXPECT_FALSE(is_whole);
  write_bytes(path, whole + '\0');
  EXPECT_EQ(error(), at(whole.size(), "there are bytes after the end"));
}

TEST_F(Recorded, among_the_steps_are_steps_only) {
  for (const RecordKind kind :
       {RecordKind::kHeader, RecordKind::kNames, RecordKind::kSnapshot, static_cast<RecordKind>(9)}) {
    auto changed = pieces;
    changed[5].kind = kind;
    put(changed);
    EXPECT_EQ(error(), at(offsets[5], "a record of an unexpected kind"));
    EXPECT_EQ(steps_read, 2u);
  }
}

TEST_F(Recorded, a_step_that_is_none_is_damage_at_its_byte) {
  /// Byte of the payload, counted from 0, and what is wrong there; empty where nothing is.
  using Fault = std::pair<std::size_t, std::string>;
  const auto expect = [&](const std::string& payload, const Fault& fault) {
    auto changed = pieces;
    changed[4].payload = payload;
    put(changed);
    EXPECT_EQ(error(), fault.second.empty() ? "" : at(payload_at(offsets[4], changed[4]) + fault.first, fault.second));
  };
  using std::string_literals::operator""s;
  const std::string digest(8, '\7'), empty_plan = "\1\2\2\0\0\0"s;
  expect("\2"s, {1, "an unknown kind of step"});
  expect("\0"s, {1, "the bytes end early"});
  expect("\0\0\4abc"s, {3, "a list is longer than the bytes that are left"});
  expect("\0\0\3\2\0\2"s, {6, "the bytes end early"});  // a tick, and half an event
  expect("\0\0\1\2\0"s, {5, "the bytes end early"});    // no digest
  expect(pieces[4].payload + "x", {pieces[4].payload.size(), "there are bytes left over"});
  EXPECT_EQ(steps_read, 1u);
  expect("\0\0\1\2\0"s + digest + empty_plan, {});  // a tick
  expect("\1\5\0\0\0"s + digest + empty_plan, {});  // new options, no events
}

TEST_F(Recorded, a_changed_byte_of_a_step_is_told_with_the_record) {
  std::string bytes = put(pieces);
  bytes[payload_at(offsets[6], pieces[6]) + 2] ^= 1;
  write_bytes(path, bytes);
  EXPECT_EQ(error(), at(offsets[6], "the checksum of record 6 does not match"));
  EXPECT_EQ(steps_read, 3u);
}

TEST_F(Recorded, without_an_end_the_last_record_may_be_torn_and_no_other) {
  pieces.pop_back();
  const std::string bytes = put(pieces);
  const std::size_t last = offsets[pieces.size() - 1], before = offsets[pieces.size() - 2];
  EXPECT_EQ(error(), "");
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(steps_read, steps);
  EXPECT_FALSE(is_whole);

  std::string torn = bytes;
  torn.back() ^= 1;
  write_bytes(path, torn);
  EXPECT_EQ(error(), "");
  EXPECT_EQ(notes, cut_at(last, bytes.size()));
  EXPECT_EQ(steps_read, steps - 1);

  write_bytes(path, torn + std::string(100, '\0'));
  EXPECT_EQ(error(), "");
  EXPECT_EQ(notes, cut_at(last, bytes.size() + 100));

  write_bytes(path, torn + std::string(100, '\0') + "x");
  EXPECT_EQ(error(), at(last, "the checksum of record " + std::to_string(pieces.size() - 1) + " does not match"));

  write_bytes(path, torn + "x");
  EXPECT_EQ(error(), at(last, "the checksum of record " + std::to_string(pieces.size() - 1) + " does not match"));

  torn = bytes;
  torn[last - 1] ^= 1;
  write_bytes(path, torn);
  EXPECT_EQ(error(), at(before, "the checksum of record " + std::to_string(pieces.size() - 2) + " does not match"));

  for (const std::size_t kept : {last + 1, last + 2, bytes.size() - 1}) {
    write_bytes(path, bytes.substr(0, kept));
    EXPECT_EQ(error(), "");
    EXPECT_EQ(notes, cut_at(last, kept));
    EXPECT_EQ(steps_read, steps - 1);
  }
}

TEST_F(Recorded, a_file_with_its_end_was_not_torn) {
  put(pieces);
  const std::size_t last = offsets[2 + steps];
  std::string bytes = whole;
  bytes[last + 1] = '\x7f';  // the length: the record now reaches beyond the file, as one that was cut off would
  bytes[last + 2] = '\x7f';
  write_bytes(path, bytes);
  EXPECT_EQ(error(), at(last, "the checksum of record " + std::to_string(2 + steps) + " does not match"));
  // check, payload, length and kind of the end itself: then it is the last record and torn
  for (const std::size_t from_end : {1u, 5u, 13u, 14u}) {
    bytes = whole;
    bytes[bytes.size() - from_end] ^= 1;
    write_bytes(path, bytes);
    EXPECT_EQ(error(), "") << from_end;
    EXPECT_EQ(notes, cut_at(whole.size() - kEndRecordBytes, whole.size())) << from_end;
    EXPECT_EQ(steps_read, steps);
    EXPECT_FALSE(is_whole);
  }
}

TEST_F(Recorded, changed_options_come_with_their_step) {
  auto changed = pieces;
  std::string options;
  ByteWriter out(options);
  encode_options(out, {.binds_per_step_max = 7, .has_verdicts = false});
  changed[4].payload = '\1' + options + pieces[4].payload.substr(1);
  put(changed);
  auto log = LogReader::open(path);
  ASSERT_TRUE(log.ok());
  EXPECT_FALSE((**log->next()).new_options);
  const auto second = log->next();
  ASSERT_TRUE(second.ok() && *second && (*second)->new_options);
  EXPECT_EQ((*second)->new_options->binds_per_step_max, 7u);
  EXPECT_FALSE((*second)->new_options->has_verdicts);
  EXPECT_EQ((*second)->plan_bytes, bytes_of((*second)->plan));
  EXPECT_EQ(log->steps_read(), 2u);
}

TEST(LogFiles, are_in_the_order_of_their_numbers) {
  const Folder folder;
  for (const char* name : {"decisions-1000000.alog", "decisions-000010.alog", "decisions-000009.alog",
                           "decisions-000000.alog", "notes.txt", "decisions-1.alo"})
    write_bytes(folder.file(name), "");
  EXPECT_EQ(log_files(folder.str()).value(),
            (std::vector<std::string>{folder.file("decisions-000009.alog"), folder.file("decisions-000010.alog"),
                                      folder.file("decisions-1000000.alog")}));
  EXPECT_EQ(log_files(folder.file("notes.txt")).value(), std::vector<std::string>{folder.file("notes.txt")});
}

TEST(LogFiles, that_are_not_there_are_told) {
  const Folder folder;
  const auto none = log_files(folder.file("none"));
  EXPECT_EQ(none.error().message, folder.file("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(none.error().kind, Error::Kind::kNotFound);
  const auto empty = log_files(folder.str());
  EXPECT_EQ(empty.error().message, folder.str() + ": holds no log file (decisions-000001.alog, ...)");
  EXPECT_EQ(empty.error().kind, Error::Kind::kNotFound);
}

}  // namespace
}  // namespace ashlar::store
