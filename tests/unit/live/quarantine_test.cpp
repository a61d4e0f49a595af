// The quarantine: a bug in a decision about one job stops the process once; its successor places everything else.
#include "live/lead/quarantine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "state/cluster/usable_devices.h"
#include "term_bench.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

/// A folder of its own for each test, removed afterwards.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("ashlar-quarantine-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file() const { return (path / "quarantine").string(); }
  std::filesystem::path path;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Quarantine::Entry entry(const std::string& name) {
  return {PooledString("uid-ns-" + name), PooledString("ns"), PooledString(name), {}};
}

TEST(Quarantine, IsReadBackByTheNextProcess) {
  const Folder folder;
  Quarantine first = Quarantine::open(folder.file()).value();
  EXPECT_FALSE(first.holds(PooledString("uid-ns-a")));
  ASSERT_TRUE(first.add(std::vector<Quarantine::Entry>{entry("a"), entry("b")}, Millis(1'795'000'000'000)).ok());
  EXPECT_NE(text_of(folder.file()).find("uid-ns-a ns/a 2026-11-18T11:06:40Z\n"), std::string::npos)
      << text_of(folder.file());
  const Quarantine next = Quarantine::open(folder.file()).value();
  EXPECT_EQ(next.size(), 2u);
  EXPECT_TRUE(next.holds(PooledString("uid-ns-b")));
  EXPECT_FALSE(next.holds(PooledString("uid-ns-c")));
  EXPECT_EQ(next.text_for(PooledString("uid-ns-a")),
            "deciding about it stopped the scheduler at 2026-11-18T11:06:40Z, which is a bug; recreate the pod to have "
            "it tried again, or remove its "
            "line from " +
                folder.file() + " and restart the scheduler");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1) << "nothing temporary is left";
}

TEST(Quarantine, AnyWholeUidHoldsItsPodWhateverElseIsLost) {
  const Folder folder;
  std::ofstream(folder.file())
      << "# a heading\n\nuid-1 ns/p 2026-11-22T00:00:00Z\nuid-2 nothing\nuid-3 /p t\nuid-4 ns/p t more\n"
      << std::string(600, 'x') << " ns/p t\nuid-5\nuid-6 ns/q 2026\nuid-7 ns/q";
  Quarantine read = Quarantine::open(folder.file()).value();
  for (int i = 1; i <= 7; ++i) EXPECT_TRUE(read.holds(PooledString("uid-" + std::to_string(i)))) << i;
  EXPECT_EQ(read.size(), 7u);
  EXPECT_EQ(read.skipped_lines(), 1u) << "the one that is too long";
  EXPECT_EQ(read.text_for(PooledString("uid-7")).find("deciding about it stopped the scheduler, which is a bug"), 0u)
      << read.text_for(PooledString("uid-7"));
  ASSERT_TRUE(read.add(std::vector<Quarantine::Entry>{entry("a")}, Millis(0)).ok());
  EXPECT_EQ(Quarantine::open(folder.file()).value().size(), 8u) << "written again they are as whole as before";
}

TEST(Quarantine, ForgetsTheOldestBeyondItsLimitAndKeepsAFewOfALargeGang) {
  const Folder folder;
  Quarantine list = Quarantine::open(folder.file()).value();
  std::vector<Quarantine::Entry> gang;
  for (std::size_t i = 0; i <= Quarantine::kEntriesAJobMax; ++i) gang.push_back(entry("g" + std::to_string(i)));
  ASSERT_TRUE(list.add(gang, Millis(0)).ok());
  EXPECT_EQ(list.size(), Quarantine::kEntriesAJobMax);
  std::ofstream file(folder.file());
  for (std::size_t i = 0; i <= Quarantine::kEntriesMax; ++i) file << "uid-" << i << " ns/p t\n";
  file.close();
  const Quarantine full = Quarantine::open(folder.file()).value();
  EXPECT_EQ(full.size(), Quarantine::kEntriesMax);
  EXPECT_FALSE(full.holds(PooledString("uid-0")));
  EXPECT_TRUE(full.holds(PooledString("uid-1")));
}

TEST(Quarantine, RefusesAFolderThatIsNotThere) {
  const Folder folder;
  const Result<Quarantine> missing = Quarantine::open((folder.path / "no" / "quarantine").string());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, Error::Kind::kInvalid);
  EXPECT_NE(missing.error().message.find("cannot be written"), std::string::npos) << missing.error().message;
  EXPECT_NE(Quarantine::open(folder.path.string()).error().message.find("is a folder"), std::string::npos);
}

