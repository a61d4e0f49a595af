// ashlar.yaml: what is read, what is refused and in which words, and that the documented examples hold.
#include "config/scheduler_config.h"
#include "folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ashlar::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kHead = "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\n";

std::string error_of(const std::string& body) {
  const Result<SchedulerConfig> c = parse_config(kHead + body, "a.yaml");
  return c.ok() ? "no error" : c.error().message;
}

/// The YAML blocks of the reference page, in order.
std::vector<std::string> documented_examples() {
  std::ifstream page(std::string(ASHLAR_SOURCE_DIR) + "/docs/reference/configuration.md");
  std::vector<std::string> blocks;
  bool is_inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```yaml") {
      is_inside = true;
      blocks.emplace_back();
    } else if (line == "```")
      is_inside = false;
    else if (is_inside)
      blocks.back() += line + "\n";
  }
  return blocks;
}

TEST(Config, TheDocumentedSchedulerExampleIsReadAsItSays) {
  const std::vector<std::string> examples = documented_examples();
  ASSERT_EQ(examples.size(), 3u);
  const Result<SchedulerConfig> read = parse_config(examples[0], "ashlar.yaml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const SchedulerConfig& c = *read;
  EXPECT_THAT(c.scheduler_names, ElementsAre("ashlar"));
  EXPECT_EQ(c.profile.profile.name, "ashlar");
  ASSERT_EQ(c.queues.size(), 4u);
  EXPECT_EQ(c.queues[0].name, "research");
  EXPECT_EQ(c.queues[0].quota, (QuotaVector{64000, 640000, 4ll << 40}));
  EXPECT_EQ(c.queues[1].parent, 0);
  EXPECT_THAT(c.queues[0].namespaces, ElementsAre("team-vision", "team-language"));
  EXPECT_THAT(c.queues[1].namespaces, ElementsAre("team-vision", "team-language")) << "as its parent's";
  EXPECT_THAT(c.queues[3].namespaces, ElementsAre());
  EXPECT_EQ(c.queues[1].quota, (QuotaVector{32000, kUnlimited, kUnlimited}));
  EXPECT_THAT(c.queues[0].shares,
              ElementsAre(NamedShare{.resource = "nvidia.com/gpu", .model = "", .guarantee = 48000}));
  EXPECT_THAT(c.queues[2].shares,
              ElementsAre(NamedShare{.resource = "nvidia.com/gpu", .model = "", .guarantee = 16000, .borrows = 8000}));
  const std::string h100 = "H100";
  ASSERT_EQ(c.device_classes.size(), 2u);
  EXPECT_THAT(c.device_classes[0].models, ElementsAre("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"));
  EXPECT_THAT(c.device_classes[1].capabilities, ElementsAre("mig", "nvlink"));
  EXPECT_THAT(c.queues[1].limits, ElementsAre(NamedLimit{"nvidia.com/gpu", h100, 16000},
                                              NamedLimit{"cpu", h100, 400000}, NamedLimit{"example.com/nic", "", 8}));
  EXPECT_EQ(c.queues[3].name, "default");
  EXPECT_EQ(c.queues[3].parent, -1);
  EXPECT_EQ(c.namespaces[1].queue, "language");
  EXPECT_THAT(c.topology_levels, ElementsAre("topology.kubernetes.io/zone", "example.com/block", "example.com/rack"));
  EXPECT_EQ(c.decision_log.path, "/var/log/ashlar/decisions");
  EXPECT_EQ(c.decision_log.file_bytes_max, 64 << 20);
  EXPECT_EQ(c.quarantine_file, "/var/lib/ashlar/quarantine");
  ASSERT_EQ(c.default_constraints.list.size(), 2u);
  EXPECT_FALSE(c.default_constraints.are_of_system);
  const DefaultConstraint &zones = c.default_constraints.list[0], &hosts = c.default_constraints.list[1];
  EXPECT_EQ(zones.topology_key, "topology.kubernetes.io/zone");
  EXPECT_FALSE(zones.is_hard);
  EXPECT_TRUE(zones.honors_affinity && !zones.honors_taints);
  EXPECT_EQ(hosts.skew_max, 4);
  EXPECT_EQ(hosts.domains_min, 2);
  EXPECT_TRUE(hosts.is_hard && hosts.honors_affinity && hosts.honors_taints);
}

TEST(Config, SpreadingByDefaultIsKubeSchedulersOrNone) {
  EXPECT_TRUE(parse_config(kHead, "a.yaml")->default_constraints.are_of_system);
  EXPECT_TRUE(parse_config(kHead + "defaultConstraints: system", "a.yaml")->default_constraints.are_of_system);
  for (const char* none : {"defaultConstraints: none", "defaultConstraints: []"}) {
    const DefaultConstraints read = parse_config(kHead + none, "a.yaml")->default_constraints;
    EXPECT_TRUE(!read.are_of_system && read.list.empty()) << none;
  }
  const DefaultConstraint ignoring =
      parse_config(kHead +
                       "defaultConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, "
                       "nodeAffinityPolicy: Ignore}]",
                   "a.yaml")
          ->default_constraints.list.at(0);
  EXPECT_FALSE(ignoring.honors_affinity);
}

TEST(Config, TheDocumentedValuesAreTheDefaults) {
  const SchedulerConfig said = *parse_config(documented_examples()[0], "ashlar.yaml"),
                        plain = *parse_config(kHead, "b.yaml");
  EXPECT_EQ(said.leader_election.lease_duration, plain.leader_election.lease_duration);
  EXPECT_EQ(said.leader_election.renew_deadline, plain.leader_election.renew_deadline);
  EXPECT_EQ(said.leader_election.retry_period, plain.leader_election.retry_period);
  EXPECT_EQ(said.leader_election.lease_name, plain.leader_election.lease_name);
  EXPECT_EQ(said.leader_election.lease_namespace, plain.leader_election.lease_namespace);
  EXPECT_EQ(said.listen.port, plain.listen.port);
  EXPECT_EQ(said.listen.host, plain.listen.host);
  EXPECT_EQ(said.health_probe_bind_address.is_enabled, plain.health_probe_bind_address.is_enabled);
  EXPECT_EQ(said.logging.level, plain.logging.level);
  EXPECT_EQ(said.logging.format, plain.logging.format);
  EXPECT_EQ(said.batch.binds_per_step, plain.batch.binds_per_step);
  EXPECT_EQ(said.batch.binds_in_flight, plain.batch.binds_in_flight);
  EXPECT_EQ(said.batch.events_per_step, plain.batch.events_per_step);
  EXPECT_EQ(said.batch.window, plain.batch.window);
  EXPECT_EQ(said.decision_log.file_bytes_max, plain.decision_log.file_bytes_max);
  EXPECT_EQ(said.decision_log.files_max, plain.decision_log.files_max);
  EXPECT_TRUE(plain.decision_log.path.empty());
  EXPECT_TRUE(plain.quarantine_file.empty());
}

TEST(Config, TheDefaultQueueIsAlwaysThere) {
  const SchedulerConfig c = *parse_config(kHead + "queues: [{name: a, queues: [{name: b}]}]\n", "a.yaml");
  ASSERT_EQ(c.queues.size(), 3u);
  EXPECT_EQ(c.queues[0].name, "default");
  EXPECT_EQ(c.queues[1].parent, -1);
  EXPECT_EQ(c.queues[2].parent, 1);
  EXPECT_EQ(default_config().queues.size(), 1u);
}

TEST(Config, AnUnknownKeyIsRefusedWithItsPlaceAndTheNearestKnownOne) {
  EXPECT_EQ(error_of("leaderElection:\n  leaseDuraton: 8s\n"),
            "a.yaml:4:3: unknown key \"leaseDuraton\" in leaderElection; did you mean \"leaseDuration\"?");
  EXPECT_THAT(error_of("qeues: []\n"),
              StartsWith("a.yaml:3:1: unknown key \"qeues\" in the configuration; did you mean \"queues\"?"));
  EXPECT_THAT(error_of("queues: [{name: a, quota: {nvidia.com/gpus: 1}}]\n"),
              HasSubstr("did you mean \"nvidia.com/gpu\"?"));
}

TEST(Config, ApiVersionAndKindAreExpected) {
  EXPECT_THAT(parse_config("kind: SchedulerConfiguration\n", "a.yaml").error().message,
              HasSubstr("apiVersion is missing"));
  EXPECT_THAT(parse_config("apiVersion: v1\nkind: SchedulerConfiguration\n", "a.yaml").error().message,
              StartsWith("a.yaml:1:13: apiVersion must be"));
  EXPECT_THAT(parse_config("apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\n", "a.yaml").error().message,
              StartsWith("a.yaml:2:7: kind must be"));
  EXPECT_EQ(parse_config("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ashlar}\n", "a.yaml").error().message,
            "a.yaml:2:7: kind must be \"SchedulerConfiguration\", not \"ConfigMap\"");
  EXPECT_EQ(parse_config("apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\nname: p\n", "a.yaml").error().message,
            "a.yaml:2:7: kind must be \"SchedulerConfiguration\", not \"Profile\"");
}

TEST(Config, WhatIsNotYamlIsRefusedWithItsPlace) {
  EXPECT_THAT(error_of("queues: [\n"), StartsWith("a.yaml:"));
  EXPECT_THAT(parse_config("", "a.yaml").error().message, StartsWith("a.yaml:1:1: the file is empty"));
  EXPECT_THAT(parse_config("- a\n- b\n", "a.yaml").error().message, HasSubstr("must be a map"));
  EXPECT_THAT(parse_config("a: 1\n---\nb: 2\n", "a.yaml").error().message, HasSubstr("one YAML document"));
}

TEST(Config, WrongValuesAreRefusedInWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"batch: {bindsInFlight: 0}\n", "bindsInFlight must be an integer from 1 to 4096, not \"0\""},
      {"batch: {bindsInFlight: many}\n", "not \"many\""},
      {"batch: 7\n", "batch must be a map"},
      {"leaderElection: {enabled: maybe}\n", "enabled must be true or false, not \"maybe\""},
      {"leaderElection: {retryPeriod: 8x}\n", "\"8x\" is not a duration"},
      {"leaderElection: {renewDeadline: 9s}\n", "leaseDuration must be longer than renewDeadline"},
      {"leaderElection: {leaseDuration: 8500ms}\n", "whole seconds"},
      {"leaderElection: {leaseDuration: 700000h}\n", "leaseDuration must be at most 2147483647s"},
      {"leaderElection: {leaseDuration: 0, renewDeadline: 0, retryPeriod: 0}\n", "leaseDuration must be longer"},
      {"leaderElection: {leaseName: A B}\n", "\"A B\" cannot be the name of a Lease"},
      {"leaderElection: {leaseName: a..b}\n", "\"a..b\" cannot be the name of a Lease"},
      {"leaderElection: {namespace: a.b}\n", "\"a.b\" cannot be a namespace"},
      {"leaderElection: {namespace: -a}\n", "\"-a\" cannot be a namespace"},
      {"logging: {level: warn}\n",
       "unknown level \"warn\"; expected debug, info, warning or error; did you mean \"warning\"?"},
      {"listen: localhost\n", "is not an address"},
      {"listen: localhost:70000\n", "is not an address"},
      {"listen: localhost:10451\n", "\"localhost\" is not an IP address"},
      {"healthProbeBindAddress: 10452\n", "a.yaml:3:25: \"10452\" is not an address"},
      {"healthProbeBindAddress: ':10451'\n", "needs a port of its own"},
      {"schedulerNames: []\n", "must not be empty"},
      {"schedulerNames: [a, a]\n", "listed twice"},
      {"schedulerNames: [a, b c]\n",
       "a.yaml:3:21: schedulerNames: expected one name without commas and spaces, got \"b c\"; give each name by "
       "itself"},
      {"schedulerNames: ['b,c']\n", "a.yaml:3:18: schedulerNames: expected one name without commas"},
      {"deviceClasses: [{models: [a]}]\n", "a.yaml:3:17: a device class needs a name"},
      {"deviceClasses: [{name: a, modles: [b]}]\n", "unknown key \"modles\""},
      {"deviceClasses: [{name: a, models: [b]}, {name: c, models: [d, b]}]\n",
       "a.yaml:3:63: the model \"b\" is listed by the device class \"a\" too"},
      {"deviceClasses: [{name: a, models: [b]}, {name: b}]\n",
       "a.yaml:3:48: \"b\" is a model of the device class \"a\""},
      {"deviceClasses: [{name: a}, {name: c, models: [a]}]\n",
       "a.yaml:3:47: the model \"a\" is the name of another device class"},
      {"deviceClasses: [{name: a}, {name: a}]\n", "a.yaml:3:35: there are two device classes \"a\""},
      {"deviceClasses: [{name: a, capabilities: [fp8, \"fp 8\"]}]\n",
       "a.yaml:3:47: \"fp 8\" is not the name of a capability"},
      {"deviceClasses: {a: 1}\n", "deviceClasses must be a list"},
      {"deviceClasses: [a]\n", "a device class must be a map"},
      {"deviceClasses: [{name: a, models: [b]}]\nqueues: [{name: q, quota: {cpu@a: 1, cpu@b: 2}}]\n",
       "a.yaml:4:38: \"cpu@b\" is given twice"},
      {"queues: [{quota: {cpu: 1}}]\n", "a queue needs a name"},
      {"queues: [{name: a, guarantee: 4}]\n", "guarantee must be a map of resource: amount"},
      {"queues: [{name: a, guarantee: {cpu: 1, cpu: 2}}]\n", "\"cpu\" is given twice"},
      {"queues: [{name: a, borrowLimit: {cpu: 1, cpu: 2}}]\n", "\"cpu\" is given twice"},
      {"queues: [{name: a, lendLimit: {cpu: 1, cpu: 2}}]\n", "\"cpu\" is given twice"},
      {"queues: [{name: a, quota: {cpu: 1}, guarantee: {cpu: 2}}]\n",
       "the guarantee of \"cpu\" is more than the queue's quota of it, beyond which nothing of it could be used"},
      {"queues: [{name: a, quota: {pods@h: 1}, guarantee: {pods@h: 2}}]\n", "the guarantee of \"pods@h\" is more than"},
      {"queues: [{name: a, guarantee: {cpus: 1}}]\n", "unknown key \"cpus\" in guarantee; did you mean \"cpu\"?"},
      {"queues: [{name: a, borrowLimit: {cpu: -1}}]\n", "cpu: \"-1\" is negative"},
      {"queues: [{name: a, lendLimit: {gpu: 1}}]\n", "unknown key \"gpu\" in lendLimit"},
      {"queues: [{name: a, weight: 0}]\n", "weight: expected a number from 0.001 to 1000000"},
      {"queues: [{name: a, weight: 1000001}]\n", "weight: expected a number from 0.001 to 1000000"},
      {"queues: [{name: a, weight: heavy}]\n", "weight: expected a number from 0.001 to 1000000"},
      {"queues: [{name: a, priority: 1.5}]\n", "priority"},
      {"queues: [{name: a, hold: maybe}]\n", "hold"},
      {"queues: [{name: a, stops: never}]\n", "stops must be a map"},
      {"queues: [{name: a, stops: {own: higher}}]\n", "own"},
      {"queues: [{name: a, stops: {owns: never}}]\n", "unknown key \"owns\" in stops; did you mean \"own\"?"},
      {"queues: [{name: a, stops: {whileBorrowingMost: 5}}]\n",
       "whileBorrowingMost goes only with whileBorrowing: lower"},
      {"queues: [{name: a, protected: 5m}]\n", "protected must be a map"},
      {"queues: [{name: a, protected: {preempt: 9000h}}]\n", "preempt: at most 366 days"},
      {"queues: [{name: a, protected: {reclaim: soon}}]\n", "reclaim"},
      {"queues: [{name: a}, {name: b, queues: [{name: a}]}]\n", "two queues \"a\""},
      {"queues: [{name: a, quota: {memory: 4TB}}]\n", "memory: quantity \"4TB\" has an unknown suffix"},
      {"queues: {a: 1}\n", "queues must be a list"},
      {"queues: [{name: a, queues: [{name: root}]}]\n", "\"root\" is the name of the whole tree and cannot be a queue"},
      {"queues: [{name: a, quota: {nvidia.com/gpu@: 1}}]\n", "\"nvidia.com/gpu@\" names no GPU model after the @"},
      {"queues: [{name: a, quota: {gpu@H100: 1}}]\n", "unknown key \"gpu@H100\" in quota"},
      {"queues: [{name: a, quota: {cpu@H100: 1, cpu@H100: 2}}]\n", "\"cpu@H100\" is given twice"},
      {"queues: [{name: a, quota: {cpu: 1, cpu: 2}}]\n", "\"cpu\" is given twice"},
      {"queues: [{name: a, quota: {example.com/nic: -1}}]\n", "example.com/nic: \"-1\" is negative"},
      {"queues: [{name: a, quota: [1]}]\n", "quota must be a map of resource: amount"},
      {"queues: [{name: a, quota: {gpu: 1}}]\n", "unknown key \"gpu\" in quota; did you mean \"nvidia.com/gpu\"?"},
      {"topology: {levels: [a.com/rack, zone, b.com/rack]}\n",
       "\"a.com/rack\" and \"b.com/rack\" would both be the level \"rack\""},
      {"topology: {levels: [rack, b.com/rack]}\n", "\"rack\" and \"b.com/rack\" would both be the level \"rack\""},
      {"queues: [{name: vision}]\nnamespaces: {team: vison}\n",
       "a.yaml:4:20: unknown queue \"vison\"; did you mean \"vision\"?"},
      {"namespaces: {a: default, a: default}\n", "given twice"},
      {"queues: [{name: q, namespaces: []}]\n",
       "namespaces must not be empty; without the key, pods of every namespace may"},
      {"queues: [{name: q, namespaces: a}]\n", "namespaces must be a list"},
      {"queues: [{name: q, namespaces: [a]}]\nnamespaces: {b: q}\n",
       "queue \"q\" is not open to namespace \"b\"; add it to the queue's namespaces"},
      {"listen: ':1'\nlisten: ':2'\n", "\"listen\" is given twice"},
      {"decisionLog: {maxFiles: 3}\n", "needs a path"},
      {"quarantineFile: quarantine\n", "a.yaml:3:17: quarantineFile must be the full path of a file"},
      {"profile: ashlr\n", "unknown profile \"ashlr\"; did you mean \"ashlar\"?"},
      {"profile: fgd\n", "needs a mix"},
      {"profile: tiresias\n",
       "a.yaml:3:10: profile \"tiresias\" stops running jobs before a place is known, which the live scheduler does "
       "not "
       "do; choose one with victim none, priority, lost-work, kai or kueue"},
      {"queues: [{name: a\n", "not valid YAML: end of map flow not found; check the brackets"},
      {"profile: ./no-such.yaml\n", "no-such.yaml: cannot be read"},
      {"topology: {levels: [a, a]}\n", "listed twice"},
  };
  for (const auto& [body, words] : cases) EXPECT_THAT(error_of(body), HasSubstr(words)) << body;
}

