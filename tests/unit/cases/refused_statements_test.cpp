// What each statement of the case language says of what is wrong with it: every message whole, with the column that it
// points at.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "sim/case/case.h"

namespace ashlar {
namespace {

const std::string kBefore = "# A case.\ncluster 1 x h100x8 racks of 1\nqueue q\njob j 1 gpu\n";

/// A statement, and below it the column and the words with which it is refused.
constexpr const char* kRefused = R"refused(cluster 1
  10: the line ends too early; expected x
cluster x h100x8
  9: "x" is not a number; expected a number of nodes and a shape, "cluster 4 x h100x8"
cluster 0 x h100x8
  9: 0 is not within 1 to 2147483647; expected a number of nodes and a shape, "cluster 4 x h100x8"
cluster 2147483648 x h100x8
  9: 2147483648 is not within 1 to 2147483647; expected a number of nodes and a shape, "cluster 4 x h100x8"
cluster 1 h100x8
  11: no "x" between number and shape; expected a number of nodes and a shape, "cluster 4 x h100x8"
cluster 1 x
  12: the line ends too early; expected a shape such as h100x8 (model and GPUs), h100x4+a100x4 or cpu (no GPUs)
cluster 1 x h100x129
  13: 129 GPUs on one node; expected 1 to 128
cluster 1 x h100x0
  13: 0 GPUs on one node; expected 1 to 128
cluster 1 x h100x8 racks 4
  20: unknown node option "racks"; expected "racks of N", "level NAME of N", cpu=, memory=, storage=, pods=, card-memory=, islands=, numa=, switches=, sliced=, labels, taint, untainted, not-ready, in or at
cluster 1 x h100x8 level rack 4
  31: a level needs its number of nodes; expected "level NAME of NODES"
cluster 1 x h100x8 level
  25: the line ends too early; expected the name of a level
cluster 1 x h100x8 racks of 0
  29: 0 is not within 1 to 2147483647; expected the number of nodes in each domain of the level
cluster 1 x h100x8 wheels=4
  20: unknown node option "wheels=4"; expected "racks of N", "level NAME of N", cpu=, memory=, storage=, pods=, card-memory=, islands=, numa=, switches=, sliced=, labels, taint, untainted, not-ready, in or at
cluster 1 x h100x8 at
  22: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
cluster 1 x h100x8 at 0s more
  26: unexpected word "more" after the statement; expected a line such as "cluster 4 x h100x8"
cluster 100000 x h100x8
  9: 100001 nodes in total; expected at most 100000
node node0 h100x8
  6: node "node0" already exists
node
  5: the line ends too early; expected the node's name and shape, "node big h100x8"
node big
  9: the line ends too early; expected a shape such as h100x8 (model and GPUs), h100x4+a100x4 or cpu (no GPUs)
node big h100x8 in rack
  20: "rack" is not a domain of a level in this case; expected domains such as "in rack=rack0,block=block0"
node big h100x8 in block=b0
  20: "block=b0" is not a domain of a level in this case; expected domains such as "in rack=rack0,block=block0"
node big h100x8 in rack=
  20: a domain needs a name; expected "in rack=rack0"
node big h100x8 in rack=r0,level=1
  20: "level=1" is not a domain of a level in this case; expected domains such as "in rack=rack0,block=block0"
node big h100x8 labels zone
  24: "zone" is not a label; expected labels such as zone=a,disk=ssd
node big h100x8 labels =a
  24: "=a" is not a label; expected labels such as zone=a,disk=ssd
node big h100x8 taint dedicated
  23: "dedicated" is not a taint; expected taints such as dedicated=team-a:NoSchedule
node big h100x8 taint :NoSchedule
  23: ":NoSchedule" is not a taint; expected taints such as dedicated=team-a:NoSchedule
node big h100x8 taint a=b:Never
  23: unknown effect "Never"; expected NoSchedule, PreferNoSchedule or NoExecute
node big h100x8 taint a=b:NoSchedul
  23: unknown effect "NoSchedul"; expected NoSchedule, PreferNoSchedule or NoExecute; did you mean "NoSchedule"?
node big h100x8 lables a=b
  17: unknown node option "lables"; expected cpu=, memory=, storage=, pods=, card-memory=, islands=, numa=, switches=, sliced=, labels, taint, untainted, not-ready, in or at; did you mean "labels"?
node big h100x8 cpu=many
  17: "many" is not a number of cores; expected CPU cores such as 8, 0.5 or 500m
node big h100x8 cpu=-1
  17: "-1" is not a number of cores; expected CPU cores such as 8, 0.5 or 500m
node big h100x8 memory=64Gib
  17: "64Gib" is not an amount of memory; expected bytes such as 64GiB, 512MiB or 1TiB
node big h100x8 pods=-1
  17: "-1" is not an amount; expected an amount such as cpu=4, memory=8GiB, storage=10GiB, pods=110 or vendor.com/thing=2
node big h100x8 pods=x
  17: "x" is not an amount; expected an amount such as cpu=4, memory=8GiB, storage=10GiB, pods=110 or vendor.com/thing=2
node big h100x8 card-memory=1GB
  17: "1GB" is not an amount of memory; expected bytes such as 64GiB, 512MiB or 1TiB
node big h100x8 card-memory
  17: unknown node option "card-memory"; expected cpu=, memory=, storage=, pods=, card-memory=, islands=, numa=, switches=, sliced=, labels, taint, untainted, not-ready, in or at; did you mean "card-memory="?
node big h100x8 wheels
  17: unknown node option "wheels"; expected cpu=, memory=, storage=, pods=, card-memory=, islands=, numa=, switches=, sliced=, labels, taint, untainted, not-ready, in or at
add job h100x8
  5: only nodes can be added; expected "add node SHAPE" or "add node NAME SHAPE"
add
  4: the line ends too early; expected node
add node
  9: the line ends too early; expected a shape such as h100x8 (model and GPUs), h100x4+a100x4 or cpu (no GPUs)
add node a b c
  12: "b" is not a shape; expected a shape such as h100x8 (model and GPUs), h100x4+a100x4 or cpu (no GPUs)
change node9 labels a=b
  8: there is no node "node9" at this point; did you mean "node0"?
change node0 labels a
  21: "a" is not a label; expected labels such as zone=a,disk=ssd
cordon
  7: the line ends too early; expected the name of a node
cordon node1 at
  8: there is no node "node1" at this point; did you mean "node0"?
cordon nod0
  8: there is no node "nod0" at this point; did you mean "node0"?
uncordon #3
  10: there is no node "#3" at this point; known: node0
device-health node0
  20: the line ends too early; expected GPUs of the node such as 2 or 0-3,6
device-health node0 first unhealthy
  21: "first" is not a list of GPUs; expected GPUs of the node such as 2 or 0-3,6
device-health node0 7,8 unhealthy
  21: the node has 8 GPUs; expected 0 to 7
device-health node0 2 sick
  23: unknown health "sick"; expected "healthy" or "unhealthy"
device-health nod0 2 unhealthy
  15: there is no node "nod0" at this point; did you mean "node0"?
lose
  5: the line ends too early; expected the name of a node
lose nodeX
  6: there is no node "nodeX" at this point; did you mean "node0"?
lose #x
  5: the line ends too early; expected the name of a node
lose #1000001
  6: there is no node "#1000001" at this point; known: node0
drain #1
  7: there is no node "#1" at this point; known: node0
levels rack
  8: levels must come before the first node
levels rack rack
  13: level "rack" is given twice
cluster 2 x h100x8 racks of 2 racks of 1
  40: level "rack" is given twice
cluster 6 x h100x8 racks of 2 blocks of 3
  41: domains of 3 nodes cannot contain whole domains of 2; expected a multiple, or a level after "across" in a line "levels"
levels
  1: levels must come before the first node
profile
  8: the line ends too early; expected the name of a profile
profile ashlar seed=1
  16: the profile must come before the first job; it applies to the whole case
profile nosuch
  9: unknown profile "nosuch"; known: ashlar, spread, fgd, best-fit, dotprod, gpu-packing, gpu-clustering, random, fifo, fifo-skip, easy, sjf, sjf-skip, qssf, qssf-oracle, tiresias, srtf, kai, kueue-classic, kueue-fair
profile ashlar blocking=soft
  16: unknown blocking "soft"; expected strict, skip, easy or easy-by-count
profile ashlar blocking=eazy
  16: unknown blocking "eazy"; expected strict, skip, easy or easy-by-count; did you mean "easy"?
profile ashlar score=pack-tihgt
  16: unknown score policy "pack-tihgt"; expected prefer, best-fit-domain, pack-tight, spread, fgd, best-fit, dotprod, gpu-packing, gpu-clustering or random; did you mean "pack-tight"?
profile ashlar placement=best
  16: unknown placement "best"; expected scored or consolidate
profile ashlar victim=some
  16: unknown victim "some"; expected none, by-quota-unverified, priority, lost-work, kai or kueue
profile ashlar order=lifo
  16: unknown order "lifo"; expected fifo, sjf, qssf, qssf-oracle, srtf, tiresias, priority-age or priority-remaining; did you mean "fifo"?
profile ashlar queue-order=fair
  16: unknown queue-order "fair"; expected by-job, least-share, drf, fair-tree, strict-priority, kai, kueue-classic or kueue-fair; did you mean "fair-tree"?
profile srtf queue-order=least-share
  14: victim: by-quota-unverified puts the jobs of all queues in one order; it allows only the queue order by-job, not least-share
profile ashlar card=first
  16: unknown card "first"; expected island, best-fit, random or fgd
profile ashlar cadence=now
  16: "now" is not a duration; write for example 90s, 500ms, 1h30m or 2d
profile srtf grace=now
  14: "now" is not a duration; write for example 90s, 500ms, 1h30m or 2d
profile srtf grace=2h
  14: grace must be at most 1h
profile ashlar seed=
  16: "" is not a seed; expected a whole number of at most 18 digits
profile ashlar seed=1x
  16: "1x" is not a seed; expected a whole number of at most 18 digits
profile ashlar seed=1234567890123456789
  16: "1234567890123456789" is not a seed; expected a whole number of at most 18 digits
profile ashlar score=pack-tight/nosuch
  16: unknown score policy "nosuch"; expected prefer, best-fit-domain, pack-tight, spread, fgd, best-fit, dotprod, gpu-packing, gpu-clustering or random
profile ashlar colour=red
  16: unknown profile setting "colour"; expected blocking, placement, victim, order, card, score, cadence, queue-order, grace, seed, shares, half-life or ageing
binding
  8: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
binding soon
  9: "soon" is not a duration; write for example 90s, 500ms, 1h30m or 2d
binding 1s 2s
  12: unexpected word "2s" after the statement; expected a line such as "binding 1s"
show
  5: the line ends too early; expected reasons, queues, nodes, examined or stops
show costs
  6: unknown word "costs"; expected reasons, queues, nodes, examined or stops
show reasons costs
  14: unknown word "costs"; expected reasons, queues, nodes, examined or stops
queue
  6: the line ends too early; expected the name of a queue
queue a stops
  14: the line ends too early; expected whom its jobs stop, such as own=lower, reclaims=any or while-borrowing=lower
queue a stops all=lower
  15: unknown rule "all"; expected own, reclaims or while-borrowing
queue a stops own=lowest
  15: unknown own "lowest"; expected never, lower, lower-or-newer or lower-or-longer; did you mean "lower"?
queue a stops reclaims=lower while-borrowing=lower<=many
  30: "lower<=many" does not say whom jobs stop that borrow; expected never, lower, lower-or-longer or, with a highest priority, lower<=100
queue a stops own=never reclaim=any
  25: unknown rule "reclaim"; expected own, reclaims or while-borrowing; did you mean "reclaims"?
queue a protected 5m
  19: unknown time "5m"; expected preempt or reclaim
queue a protected preempt=soon
  19: "soon" is not a duration; write for example 90s, 500ms, 1h30m or 2d
queue a protected reclaim=400d
  19: a job is protected for 366 days at most; expected a time such as preempt=5m or reclaim=10m
queue team parent nosuch
  19: there is no queue "nosuch"; known: root, q, team
queue team quota
  17: the line ends too early; expected limits such as gpu=16, cpu=64 or memory=512GiB
queue team quota at 1s
  18: no limit is given; expected limits such as gpu=16, cpu=64 or memory=512GiB
queue team quota gpu=x
  18: quantity "x" is not a number; write for example 640, 1500m, 2.5 or 4Ti
queue team quota cpu=x
  18: quantity "x" is not a number; write for example 640, 1500m, 2.5 or 4Ti
queue team quota memory=x
  18: quantity "x" is not a number; write for example 640, 1500m, 2.5 or 4Ti
queue team quota cards=4
  18: unknown limit "cards"; expected limits such as gpu=16, cpu=64 or memory=512GiB
queue team quota gpus=4
  18: unknown limit "gpus"; expected limits such as gpu=16, cpu=64 or memory=512GiB; did you mean "gpu"?
queue team quota gpu=-1
  18: "-1" is negative
queue team at 0s tail
  18: unexpected word "tail" after the statement; expected a line such as "queue NAME quota gpu=16"
queue team guarantee
  21: the line ends too early; expected guarantees such as gpu=8 or cpu=64
queue team guarantee quota gpu=4
  22: no limit is given; expected guarantees such as gpu=8 or cpu=64
queue team guarantee gpu=unlimited
  22: a guarantee is an amount; expected guarantees such as gpu=8 or cpu=64
queue team guarantee cards=4
  22: unknown limit "cards"; expected limits such as gpu=16, cpu=64 or memory=512GiB
queue team weight 0
  19: a weight is from 0.001 to 1000000; expected a weight such as 2 or 0.5
queue team weight 1000001
  19: a weight is from 0.001 to 1000000; expected a weight such as 2 or 0.5
queue team weight x
  19: a weight is from 0.001 to 1000000; expected a weight such as 2 or 0.5
queue team lends
  17: the line ends too early; expected limits such as gpu=4 or gpu=0
queue team borrows gpu=-1
  20: "-1" is negative
queue team borrows gpu=1 lends gpu=1
  26: unexpected word "lends" after the statement; expected "at TIME" or the end of the line
queue team priority high
  21: "high" is not a number; expected a priority
guarantee nosuch gpu=1
  11: there is no queue "nosuch"; known: root, q
weight q
  9: the line ends too early; expected a weight such as 2 or 0.5
hold q
  6: only queues can be held, stopped and released; expected hold queue NAME at 1s
hold queue nosuch
  12: there is no queue "nosuch"; known: root, q
release q
  9: only queues can be held, stopped and released; expected hold queue NAME at 1s
usage q
  8: the line ends too early; expected times such as gpu=10h or cpu=640h
usage q gpu=x
  9: "x" is not a duration; write for example 90s, 500ms, 1h30m or 2d
usage q memory=10h
  9: the usage of memory is not recorded; expected times such as gpu=10h or cpu=640h
usage q cards=1h
  9: unknown limit "cards"; expected limits such as gpu=16, cpu=64 or memory=512GiB
profile ashlar half-life=367d
  16: a half-life is at most 366 days; expected half-life=1d
profile ashlar shares=fair
  16: unknown shares "fair"; expected by-job, least-share, drf, fair-tree, strict-priority, kai, kueue-classic or kueue-fair; did you mean "fair-tree"?
quota nosuch gpu=1
  7: there is no queue "nosuch"; known: root, q
quota root gpu=y
  12: quantity "y" is not a number; write for example 640, 1500m, 2.5 or 4Ti
tick at
  8: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
tick soon
  6: unexpected word "soon" after the statement; expected "at TIME" or the end of the line
job
  4: the line ends too early; expected a name for the job
job queue 1 gpu
  5: a job cannot be called "queue"
job node 1 gpu
  5: a job cannot be called "node"
job examined 1 gpu
  5: a job cannot be called "examined"
job a/b 1 gpu
  5: a job cannot be called "a/b"
job #5 1 gpu
  5: a job cannot be called "#5"
job a 0 gpu
  7: 0 is not within 1 to 2147483647; expected a number of GPUs, "4 gpu", or a fraction of one, "500 milli"
job a -1 gpu
  7: "-1" is not a number; expected a number of GPUs, "4 gpu", or a fraction of one, "500 milli"
job a 129 gpu
  11: no node has 129 GPUs; expected at most 128 gpu
job a 1 cards
  9: "cards" is not a unit; expected "4 gpu" or "500 milli"
job a 1000 milli
  12: 1000 milli is not a fraction of one GPU; expected 1 to 999 milli, or whole GPUs as "2 gpu"
job a 0 milli
  7: 0 is not within 1 to 2147483647; expected a number of GPUs, "4 gpu", or a fraction of one, "500 milli"
job a 1
  8: the line ends too early; expected gpu or milli
job a 1 gpu priority high
  22: "high" is not a number; expected a priority such as 100
job a 1 gpu priority 9999999999
  22: "9999999999" is not a number; expected a priority such as 100
job a 1 gpu priority -5x
  22: "-5x" is not a number; expected a priority such as 100
job a 1 gpu duration long
  22: "long" is not a duration; write for example 90s, 500ms, 1h30m or 2d
job a 1 gpu p90 1x
  17: "1x" is not a duration; write for example 90s, 500ms, 1h30m or 2d
job a 1 gpu duration 10s p90 9s
  30: nine of ten jobs cannot end earlier than half of them; expected a "p90" of at least 10s
job a 1 gpu p90 9s duration 10s
  29: nine of ten jobs cannot end earlier than half of them; expected a "p90" of at least 10s
estimate j 10s p90 9s
  20: nine of ten jobs cannot end earlier than half of them; expected a "p90" of at least 10s
job a 1 gpu runs ever
  18: "ever" is not a duration; write for example 90s, 500ms, 1h30m or 2d
job a 1 gpu rank -1
  18: "-1" is not a number; expected a number that the order policy knows
job a 1 gpu rank r
  18: "r" is not a number; expected a number that the order policy knows
job a 1 gpu within nvlink0
  20: this cluster has no level "nvlink0"; known: rack; expected a level such as "rack" of "cluster 8 x h100x8 racks of 4"
job a 1 gpu prefer shelf
  20: this cluster has no level "shelf"; known: rack; expected a level such as "rack" of "cluster 8 x h100x8 racks of 4"
job a 1 gpu min 0
  17: 0 is not within 1 to 2147483647; expected the least number of members that may run
job a 8 gpu 4 gpu
  15: GPUs are requested twice; expected one amount of each resource
job a 4 gpu 500 milli
  17: GPUs are requested twice; expected one amount of each resource
job a 4 gpu priority 5 4 gpu
  26: GPUs are requested twice; expected one amount of each resource
job a cpu=4 1 gpu cpu=8
  19: cpu is stated twice; expected one amount of each resource
job a 1 gpu card-memory=10Gi card-memory=20Gi
  30: card-memory is stated twice; expected one amount of each resource
job a 1 gpu priority 5 cpu=1 priority 5
  30: "priority" is stated twice; expected each option once
gang g 4 x 1 gpu min 1 min 2
  24: "min" is stated twice; expected each option once
gang g (4 x 1 gpu min 1 min 2)
  25: "min" is stated twice; expected each option once
gang g (4 x 8 gpu 4 gpu)
  21: GPUs are requested twice; expected one amount of each resource
job a 1 gpu + 1 gpu
  13: unknown job option "+"; expected "4 gpu", "500 milli", amounts such as cpu=4, queue, priority, duration, p90, runs, rank, within, prefer, min, needs, selector, affinity, volume-on, wish, tolerates, port, labels, pod-affinity, pod-anti-affinity, max-skew, on, cards, submitted, since, checkpoint, restart, protected, unstoppable, whole or at
job a 1 gpu min -1
  17: "-1" is not a number; expected the least number of members that may run
job a 1 gpu on node7
  16: there is no node "node7" at this point; did you mean "node0"?
job a 1 gpu on node0 cards 8-
  28: "8-" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu on node0 cards 3-1
  28: "3-1" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu on node0 cards x
  28: "x" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu on node0 cards 0-128
  28: "0-128" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu on node0 cards 128
  28: "128" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu on node0 cards 0,,1
  28: "0,,1" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu on node0 cards
  27: the line ends too early; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu colour red
  13: unknown job option "colour"; expected "4 gpu", "500 milli", amounts such as cpu=4, queue, priority, duration, p90, runs, rank, within, prefer, min, needs, selector, affinity, volume-on, wish, tolerates, port, labels, pod-affinity, pod-anti-affinity, max-skew, on, cards, submitted, since, checkpoint, restart, protected, unstoppable, whole or at
job a 1 gpu priorty 5
  13: unknown job option "priorty"; expected "4 gpu", "500 milli", amounts such as cpu=4, queue, priority, duration, p90, runs, rank, within, prefer, min, needs, selector, affinity, volume-on, wish, tolerates, port, labels, pod-affinity, pod-anti-affinity, max-skew, on, cards, submitted, since, checkpoint, restart, protected, unstoppable, whole or at; did you mean "priority"?
job a 1 gpu pod-anti-afinity app=w per node
  13: unknown job option "pod-anti-afinity"; expected "4 gpu", "500 milli", amounts such as cpu=4, queue, priority, duration, p90, runs, rank, within, prefer, min, needs, selector, affinity, volume-on, wish, tolerates, port, labels, pod-affinity, pod-anti-affinity, max-skew, on, cards, submitted, since, checkpoint, restart, protected, unstoppable, whole or at; did you mean "pod-anti-affinity"?
job a cpu=0
  7: no resources requested; expected an amount above 0
job a cpu=x
  7: "x" is not a number of cores; expected CPU cores such as 8, 0.5 or 500m
job a example.com/nic=0
  7: no resources requested; expected an amount above 0
job a example.com/nic=x
  7: "x" is not an amount; expected an amount such as cpu=4, memory=8GiB, storage=10GiB, pods=110 or vendor.com/thing=2
job a card-memory=10GiB
  7: card-memory without a GPU; expected "500 milli card-memory=10GiB"
job a 1 gpu card-memory=lots
  13: card-memory "lots" is not a quantity such as 40Gi
job a 1 gpu card-memory=100
  13: card-memory "100" is less than 1Mi; name the unit (40Gi)
job a 1 gpu on node0 cards 1x at 0s
  28: "1x" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
job a 1 gpu needs h100
  19: "needs" takes models, capabilities or features; expected "needs model h100,a100", "needs capability fp8" or "needs feature user-namespaces"
job a 1 gpu needs model
  24: the line ends too early; expected model names such as h100,a100
job a 1 gpu selector
  21: the line ends too early; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu selector !
  22: "!" names no label; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu selector a!b
  22: "a!b" is not a label rule; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu selector a!
  22: "a!" is not a label rule; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu selector cores>many
  22: "cores>many" does not compare with a number; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu selector cores<
  22: "cores<" does not compare with a number; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu affinity
  21: the line ends too early; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu affinity a=b;!
  22: "!" names no label; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu wish 0 zone=a
  18: 0 is not within 1 to 100; expected a weight
job a 1 gpu wish 101 zone=a
  18: 101 is not within 1 to 100; expected a weight
job a 1 gpu wish 5
  19: the line ends too early; expected a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8
job a 1 gpu tolerates
  22: the line ends too early; expected tolerated taints such as key=value, key, key<5, key=value:NoSchedule or *
job a 1 gpu tolerates a,,b
  23: an empty toleration; expected tolerated taints such as key=value, key, key<5, key=value:NoSchedule or *
job a 1 gpu tolerates a:Never
  23: unknown effect "Never"; expected NoSchedule, PreferNoSchedule or NoExecute
job a 1 gpu port
  17: the line ends too early; expected a port such as 8080 or 53/udp
job a 1 gpu port 0
  18: "0" is not a port; expected a port such as 8080 or 53/udp
job a 1 gpu port 65536
  18: "65536" is not a port; expected a port such as 8080 or 53/udp
job a 1 gpu port 80/icmp
  18: "icmp" is not a protocol; expected tcp or udp
job a 1 gpu port http
  18: "http" is not a port; expected a port such as 8080 or 53/udp
job a 1 gpu at 0s again
  19: unexpected word "again" after the statement; expected a line such as "job NAME 4 gpu at 0s"
gang g
  7: the line ends too early; expected groups such as "2 x 4 gpu + 1 x cpu=8"
gang g x
  8: "x" is not a number; expected groups such as "2 x 4 gpu + 1 x cpu=8"
gang g 2
  9: the line ends too early; expected x
gang g 2 4 gpu
  10: no "x" between number and members; expected groups such as "2 x 4 gpu + 1 x cpu=8"
gang g 0 x 1 gpu
  8: 0 is not within 1 to 2147483647; expected groups such as "2 x 4 gpu + 1 x cpu=8"
gang g 100001 x 1 gpu
  8: 100001 members; expected at most 100000
gang g 2 x 1 gpu + 1
  21: the line ends too early; expected x
gang g 2 x 1 gpu + 1 x 0 gpu
  24: 0 is not within 1 to 2147483647; expected a number of GPUs, "4 gpu", or a fraction of one, "500 milli"
gang g (2 x 1 gpu
  18: the line ends too early; expected )
gang g (2 x 1 gpu min 0)
  23: 0 is not within 1 to 2147483647; expected the least number of members of the group
gang g 1 x 8 gpu min 1 + 1 x 4 gpu min 1
  24: options of the gang follow its last group; those of one group need brackets; expected groups such as "(1 x cpu=8) + (4 x 8 gpu min 2 within rack)"
gang g (1 x 8 gpu + (2 x 4 gpu)
  21: the bracket before it is not closed; expected groups such as "(1 x cpu=8) + (4 x 8 gpu min 2 within rack)"
gang g 1 x 8 gpu + (2 x 4 gpu)
  20: groups in brackets beside others; expected groups such as "(1 x cpu=8) + (4 x 8 gpu min 2 within rack)"
gang g (2 x 1 gpu) + 1 x 1 gpu
  22: groups in brackets beside others; expected groups such as "(1 x cpu=8) + (4 x 8 gpu min 2 within rack)"
gang g (2 x 1 gpu min 3)
  23: the group has 2 members; expected a minimum that it can have
gang g (2 x 1 gpu) min 1
  24: each group has its own minimum; expected groups such as "(1 x cpu=8) + (4 x 8 gpu min 2 within rack)"
gang g (2 x 1 gpu wide)
  19: unknown option of a group "wide"; expected min, within, prefer or ")"
foreign f 1 gpu on
  19: the line ends too early; expected the name of a node
grow nosuch 1 x 1 gpu
  6: there is no job "nosuch" at this point; known: j
grow q/0 1 x 1 gpu
  6: there is no job "q/0" at this point; known: j
grow j 1 x 1 gpu min x
  22: "x" is not a number; expected the least number of members that may run
grow j 1 x 1 gpu less
  18: unexpected word "less" after the statement; expected "at TIME" or the end of the line
end
  4: the line ends too early; expected a job, or a member as "NAME/0"
end nosuch
  5: there is no job "nosuch" at this point; known: j
end j/1
  5: "1" is not a member of j; expected 0 to 0
end j/x
  5: "x" is not a member of j; expected 0 to 0
end j/
  5: "" is not a member of j; expected 0 to 0
end k
  5: there is no job "k" at this point; known: j
reject
  7: the line ends too early; expected a job, or a member as "NAME/0"
reject j/9
  8: "9" is not a member of j; expected 0 to 0
reject #7
  8: a row without a job has no members; expected the name of a job, or a member's row as "#99/0"
bind j
  7: the line ends too early; expected the name of a node
bind j node7
  8: there is no node "node7" at this point; did you mean "node0"?
bind j node0 cards
  19: the line ends too early; expected GPUs of the node such as 0-3 or 0,2,5
bind j node0 cards 9x-
  20: "9x-" is not a list of GPUs; expected GPUs of the node such as 0-3 or 0,2,5
bind #99 node0
  6: a row without a job has no members; expected the name of a job, or a member's row as "#99/0"
evict nosuch
  7: there is no job "nosuch" at this point; known: j
evict #x
  6: the line ends too early; expected a job, or a member as "NAME/0"
evict j remaining
  18: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
evict j remaining x
  19: "x" is not a duration; write for example 90s, 500ms, 1h30m or 2d
priority j
  11: the line ends too early; expected a priority such as 100
priority j x
  12: "x" is not a number; expected a priority such as 100
priority #1 5
  10: there is no job "#1" at this point; known: j
estimate j
  11: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
estimate j x
  12: "x" is not a duration; write for example 90s, 500ms, 1h30m or 2d
estimate nosuch 5s
  10: there is no job "nosuch" at this point; known: j
nominate j
  11: the line ends too early; expected the name of a node
nominate j node7
  12: there is no node "node7" at this point; did you mean "node0"?
nominate j none priority
  25: the line ends too early; expected a priority such as 100
nominate j node0 priority x
  27: "x" is not a number; expected a priority such as 100
reserve r 4 gpu
  16: the line ends too early; expected "reserve NAME 4 gpu on node0"
reserve r 4 gpu at 1s
  17: a reservation needs a node; expected "reserve NAME 4 gpu on node0"
reserve j 4 gpu on node0
  9: job "j" already exists
reserve r 4 gpu selector a=b on node0
  26: a reservation names its node and no rule for nodes; expected "reserve NAME 4 gpu on node0"
reserve r 1 gpu on node0 cards 0-1
  32: more GPUs are named than reserved; expected at most as many as it reserves
reserve r 1 gpu on node0 until 0s
  32: it would end before it begins; expected "until" with a time after 0s
reserve r 1 gpu on node0 from 9s until 9s
  40: it would end before it begins; expected "until" with a time after 9s
reserve r 1 gpu on node0 for node0
  30: a hold is for a queue or a job; expected "for queue NAME" or "for job NAME"
reserve r 1 gpu on node0 for queue a
  36: there is no queue "a"; known: root, q
reserve r 1 gpu on node0 for job k
  34: there is no job "k" at this point; known: j
reserve r 1 gpu on node0 for job r
  34: "r" is a hold; expected a job; a hold lasts until its time or its "end"
maintenance
  12: the line ends too early; expected the name of a node
maintenance node7
  13: there is no node "node7" at this point; did you mean "node0"?
maintenance node0 until
  24: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
jbo a 1 gpu
  1: unknown statement "jbo"; did you mean "job"?
x
  1: unknown statement "x"; known: cluster, node, class, levels, queue, profile, binding, stopping, show, job, gang, foreign, grow, leaving, end, reject, bind, evict, priority, estimate, checkpoint, nominate, reserve, maintenance, add, change, cordon, uncordon, device-health, lose and 9 more
job x 1 gpu since -5m
  19: a job that has run before is on a node; expected "on NODE"
job x 1 gpu on node0 since 5s at 1s
  34: the job runs since a time after its statement; expected "since" with an earlier time
job x 1 gpu on node0 since -5x
  28: "5x" is not a duration; write for example 90s, 500ms, 1h30m or 2d
job x 1 gpu on node0 since
  27: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
job x 1 gpu submitted 5s at 1s
  29: the job was submitted after its statement; expected "submitted" with an earlier time
job x 1 gpu on node0 submitted -1m since -5m
  42: the job was submitted after it began to run; expected "submitted" with an earlier time
job x 1 gpu on node0 since -5m duration 1m
  41: the job would have ended before its statement; expected "since" with a later time
job x 1 gpu checkpoint 5s at 1s
  30: the checkpoint is from after the statement; expected an earlier time, or the statement "checkpoint NAME at T"
job x 1 gpu restart -5s
  21: "-5s" is not a duration; write for example 90s, 500ms, 1h30m or 2d
job x 1 gpu protected
  22: the line ends too early; expected a time such as 90s, 5m, 1h30m or 2d, at most 100 years
job x 1 gpu unstoppable unstoppable
  25: "unstoppable" is stated twice; expected each option once
checkpoint z
  12: there is no job "z" at this point; known: j
checkpoint
  11: the line ends too early; expected the name of a job
job x 1 gpu restart 367d
  21: that is more than a year; expected at most 366d
job x 1 gpu protected 367d
  23: that is more than a year; expected at most 366d
)refused";

TEST(CaseLanguage, EveryStatementSaysWhatIsWrongWithIt) {
  std::istringstream lines(kRefused);
  std::string statement, refusal;
  int count = 0;
  while (std::getline(lines, statement) && std::getline(lines, refusal)) {
    const Result<sim::CaseOutcome> outcome = sim::run_case(kBefore + statement + "\n---- at 1s\n", "x.case");
    EXPECT_EQ(outcome.ok() ? "no error" : outcome.error().message, "x.case:5:" + refusal.substr(2)) << statement;
    ++count;
  }
  EXPECT_GT(count, 150);
}

TEST(CaseLanguage, AHoldIsNoJobThatChangesOrRuns) {
  for (const auto& [statement, column] :
       {std::pair("priority r 10", "10"), std::pair("estimate r 60s", "10"), std::pair("grow r 1 x 1 gpu", "6"),
        std::pair("evict r", "7"), std::pair("reject r", "8"), std::pair("bind r node0", "6")}) {
    const Result<sim::CaseOutcome> outcome = sim::run_case(
        std::string("cluster 1 x h100x8\nreserve r 4 gpu on node0\n") + statement + "\n---- at 1s\n", "x.case");
    EXPECT_EQ(outcome.ok() ? "no error" : outcome.error().message,
              std::string("x.case:3:") + column +
                  ": \"r\" is a hold; expected a job; a hold lasts until its time or its \"end\"")
        << statement;
  }
}

}  // namespace
}  // namespace ashlar