TEST(Quarantine, RefusesPipesAndDevicesWithoutOpeningThem) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.file().c_str(), 0600), 0);
  const std::string device = (folder.path / "device").string();
  std::filesystem::create_symlink("/dev/zero", device);
  for (const std::string& name : {folder.file(), device}) {
    const Result<Quarantine> read = Quarantine::open(name);
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_EQ(read.error().kind, Error::Kind::kInvalid);
    EXPECT_EQ(read.error().message,
              name + ": is a pipe, a socket or a device; expected the name of a regular file, or of none yet");
  }
  const std::string to_nothing = (folder.path / "to nothing").string();
  std::filesystem::create_symlink(folder.path / "not yet", to_nothing);
  EXPECT_TRUE(Quarantine::open(to_nothing).ok());
}

TEST(Quarantine, ItsFileIsAHeadingAndALineForEachPod) {
  const Folder folder;
  std::ofstream(folder.file()) << "uid-1 ns/p 2026\nuid-2\nuid-1 other/q 2025\n";
  Quarantine list = Quarantine::open(folder.file()).value();
  EXPECT_EQ(list.size(), 2u) << "the first line of a pod holds it";
  ASSERT_TRUE(list.add(std::vector<Quarantine::Entry>{entry("a")}, Millis(1'795'000'000'999)).ok());
  EXPECT_EQ(text_of(folder.file()),
            "# Pods for which this scheduler stopped (a bug); it places none of them. Remove a line and restart the "
            "scheduler to try that pod again.\n"
            "uid-1 ns/p 2026\nuid-2 /\nuid-ns-a ns/a 2026-11-18T11:06:40Z\n");
  ASSERT_TRUE(
      list.add(std::vector<Quarantine::Entry>{{PooledString("uid-1"), PooledString("ns"), PooledString("p"), {}}},
               Millis(0))
          .ok());
  EXPECT_NE(text_of(folder.file()).find("\nuid-1 ns/p 2026\n"), std::string::npos) << "who is in it keeps its time";
  EXPECT_EQ(list.path(), folder.file());
}

TEST(Quarantine, LinesUpToTheirLimitAreRead) {
  const Folder folder;
  const std::string longest(512, 'u'), too_long(513, 'v');
  std::ofstream(folder.file()) << longest << "\n" << too_long << "\n   \n";
  const Quarantine list = Quarantine::open(folder.file()).value();
  EXPECT_TRUE(list.holds(PooledString(longest)));
  EXPECT_FALSE(list.holds(PooledString(too_long)));
  EXPECT_EQ(list.size(), 1u);
  EXPECT_EQ(list.skipped_lines(), 2u);
}

TEST(Quarantine, WhatCannotBeReadOrWrittenIsSaidWithItsFile) {
  const Folder folder;
  const std::string in_none = (folder.path / "no" / "q").string(), file = folder.file();
  EXPECT_EQ(Quarantine::open(in_none).error().message, in_none + ": the folder " + (folder.path / "no").string() +
                                                           " cannot be written: No such file or directory");
  EXPECT_EQ(Quarantine::open(folder.path.string()).error().message,
            folder.path.string() + ": is a folder; expected the name of a file");
  EXPECT_EQ(Quarantine::open("a-name-that-nobody-uses").value().size(), 0u)
      << "in the folder in which the process runs";
  Quarantine list = Quarantine::open(file).value();
  std::filesystem::create_directories(folder.path / "quarantine" / "in the way");
  const Result<void> onto_folder = list.add(std::vector<Quarantine::Entry>{entry("a")}, Millis(0));
  ASSERT_FALSE(onto_folder.ok());
  EXPECT_EQ(onto_folder.error().message, file + ": cannot be written: Is a directory");
  EXPECT_EQ(onto_folder.error().kind, Error::Kind::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(file + ".tmp")) << "nothing temporary is left";
  EXPECT_TRUE(list.holds(PooledString("uid-ns-a"))) << "this process knows all the same";
  std::filesystem::remove_all(folder.path);
  EXPECT_EQ(list.add({}, Millis(0)).error().message, file + ".tmp: cannot be written: No such file or directory");
}

/// An intake that has a file with the pods `stopped` and `g-1` of the gang `g`.
struct Quarantined : TrackerBench {
  Quarantined() : Quarantined(std::make_unique<Folder>()) {}