TEST(Config, ALimitOfAModelIsOfTheClassThatListsIt) {
  const Result<SchedulerConfig> c = parse_config(
      kHead +
          "deviceClasses: [{name: H100, models: [H100-SXM, H100-PCIe], capabilities: [fp8]}, {name: A100}]\n"
          "queues: [{name: q, quota: {cpu@H100-PCIe: 1, cpu@A100: 2, cpu@L4: 3}}]\n",
      "a.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  ASSERT_EQ(c->device_classes.size(), 2u);
  EXPECT_EQ(c->device_classes[0].name, "H100");
  EXPECT_THAT(c->device_classes[0].models, ElementsAre("H100-SXM", "H100-PCIe"));
  EXPECT_THAT(c->device_classes[0].capabilities, ElementsAre("fp8"));
  EXPECT_THAT(c->queues[1].limits, ElementsAre(NamedLimit{"cpu", "H100", 1000}, NamedLimit{"cpu", "A100", 2000},
                                               NamedLimit{"cpu", "L4", 3000}));
}

TEST(Config, QueuesNestOnlySoDeep) {
  std::string body = "queues: ";
  for (int i = 0; i < 16; ++i) body += "[{name: q" + std::to_string(i) + ", queues: ";
  body += "[]";
  for (int i = 0; i < 16; ++i) body += "}]";
  EXPECT_THAT(error_of(body + "\n"), HasSubstr("nested more than 15 deep"));
}

TEST(Config, AProfileMayBeWrittenInPlace) {
  const Result<SchedulerConfig> c =
      parse_config(kHead + "profile:\n  base: ashlar\n  name: mine\n  order: fifo\n", "a.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->profile.profile.name, "mine");
  EXPECT_EQ(c->profile.profile.order->name, "fifo");
  EXPECT_THAT(error_of("profile:\n  base: ashlar\n  order: fiffo\n"),
              StartsWith("a.yaml:5:10: unknown order policy \"fiffo\"; did you mean \"fifo\"?"));
}

TEST(Config, AProfileFileIsFoundBesideTheConfiguration) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "ashlar-config-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "p.yaml")
      << "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\nname: beside\nbase: spread\n";
  std::ofstream(folder / "ashlar.yaml") << kHead << "profile: p.yaml\n";
  const Result<SchedulerConfig> c = read_config((folder / "ashlar.yaml").string());
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->profile.profile.name, "beside");
  EXPECT_EQ(read_config((folder / "none.yaml").string()).error().kind, Error::Kind::kNotFound);
}

