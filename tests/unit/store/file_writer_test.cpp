// Bytes to numbered files: what lies in the folder afterwards, what is refused, and what a failed write means for what
// follows.
#include "store/file_writer.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "log_folder.h"
#include "store/log_format.h"

namespace {
std::atomic<int> synced = 0;
}

/// Stands before the C library's, and counts.
extern "C" int fdatasync(int descriptor) {
  ++synced;
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace ashlar::store {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;

std::shared_ptr<FileWriter> writer_of(FileWriter::Options options) {
  auto writer = FileWriter::open(std::move(options));
  EXPECT_TRUE(writer.ok());
  return writer.value();
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

void wait_until_it_may_begin(FileWriter& writer) {
  while (!writer.may_begin_file()) std::this_thread::yield();
}

/// Fails as long as it lives: a file stands where the folder was.
class Blocked {
 public:
  explicit Blocked(fs::path folder) : folder_(std::move(folder)) {
    fs::remove_all(folder_);
    write_bytes(folder_.string(), "in the way");
  }
  ~Blocked() { fs::remove(folder_); }

 private:
  fs::path folder_;
};

TEST(FileWriter, writes_what_it_is_given_in_order) {
  const Folder folder;
  {
    const auto writer = writer_of({.folder = folder.str()});
    EXPECT_EQ(writer->next_file(), 1u);
    EXPECT_TRUE(writer->may_begin_file());
    EXPECT_TRUE(writer->begin_file("one "));
    EXPECT_EQ(writer->next_file(), 2u);
    EXPECT_TRUE(writer->append("a"));
    EXPECT_TRUE(writer->append("b"));
    writer->flush();
    EXPECT_EQ(read_bytes(folder.file(file_name(1))), "one ab");
    EXPECT_EQ(writer->waiting_bytes(), 0u);
    EXPECT_TRUE(writer->append("c"));
    EXPECT_TRUE(writer->begin_file("two "));
    EXPECT_TRUE(writer->append("d"));
    EXPECT_FALSE(writer->has_stopped());
    EXPECT_EQ(writer->trouble(), "");
    EXPECT_EQ(writer->lost(), 0u);
  }
  EXPECT_EQ(read_bytes(folder.file(file_name(1))), "one abc");
  EXPECT_EQ(read_bytes(folder.file(file_name(2))), "two d") << "what waits is written before it ends";
}

TEST(FileWriter, a_file_is_on_the_disk_before_the_next_begins_and_when_it_ends) {
  const Folder folder;
  const int before = synced.load();
  {
    const auto writer = writer_of({.folder = folder.str()});
    writer->begin_file("one");
    writer->flush();
    EXPECT_EQ(synced, before);
    writer->begin_file("two");
    writer->flush();
    EXPECT_EQ(synced, before + 1);
  }
  EXPECT_EQ(synced, before + 2);
}

TEST(FileWriter, large_pieces_are_written_whole) {
  const Folder folder;
  std::string expected;
  {
    const auto writer = writer_of({.folder = folder.str()});
    writer->begin_file("start");
    expected = "start";
    for (const std::size_t size : {100u << 10, 156u << 10, 256u << 10, 1u, 700u << 10}) {
      const std::string piece(size, static_cast<char>('a' + size % 26));
      EXPECT_TRUE(writer->append(piece));
      expected += piece;
    }
  }
  EXPECT_EQ(read_bytes(folder.file(file_name(1))), expected);
}

TEST(FileWriter, goes_on_after_the_files_that_are_there) {
  const Folder folder;
  for (const char* name : {"decisions-000007.alog", "decisions-000003.alog", "decisions-000009.alog.bak", "other"})
    write_bytes(folder.file(name), "");
  const auto writer = writer_of({.folder = folder.str()});
  EXPECT_EQ(writer->next_file(), 8u);
}

TEST(FileWriter, numbers_that_no_log_reaches_are_passed_over) {
  const Folder folder;
  for (const char* name : {"decisions-18446744073709551615.alog", "decisions-18446744073709551614.alog",
                           "decisions-1000000000001.alog", "decisions-000007.alog"})
    write_bytes(folder.file(name), "not ours");
  const auto writer = writer_of({.folder = folder.str(), .files_max = 1});
  EXPECT_EQ(writer->next_file(), 8u);
  EXPECT_TRUE(writer->begin_file("8"));
  writer->flush();
  EXPECT_EQ(writer->trouble(), "");
  EXPECT_EQ(names_in(folder.path),
            (std::set<std::string>{file_name(8), "decisions-1000000000001.alog", "decisions-18446744073709551614.alog",
                                   "decisions-18446744073709551615.alog"}));
}

TEST(FileWriter, the_largest_number_that_counts_is_followed_by_the_next) {
  const Folder folder;
  write_bytes(folder.file("decisions-1000000000000.alog"), "");
  EXPECT_EQ(writer_of({.folder = folder.str()})->next_file(), 1'000'000'000'001u);
}

TEST(FileWriter, keeps_so_many_files_and_touches_no_others) {
  const Folder folder;
  for (const char* name : {"decisions-000001.alog", "decisions-000002.alog", "decisions-000003.alog", "other"})
    write_bytes(folder.file(name), "");
  const auto writer = writer_of({.folder = folder.str(), .files_max = 3});
  EXPECT_EQ(names_in(folder.path).size(), 4u) << "nothing goes before something new is there";
  writer->begin_file("4");
  writer->flush();
  EXPECT_EQ(names_in(folder.path), (std::set<std::string>{file_name(2), file_name(3), file_name(4), "other"}));
  writer->begin_file("5");
  writer->begin_file("6");
  writer->flush();
  EXPECT_EQ(names_in(folder.path), (std::set<std::string>{file_name(4), file_name(5), file_name(6), "other"}));
  EXPECT_EQ(read_bytes(folder.file(file_name(5))), "5");
}

TEST(FileWriter, more_than_may_wait_is_refused) {
  const Folder folder;
  const auto writer = writer_of({.folder = folder.str(), .waiting_bytes_max = 100});
  EXPECT_FALSE(writer->begin_file(std::string(101, 'x')));
  EXPECT_EQ(writer->next_file(), 1u) << "nothing was queued";
  EXPECT_TRUE(writer->begin_file(std::string(100, 'y')));
  writer->flush();
  EXPECT_FALSE(writer->append(std::string(101, 'x')));
  EXPECT_TRUE(writer->append(std::string(100, 'z')));
  writer->flush();
  EXPECT_EQ(read_bytes(folder.file(file_name(1))), std::string(100, 'y') + std::string(100, 'z'));
  EXPECT_EQ(writer->lost(), 0u) << "the caller counts what is refused";
  writer->count_lost();
  EXPECT_EQ(writer->lost(), 1u);
}

TEST(FileWriter, a_folder_that_cannot_be_made_is_told) {
  const Folder folder;
  write_bytes(folder.file("file"), "");
  const auto error_of = [](const std::string& path) { return FileWriter::open({.folder = path}).error(); };
  const std::string cannot = "cannot create the folder of the decision log ";
  EXPECT_EQ(error_of(folder.file("file")).message, cannot + folder.file("file") + ": it is a file");
  EXPECT_EQ(error_of(folder.file("file")).kind, Error::Kind::kInvalid);
  EXPECT_EQ(error_of(folder.file("file/log")).message, cannot + folder.file("file/log") + ": Not a directory");
  EXPECT_EQ(error_of(folder.file("file/log")).kind, Error::Kind::kInvalid);
  const std::string long_name = folder.file(std::string(300, 'x'));
  EXPECT_EQ(error_of(long_name).message, cannot + long_name + ": File name too long");
  EXPECT_EQ(error_of(long_name).kind, Error::Kind::kUnavailable);
}

TEST(FileWriter, makes_a_folder_and_those_above_it) {
  const Folder folder;
  for (const char* name : {"a/b/log", "c/d/log/", "e/"}) {
    ASSERT_TRUE(FileWriter::open({.folder = folder.file(name)}).ok()) << name;
    ASSERT_TRUE(fs::is_directory(folder.path / name)) << name;
    EXPECT_EQ(fs::status(folder.path / name).permissions(), fs::perms::owner_all) << name;
  }
}

TEST(FileWriter, a_file_that_cannot_be_made_stops_it_for_a_while) {
  const Folder folder;
  const std::string path = folder.file("log");
  const auto writer = writer_of({.folder = path, .pause_min = hours(1), .pause_max = hours(1)});
  writer->begin_file("one");
  writer->flush();
  {
    const Blocked blocked(path);
    EXPECT_TRUE(writer->append("lost with the file that was open"));
    EXPECT_TRUE(writer->begin_file("two"));
    EXPECT_TRUE(writer->append("lost"));
    EXPECT_TRUE(writer->append("lost too"));
    writer->flush();
    EXPECT_TRUE(writer->has_stopped());
    EXPECT_EQ(writer->trouble(), "cannot create " + path + "/decisions-000002.alog: Not a directory");
    EXPECT_EQ(writer->lost(), 3u);
    EXPECT_EQ(writer->waiting_bytes(), 0u);
    EXPECT_EQ(writer->next_file(), 3u);
  }
  EXPECT_FALSE(writer->may_begin_file()) << "the pause is not over";
  EXPECT_FALSE(writer->begin_file("three"));
  EXPECT_FALSE(writer->append("x"));
  writer->flush();
  EXPECT_EQ(writer->next_file(), 3u);
  EXPECT_EQ(writer->lost(), 3u);
  EXPECT_FALSE(fs::exists(path)) << "nothing was tried";
}

TEST(FileWriter, tells_that_its_file_was_removed_and_goes_on_in_a_new_one) {
  const Folder folder;
  const std::string path = folder.file("log"), first = path + "/" + file_name(1);
  const std::function<void()> ways[] = {[&] { fs::remove_all(path); }, [&] { fs::remove(first); },
                                        [&] { fs::rename(path, folder.file("elsewhere")); },
                                        [&] {
                                          fs::remove(first);
                                          write_bytes(first, "another's");
                                        }};
  for (const auto& remove : ways) {
    fs::remove_all(path);
    const auto writer = writer_of({.folder = path, .pause_min = milliseconds(1), .pause_max = milliseconds(1)});
    writer->begin_file("one");
    EXPECT_TRUE(writer->append("here"));
    writer->flush();
    EXPECT_FALSE(writer->has_stopped());
    remove();
    EXPECT_TRUE(writer->append("gone"));
    writer->flush();
    EXPECT_EQ(writer->trouble(), first + " was removed or replaced, and with it the steps that it had");
    EXPECT_EQ(writer->lost(), 1u);
    wait_until_it_may_begin(*writer);
    EXPECT_TRUE(writer->begin_file("two"));
    writer->flush();
    EXPECT_EQ(writer->trouble(), "");
    EXPECT_EQ(read_bytes(path + "/" + file_name(2)), "two");
  }
}

TEST(FileWriter, goes_on_in_a_new_file_once_one_can_be_made) {
  const Folder folder;
  const std::string path = folder.file("log");
  const auto writer = writer_of({.folder = path, .pause_min = milliseconds(1), .pause_max = hours(1)});
  {
    const Blocked blocked(path);
    for (std::uint64_t number = 1; number <= 4; ++number) {
      EXPECT_EQ(writer->next_file(), number);
      EXPECT_TRUE(writer->begin_file("none"));
      writer->flush();
      EXPECT_EQ(writer->trouble(), "cannot create " + path + "/" + file_name(number) + ": Not a directory");
      wait_until_it_may_begin(*writer);
      EXPECT_TRUE(writer->has_stopped()) << "still";
      EXPECT_FALSE(writer->append("x")) << "only a new file can";
    }
  }
  EXPECT_TRUE(writer->begin_file("five "));
  EXPECT_TRUE(writer->append("a")) << "what follows the file that is tried is queued with it";
  writer->flush();
  EXPECT_FALSE(writer->has_stopped());
  EXPECT_EQ(writer->trouble(), "");
  EXPECT_TRUE(writer->append("b"));
  EXPECT_TRUE(writer->may_begin_file() || writer->waiting_bytes() > 0);
  writer->flush();
  EXPECT_TRUE(writer->may_begin_file());
  EXPECT_EQ(read_bytes(path + "/" + file_name(5)), "five ab");
  EXPECT_EQ(names_in(path), std::set<std::string>{file_name(5)});
}

TEST(FileWriter, never_writes_over_a_file_that_is_there) {
  const Folder folder;
  const auto writer = writer_of({.folder = folder.str(), .pause_min = milliseconds(1), .pause_max = milliseconds(1)});
  write_bytes(folder.file(file_name(1)), "another's");
  EXPECT_TRUE(writer->begin_file("mine"));
  writer->flush();
  EXPECT_EQ(writer->trouble(), "cannot create " + folder.file(file_name(1)) + ": File exists");
  EXPECT_EQ(read_bytes(folder.file(file_name(1))), "another's");
  wait_until_it_may_begin(*writer);
  EXPECT_TRUE(writer->begin_file("mine"));
  writer->flush();
  EXPECT_EQ(read_bytes(folder.file(file_name(2))), "mine");
}

}  // namespace
}  // namespace ashlar::store
