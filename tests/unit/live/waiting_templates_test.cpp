// Waiting pods by template: which of them a change of a Service or a controller concerns, and what is kept of them.
#include "live/track/company/waiting_templates.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace ashlar::kube {
namespace {

using News = SelectingBook::News;
using Slots = std::vector<PodSlot>;

class WaitingTemplatesTest : public ::testing::Test {
 protected:
  static PodRecord pod_of(const std::string& app) {
    PodRecord pod;
    pod.ns = "ns";
    pod.labels = std::make_shared<const Labels>(Labels{{"app", PooledString(app)}});
    return pod;
  }
  static PodRecord of_set(PodRecord pod, SelectingKind kind, const std::string& name) {
    pod.controller_kind = kind;
    pod.controller_name = PooledString(name);
    return pod;
  }
  /// A Service that selects them has come.
  static News service_of(const std::string& app) {
    News news;
    news.kind = SelectingKind::kService;
    news.after = {.present = true, .match_labels = {{"app", PooledString(app)}}, .expressions = {}};
    return news;
  }
  static News controller(SelectingKind kind, const std::string& name) {
    News news;
    news.kind = kind;
    news.name = PooledString(name);
    return news;
  }
  void note(const std::string& app, const Slots& slots) {
    for (const PodSlot slot : slots) waiting.note(pod_of(app), slot);
  }
  Slots take(const std::vector<News>& news, const char* ns = "ns") { return waiting.take(ns, news); }
  /// Keeps those with a slot below this one.
  void sweep(PodSlot end) {
    waiting.sweep([&](const PooledString& ns, PodSlot slot) { return ns == "ns" && slot < end; });
  }
  WaitingTemplates waiting;
};

TEST_F(WaitingTemplatesTest, TheConcernedAreTakenOnceInTheirOrder) {
  note("web", {5, 3, 5});
  note("db", {4});
  EXPECT_EQ(waiting.noted(), 4u);
  EXPECT_EQ(take({service_of("web")}, "other"), Slots());
  EXPECT_EQ(take({service_of("web")}), (Slots{3, 5}));
  EXPECT_EQ(waiting.noted(), 1u);
  EXPECT_EQ(take({service_of("web")}), Slots()) << "they are noted no longer";
  note("web", {9, 2});
  EXPECT_EQ(take({service_of("web"), service_of("db"), service_of("web")}), (Slots{2, 4, 9}));
  EXPECT_EQ(waiting.noted(), 0u);
}

TEST_F(WaitingTemplatesTest, AServiceConcernsThoseThatItSelectedAndThoseThatItSelects) {
  note("web", {1});
  note("db", {2});
  note("else", {3});
  News news = service_of("web");
  news.before = service_of("db").after;
  EXPECT_EQ(take({news}), (Slots{1, 2}));
}

TEST_F(WaitingTemplatesTest, AControllerConcernsItsOwn) {
  waiting.note(of_set(pod_of("web"), SelectingKind::kReplicaSet, "r"), 1);
  waiting.note(of_set(pod_of("web"), SelectingKind::kReplicaSet, "s"), 2);
  waiting.note(of_set(pod_of("web"), SelectingKind::kStatefulSet, "r"), 3);
  note("web", {4});
  EXPECT_EQ(waiting.templates(), 4u);
  EXPECT_EQ(take({controller(SelectingKind::kReplicationController, "r")}), Slots());
  EXPECT_EQ(take({controller(SelectingKind::kReplicaSet, "r")}), Slots{1});
  EXPECT_EQ(take({service_of("web")}), (Slots{2, 3, 4}));
}

TEST_F(WaitingTemplatesTest, ASweepIsDueOnceMoreIsNotedThanTwiceWhatTheLastOneLeft) {
  for (PodSlot slot = 0; slot < 1023; ++slot) note("web", {slot});
  EXPECT_FALSE(waiting.is_sweep_due()) << "1,023 and a template";
  note("web", {1023});
  EXPECT_TRUE(waiting.is_sweep_due());
  sweep(500);
  EXPECT_EQ(waiting.noted(), 500u);
  for (PodSlot slot = 500; slot < 2 * 501 + 1023; ++slot) note("web", {slot});
  EXPECT_FALSE(waiting.is_sweep_due());
  note("web", {0});
  EXPECT_TRUE(waiting.is_sweep_due());
  sweep(0);
  EXPECT_EQ(waiting.noted() + waiting.templates(), 0u);
}

TEST_F(WaitingTemplatesTest, ASweepKeepsEachOfThoseThatWaitOnceAndTheirTemplates) {
  note("gone", {7, 8});
  note("web", {2, 1, 2, 9});
  sweep(5);
  EXPECT_EQ(waiting.templates(), 1u);
  EXPECT_EQ(waiting.noted(), 2u);
  EXPECT_EQ(take({service_of("gone")}), Slots());
  EXPECT_EQ(waiting.compared(), 0u) << "nothing is left of its template";
  note("gone", {6});
  EXPECT_EQ(take({service_of("gone"), service_of("web")}), (Slots{1, 2, 6}));
}

}  // namespace
}  // namespace ashlar::kube