 private:
  explicit Quarantined(std::unique_ptr<Folder> f) : TrackerBench(options_with(*f)), folder(std::move(f)) {}
  static TrackerOptions options_with(const Folder& folder) {
    static Quarantine list;
    list = Quarantine::open(folder.file()).value();
    EXPECT_TRUE(list.add(std::vector<Quarantine::Entry>{entry("stopped"), entry("g-1")}, Millis(0)).ok());
    return {.levels = {{PooledString("rack"), PooledString("l/rack")}}, .quarantine = &list};
  }
  std::unique_ptr<Folder> folder;
};

TEST_F(Quarantined, APodWaitsAndIsToldWhy) {
  see(node("n0", 8));
  see(pod("stopped", 1));
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("stopped"), "");
  EXPECT_EQ(where("p"), "n0");
  const ConditionText text = tracker.hold_condition(record("stopped"));
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_EQ(text.message.find("Quarantined: deciding about it stopped the scheduler at 1970-01-01T00:00:00Z"), 0u)
      << text.message;
  EXPECT_EQ(due, std::vector<std::string>{"stopped"});
}

TEST_F(Quarantined, ARecreatedPodIsTriedAgain) {
  see(node("n0", 8));
  see(pod("stopped", 1));
  step();
  Pod again = pod("stopped", 1);
  again.uid = PooledString("another uid");
  see(again);
  step();
  EXPECT_EQ(where("stopped"), "n0");
}

TEST_F(Quarantined, OnePodHoldsItsGangAlsoWhereTheOthersWouldBeEnough) {
  see(node("n0", 8));
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 2, 1));
  step();
  EXPECT_EQ(where("g-0"), "");
  EXPECT_EQ(where("g-2"), "");
  EXPECT_EQ(hold_of("g-0").reason, HoldReason::kQuarantined);
  EXPECT_EQ(hold_of("g-0").detail.find("pod g-1 of the gang: deciding about it stopped the scheduler"), 0u)
      << hold_of("g-0").detail;
  gone(gang_pod("g", 1, 2, 1));
  step();
  EXPECT_EQ(where("g-0"), "n0");
}

TEST_F(Quarantined, MembersThatRunAreLeftAlone) {
  see(node("n0", 8));
  Pod running = gang_pod("g", 1, 2, 1);
  running.node_name = PooledString("n0");
  see(running);
  see(gang_pod("g", 0, 2, 1));
  step();
  EXPECT_EQ(where("g-1"), "n0");
  EXPECT_EQ(where("g-0"), "n0");
}

/// What no policy may do: the node whose devices it chooses moves to a rack of its own, behind the back of the search.
const DevicePolicy kMover{"mover", [](const NodeView& view, NodeId node) {
                            NodeFacts facts = view.nodes.facts(node);
                            facts.domains = {DomainId(static_cast<std::uint32_t>(50 + node.row()))};
                            auto& cluster = const_cast<Cluster&>(static_cast<const Cluster&>(view.nodes));
                            cluster.upsert_node(node, facts);
                            return choose_devices(cluster, node, view.demand.devices, view.constraint);
                          }};

/// One leadership with a broken policy, over the file; nothing answers its bindings.
struct BrokenTerm : TermBench {
  explicit BrokenTerm(Quarantine& list) {
    now = Millis(1'795'000'000'000);
    options.tracker.quarantine = &list;
    options.profile = [](const auto&) {
      Profile profile = builtin_profile("ashlar").value();
      profile.device = &kMover;
      return profile;
    };
    begin();
    for (const char* name : {"n0", "n1", "n2"}) see(node_in("r0", name));
    for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/within", "rack"));
    see(pod("p", 1));
  }
};

TEST(QuarantineDeathTest, ABugInADecisionStopsTheProcessOnceAndItsSuccessorPlacesTheRest) {
  const Folder folder;
  Quarantine before = Quarantine::open(folder.file()).value();
  EXPECT_DEATH(BrokenTerm(before).leader_term->turn(), "this must hold: is_within_one_domain");
  Quarantine after = Quarantine::open(folder.file()).value();
  EXPECT_EQ(after.size(), 2u) << text_of(folder.file());
  BrokenTerm successor(after);
  successor.leader_term->turn();
  EXPECT_EQ(successor.phase("g-0"), PodRecord::Phase::kHeld);
  EXPECT_EQ(successor.record("g-1").hold, HoldReason::kQuarantined);
  EXPECT_EQ(successor.phase("p"), PodRecord::Phase::kAssumed);
  EXPECT_TRUE(successor.says("ashlar_quarantined_pods 2"));
}

}  // namespace
}  // namespace ashlar::kube
