// JSON of objects that say everything a decoder knows.
#pragma once

#include <string>

namespace ashlar::kube {

inline const std::string kMeta =
    R"("metadata":{"name":"x","namespace":"s","uid":"u","resourceVersion":"7","creationTimestamp":"1970-01-01T00:00:01Z",)"
    R"("deletionTimestamp":"1970-01-01T00:00:02Z","labels":{"b":"2","a":"1"},"annotations":{"ashlar.dev/z":"9",)"
    R"("ashlar.dev/y":"8","other":"7"},"generation":5})";

inline const std::string kPod =
    "{" + kMeta +
    R"(,"spec":{"nodeName":"n","schedulerName":"sched","priority":-3,"priorityClassName":"high","schedulingGates":[{"name":"a"},{"name":"b"}],)"
    R"("schedulingGroup":{"podGroupName":"g"},"containers":[{"name":"c","ports":[{"hostPort":80,"hostIP":"0.0.0.0"},)"
    R"({"hostPort":81,"hostIP":"1.2.3.4","protocol":"UDP"},{"hostPort":82,"protocol":"SCTP"},{"containerPort":83},{"hostPort":84,"protocol":"TCP"}],)"
    R"("resources":{"limits":{"cpu":"9"},"requests":{"cpu":"1","nvidia.com/gpu":"2"}}}],"initContainers":[{"name":"i","restartPolicy":"Always",)"
    R"("ports":[{"hostPort":90}],"resources":{"requests":{"cpu":"2"}}},{"name":"j","ports":[{"hostPort":91}],"restartPolicy":"Never",)"
    R"("resources":{"requests":{"memory":"5"}}}],"overhead":{"cpu":"10m"}},"status":{"phase":"Running","nominatedNodeName":"m",)"
    R"("conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled","status":"True","reason":"r","message":"m","lastTransitionTime":)"
    R"("1970-01-01T00:00:03Z"},{"type":"Other","status":"False"}]}})";

/// What a pod may ask of nodes.
inline const std::string kAskingPod =
    R"({"metadata":{"name":"x"},"spec":{"nodeSelector":{"z":"1","y":"2"},"tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"},)"
    R"({"key":"l","value":"v"},{"operator":"Exists"},{"key":"m","operator":"Equal","value":"w","effect":"NoExecute"},{"operator":"Odd"}],)"
    R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":)"
    R"([{"key":"a","operator":"In","values":["1","2"]},{"key":"b","operator":"Gt","values":["5"]}],"matchFields":[{"key":"metadata.name",)"
    R"("operator":"NotIn","values":["n"]}]},{"matchExpressions":[{"key":"c","operator":"Exists"}]}]},)"
    R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":{"matchExpressions":[{"key":"d","operator":"DoesNotExist"}]}},)"
    R"({"weight":8,"preference":{"matchFields":[{"key":"e","operator":"Lt","values":["1"]}]}}]},)"
    R"("podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"q":"1","p":"2"},)"
    R"("matchExpressions":[{"key":"f","operator":"In","values":["3"]}]},"namespaceSelector":{"matchLabels":{"n":"4"}},"namespaces":["x","y"],)"
    R"("topologyKey":"rack"},{"topologyKey":"zone"}],"preferredDuringSchedulingIgnoredDuringExecution":[{}]},)"
    R"("podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}},"topologySpreadConstraints":[{"whenUnsatisfiable":)"
    R"("ScheduleAnyway"}]}})";

inline const std::string kNode =
    "{" + kMeta +
    R"(,"spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"},{"key":"e"}]},"status":)"
    R"({"capacity":{"cpu":"9"},"allocatable":{"cpu":"4","memory":"2Ki","ephemeral-storage":"3","pods":"110","nvidia.com/gpu":"8",)"
    R"("a.b/c":"1"},"conditions":[{"type":"DiskPressure","status":"True"},{"type":"Ready","status":"False"},)"
    R"({"type":"Other","status":"True"}]}})";

}  // namespace ashlar::kube