TEST(Config, ProbesHaveAnAddressOfTheirOwn) {
  EXPECT_FALSE(default_config().health_probe_bind_address.is_enabled);
  const SchedulerConfig c = *parse_config(std::string(kHead) + "healthProbeBindAddress: ':10452'\n", "a.yaml");
  EXPECT_TRUE(c.health_probe_bind_address.is_enabled);
  EXPECT_EQ(c.health_probe_bind_address.port, 10452);
  EXPECT_TRUE(c.health_probe_bind_address.is_public());
  EXPECT_FALSE(c.listen.is_public());
}

// What deploy/ configures is valid, keeps the read API to the pod, and the probes' port is the one that Deployment,
// Service and Prometheus name.
/// The entry of the list that has this under the key; null where none has.
YAML::Node entry_with(const YAML::Node& list, const std::string& key, const std::string& value) {
  for (const YAML::Node& entry : list)
    if (entry[key] && entry[key].Scalar() == value) return entry;
  return {};
}

TEST(Config, TheDeploymentProbesAndScrapesThePortThatIsConfigured) {
  const std::string deploy = std::string(ASHLAR_SOURCE_DIR) + "/deploy/";
  const Result<SchedulerConfig> c =
      parse_config(YAML::LoadFile(deploy + "configuration.yaml")["data"]["ashlar.yaml"].Scalar(), "ashlar.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_FALSE(c->listen.is_public());
  ASSERT_TRUE(c->health_probe_bind_address.is_public());
  const std::string port = std::to_string(c->health_probe_bind_address.port);
  const std::vector<YAML::Node> documents = YAML::LoadAllFromFile(deploy + "deployment.yaml");
  ASSERT_EQ(documents.size(), 2u);
  const YAML::Node pod = documents[0]["spec"]["template"], container = pod["spec"]["containers"][0],
                   opened = container["ports"][0];
  EXPECT_EQ(pod["metadata"]["annotations"]["prometheus.io/port"].Scalar(), port);
  EXPECT_EQ(opened["containerPort"].Scalar(), port);
  EXPECT_EQ(container["ports"].size(), 1u);
  for (const char* probe : {"livenessProbe", "readinessProbe"})
    EXPECT_EQ(container[probe]["httpGet"]["port"].Scalar(), opened["name"].Scalar());
  const std::string state_folder = std::filesystem::path(c->quarantine_file).parent_path();  // outlives the container
  EXPECT_EQ(entry_with(container["volumeMounts"], "mountPath", state_folder)["name"].Scalar(), "state");
  EXPECT_TRUE(entry_with(pod["spec"]["volumes"], "name", "state")["emptyDir"].IsDefined());
  const YAML::Node served = documents[1]["spec"]["ports"];
  ASSERT_EQ(served.size(), 1u);
  EXPECT_EQ(served[0]["port"].Scalar(), port);
  EXPECT_EQ(served[0]["targetPort"].Scalar(), opened["name"].Scalar());
}

TEST(Config, AddressesToListenOn) {
  EXPECT_EQ(parse_listen(":80")->host, "");
  EXPECT_EQ(parse_listen("[::1]:80")->host, "::1");
  EXPECT_EQ(parse_listen("10.0.0.1:0")->port, 0);
  EXPECT_FALSE(parse_listen("off")->is_enabled);
  for (const char* bad : {"", "80", "::1:80", "a:b", "a:-1", "a:", "nowhere:80", "1.2.3:80"})
    EXPECT_FALSE(parse_listen(bad).ok()) << bad;
}

TEST(Config, TheEdgesOfWhatAQueueStatesAreAccepted) {
  const Result<SchedulerConfig> c = parse_config(kHead +
                                                     "queues:\n"
                                                     "  - {name: a, weight: 0.001, priority: 2147483647}\n"
                                                     "  - {name: b, weight: 1000000, priority: -2147483648}\n"
                                                     "  - {name: c, guarantee: {cpu: 1, cpu@H100: 2}}\n",
                                                 "a.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->queues[1].rank, (QueueRank{1, INT32_MAX}));
  EXPECT_EQ(c->queues[2].rank, (QueueRank{QueueRank::kWeightMax, INT32_MIN}));
  EXPECT_EQ(c->queues[3].shares, (std::vector<NamedShare>{{.resource = "cpu", .model = "", .guarantee = 1000},
                                                          {.resource = "cpu", .model = "H100", .guarantee = 2000}}));
}

TEST(Config, AQueueGuaranteesAtMost64Resources) {
  const auto with = [](int resources) {
    std::string text = "queues: [{name: a, guarantee: {";
    for (int r = 0; r < resources; ++r) text += (r > 0 ? ", x.com/" : "x.com/") + std::to_string(r) + ": 1";
    return parse_config(kHead + text + "}}]\n", "a.yaml");
  };
  EXPECT_TRUE(with(64).ok()) << with(64).error().message;
  ASSERT_FALSE(with(65).ok());
  EXPECT_NE(with(65).error().message.find("more than 64 limits"), std::string::npos);
}

TEST(Config, QueuesShareWhatTheyAreGuaranteed) {
  const Result<SchedulerConfig> c = parse_config(kHead +
                                                     "queues:\n"
                                                     "  - name: a\n"
                                                     "    guarantee: {nvidia.com/gpu: 8, cpu@H100: 64}\n"
                                                     "    borrowLimit: {nvidia.com/gpu: 4}\n"
                                                     "    lendLimit: {nvidia.com/gpu: 500m, example.com/nic: 1}\n"
                                                     "    weight: 2.5\n"
                                                     "    priority: -3\n"
                                                     "    hold: true\n"
                                                     "  - name: b\n",
                                                 "a.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  const QueueConfig &a = c->queues[1], &b = c->queues[2];
  EXPECT_EQ(a.shares, (std::vector<NamedShare>{{"nvidia.com/gpu", "", 8000, 4000, 500},
                                               {"cpu", "H100", 64000, kUnlimited, kUnlimited},
                                               {"example.com/nic", "", QuotaShare::kNotNamed, kUnlimited, 1}}));
  EXPECT_EQ(a.rank, (QueueRank{2500, -3}));
  EXPECT_EQ(a.gate, (QueueGate{QueueGate::Is::kHeld}));
  EXPECT_TRUE(b.shares.empty());
  EXPECT_EQ(b.rank, QueueRank());
  EXPECT_EQ(b.gate, QueueGate());
}

TEST(Config, QueuesAreDrainedAndStopped) {
  const Result<SchedulerConfig> c = parse_config(
      kHead + "queues:\n  - {name: a, drain: 2026-01-31T12:00:00Z}\n  - {name: b, stop: true, hold: false}\n",
      "a.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->queues[1].gate, (QueueGate{QueueGate::Is::kDraining, Millis(1'769'860'800'000)}));
  EXPECT_EQ(c->queues[2].gate, (QueueGate{QueueGate::Is::kStopped}));
  const auto error = [](const std::string& queue) {
    const Result<SchedulerConfig> bad = parse_config(kHead + "queues:\n  - {name: a, " + queue + "}\n", "a.yaml");
    return bad.ok() ? std::string() : bad.error().message;
  };
  EXPECT_NE(error("drain: true").find("drain: \"true\" is not a time such as 2026-01-31T12:00:00Z"), std::string::npos)
      << error("drain: true");
  EXPECT_NE(error("hold: true, stop: true").find("one of hold, drain and stop"), std::string::npos);
}

TEST(Config, QueuesSayWhomTheirJobsStop) {
  const Result<SchedulerConfig> c = parse_config(
      kHead +
          "profile: {name: preempting, base: ashlar, victim: lost-work}\n"
          "queues:\n"
          "  - name: a\n"
          "    stops: {own: lower-or-newer, reclaims: lower, whileBorrowing: lower, whileBorrowingMost: 7}\n"
          "    protected: {preempt: 5m, reclaim: 10m}\n"
          "  - name: b\n"
          "    stops: {whileBorrowing: lower}\n"
          "  - name: c\n",
      "a.yaml");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->profile.profile.victim, VictimRule::kLostWork);
  StopRules a;
  a.own = StopRules::Own::kLowerOrNewer;
  a.reclaims = StopRules::Reclaims::kLower;
  a.while_borrowing = 7;
  a.protected_from_own = Millis(300'000);
  a.protected_from_others = Millis(600'000);
  EXPECT_EQ(c->queues[1].stops, a);
  StopRules b;
  b.while_borrowing = INT32_MAX;
  EXPECT_EQ(c->queues[2].stops, b);
  EXPECT_EQ(c->queues[3].stops, StopRules());
}

TEST(Config, LongerJobsAreStoppedOnlyInAnOrderByWhatIsLeft) {
  const auto parsed = [](const std::string& profile, const std::string& stops) {
    return parse_config(
        kHead + ("profile: {name: p, base: ashlar, " + profile + "}\nqueues:\n  - {name: a, stops: {" + stops + "}}\n"),
        "a.yaml");
  };
  for (const char* stops : {"own: lower-or-longer", "whileBorrowing: lower-or-longer"}) {
    EXPECT_TRUE(parsed("victim: priority, order: priority-remaining", stops).ok()) << stops;
    const Result<SchedulerConfig> refused = parsed("victim: priority", stops);
    ASSERT_FALSE(refused.ok()) << stops;
    EXPECT_NE(refused.error().message.find("queue \"a\": lower-or-longer needs a profile with order: "
                                           "priority-remaining; with priority-age write lower"),
              std::string::npos)
        << refused.error().message;
  }
  const Result<SchedulerConfig> read =
      parsed("victim: priority, order: priority-remaining", "own: lower-or-longer, whileBorrowing: lower-or-longer");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->queues[1].stops.own, StopRules::Own::kLowerOrLonger);
  EXPECT_TRUE(read->queues[1].stops.longer_while_borrowing);
  EXPECT_EQ(read->queues[1].stops.while_borrowing, INT32_MAX);
}

TEST(Config, AQueueObjectHasTheKeysOfAQueueAndItsParent) {
  const Result<StatedQueue> read = read_queue_object(
      "vision",
      R"({"parent":"research","quota":{"nvidia.com/gpu":"16","cpu":64},"guarantee":{"nvidia.com/gpu@h100":8},)"
      R"("weight":"2.5","priority":-3,"hold":true,"protected":{"preempt":"5m"},"namespaces":["lab"]})",
      default_config());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->parent, "research");
  EXPECT_EQ(read->queue.name, "vision");
  EXPECT_EQ(read->queue.quota, (QuotaVector{16'000, 64'000, kUnlimited}));
  ASSERT_EQ(read->queue.shares.size(), 1u);
  EXPECT_EQ(read->queue.shares[0].model, "h100");
  EXPECT_EQ(read->queue.shares[0].guarantee, 8'000);
  EXPECT_EQ(read->queue.rank.weight, 2'500);
  EXPECT_EQ(read->queue.rank.priority, -3);
  EXPECT_EQ(read->queue.gate.is, QueueGate::Is::kHeld);
  EXPECT_EQ(read->queue.stops.protected_from_own, Millis(300'000));
  EXPECT_EQ(read->queue.namespaces, std::vector<std::string>{"lab"});
  EXPECT_TRUE(read_queue_object("q", "", default_config()).ok()) << "it states nothing";
  EXPECT_TRUE(read_queue_object("q", "{}", default_config()).ok());
}

TEST(Config, OfAQueueObjectThatCannotBeReadIsSaidWhy) {
  for (const auto& [spec, words] : std::vector<std::pair<std::string, std::string>>{
           {R"({"quota":{"nvidia.com/gpu":"lots"}})", "spec: nvidia.com/gpu: quantity \"lots\" is not a number"},
           {R"({"qota":{}})", "spec: unknown key \"qota\" in spec"},
           {R"({"queues":[]})", "spec: unknown key \"queues\" in spec"},
           {R"({"hold":true,"stop":true})", "spec: a queue may state one of hold, drain and stop"},
           {R"([1])", "spec: "},
           {R"({"guarantee":{"cpu":8},"quota":{"cpu":4}})", "spec: the guarantee of \"cpu\" is more than the queue's"},
           {R"({"namespaces":[]})", "spec: namespaces must not be empty"}}) {
    const Result<StatedQueue> read = read_queue_object("q", spec, default_config());
    ASSERT_FALSE(read.ok()) << spec;
    EXPECT_TRUE(read.error().message.starts_with(words)) << read.error().message;
  }
  SchedulerConfig config = default_config();
  config.profile.profile.victim = VictimRule::kPriority;
  const Result<StatedQueue> longer = read_queue_object("q", R"({"stops":{"own":"lower-or-longer"}})", config);
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.error().message.find("needs a profile with order: priority-remaining"), std::string::npos);
  EXPECT_FALSE(read_queue_object("root", "{}", default_config()).ok());
}

}  // namespace
}  // namespace ashlar::config
