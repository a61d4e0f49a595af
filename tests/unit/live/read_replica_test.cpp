// What readers have of a leadership is the leader's own, after any history; and who answers when.
#include "live/read/read_replica.h"

#include <atomic>
#include <future>

#include "base/rng.h"
#include "live/read/held.h"
#include "live/read/read_api.h"
#include "live/read/readers.h"
#include "live/track/gangs/gang_hold.h"
#include "live/track/nodes/node_trouble.h"
#include "scripted_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

/// A leadership whose bindings are answered, some of them badly.
class ReadReplicaTest : public ::testing::Test, public TermBench {
 protected:
  explicit ReadReplicaTest(std::uint64_t seed = 1) : rng(seed) {
    options.tracker.queues = {{"team", "", {16'000, kUnlimited, kUnlimited}}};
    options.status_writer.events_max = 0;
  }
  ~ReadReplicaTest() override { leader_term.reset(); }

  http::ServerResponse serve(const http::ServerRequest& request) {
    if (request.method == "POST" && request.path.ends_with("/binding"))
      return ++bindings % 5 == 0 ? http::json(409, R"({"kind":"Status","code":409})") : ScriptedApi::done();
    return request.method == "GET" ? ScriptedApi::pod(request) : http::json(201, "{}");
  }
  std::int64_t any(std::int64_t below) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(below)));
  }
  template <class T>
  void gone(T object) {
    leader_term->take(Change<T>{Change<T>::Kind::kDeleted, std::move(object)});
  }

