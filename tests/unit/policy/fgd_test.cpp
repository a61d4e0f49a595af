// FGD against a second implementation, written straight from its definition without columns, ranks or memory
// (docs/explanation/fgd.md).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "small_cluster.h"

namespace ashlar {
namespace {

/// F(node) as the definition says it: six sums, class by class, added up in their order at the end.
double naive_fragment(const std::vector<FgdClass>& classes, std::int64_t cpu, DeviceClassId model,
                      const std::vector<std::int32_t>& devices) {
  double q1 = 0, q2 = 0, q4 = 0, xl = 0, xr = 0, no_access = 0;
  double total = 0;
  for (const std::int32_t g : devices) total += g;
  for (const FgdClass& m : classes) {
    if (m.devices == 0) {
      (cpu >= m.cpu_milli ? xl : xr) += m.frequency * total;
      continue;
    }
    if (!m.models.empty() && std::find(m.models.begin(), m.models.end(), model) == m.models.end()) {
      no_access += m.frequency * total;
      continue;
    }
    int serving = 0;
    double below = 0;
    for (const std::int32_t g : devices) g >= m.milli_each ? void(++serving) : void(below += g);
    const bool has_devices = serving >= m.devices, has_cpu = cpu >= m.cpu_milli;
    if (has_devices && has_cpu)
      q2 += m.frequency * below;
    else if (has_cpu)
      q2 += m.frequency * total;
    else if (has_devices)
      q4 += m.frequency * total;
    else
      q1 += m.frequency * total;
  }
  return q1 + q2 + q4 + xl + xr + no_access;
}

struct NaiveAnswer {
  int score = 0;
  int device = -1;
};

NaiveAnswer naive_best(const std::vector<FgdClass>& classes, std::int64_t cpu, DeviceClassId model,
                       std::vector<std::int32_t> devices, std::int64_t cpu_asked, const DeviceRequest& ask) {
  const double before = naive_fragment(classes, cpu, model, devices);
  const auto score = [&] {
    return static_cast<int>(
        100.0 *
        (1.0 / (1.0 + std::exp(-((before - naive_fragment(classes, cpu - cpu_asked, model, devices)) / 1000.0)))));
  };
  if (ask.count == 0 || ask.is_whole()) {
    int missing = ask.count;
    for (std::int32_t& g : devices)
      if (g == 1000 && missing > 0) {
        g = 0;
        --missing;
      }
    return {score(), -1};
  }
  NaiveAnswer best;
  for (std::size_t c = 0; c < devices.size(); ++c) {
    if (devices[c] < ask.milli_each.value) continue;
    devices[c] -= ask.milli_each.value;
    if (const int s = score(); best.device < 0 || s > best.score) best = {s, static_cast<int>(c)};
    devices[c] += ask.milli_each.value;
  }
  return best;
}

FgdMix small_mix() {
  FgdMix mix;
  mix.classes = {{4000, 1, 500, {}, 0.5},
                 {8000, 1, 1000, {}, 0.25},
                 {16000, 0, 0, {}, 0.125},
                 {2000, 2, 1000, {DeviceClassId(1u)}, 0.125}};
  return mix;
}

TEST(Fragment, IsWhatAPodOfTheMixCouldNotUse) {
  const FgdMix mix = small_mix();
  const std::vector<std::int32_t> devices{1000, 300};
  // 0.5: one device serves, 300 do not; 0.25: the same; CPU only: all 1300; the last wants another model: all 1300.
  EXPECT_DOUBLE_EQ(fragment_of(mix, {32000, DeviceClassId(0u), devices}), 0.75 * 300 + 0.25 * 1300);
  // Too little CPU for the second and third, too few devices for the last: everything is fragment but 1000 for the
  // first.
  EXPECT_DOUBLE_EQ(fragment_of(mix, {4000, DeviceClassId(1u), devices}), 0.5 * 300 + 0.5 * 1300);
  EXPECT_DOUBLE_EQ(fragment_of(mix, {4000, DeviceClassId(1u), {}}), 0);
}

TEST(Mix, HoldsTheMostFrequentClassesUpToTheCrossingOne) {
  const auto pod = [](std::int64_t cpu, std::int32_t milli, std::int64_t count, std::string models = "") {
    return FgdSample{cpu, milli > 0 ? 1 : 0, milli, std::move(models), {}, count};
  };
  const FgdMix mix = make_mix({pod(1000, 500, 10), pod(2000, 500, 30), pod(1000, 700, 30), pod(4000, 1000, 26),
                               pod(500, 0, 4), pod(2000, 500, 0)});
  ASSERT_EQ(mix.classes.size(), 4u) << "30 + 30 + 26 + 10 of 100 reach 95";
  EXPECT_EQ(mix.classes[0].cpu_milli, 2000) << "of equal counts the larger CPU is first";
  EXPECT_EQ(mix.classes[1].milli_each, 700);
  EXPECT_EQ(mix.classes[3].milli_each, 500);
  EXPECT_EQ(mix.classes[0].frequency, 30.0 / 100.0 / (96.0 / 100.0));
}

TEST(Mix, SamplesOfOneClassAreOneAndModelTextsBreakTiesDownwards) {
  const FgdSample a{1000, 1, 500, "A", {DeviceClassId(0u)}, 1}, b{1000, 1, 500, "B", {DeviceClassId(1u)}, 2};
  const FgdMix mix = make_mix({a, b, a});
  ASSERT_EQ(mix.classes.size(), 2u);
  EXPECT_EQ(mix.classes[0].models[0], DeviceClassId(1u));
  EXPECT_EQ(mix.classes[0].frequency, 0.5);
  EXPECT_TRUE(make_mix({}).is_empty());
}

TEST(Fgd, PrefersTheNodeWhoseFragmentGrowsLeast) {
  const FgdMix mix = small_mix();
  SmallCluster c{{.devices = 1, .model = DeviceClassId(0u)}, {.devices = 1, .model = DeviceClassId(0u)}};
  c.mix = &mix;
  c.leave(NodeId(0), {500});
  // Node 0 becomes full: F falls from 0.25*500 + 0.25*500 to 0. Node 1 keeps 500: F grows from 250 to 250 (0.5: 0,
  // 0.25: 500, others: 250).
  const std::vector<Points> p = c.points("fgd", demand_of(4000, 1, 500));
  EXPECT_EQ(p[0], static_cast<Points>(100 / (1 + std::exp(-0.250))));
  EXPECT_EQ(p[1], 50);
}

TEST(Fgd, TheExampleOfTheDocumentsHolds) {
  FgdMix mix;
  mix.classes = {{4000, 1, 500, {}, 0.5}, {8000, 1, 1000, {}, 0.5}};
  EXPECT_EQ(fragment_of(mix, {32000, DeviceClassId(0u), std::vector<std::int32_t>{1000, 300}}), 300);
  EXPECT_EQ(fragment_of(mix, {28000, DeviceClassId(0u), std::vector<std::int32_t>{700, 300}}), 650);
  const FgdEvaluator::Answer answer = mix.evaluator().best(
      {32000, DeviceClassId(0u), std::vector<std::int32_t>{1000, 300}}, 4000, {1, MilliGpu(300), MiB(0)});
  EXPECT_EQ(answer.score, 57);
  EXPECT_EQ(answer.device, 1);
}

TEST(Fgd, WithoutAMixAllNodesAreEqual) {
  const SmallCluster c{{.devices = 1}, {.devices = 8}};
  EXPECT_EQ(c.points("fgd", demand_of(0, 1)), (std::vector<Points>{50, 50}));
}

TEST(Fgd, ACopyOfAMixRemembersNothingAndAnswersTheSame) {
  const FgdMix mix = small_mix();
  const std::vector<std::int32_t> devices{700, 1000};
  const FgdNode node{9000, DeviceClassId(1u), devices};
  const double f = fragment_of(mix, node);
  FgdMix copy = mix;
  EXPECT_EQ(fragment_of(copy, node), f);
  copy = FgdMix{};
  EXPECT_EQ(fragment_of(copy, node), 0);
  const FgdMix moved = std::move(copy);
  EXPECT_EQ(fragment_of(moved, node), 0);
}

FgdMix any_mix() {
  std::vector<FgdSample> samples;
  const int count = *rc::gen::inRange(1, 60);
  for (int i = 0; i < count; ++i) {
    const int devices = *rc::gen::element(0, 1, 1, 1, 2, 4, 8);
    FgdSample s{*rc::gen::inRange(0, 20) * 1000,
                devices,
                devices == 0 ? 0 : devices > 1 ? 1000 : *rc::gen::inRange(1, 21) * 50,
                "",
                {},
                *rc::gen::inRange(1, 50)};
    if (*rc::gen::inRange(0, 4) == 0) {
      s.models_text = "M";
      s.models = {DeviceClassId(static_cast<unsigned>(*rc::gen::inRange(0, 3)))};
      s.models_text += std::to_string(s.models[0].value);
    }
    samples.push_back(s);
  }
  return make_mix(samples);
}

RC_GTEST_PROP(Fgd, EqualsTheDefinitionToTheLastBit, ()) {
  const FgdMix mix = any_mix();
  for (int round = 0; round < 40; ++round) {  // the same mix again and again, so that remembered answers are used
    std::vector<std::int32_t> devices(static_cast<std::size_t>(*rc::gen::inRange(0, 12)));
    for (std::int32_t& g : devices) g = *rc::gen::element(0, 250, 500, 900, 1000, 1000);
    const std::int64_t cpu = *rc::gen::inRange(0, 24) * 1000;
    const DeviceClassId model = *rc::gen::element(DeviceClassId(0u), DeviceClassId(1u), DeviceClassId(2u),
                                                  DeviceClassId(7u), DeviceClassId::none());
    const FgdNode node{cpu, model, devices};
    RC_ASSERT(fragment_of(mix, node) == naive_fragment(mix.classes, cpu, model, devices));
    const int count = *rc::gen::inRange(0, 3);
    const DeviceRequest ask{count, MilliGpu(count == 1 ? *rc::gen::element(250, 500, 1000) : 1000), MiB(0)};
    const std::int64_t cpu_asked = *rc::gen::inRange(0, 8) * 500;
    const NaiveAnswer expected = naive_best(mix.classes, cpu, model, devices, cpu_asked, ask);
    const FgdEvaluator::Answer answer = mix.evaluator().best(node, cpu_asked, ask);
    RC_ASSERT(answer.score == expected.score);
    RC_ASSERT(answer.device == expected.device);
  }
}

TEST(Fgd, NodesWithManyDevicesAreScoredTheSameWay) {
  const FgdMix mix = small_mix();
  std::vector<std::int32_t> devices(128, 1000);
  for (std::size_t c = 0; c < devices.size(); c += 3) devices[c] = 400;
  EXPECT_EQ(fragment_of(mix, {64000, DeviceClassId(1u), devices}),
            naive_fragment(mix.classes, 64000, DeviceClassId(1u), devices));
}

}  // namespace
}  // namespace ashlar
