// The first value that is taken and the last, the first that is not and in which words, for every setting that has a
// limit; and values unlike the defaults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/scheduler_config.h"
#include "config/yaml/reader.h"
#include "text/duration_text.h"
#include "text/text_file.h"

namespace ashlar::config {
namespace {

using ::testing::ElementsAre;

const std::string kConfig = "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\n";
const std::string kProfile = "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\n";
const std::string kFine = "fine";

std::string said_of(const std::string& body) {
  const Result<SchedulerConfig> c = parse_config(kConfig + body + "\n", "a");
  return c.ok() ? kFine : c.error().message;
}
std::string said_of_profile(const std::string& body) {
  const Result<ProfileSpec> p = parse_profile(kProfile + body + "\n", "p");
  return p.ok() ? kFine : p.error().message;
}

TEST(Limits, OfTheSettings) {
  const std::string order =
      "leaseDuration must be longer than renewDeadline, and that longer than retryPeriod; two leaders could act at "
      "once otherwise";
  const std::string name = "use small letters, digits, '-' and '.'", long_name(253, 'a'), long_space(63, 'a');
  const std::string no_address = "\" is not an address; use IP:PORT, :PORT for all addresses, or off";
  const std::pair<std::string, std::string> cases[] = {
      {"batch: {bindsPerStep: 1, bindsInFlight: 1, eventsPerStep: 1, window: 0}", kFine},
      {"batch: {bindsPerStep: 1000000, bindsInFlight: 4096, eventsPerStep: 10000000, window: 10s}", kFine},
      {"batch: {bindsPerStep: 0}", "a:3:23: bindsPerStep must be an integer from 1 to 1000000, not \"0\""},
      {"batch: {bindsPerStep: 1000001}", "a:3:23: bindsPerStep must be an integer from 1 to 1000000, not \"1000001\""},
      {"batch: {bindsInFlight: 4097}", "a:3:24: bindsInFlight must be an integer from 1 to 4096, not \"4097\""},
      {"batch: {eventsPerStep: 0}", "a:3:24: eventsPerStep must be an integer from 1 to 10000000, not \"0\""},
      {"batch: {eventsPerStep: 10000001}",
       "a:3:24: eventsPerStep must be an integer from 1 to 10000000, not \"10000001\""},
      {"batch: {window: 10001ms}", "a:3:17: window must be at most 10s"},
      {"batch: {bindsPerStep: 1x}", "a:3:23: bindsPerStep must be an integer from 1 to 1000000, not \"1x\""},
      {"batch: {bindsPerStep: [1]}", "a:3:23: bindsPerStep must be a single value"},
      {"batch: {size: 1}",
       "a:3:9: unknown key \"size\" in batch; known: bindsPerStep, bindsInFlight, eventsPerStep, window"},
      {"batch: {window: 1s, window: 1s}", "a:3:21: \"window\" is given twice"},
      {"batch: ", kFine},
      {"decisionLog: {path: p, maxFileBytes: 64Ki, maxFiles: 1}", kFine},
      {"decisionLog: {path: p, maxFileBytes: 65535}", "a:3:38: maxFileBytes must be at least 64Ki"},
      {"decisionLog: {path: p, maxFileBytes: -1}", "a:3:38: maxFileBytes must not be negative"},
      {"decisionLog: {path: p, maxFiles: 10000}", kFine},
      {"decisionLog: {path: p, maxFiles: 10001}", "a:3:34: maxFiles must be an integer from 1 to 10000, not \"10001\""},
      {"decisionLog: {path: p, maxFiles: 0}", "a:3:34: maxFiles must be an integer from 1 to 10000, not \"0\""},
      {"decisionLog: {maxFiles: 1}", "a:3:14: decisionLog needs a path"},
      {"decisionLog: {path: ''}", "a:3:21: path must not be empty"},
      {"decisionLog: {path: {}}", "a:3:21: path must be a single value"},
      {"leaderElection: {leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 1999ms}", kFine},
      {"leaderElection: {leaseDuration: 2147483647s}", kFine},
      {"leaderElection: {leaseDuration: 2147483648s}",
       "a:3:33: leaseDuration must be at most 2147483647s, as a Lease states it"},
      {"leaderElection: {leaseDuration: 8001ms}", "a:3:33: leaseDuration must be whole seconds, as a Lease states it"},
      {"leaderElection: {leaseDuration: 5s}", "a:3:17: " + order},
      {"leaderElection: {renewDeadline: 1s}", "a:3:17: " + order},
      {"leaderElection: {retryPeriod: 0}", "a:3:17: " + order},
      {"leaderElection: {retryPeriod: 1ms}", kFine},
      {"leaderElection: {leaseName: 0-9.a-z}", kFine},
      {"leaderElection: {leaseName: " + long_name + "}", kFine},
      {"leaderElection: {leaseName: " + long_name + "a}",
       "a:3:29: \"" + long_name + "a\" cannot be the name of a Lease; " + name},
      {"leaderElection: {leaseName: a.-b}", "a:3:29: \"a.-b\" cannot be the name of a Lease; " + name},
      {"leaderElection: {leaseName: a-.b}", "a:3:29: \"a-.b\" cannot be the name of a Lease; " + name},
      {"leaderElection: {leaseName: a.}", "a:3:29: \"a.\" cannot be the name of a Lease; " + name},
      {"leaderElection: {leaseName: .a}", "a:3:29: \".a\" cannot be the name of a Lease; " + name},
      {"leaderElection: {leaseName: a_b}", "a:3:29: \"a_b\" cannot be the name of a Lease; " + name},
      {"leaderElection: {leaseName: 'a{b'}", "a:3:29: \"a{b\" cannot be the name of a Lease; " + name},
      {"leaderElection: {namespace: " + long_space + "}", kFine},
      {"leaderElection: {namespace: " + long_space + "a}",
       "a:3:29: \"" + long_space + "a\" cannot be a namespace; use small letters, digits and '-'"},
      {"leaderElection: {enabled: 1}", "a:3:27: enabled must be true or false, not \"1\""},
      {"leaderElection: {enabled: []}", "a:3:27: enabled must be a single value"},
      {"logging: {format: xml}", "a:3:19: unknown format \"xml\"; expected text or json"},
      {"listen: '127.0.0.1:65535'", kFine},
      {"listen: '127.0.0.1:65536'", "a:3:9: \"127.0.0.1:65536" + no_address},
      {"listen: '::1:80'", "a:3:9: \"::1:80" + no_address},
      {"listen: '80'", "a:3:9: \"80" + no_address},
      {"listen: '1.1:8x'", "a:3:9: \"1.1:8x" + no_address},
      {"listen: 'a:80'",
       "a:3:9: \"a\" is not an IP address; use one such as 127.0.0.1, or leave it out for all addresses"},
      {"listen: ':0'\nhealthProbeBindAddress: ':0'", kFine},
      {"listen: ':1'\nhealthProbeBindAddress: ':1'",
       "a:4:25: healthProbeBindAddress needs a port of its own, not that of listen"},
      {"listen: 'off'\nhealthProbeBindAddress: ':10451'", kFine},
      {"acceptUnknownFields: [PodSpec.45, Container.31, PodGroupSpec.newField]", kFine},
      {"acceptUnknownFields: [PodGroupSpec.new-field]",
       "a:3:23: acceptUnknownFields: expected a message and a field, as the pod's condition names them (PodSpec.45), "
       "got \"PodGroupSpec.new-field\""},
      {"acceptUnknownFields: [PodSpec.newField]",
       "a:3:23: acceptUnknownFields: expected a message and a field, as the pod's condition names them (PodSpec.45), "
       "got \"PodSpec.newField\""},
      {"acceptUnknownFields: [spec.newField]",
       "a:3:23: acceptUnknownFields: expected a message and a field, as the pod's condition names them (PodSpec.45), "
       "got \"spec.newField\""},
      {"acceptUnknownFields: [.45]",
       "a:3:23: acceptUnknownFields: expected a message and a field, as the pod's condition names them (PodSpec.45), "
       "got \".45\""},
      {"acceptUnknownFields: [PodSpec.]",
       "a:3:23: acceptUnknownFields: expected a message and a field, as the pod's condition names them (PodSpec.45), "
       "got \"PodSpec.\""},
      {"defaultConstraints: system", kFine},
      {"defaultConstraints: none", kFine},
      {"defaultConstraints: []", kFine},
      {"defaultConstraints: [{topologyKey: a/b, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, minDomains: 2}]", kFine},
      {"defaultConstraints: nome",
       "a:3:21: defaultConstraints: expected system, none or a list, got \"nome\"; did you mean \"none\"?"},
      {"defaultConstraints: {a: 1}", "a:3:21: defaultConstraints must be a list"},
      {"defaultConstraints: [zone]", "a:3:22: a default constraint must be a map"},
      {"defaultConstraints: [{topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]",
       "a:3:22: a default constraint needs maxSkew"},
      {"defaultConstraints: [{topologyKey: a, maxSkew: 1}]", "a:3:22: a default constraint needs whenUnsatisfiable"},
      {"defaultConstraints: [{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]",
       "a:3:22: a default constraint needs topologyKey"},
      {"defaultConstraints: [{topologyKey: a, maxSkew: 0, whenUnsatisfiable: ScheduleAnyway}]",
       "a:3:48: maxSkew must be an integer from 1 to 2147483647, not \"0\""},
      {"defaultConstraints: [{topologyKey: '-', maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]",
       "a:3:36: \"-\" is not a label key; expected one such as topology.kubernetes.io/zone"},
      {"defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: Never}]",
       "a:3:70: unknown whenUnsatisfiable \"Never\"; expected ScheduleAnyway or DoNotSchedule"},
      {"defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
       "a:3:98: minDomains has a meaning with DoNotSchedule only"},
      {"defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}, {topologyKey: a, "
       "maxSkew: "
       "2, whenUnsatisfiable: ScheduleAnyway}]",
       "a:3:87: there are two default constraints by a with ScheduleAnyway"},
      {"defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]",
       "a:3:86: unknown key \"labelSelector\" in a default constraint; known: topologyKey, maxSkew, whenUnsatisfiable, "
       "minDomains, nodeAffinityPolicy, nodeTaintsPolicy"},
      {"quarantineFile: /", kFine},
      {"quarantineFile: a/b",
       "a:3:17: quarantineFile must be the full path of a file, such as /var/lib/ashlar/quarantine"},
      {"topology: {levels: [a, b, c, d, e, f, g, h]}", kFine},
      {"topology: {levels: [a.b-c/D_e.f]}", kFine},
      {"topology: {levels: ['b b']}",
       "a:3:21: \"b b\" is not a label key; expected one such as topology.example.com/rack"},
      {"topology: {levels: [a, /b]}",
       "a:3:24: \"/b\" is not a label key; expected one such as topology.example.com/rack"},
      {"topology: {levels: [b/]}", "a:3:21: \"b/\" is not a label key; expected one such as topology.example.com/rack"},
      {"topology: {levels: [A/b]}",
       "a:3:21: \"A/b\" is not a label key; expected one such as topology.example.com/rack"},
      {"topology: {levels: [-b]}", "a:3:21: \"-b\" is not a label key; expected one such as topology.example.com/rack"},
      {"topology: {levels: ['']}", "a:3:21: levels must not have empty entries"},
      {"topology: {levels: [a/b, b]}",
       "a:3:26: \"a/b\" and \"b\" would both be the level \"b\"; the last parts of the label keys must differ"},
      {"topology: {levels: x}", "a:3:20: levels must be a list"},
      {"schedulerNames: []", "a:3:17: schedulerNames must not be empty"},
      {"schedulerNames: [a, a]", "a:3:21: \"a\" is listed twice in schedulerNames"},
      {"namespaces: 5", "a:3:13: namespaces must be a map of namespace: queue"},
      {"namespaces: {a: [b]}", "a:3:17: the queue of a namespace must be a single value"},
      {"namespaces: {? [a] : b}", "a:3:16: a namespace must be a single value"},
      {"namespaces: {a: default, a: default}", "a:3:26: \"a\" is given twice"},
      {"namespaces: ", kFine},
      {"queues: [5]", "a:3:10: a queue must be a map"},
      {"queues: [~]", "a:3:10: a queue must be a map with a name"},
      {"queues: [{name: root}]",
       "a:3:17: \"root\" is the name of the whole tree and cannot be a queue; to limit all queues together, give them "
       "a parent "
       "of another name"},
      {"queues: [{name: a}, {name: a}]", "a:3:28: there are two queues \"a\"; names are unique in the whole tree"},
      {"queues: [{quota: {}}]", "a:3:10: a queue needs a name"},
      {"queues: [{name: a, quota: {cpu: -1}}]", "a:3:33: cpu: \"-1\" is negative"},
      {"queues: [{name: a, quota: {cpu: 0}}]", kFine},
      {"profile: ~", "a:3:10: the profile must be a map"},
      {"profile: [a]", "a:3:10: the profile must be a map"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(said_of(body), expected) << body;
}

TEST(Limits, OfProfiles) {
  const std::string mix = "base: fgd\nmix: {classes: [";
  const std::pair<std::string, std::string> cases[] = {
      {mix + "{cpu: 0, cards: 128, gpuMilli: 1000, count: 2147483647}]}", kFine},
      {mix + "{cards: 129}]}", "p:4:25: cards must be an integer from 0 to 128, not \"129\""},
      {mix + "{cards: -1}]}", "p:4:25: cards must be an integer from 0 to 128, not \"-1\""},
      {mix + "{gpuMilli: 1001}]}", "p:4:28: gpuMilli must be an integer from 0 to 1000, not \"1001\""},
      {mix + "{cards: 1, gpuMilli: 1}]}", kFine},
      {mix + "{cards: 1, gpuMilli: 0}]}", "p:4:17: gpuMilli must be 1 to 1000 where cards is not 0"},
      {mix + "{cards: 2, gpuMilli: 999}]}", "p:4:17: a fractional GPU (gpuMilli below 1000) requires cards: 1"},
      {mix + "{cards: 1, gpuMilli: 999}]}", kFine},
      {mix + "{cards: 0, gpuMilli: 0}]}", kFine},
      {mix + "{count: 0}]}", "p:4:25: count must be an integer from 1 to 2147483647, not \"0\""},
      {mix + "{count: 2147483648}]}", "p:4:25: count must be an integer from 1 to 2147483647, not \"2147483648\""},
      {mix + "~]}", "p:4:17: a class of the mix must be a map"},
      {"base: fgd\nmix: {}", "p:4:6: mix takes either podList or classes"},
      {"base: fgd\nmix: {podList: a, classes: []}", "p:4:6: mix takes either podList or classes"},
      {"base: fgd\nmix: 5", "p:4:6: mix must be a map"},
      {"base: fgd\nmix: {classes: 5}", "p:4:16: classes must be a list"},
      {"base: fifo\nreplay: {endLag: 1h}", kFine},
      {"base: fifo\nreplay: {endLag: 3600001ms}", "p:4:18: endLag must be at most 1h"},
      {"base: fifo\nreplay: {rank: x}", "p:4:16: unknown rank \"x\"; expected duration or estimate"},
      {"base: fifo\nreplay: {x: 1}", "p:4:10: unknown key \"x\" in replay; known: rank, endLag"},
      {"base: fifo\nseed: -1", "p:4:7: seed must be an integer from 0 to 9223372036854775807, not \"-1\""},
      {"base: fifo\nseed: 9223372036854775807", kFine},
      {"base: fifo\ndomainSearch: 0", "p:4:15: domainSearch must be true or false, not \"0\""},
      {"base: fifo\nfeasible: [ready, ready]", "p:4:19: \"ready\" is listed twice in feasible"},
      {"base: fifo\nfeasible: ready", "p:4:11: feasible must be a list"},
      {"base: fifo\ntiers: [best-fit]", "p:4:9: a tier must be a list"},
      {"base: fifo\ntiers: [~]", "p:4:9: a tier must be a list of score policies"},
      {"base: fifo\ntiers: [[random, best-fit]]", "p:4:18: random must be alone in its tier"},
      {"base: fifo\ntiers: [[best-fit, random]]", "p:4:20: random must be alone in its tier"},
      {"base: fifo\ntiers: [[random], [best-fit]]", kFine},
      {"base: fifo\ntiers: [[best-fit, best-fit]]", "p:4:20: \"best-fit\" is listed twice in one tier"},
      {"base: fifo\ntiers: [[best-fit], [best-fit]]", kFine},
      {"base: p.yaml",
       "p:3:7: base must be a built-in profile; unknown profile \"p.yaml\"; known: ashlar, spread, fgd, "
       "best-fit, dotprod, gpu-packing, gpu-clustering, random, fifo, fifo-skip, easy, sjf, sjf-skip, "
       "qssf, qssf-oracle, tiresias, srtf, kai, kueue-classic, kueue-fair"},
      {"base: fifo\nname: ''", "p:4:7: name must not be empty"},
      {"base: fifo\ncard: [a]", "p:4:7: card must be a single value"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(said_of_profile(body), expected) << body;
  const auto tiers = [](std::size_t count) {
    std::string body = "base: fifo\ntiers: [[best-fit]";
    for (std::size_t i = 1; i < count; ++i) body += ", [best-fit]";
    return body + "]";
  };
  EXPECT_EQ(said_of_profile(tiers(Profile::kTiersMax)), kFine);
  EXPECT_EQ(said_of_profile(tiers(Profile::kTiersMax + 1)), "p:4:8: at most " + std::to_string(Profile::kTiersMax) +
                                                                " tiers are compared, not " +
                                                                std::to_string(Profile::kTiersMax + 1));
}

TEST(Limits, OfNestingAndNumber) {
  const auto nested = [](int depth) {
    std::string body = "queues: ", end;
    for (int i = 0; i < depth; ++i)
      body += "[{name: q" + std::to_string(i) + (i + 1 < depth ? ", queues: " : ""), end += "}]";
    return body + end;
  };
  EXPECT_EQ(said_of(nested(15)), kFine);
  EXPECT_NE(said_of(nested(16)).find("queues are nested more than 15 deep"), std::string::npos);
  const auto queues = [](int count) {
    std::string body = "queues:";
    for (int i = 0; i < count; ++i) body += "\n- {name: q" + std::to_string(i) + "}";
    return body;
  };
  EXPECT_EQ(said_of(queues(10'001)), "a:10004:3: more than 10000 queues");
}

TEST(Settings, UnlikeTheDefaultsAreReadAsTheySay) {
  const Result<SchedulerConfig> read =
      parse_config(kConfig +
                       "schedulerNames: [x, y]\nqueues: [{name: a, quota: {nvidia.com/gpu: 1500m, cpu: 2, memory: "
                       "3Ki}, queues: [{name: b}]}, {name: c}]\n"
                       "namespaces: {n: c, m: b}\ntopology: {levels: [l/z, l/r]}\n"
                       "leaderElection: {enabled: false, leaseName: l, namespace: s, leaseDuration: 9s, renewDeadline: "
                       "6s, retryPeriod: 2s}\n"
                       "listen: '[::1]:1'\nhealthProbeBindAddress: '10.0.0.1:2'\ndecisionLog: {path: /p, maxFileBytes: "
                       "1Mi, maxFiles: 3}\n"
                       "logging: {format: json, level: error}\nbatch: {bindsPerStep: 4, bindsInFlight: 5, "
                       "eventsPerStep: 6, window: 7ms}\n"
                       "quarantineFile: /q\nprofile: spread\n",
                   "a");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const SchedulerConfig& c = *read;
  EXPECT_THAT(c.scheduler_names, ElementsAre("x", "y"));
  EXPECT_EQ(c.profile.profile.name, "spread");
  ASSERT_EQ(c.queues.size(), 4u);
  const std::pair<const char*, int> tree[] = {{"default", -1}, {"a", -1}, {"b", 1}, {"c", -1}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(c.queues[i].name, tree[i].first);
    EXPECT_EQ(c.queues[i].parent, tree[i].second);
  }
  EXPECT_EQ(c.queues[1].quota, (QuotaVector{1500, 2000, 3072}));
  EXPECT_EQ(c.queues[2].quota, (QuotaVector{kUnlimited, kUnlimited, kUnlimited}));
  ASSERT_EQ(c.namespaces.size(), 2u);
  EXPECT_EQ(c.namespaces[0].name_space + c.namespaces[0].queue + c.namespaces[1].name_space + c.namespaces[1].queue,
            "ncmb");
  EXPECT_THAT(c.topology_levels, ElementsAre("l/z", "l/r"));
  EXPECT_FALSE(c.leader_election.is_enabled);
  EXPECT_EQ(c.leader_election.lease_name, "l");
  EXPECT_EQ(c.leader_election.lease_namespace, "s");
  EXPECT_EQ(c.leader_election.lease_duration, Millis(9'000));
  EXPECT_EQ(c.leader_election.renew_deadline, Millis(6'000));
  EXPECT_EQ(c.leader_election.retry_period, Millis(2'000));
  EXPECT_EQ(c.listen.host, "::1");
  EXPECT_EQ(c.listen.port, 1);
  EXPECT_FALSE(c.listen.is_public());
  EXPECT_EQ(c.health_probe_bind_address.host, "10.0.0.1");
  EXPECT_TRUE(c.health_probe_bind_address.is_public());
  EXPECT_EQ(c.decision_log.path, "/p");
  EXPECT_EQ(c.decision_log.file_bytes_max, 1 << 20);
  EXPECT_EQ(c.decision_log.files_max, 3);
  EXPECT_EQ(c.logging.format, LoggingConfig::Format::kJson);
  EXPECT_EQ(c.logging.level, LoggingConfig::Level::kError);
  EXPECT_EQ(c.batch.binds_per_step, 4);
  EXPECT_EQ(c.batch.binds_in_flight, 5);
  EXPECT_EQ(c.batch.events_per_step, 6);
  EXPECT_EQ(c.batch.window, Millis(7));
  EXPECT_EQ(c.quarantine_file, "/q");
}

TEST(Settings, OfAProfileUnlikeTheDefaultsAreReadAsTheySay) {
  const Result<ProfileSpec> read =
      parse_profile(kProfile +
                        "name: mine\nbase: spread\norder: srtf\nblocking: easy\nplacement: consolidate\nvictim: "
                        "by-quota-unverified\ncadence: 3s\nseed: 9\n"
                        "domainSearch: false\nmix: {classes: [{cpu: 1500m, cards: 1, gpuMilli: 250, models: [A, B]}, "
                        "{cards: 2, count: 7}, {cpu: 4}]}\n"
                        "replay: {rank: estimate, endLag: 2s}\n",
                    "p");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Profile& p = read->profile;
  EXPECT_EQ(p.name, "mine");
  EXPECT_EQ(p.blocking, Blocking::kEasy);
  EXPECT_EQ(p.placement, PlacementRule::kConsolidate);
  EXPECT_EQ(p.victim, VictimRule::kByQuotaUnverified);
  EXPECT_EQ(p.cadence, Millis(3'000));
  EXPECT_EQ(p.seed, 9u);
  EXPECT_FALSE(p.is_default_domain_search);
  EXPECT_TRUE(p.replay.ranks_by_estimate);
  EXPECT_EQ(p.replay.end_lag, Millis(2'000));
  ASSERT_EQ(read->sample.size(), 3u);
  const std::array<std::int64_t, 4> expected[] = {{1500, 1, 250, 1}, {0, 2, 1000, 7}, {4000, 0, 0, 1}};
  for (std::size_t i = 0; i < 3; ++i) {
    const FgdSample& s = read->sample[i];
    EXPECT_EQ((std::array<std::int64_t, 4>{s.cpu_milli, s.devices, s.milli_each, s.count}), expected[i]);
  }
  EXPECT_EQ(read->sample[0].models_text, "A|B");
  EXPECT_EQ(read->sample[1].models_text, "");
}

TEST(Limits, OfFilesAreTheirOwn) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "ashlar-limits").string();
  const auto read = [&](std::size_t bytes) {
    std::ofstream(file) << std::string(bytes, 'x');
    const Result<std::string> text = read_text_file(file, 2u << 20);
    return text.ok() ? std::to_string(text->size()) : text.error().message;
  };
  EXPECT_EQ(read(0), "0");
  EXPECT_EQ(read((1 << 16) + 1), "65537");
  EXPECT_EQ(read(2u << 20), "2097152");
  EXPECT_EQ(read((2u << 20) + 1), file + ": cannot be read: it is larger than 2 MiB");
  std::filesystem::remove(file);
  EXPECT_EQ(read_text_file(file, 1).error().message, file + ": cannot be read: No such file or directory");
  EXPECT_EQ(read_text_file(::testing::TempDir(), 1).error().kind, Error::Kind::kInvalid);
  EXPECT_EQ(path_beside("/a/b", "c"), "/a/c");
  EXPECT_EQ(path_beside("/a/b", "/c"), "/c");
  EXPECT_EQ(path_beside("b", "c"), "c");
}

TEST(Limits, OfDurations) {
  const std::string example = " is not a duration; write for example 90s, 500ms, 1h30m or 2d";
  const std::pair<std::string, std::string> cases[] = {
      {"0", "0"},
      {"0s", "0"},
      {"1000000ns", "1"},
      {"1000us", "1"},
      {"1ms", "1"},
      {"0.001s", "1"},
      {".5s", "500"},
      {"1.s", "1000"},
      {"2m", "120000"},
      {"3h", "10800000"},
      {"1h1m1s1ms", "3661001"},
      {"1a", "!\"1a\"" + example},
      {"", "!\"\"" + example},
      {".s", "!\".s\"" + example},
      {"1.5.s", "!\"1.5.s\"" + example},
      {"1", "1000"},
      {"1s1", "!\"1s1\"" + example},
      {"1999us", "!\"1999us\" is not a whole number of milliseconds"},
      {"9223372036854775.807s", "!\"9223372036854775.807s\"" + example},
      {"9223372036854775ms9223372036854775s", "!\"9223372036854775ms9223372036854775s\" is longer than 100 years"},
      {"000000000000000001s", "1000"},
      {"0000000000000000001s", "!\"0000000000000000001s\"" + example},
      {"36500d", "3153600000000"},
      {"3153600000", "3153600000000"},
      {"36500d1ms", "!\"36500d1ms\" is longer than 100 years"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Millis> read = parse_duration(text);
    EXPECT_EQ(read.ok() ? std::to_string(read->value) : "!" + read.error().message, expected) << text;
  }
}

TEST(Limits, OfPodLists) {
  const std::string head = "\xef\xbb\xbfname,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  const auto said = [](const std::string& text) {
    const auto read = parse_pod_list(text, "f");
    if (!read.ok()) return read.error().message;
    std::string all;
    for (const FgdSample& s : *read)
      all += std::to_string(s.cpu_milli) + "/" + std::to_string(s.devices) + "/" + std::to_string(s.milli_each) + "/" +
             s.models_text + "x" + std::to_string(s.count) + " ";
    return all;
  };
  EXPECT_EQ(said(head + "a,5,1,128,1000,A\nb,4,1,0,0,\n\r\nc,5,9,128,1000,A\r\nd,4,1,1,1001,"),
            "4/0/0/x1 4/1/1000/x1 5/128/1000/Ax2 ");
  const std::pair<std::string, std::string> cases[] = {
      {"a,-1,1,0,0,", "f:2:3: cpu_milli must be an integer of at least 0, not \"-1\""},
      {"a,1,1,0,-1,", "f:2:9: gpu_milli must be an integer of at least 0, not \"-1\""},
      {"a,1,1,,0,", "f:2:7: num_gpu must be an integer of at least 0, not \"\""},
      {"a,1,1,129,1000,", "f:2:7: num_gpu must be at most 128, not 129"},
      {"a,1,1,0,1,", "f:2:9: gpu_milli must be 0 where num_gpu is 0"},
      {"a,1,1,1,0,", "f:2:9: gpu_milli must be at least 1 where num_gpu is not 0"},
      {"a,1,1,2,999,",
       "f:2:9: gpu_milli must be 1000 where num_gpu is above 1: only a single GPU can be requested in part"},
      {"a,1,1,0,0", "f:2:1: 5 columns where the header has 6"},
      {"a,1,1,0,0,,", "f:2:1: 7 columns where the header has 6"},
  };
  for (const auto& [row, expected] : cases) EXPECT_EQ(said(head + row), expected);
  EXPECT_EQ(said("\n\n"),
            "f:1:1: the header is missing; expected name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec,...]");
  EXPECT_EQ(said("\na,num_gpu,gpu_milli\n"),
            "f:2:1: column cpu_milli is missing; expected name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec,...]");
}

}  // namespace
}  // namespace ashlar::config