  Node some_node() {
    const std::string name = "n" + std::to_string(any(8));
    // The value of a label may be empty.
    Labels labels{{PooledString("l/block"), PooledString(any(8) == 0 ? "" : "b")},
                  {PooledString("l/rack"), PooledString(any(5) == 0 ? "" : "r" + std::to_string(any(3)))}};
    if (any(6) == 0) labels.push_back({PooledString("nvidia.com/gpu.product"), PooledString()});
    if (any(4) == 0)
      labels.push_back({PooledString("zone" + std::to_string(any(3))), PooledString("z" + std::to_string(any(2)))});
    Node n = node(name, any(6) == 0 ? 4 : 8, std::move(labels));
    if (any(5) == 0)
      n.taints = {{PooledString("team"), PooledString("t" + std::to_string(any(3))), kube::TaintEffect::kNoSchedule}};
    if (any(12) == 0) n.problem = PooledString("status: odd");
    return n;
  }
  Pod some_pod() {
    const std::int64_t what = any(10);
    const std::string number = std::to_string(any(24));
    Pod p = what < 5   ? pod("p" + number, any(10))
            : what < 8 ? gang_pod("g" + std::to_string(any(4)), static_cast<int>(any(5)), 3, 1 + any(4))
                       : pod("m" + number, 1);
    if (what == 8) p.group_name = PooledString("group" + std::to_string(any(2)));
    if (any(4) == 0) p = with(std::move(p), "ashlar.dev/queue", any(5) == 0 ? "nowhere" : "team");
    if (any(6) == 0)
      p = with(std::move(p), "ashlar.dev/within", any(2) == 0 ? "rack" : "zone" + std::to_string(any(3)));
    if (any(8) == 0) p = with(std::move(p), "ashlar.dev/withn", "rack");
    if (any(6) == 0) {
      PodRules rules;
      rules.node_selector = {{PooledString("only-" + number), PooledString("x")}};
      p = under(std::move(p), std::move(rules));
    }
    if (any(5) == 0) p.node_name = PooledString("n" + std::to_string(any(9)));
    if (any(20) == 0) p.problem = PooledString("spec: odd");
    return p;
  }
  void happen() {
    switch (any(12)) {
      case 0:
      case 1:
        return see(some_node());
      case 2:
        return any(4) == 0 ? gone(some_node()) : see(some_node());
      case 3:
      case 4:
        return gone(some_pod());
      case 5: {
        PodGroup g;
        g.ns = PooledString("ns");
        g.name = PooledString("group" + std::to_string(any(2)));
        g.uid = PooledString("uid-" + g.name.str());
        g.min_count = static_cast<std::int32_t>(any(4));
        g.priority_class = PooledString(any(2) == 0 ? "high" : "");
        return any(3) == 0 ? gone(g) : see(g);
      }
      case 6:
        if (any(3) == 0) leader_term->take(PriorityClassesNote{any(2) == 0 ? "403" : ""});
        if (any(3) == 0) leader_term->take(PodGroupsNote{PodGroupVersion::kNone, any(2) == 0 ? "403" : ""});
        now += Millis(any(8'000));
        return;
      default:
        return see(some_pod());
    }
  }
  void expect_same_tables() {
    const Tables &live = leader_term->tracker().tables(), &copy = replica->tables();
    ASSERT_EQ(live.pods.slots(), copy.pods.slots());
    EXPECT_EQ(live.pods.size(), copy.pods.size());
    for (PodSlot s = 0; s < live.pods.slots(); ++s) {
      const PodRecord &a = live.pods[s], &b = copy.pods[s];
      ASSERT_EQ(a.name, b.name);
      EXPECT_EQ(copy.pods.find(a.ns, a.name), a.name.empty() ? kNoPod : s);
      EXPECT_EQ(a.phase, b.phase) << a.name.str();
      EXPECT_EQ(a.node_name, b.node_name);
      EXPECT_TRUE(a.job == b.job && a.member == b.member && a.node == b.node && a.queue == b.queue &&
                  a.gang == b.gang && a.demand == b.demand);
      if (a.phase == PodRecord::Phase::kFree) continue;
      if (!a.is_in_engine()) {
        EXPECT_EQ(leader_term->pod_text(s).message, replica->pod_text(s).message);
        continue;
      }
      const Verdict verdict = leader_term->engine().verdict_of(a.job);
      EXPECT_EQ(verdict, replica->engine().verdict_of(a.job));
      if (verdict.kind == VerdictKind::kPending || verdict.kind == VerdictKind::kPlaced) continue;
      EXPECT_EQ(verdict_text(leader_term->text_context(), a.job, verdict).message,
                verdict_text(replica->text_context(), a.job, verdict).message);
    }
    ASSERT_EQ(live.gangs.slots(), copy.gangs.slots());
    for (GangSlot g = 0; g < live.gangs.slots(); ++g) {
      EXPECT_EQ(live.gangs[g].name, copy.gangs[g].name);
      EXPECT_EQ(live.gangs[g].pods, copy.gangs[g].pods);
      if (!live.gangs[g].is_used) continue;
      EXPECT_EQ(gang_hold(live, live.gangs[g]).detail, gang_hold(copy, copy.gangs[g]).detail);
      EXPECT_EQ(priority_trouble(live, live.gangs[g]), priority_trouble(copy, copy.gangs[g]));
      EXPECT_EQ(copy.gangs.find(live.gangs[g].ns, live.gangs[g].name, live.gangs[g].kind), g);
    }
    const std::vector<HeldThing> held = held_things(live), held_copy = held_things(copy);
    ASSERT_EQ(held.size(), held_copy.size());
    for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held_text(live, held[i]), held_text(copy, held_copy[i]));
    EXPECT_EQ(closed_nodes_text(live), closed_nodes_text(copy));
    for (std::uint32_t row = 0; row < 64; ++row) {
      EXPECT_EQ(live.names.nodes.name(NodeId(row)), copy.names.nodes.name(NodeId(row)));
      EXPECT_EQ(live.names.label_text(LabelId(row)), copy.names.label_text(LabelId(row)));
      EXPECT_EQ(live.names.queues.name(QueueId(row)), copy.names.queues.name(QueueId(row)));
      EXPECT_EQ(live.names.label_keys.name(LabelKeyId(row)), copy.names.label_keys.name(LabelKeyId(row)));
    }
    ASSERT_EQ(live.names.levels().size(), copy.names.levels().size());
    for (std::size_t l = 0; l < live.names.levels().size(); ++l)
      for (std::uint32_t d = 0; d < 8; ++d)
        EXPECT_EQ(live.names.domain_name(LevelId(l), DomainId(d)), copy.names.domain_name(LevelId(l), DomainId(d)));
  }

  Rng rng;
  int bindings = 0;
  ScriptedApi server{[this](const http::ServerRequest& request) { return serve(request); }, [this] { return now; }};
};

class AnyHistory : public ReadReplicaTest, public ::testing::WithParamInterface<int> {
 protected:
  AnyHistory() : ReadReplicaTest(static_cast<std::uint64_t>(GetParam()) * 7919 + 3) {}
};

/// Now and then readers begin anew.
TEST_P(AnyHistory, LeavesTheReadersWithTheLeadersOwnState) {
  begin(server.api());
  for (int i = 0; i < 6; ++i) see(some_node());
  std::uint64_t decided = 0, unproven_before = 0;
  int copies = 0;
  for (int step = 0; step < 120 && !HasFailure(); ++step) {
    for (std::int64_t i = any(4); i >= 0; --i) happen();
    now += Millis(200);
    leader_term->turn();
    ASSERT_TRUE(server.settle());
    leader_term->turn();
    ASSERT_TRUE(replica->is_faithful());
    EXPECT_EQ(replica->numbers().steps, leader_term->steps());
    EXPECT_EQ(replica->state().digest(), leader_term->state().digest());
    EXPECT_EQ(replica->engine().unproven_count(), leader_term->engine().unproven_count() - unproven_before);
    expect_same_tables();
    decided = leader_term->steps();
    if (step % 7 != 6) continue;
    happen();  // in the tables, and not in the state yet
    if (auto copy = leader_term->copy_replica([this] { return now; })) {
      replica = std::move(copy);
      unproven_before = leader_term->engine().unproven_count();
      ++copies;
      EXPECT_FALSE(replica->has_begun());
      EXPECT_EQ(replica->state().digest(), leader_term->state().digest());
      leader_term->turn();
      EXPECT_TRUE(replica->has_begun()) << "nothing may be new, but its numbers are";
    }
  }
  EXPECT_GT(copies, 5);
  EXPECT_GT(decided, 100u);
}

INSTANTIATE_TEST_SUITE_P(, AnyHistory, ::testing::Range(0, 8));

// ---- the readers' thread --------------------------------------------------------------------------------------------

class ReadersTest : public ::testing::Test {
 protected:
  static std::unique_ptr<ReadReplica> some_replica() {
    return std::make_unique<ReadReplica>(builtin_profile("ashlar").value(), EngineOptions{},
                                         [] { return Millis(1'000'000); });
  }
  static HandOver step(std::uint64_t number) {
    HandOver news;
    news.numbers.steps = number;
    return news;
  }
  static Standing synced() {
    Standing s;
    s.process.is_ready = true;
    s.leader = "other";
    return s;
  }
  /// Of a decision, after which the state is another than the leader's.
  static HandOver differing_step(std::uint64_t number) {
    HandOver news = step(number);
    news.decided_at = Millis(1'000'000);
    news.digest = State().digest() + 1;
    return news;
  }
  /// "standby of other", "differs", "behind", "not ready" or the step
  static http::ServerResponse seen(ReadReplica* replica, const Standing& standing) {
    if (!standing.is_in_term) return http::text(503, "standby of " + standing.leader);
    if (standing.fault != ReadersFault::kNone && replica != nullptr) return http::text(200, "a useless replica");
    if (standing.fault == ReadersFault::kDiffers) return http::text(500, "differs");
    if (standing.fault == ReadersFault::kBehind) return http::text(500, "behind");
    return replica == nullptr ? http::text(503, "not ready")
                              : http::text(200, std::to_string(replica->numbers().steps));
  }
  std::future<std::string> ask(Readers::Rank rank = Readers::Rank::kInTurn) {
    auto got = std::make_shared<std::promise<std::string>>();
    readers.ask(
        seen, [got](const http::ServerResponse& answer) { got->set_value(answer.body); }, rank);
    return got->get_future();
  }
  /// Dropped without an answer.
  static bool is_dropped(std::future<std::string>& asked) {
    try {
      asked.get();
      return false;
    } catch (const std::future_error&) {
      return true;
    }
  }
  /// The thread is busy with a question until that is called.
  std::function<void()> occupy() {
    auto begun = std::make_shared<std::promise<void>>(), done = std::make_shared<std::promise<void>>();
    readers.ask(
        [begun, done](ReadReplica*, const Standing&) {
          begun->set_value();
          done->get_future().wait();
          return http::text(200, "");
        },
        [](const http::ServerResponse&) {});
    begun->get_future().wait();
    return [done] { done->set_value(); };
  }
  static constexpr std::size_t kNewsMax = 1'000;
  std::atomic<std::int64_t> now{1'000'000};
  Readers readers{
      {.patience = Millis(5'000), .news_max = kNewsMax, .monotonic = [this] { return Millis(now.load()); }}};
};

TEST_F(ReadersTest, AnswerFromWhatWasHandedOverBefore) {
  EXPECT_EQ(ask().get(), "standby of ");
  readers.note(synced());
  EXPECT_EQ(ask().get(), "standby of other");
  readers.begin(some_replica());
  EXPECT_EQ(ask().get(), "not ready") << "nothing was handed over yet";
  for (std::uint64_t number = 1; number <= 50; ++number) {
    readers.take(step(number));
    EXPECT_EQ(ask().get(), std::to_string(number));
  }
  readers.note({});
  EXPECT_EQ(ask().get(), "not ready") << "the caches are not synced any more";
}

TEST_F(ReadersTest, QuestionsThatWaitWhenALeadershipEndsAreAnsweredAsOnStandby) {
  readers.note(synced());
  readers.begin(some_replica());
  readers.take(step(1));
  const auto let_go = occupy();
  std::vector<std::future<std::string>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(ask());
  readers.take(step(2));
  readers.end();
  let_go();
  for (auto& one : waiting) EXPECT_EQ(one.get(), "standby of other");
  readers.begin(some_replica());
  readers.take(step(7));
  EXPECT_EQ(ask().get(), "7") << "a new leadership";
}

TEST_F(ReadersTest, NewsIsTakenBeforeTheNextQuestionAndNobodyWaitsForAReader) {
  readers.note(synced());
  readers.begin(some_replica());
  readers.take(step(1));
  const auto let_go = occupy();
  std::future<std::string> waiting = ask();
  for (std::uint64_t number = 2; number <= 1000; ++number) readers.take(step(number));
  let_go();
  EXPECT_EQ(waiting.get(), "1000");
}

TEST_F(ReadersTest, ANewLeadershipDoesNotTakeTheNewsOfTheOneBefore) {
  readers.note(synced());
  readers.begin(some_replica());
  readers.take(step(1));
  const auto let_go = occupy();
  readers.take(step(2));
  readers.begin(some_replica());
  std::future<std::string> waiting = ask();
  let_go();
  EXPECT_EQ(waiting.get(), "not ready") << "nothing was handed over to it yet";
  readers.take(step(3));
  EXPECT_EQ(ask().get(), "3");
}

TEST_F(ReadersTest, AReplicaThatDiffersIsNotReadFromUntilAnotherBegins) {
  readers.note(synced());
  readers.begin(some_replica());
  readers.take(step(1));
  EXPECT_EQ(ask().get(), "1");
  EXPECT_EQ(readers.fault().kind, ReadersFault::kNone);
  readers.take(differing_step(2));
  EXPECT_EQ(ask().get(), "differs");
  const Readers::Fault fault = readers.fault();
  EXPECT_EQ(fault.kind, ReadersFault::kDiffers);
  EXPECT_EQ(fault.steps, 2u);
  EXPECT_EQ(fault.decided_at, Millis(1'000'000));
  EXPECT_TRUE(fault.is_let_go);
  readers.take(step(3));
  EXPECT_EQ(ask().get(), "differs") << "it is not brought up to date any more";
  readers.begin(some_replica());
  EXPECT_EQ(readers.fault().kind, ReadersFault::kNone);
  readers.take(step(4));
  EXPECT_EQ(ask().get(), "4");
  readers.take(differing_step(5));
  readers.end();
  EXPECT_EQ(ask().get(), "standby of other");
}

TEST_F(ReadersTest, AReplicaThatIsFarBehindIsGivenUpWithAllThatWaitsForIt) {
  readers.note(synced());
  readers.begin(some_replica());
  readers.take(step(1));
  const auto let_go = occupy();
  std::future<std::string> waiting = ask();
  for (std::uint64_t i = 0; i < kNewsMax; ++i) readers.take(step(2 + i));
  EXPECT_EQ(readers.fault().kind, ReadersFault::kNone);
  readers.take(step(2 + kNewsMax));
  EXPECT_EQ(readers.fault().kind, ReadersFault::kBehind);
  EXPECT_FALSE(readers.fault().is_let_go) << "it is still being read";
  let_go();
  EXPECT_EQ(waiting.get(), "behind");
  EXPECT_TRUE(readers.fault().is_let_go);
  readers.begin(some_replica());
  readers.take(step(7));
  EXPECT_EQ(ask().get(), "7");
}

TEST_F(ReadersTest, AQuestionThatHasWaitedForHalfOfItsTimeIsDropped) {
  readers.note(synced());
  const auto let_go = occupy();
  auto thing = std::make_shared<int>();
  const std::weak_ptr<int> held = thing;
  readers.ask([thing](ReadReplica*, const Standing&) { return http::text(200, ""); },
              [](const http::ServerResponse&) {});
  thing.reset();
  std::future<std::string> late = ask(), late_first = ask(Readers::Rank::kFirst);
  now += 1;
  std::future<std::string> in_time = ask();
  EXPECT_FALSE(held.expired());
  now += 2'500;
  std::future<std::string> last = ask();
  EXPECT_TRUE(held.expired()) << "even while the thread is busy";
  let_go();
  EXPECT_TRUE(is_dropped(late));
  EXPECT_TRUE(is_dropped(late_first));
  EXPECT_EQ(in_time.get(), "standby of other") << "just in time";
  EXPECT_EQ(last.get(), "standby of other");
}

TEST_F(ReadersTest, WhatIsAskedWhileTheThreadIsBusyMayBeTooLateWhenItIsFree) {
  const auto let_go = occupy();
  std::future<std::string> late = ask();
  now += 2'501;
  let_go();
  EXPECT_TRUE(is_dropped(late)) << "nobody has asked since";
}

TEST_F(ReadersTest, QuestionsOfTheFirstRankGoBeforeTheOthers) {
  const auto let_go = occupy();
  std::mutex lock;
  std::string order;
  const auto ask_as = [&](const std::string& name, Readers::Rank rank) {
    readers.ask(
        [&, name](ReadReplica*, const Standing&) {
          const std::lock_guard hold(lock);
          order += name;
          return http::text(200, "");
        },
        [](const http::ServerResponse&) {}, rank);
  };
  ask_as("a", Readers::Rank::kInTurn);
  ask_as("b", Readers::Rank::kFirst);
  ask_as("c", Readers::Rank::kInTurn);
  ask_as("d", Readers::Rank::kFirst);
  std::future<std::string> last = ask();
  let_go();
  last.get();
  EXPECT_EQ(order, "bdac");
}

TEST_F(ReadersTest, AThreadThatHangsDoesNotMoveAndOneWithNothingToDoDoes) {
  ask().get();
  const auto let_go = occupy();
  readers.has_moved();
  EXPECT_FALSE(readers.has_moved());
  EXPECT_FALSE(readers.has_moved());
  let_go();
  ask().get();
  EXPECT_TRUE(readers.has_moved());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int moves = 0;  // in a row
  while (moves < 3 && std::chrono::steady_clock::now() < deadline) moves = readers.has_moved() ? moves + 1 : 0;
  EXPECT_EQ(moves, 3);
}

TEST(ReadersRefusal, SaysWhyNothingCanBeRead) {
  ReadReplica replica(builtin_profile("ashlar").value(), EngineOptions{}, [] { return Millis(0); });
  Standing standing;
  standing.leader = "other";
  EXPECT_EQ(refusal(standing, nullptr)->body, standby_answer("other").body);
  standing.is_in_term = true;
  EXPECT_EQ(refusal(standing, nullptr)->body, not_ready_answer().body);
  EXPECT_FALSE(refusal(standing, &replica).has_value());
  standing.fault = ReadersFault::kDiffers;
  EXPECT_EQ(refusal(standing, nullptr)->body, differing_answer().body);
  EXPECT_EQ(refusal(standing, nullptr)->status, 500);
  standing.fault = ReadersFault::kBehind;
  EXPECT_EQ(refusal(standing, nullptr)->body, behind_answer().body);
  EXPECT_EQ(refusal(standing, nullptr)->status, 500);
}

TEST(ReadReplica, NoticesAStateThatIsNotTheLeaders) {
  const auto replica = std::make_unique<ReadReplica>(builtin_profile("ashlar").value(), EngineOptions{},
                                                     [] { return Millis(1'000'000); });
  HandOver news;
  news.events = {{Millis(1'000'000), LevelsDefined{1, 0}}};
  news.decided_at = Millis(1'000'000);
  news.digest = replica->state().digest();
  replica->take(std::move(news));
  EXPECT_TRUE(replica->is_faithful());
  news = {};
  news.decided_at = Millis(1'000'001);
  news.digest = replica->state().digest() + 1;
  replica->take(std::move(news));
  EXPECT_FALSE(replica->is_faithful());
}

TEST(ReadersThatEnd, LeaveQuestionsWithoutAnAnswer) {
  int answered = 0;
  std::promise<void> begun, done;
  auto readers = std::make_unique<Readers>();
  readers->ask(
      [&](ReadReplica*, const Standing&) {
        begun.set_value();
        done.get_future().wait();
        return http::text(200, "");
      },
      [&](const http::ServerResponse&) { ++answered; });
  readers->ask([](ReadReplica*, const Standing&) { return http::text(200, ""); },
               [&](const http::ServerResponse&) { ++answered; });
  begun.get_future().wait();
  readers->stop();
  done.set_value();
  readers.reset();
  EXPECT_EQ(answered, 1);
}

TEST(ReadersRefusal, SaysWhyThisProcessDoesNotLeadOrKnowsTooLittle) {
  Standing standing;
  standing.leader = "other";
  standing.trouble = "pods cannot be listed: HTTP 403";
  EXPECT_EQ(refusal(standing, nullptr)->body, standby_answer("other", standing.trouble).body);
  EXPECT_NE(refusal(standing, nullptr)->body.find(standing.trouble), std::string::npos);
  standing.is_in_term = true;
  EXPECT_EQ(refusal(standing, nullptr)->body, not_ready_answer(standing.trouble).body);
  EXPECT_NE(refusal(standing, nullptr)->body.find(standing.trouble), std::string::npos);
}

}  // namespace
}  // namespace ashlar::kube
