#!/usr/bin/env python3
"""Runs the program with input that is wrong and looks at its exit status and its words: 2 for bad input, 1 for what failed, the option or the file named.
Servers that lie stand on loopback.

usage: verbs_test.py PROGRAM    exit status 1 if a line of the tables fails
"""
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import completion
import json_fields

PATIENCE_SECONDS = 60

JOBS = "vc,gpu_num,submit_time,duration\na,1,0,30\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1000,1024,1,1000\np1,1000,1024,1,1000\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,8,A\n"
ARRIVALS = "seed,kind,values\n42,noderank,0\n42,arrival,0 1\n"
PHILLY = """[{"jobid": "App_1", "vc": "V1", "submitted_time": "2017-10-07 01:00:00", "attempts": [{"start_time": "2017-10-07 01:00:10",
 "end_time": "2017-10-07 01:01:10", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]}]}]"""
SWF = "; Version: 2.2\n1 0 0 60 12 -1 -1 12 90 -1 1 1 1 1 3 1 -1 -1\n2 0 0 -1 4 -1 -1 4 -1 -1 1 1 1 1 3 1 -1 -1\n"
SCENARIO = "nodes: [{cpu: 1, memory: 1, gpus: 8}]\narrivals: [{count: 1, until: 1s, jobs: [{gpus: 1, duration: 1s}]}]\n"
PROFILE = "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\n"
RANDOM = ("seed: 7\nnodes: [{count: 16, cpu: 64, memory: 1Ti, gpus: 8}]\n"
          "arrivals: [{count: 400, load: 0.9, jobs: [{weight: 3, gpus: 1, duration: {exponential: 1h}}, {gpus: 8, duration: {exponential: 1h}}]}]\n")
HEAD = "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\n"

FILES = {
    "jobs.csv": JOBS, "half.csv": JOBS + "a,1,0.5,30\n", "other.csv": JOBS + "b,1,0,30\n", "vcs.csv": "vc,num\na,1\n",
    "over.csv": "vc,num\n" + "".join(f"v{i},1000000\n" for i in range(3)), "pods.csv": PODS, "philly.json": PHILLY, "jobs.swf": SWF,
    "short.swf": "; a comment\n1 2 3\n", "wrong.json": PHILLY.replace("2017-10-07 01:00:00\", ", "October\",").replace('"submitted', '\n "submitted'), "nodes.csv": NODES, "arrivals.csv": ARRIVALS,
    "noise.csv": b"vc,gpu_num,submit_time,duration\n\x9b31m,x\x9by,0,30\n", "nosuch.yaml": SCENARIO + "profile: nosuch\n", "scenario.yaml": SCENARIO, "zero.yaml": SCENARIO.replace("duration: 1s", "duration: {exponential: 1s, min: 0s, max: 0s}"),
    "random.yaml": RANDOM, "one.yaml": PROFILE + "base: random\nseed: 1\n", "seven.yaml": PROFILE + "base: random\nseed: 7\n",
    "tiresias.yaml": HEAD + "profile: tiresias\n", "broken.yaml": HEAD + "queues: [{name: a\n", "names.yaml": HEAD + "schedulerNames: [a b]\n", "file": "x",
    "traced.yaml": "nodes: [{cpu: 1, memory: 1, gpus: 8}]\ntrace: {path: jobs.csv, format: csv}\n", "listed.yaml": PROFILE + "base: fgd\nmix: {podList: pods.csv}\n",
    "small.yaml": SCENARIO.replace("gpus: 8", "gpus: 8, gpu_memory: 80", 1),
    "log.yaml": HEAD + "decisionLog: {path: ./file}\n",
    "member.case": "# A.\ncluster 1 x h100x8\nbind #99 node0 at 0s\n---- at 9s\n",
    "huge.case": "# A.\ncluster 100000 x h100x128\ncluster 100000 x h100x128\n---- at 9s\n",
    "config": "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
              "clusters: [{name: k, cluster: {server: 'SERVER'}}]\n",
}

QUEUE = "sim queue --policy fifo"
NEVER_FITS = """{"kind":"Why","name":"a/b","state":"Never","headline":"ExceedsClusterMax: too small (now: 1 node is short)","exitStatus":0,
    "reasons":[{"code":"ExceedsClusterMax","message":"too small"},{"code":"InsufficientGPU","message":"1 node is short"},
    {"code":"TaintNotTolerated","message":"2 nodes"}]}"""
ONE_POD = """{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"requests":{"gpus":1},
    "gang":{"name":"b","size":1,"present":1,"bound":1,"held":0,"uniform":true,"within":"rack","prefer":""}}"""
NODE_IN_TROUBLE = """{"kind":"NodeList","nodes":[{"name":"n","model":"","cards":4,"idleCards":1,"cardFreeMilli":[0,1000,0,0],"freeMilliCores":0,"freePods":0,
    "domains":{},"closed":"pod ns/p: spec: odd","closedCards":"0,3","unhealthyCards":"2","taints":["team=blue:NoSchedule","gone:NoExecute"]}]}"""
UNLIKE_NODE = """{"kind":"NodeList","nodes":[{"name":"n","model":"","cards":4,"idleCards":4,"cardFreeMilli":[1000,1000,1000,1000],"freeMilliCores":0,"freePods":0,
    "domains":{},"cardGroups":[{"cards":"0,1","model":"H100","memoryMiB":81920,"island":0,"numaNode":0,"pcieSwitch":0,"sliced":false},
    {"cards":"2","model":"","memoryMiB":0,"island":1,"numaNode":0,"pcieSwitch":0,"sliced":true},
    {"cards":"3","model":"H100","memoryMiB":81920,"island":1,"numaNode":1,"pcieSwitch":2,"sliced":false}]}]}"""
CAPABLE_NODES = """{"kind":"NodeList","nodes":[{"name":"h","model":"H100","capabilities":["fp8","nvlink"],"cards":1,"idleCards":1,"cardFreeMilli":[1000],
    "freeMilliCores":0,"freePods":0,"domains":{}},
    {"name":"m","model":"","cards":1,"idleCards":1,"cardFreeMilli":[1000],"freeMilliCores":0,"freePods":0,"domains":{},
    "cardGroups":[{"cards":"0","model":"A100","capabilities":["mig"],"memoryMiB":0,"island":0,"numaNode":0,"pcieSwitch":0,"sliced":false}]}]}"""
NODES_OF_ALL_LENGTHS = """{"kind":"NodeList","nodes":[
    {"name":"n","model":"NVIDIA-H100-80GB-HBM3","cards":2,"idleCards":1,"cardFreeMilli":[1000,300],"freeMilliCores":63500,"freeMemoryBytes":549755813887,"freePods":7,"domains":{}},
    {"name":"a-node-with-a-name-of-35-characters","model":"","cards":0,"idleCards":0,"cardFreeMilli":[],"freeMilliCores":1500,"freeMemoryBytes":-1048576,"freePods":110,
    "domains":{"rack":"r"}},
    {"name":"shared","model":"","cards":4,"idleCards":1,"cardFreeMilli":[1000,1000,1000,0],"freeMilliCores":1500,"freeMemoryBytes":2088763392,"freePods":1,"domains":{}}]}"""
NODES_TABLE = """\
NAME                                 MODEL                  GPUS  IDLE  USE   FREE-CPU  FREE-MEM  FREE-PODS  DOMAINS
n                                    NVIDIA-H100-80GB-HBM3     2     1  .7        63.5  511.9GiB          7  -
a-node-with-a-name-of-35-characters  -                         0     0  -          1.5     -1MiB        110  rack=r
shared                               -                         4     1  .??#       1.5    1.9GiB          1  -
"""
QUEUES_OF_ALL_LENGTHS = """{"kind":"QueueList","queues":[{"name":"a-queue-whose-name-has-31-letters","usedMilliGpu":8500,"quotaMilliGpu":16000,
    "pendingJobs":1,"pendingGpus":8},{"name":"q","parent":"a-queue-whose-name-has-31-letters","usedMilliGpu":0,"quotaMilliGpu":4000,
    "pendingJobs":2,"pendingGpus":3,
    "limits":[{"resource":"nvidia.com/gpu","model":"","unit":"milliGpu","used":0,"limit":4000},
    {"resource":"nvidia.com/gpu","model":"H100","unit":"milliGpu","used":500,"limit":4000},
    {"resource":"cpu","model":"","unit":"milliCores","used":1500,"limit":64000},
    {"resource":"cpu","model":"H10O","unit":"milliCores","used":0,"limit":1000,"nodes":0},
    {"resource":"memory","model":"H100","unit":"bytes","used":1073741824,"limit":1099511627776},
    {"resource":"example.com/nic","model":"","unit":"count","used":2,"limit":8}],
    "guarantees":[{"resource":"nvidia.com/gpu","model":"H100","unit":"milliGpu","used":500,"inForce":3500,"stated":4000,"borrowLimit":500,"lendLimit":2000},
    {"resource":"memory","model":"","unit":"bytes","used":0,"inForce":1099511627776,"stated":1099511627776},
    {"resource":"cpu","model":"","unit":"milliCores","used":1500,"inForce":0,"borrowLimit":0}]}],
    "jobs":[{"name":"a-namespace-of-23-chars/a-pod-of-16-char","queue":"a-queue-whose-name-has-31-letters","position":1,"gpus":8,"gpusAhead":0,
    "ageMillis":61000,"reason":"InsufficientGPU","message":"m"},{"name":"a/b","queue":"q","position":12,"gpus":1,"gpusAhead":1024,"ageMillis":0,
    "reason":""}],"shown":2,"total":2,
    "held":[{"name":"a/c","queue":"","pods":3,"ageMillis":0,"reason":"AdmissionGated","message":"m"}],"heldTotal":1}"""
QUEUES_TABLE = """\
QUEUE                              USED-GPU  QUOTA-GPU  WAITING  WAIT-GPU
a-queue-whose-name-has-31-letters       8.5         16        3        11
q                                         0          4        2         3

QUEUE  LIMIT                USED  QUOTA
q      nvidia.com/gpu@H100   0.5      4
q      cpu                   1.5     64
q      cpu@H10O                0      1
q      memory@H100          1GiB   1TiB
q      example.com/nic         2      8
no node has GPUs of the class or model H10O: limits on it have no effect

QUEUE  GUARANTEE OF         USED  GUARANTEED  MAY BORROW  LENDS
q      nvidia.com/gpu@H100   0.5    3.5 of 4         0.5      2
q      memory                  0        1TiB         any    all
q      cpu                   1.5           0           0    all

NAME                                      QUEUE                              POS  GPUS  AHEAD    AGE  REASON
a-namespace-of-23-chars/a-pod-of-16-char  a-queue-whose-name-has-31-letters    1     8      0  1m01s  InsufficientGPU
a/b                                       q                                   12     1   1024    0ms  -

HELD, NOT IN A QUEUE  QUEUE  PODS  AGE  REASON
a/c                   -         3  0ms  AdmissionGated
"""
PACKING = "sim packing --nodes nodes.csv --pods pods.csv --arrivals arrivals.csv"
# (command, exit status, what it says on stderr)
REFUSED = [
    ("quue", 2, "ashlar: unknown verb \"quue\"; did you mean \"queue\"? (ashlar --help)"),
    ("scheduler --validate-only --profile fgd", 2, "--profile: profile \"fgd\" scores by fgd, which needs a mix of expected pods"),
    ("why -n blue red/p", 2, "NAME: red/p is in another namespace than -n blue; give only one of the two"),
    ("why -n blu blue/p", 2, "blue/p is in another namespace than -n blu"),
    ("why podgroup/red/p", 2, 'NAME: expected podgroup/NAME with the namespace as -n red, got "podgroup/red/p"'),
    ("why pod/red/p", 2, 'NAME: expected pod/NAME with the namespace as -n red, got "pod/red/p"'),
    ("why a/b/c", 2, 'NAME: expected NAME, NAMESPACE/NAME or pod/NAME, got "a/b/c"'),
    ("why red/", 2, 'NAME: expected NAME, NAMESPACE/NAME or pod/NAME, got "red/"'),
    ("why /p", 2, 'NAME: expected NAME, NAMESPACE/NAME or pod/NAME, got "/p"'),
    ("why pod/", 2, 'got "pod/"'),
    ("why ''", 2, 'got ""'),
    ("why p -n ''", 2, '-n: expected the name of a namespace, got ""'),
    ("why p -n a/b", 2, '-n: expected the name of a namespace, got "a/b"'),
    ("case member.case", 2, "member.case:3:6: a row without a job has no members"),
    ("case huge.case", 2, "huge.case:2:18: 12800000 GPUs in total"),
    (f"{QUEUE} --jobs half.csv --vcs vcs.csv", 2, "half.csv:3:5: submit_time: expected whole seconds"),
    (f"{QUEUE} --jobs other.csv --vcs vcs.csv", 2, "other.csv:3:1: vc: expected a virtual cluster"),
    (f"{QUEUE} --pooled --jobs jobs.csv --vcs over.csv", 2, "over.csv:3:4: num: expected at most 1000000 nodes"),
    (f"{QUEUE} --jobs noise.csv --vcs vcs.csv", 2, "noise.csv:2:1: vc: expected a virtual cluster of the --vcs file, got \"?31m\""),
    (f"{QUEUE} --jobs /dev/zero --vcs vcs.csv", 2, "/dev/zero: cannot be read: it is a device"),
    (f"sim queue --policy fifo,,easy --jobs jobs.csv --vcs vcs.csv", 2, "--policy: expected a name beside every comma"),
    ("sim run scenario.yaml --policy ashlar,ashlar", 2, '--policy: "ashlar" is given twice'),
    (f"{PACKING} --policy best-fit --seed 42,42", 2, '--seed: "42" is given twice'),
    (f"{PACKING} --policy best-fit,", 2, "--policy: expected a name beside every comma"),
    (f"{PACKING} --policy best-fit --seed -1", 2, "--seed: expected whole numbers from 0, got \"-1\""),
    (f"{PACKING} --policy best-fit --seed 42,,43", 2, "--seed: expected a name beside every comma"),
    ("sim run --policy fifo scenario.yaml -o csv --report /no/such/page", 1, "/no/such/page"),
    ("sim run scenario.yaml --policy --report", 2, "--policy: expected a name, got the option --report"),
    ("sim run ./scenario.yaml --report page.html >/dev/null && cat page.html", 0, "<title>scenario.yaml"),
    ("''", 2, 'ashlar: unknown verb ""; known: why, queue, '),
    ("sim run scenario.yaml --polcy fifo", 2, 'ashlar sim run: unknown option --polcy; did you mean "--policy"? (ashlar sim run --help)'),
    ("sim queue --polcy fifo", 2, 'ashlar sim queue: unknown option --polcy; did you mean "--policy"?'),
    ("sim queue --policy fifo", 2, "ashlar sim queue: expected --jobs FILE (Job trace: "),
    ("sim run", 2, "ashlar sim run: expected SCENARIO (YAML file"),
    ("completion", 2, "ashlar completion: expected SHELL (bash, zsh or fish)"),
    ("completion tcsh", 2, 'SHELL: expected bash, zsh or fish, got "tcsh"'),
    ("--help | awk '/^[A-Z].*:$/{printf \"%s\", $0} /^  [a-z]/{printf \" %s\", $1} /^$/{printf \";\"}'", 0,
     "Options:;Ask a running scheduler: why queue nodes;Run on a cluster: scheduler load;Simulate and replay: sim replay case;"
     "Try it on this machine: demo;Plumbing: completion version"),
    ("sim", 2, "ashlar sim: expected a verb: packing, queue, run"),
    ("sim run scenario.yaml -o jsno", 2, '--output: expected table, json or csv, got "jsno"; did you mean "json"?'),
    ("why a/b -o wide", 2, '--output: expected table or json, got "wide"'),
    ("why a/b c", 2, 'ashlar why: unexpected argument "c"'),
    ("scheduler --config", 2, "--config: expected a value: --config FILE (Configuration file"),
    ("case --update=x f", 2, "--update: expected no value"),
    ("scheduler --validate-only --config tiresias.yaml", 2, "tiresias.yaml:3:10: profile \"tiresias\" stops running jobs before a place is known"),
    ("scheduler --validate-only --config broken.yaml", 2, "broken.yaml:4:1: not valid YAML: end of map flow not found; check the brackets"),
    ("scheduler --validate-only --config names.yaml", 2, 'names.yaml:3:18: schedulerNames: expected one name without commas and spaces, got "a b"'),
    ("scheduler --validate-only --config .", 2, ".: cannot be read: Is a directory"),
    ("sim run scenario.yaml --report .", 2, '--report: expected the name of a file to write, got the directory "."'),
    (f"{QUEUE} --jobs jobs.csv --vcs vcs.csv --report jobs.csv", 2, "ashlar sim queue: --report: jobs.csv is an input of this run; name another file"),
    (f"{QUEUE} --jobs jobs.csv --vcs vcs.csv --report ./link.csv", 2, "--report: ./link.csv is an input of this run"),
    (f"{QUEUE} --jobs jobs.csv --vcs vcs.csv --report vcs.csv; cat vcs.csv", 0, "vc,num"),
    (f"{QUEUE} --jobs jobs.csv --vcs vcs.csv --per-job each.csv >/dev/null && cat each.csv", 0,
     "policy,vc,gpus,priority,submit_seconds,start_seconds,end_seconds,queue_seconds\nfifo,a,1,0,0,0,30,0\n"),
    ("sim run traced.yaml --policy fifo --per-job each.csv >/dev/null && cat each.csv", 0, "\nfifo,default,1,0,0,0,30,0\n"),
    (f"{QUEUE} --jobs jobs.csv --vcs vcs.csv --per-job vcs.csv", 2, "--per-job: vcs.csv is another file of this run; name another one"),
    ("sim run traced.yaml --per-job each.html --report each.html", 2, "--per-job: each.html is another file of this run"),
    ("sim run traced.yaml --per-job /no/such/file", 1, "/no/such/file"),
    ("sim run scenario.yaml --report ../$(basename $PWD)/scenario.yaml", 2, "scenario.yaml is an input of this run"),
    ("sim run traced.yaml --report jobs.csv", 2, "--report: jobs.csv is an input of this run"),
    ("sim run scenario.yaml --policy ./one.yaml --report one.yaml", 2, "--report: one.yaml is an input of this run"),
    ("sim run scenario.yaml --policy ./listed.yaml --report pods.csv", 2, "--report: pods.csv is an input of this run"),
    ("sim packing --nodes nodes.csv --pods pods.csv --arrivals arrivals.csv --policy best-fit --report nodes.csv", 2, "--report: nodes.csv is an input of this run"),
    ("sim run small.yaml", 2, 'small.yaml:1:50: nodes[0].gpu_memory: "80" is less than 1Mi; name the unit (40Gi)'),
    ("queue ''", 2, 'QUEUE: expected a queue, got ""'),
    ("nodes ''", 2, 'NODE: expected a node, got ""'),
    ("sim run scenario.yaml --report ''", 2, '--report: expected the name of a file to write, got ""'),
    ("sim run zero.yaml", 2, "duration.max: expected a time above 0, got 0"),
    # A profile's own seed counts before the scenario's, which is 7: the means of seeds 1, 7 and none.
    ("sim run random.yaml --policy ./one.yaml,./seven.yaml,random -o csv | awk -F, '/ALL/{m[++n]=$4} END{print m[1]!=m[2] && m[2]==m[3]}'", 0, "1\n"),
    ("sim nosuch", 2, "ashlar sim: unknown verb \"nosuch\"; known: packing, queue, run (ashlar sim --help)"),
    ("sim run nosuch.yaml", 2, "nosuch.yaml:3:10: profile: unknown profile \"nosuch\""),
    ("load pods.csv --kubeconfig /nonexistent", 2, "/nonexistent"),
    ("load pods.csv --kubeconfig config --limit -1", 2, "--limit: expected a whole number from 0, got \"-1\""),
    ("load pods.csv --kubeconfig config --speed nan", 2, "--speed: expected a number from 0 to 1000000000, got \"nan\""),
    ("load pods.csv --kubeconfig config --speed inf", 2, "--speed: expected a number from 0 to 1000000000, got \"inf\""),
    ("load short.swf --kubeconfig config", 2, "short.swf:2:1: expected 18 fields separated by blanks (Standard Workload Format), got 3"),
    ("load wrong.json --kubeconfig config", 2, "wrong.json:2:2: submitted_time: expected a time such as"),
    ("load pods.csv --kubeconfig config --format philly", 2, "pods.csv:1:1: expected a list of jobs in brackets"),
    ("load pods.csv --kubeconfig config --format xml", 2, '--format: expected auto, openb, philly or swf, got "xml"'),
    ("load pods.csv --kubeconfig config --per-pod 0", 2, '--per-pod: expected a whole number from 1 to 128, got "0"'),
    ("replay decisions --from -1", 2, "--from: expected a whole number from 0, got \"-1\""),
    ("scheduler --validate-only --listen localhost:31460", 2, "\"localhost\" is not an IP address"),
    ("scheduler --kubeconfig .", 2, "kubeconfig: .: cannot be read: Is a directory"),
    ("scheduler --kubeconfig /dev/zero", 2, "/dev/zero: cannot be read: it is a device"),
    ("scheduler --validate-only --scheduler-name a,b", 2, "--scheduler-name: expected one name without commas and spaces, got \"a,b\""),
    ("scheduler --scheduler-name --validate-only", 2, "--scheduler-name: expected a name, got the option --validate-only"),
    ("scheduler --validate-only --scheduler-name ''", 2, "--scheduler-name: expected a name, got \"\""),
    ("scheduler --validate-only --health-probe-bind-address 10452", 2, "--health-probe-bind-address: \"10452\" is not an address"),
    ("scheduler --kubeconfig config --decision-log file", 2, "decision log file: it is a file"),
    ("scheduler --kubeconfig config --config log.yaml", 2, "decision log ./file: it is a file"),
    ("--help >/dev/full", 1, "could not be written in full"),
    ("version >/dev/full", 1, "could not be written in full"),
    ("TMPDIR=/no/such KUBEBUILDER_ASSETS=. demo --short --no-wait", 1, "TMPDIR is \"/no/such\""),
    ("demo --only-comparison --no-comparison", 2, "excludes --"),
    ("demo --simulated --only-comparison", 2, "excludes --"),
    ("demo --short --only-comparison", 2, "excludes --"),
    ("demo -o json", 2, "ashlar demo: --output: json shows the comparison: add --only-comparison"),
    ("demo --only-comparison -o csv", 2, '--output: expected text or json, got "csv"'),
    ("TMPDIR=/no/such KUBEBUILDER_ASSETS=. demo --only-comparison -o json", 1, "starting etcd and kube-apiserver on loopback ..."),  # stdout is for the document
]

# (command, body of every answer, exit status, what it says: on stderr, or on stdout where the status is 0)
LIED_TO = [
    ("why a/b", "{}", 1, "the answer is not a Why object"),
    ("why a/b", '{"kind":"Why","name":"a/b"}', 1, "has another form"),
    ("why a/b", '{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"requests":{"gpus":0,"milliGpu":500}}', 0, "a/b   0.5 GPU   BOUND\n"),
    ("why a/b", NEVER_FITS, 0, "  ExceedsClusterMax: too small (now: 1 node is short)\nALSO        TaintNotTolerated: 2 nodes\n"),
    ("why a/b -o json", "[]", 1, "the answer is not JSON"),
    ("why a/b", '{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"object":"pod","namesakes":["gang","podgroup"]}', 0,
     "ABOUT       the pod of that name; there is also: ashlar why gang/b -n a, ashlar why podgroup/b -n a\n"),
    ("why b 1>&2", '{"kind":"Why","name":"default/b","state":"Waiting","headline":"h","exitStatus":4,"object":"podgroup","namesakes":["pod"],"apart":"PodGroup default/b names gang x"}', 4,
     "ABOUT       the PodGroup of that name; there is also: ashlar why pod/b\nBLOCKED BY  h\nAPART       PodGroup default/b names gang x\n"),
    ("why a/b 1>&2", '{"kind":"Why","name":"a/b","state":"Waiting","headline":"BehindHead: h","condition":"0/1 nodes are available.","exitStatus":4}', 4,
     "BLOCKED BY  BehindHead: h\nCONDITION   0/1 nodes are available.\n"),
    ("why a/b 1>&2", '{"kind":"Why","name":"a/b","state":"Waiting","headline":"BehindHead: h","condition":"BehindHead: h","exitStatus":4,"remedies":[{"message":"r"}]}', 4,
     "BLOCKED BY  BehindHead: h\nWOULD RUN NOW IF (smallest first)\n  1. r\n"),
    ("why a/b 1>&2", '{"kind":"Why","name":"a/b","state":"Waiting","headline":"h","exitStatus":4,"gang":{"priorityTrouble":"no class"}}', 4,
     "PRIORITY    no class\n"),
    ("why a/b 1>&2", '{"kind":"Why","name":"a/b","state":"Waiting","headline":"h","exitStatus":4,"start":{"of":"job","expectedMillis":60000,"latestMillis":90000}}', 4,
     "START       in 1m00s (p50), in 1m30s at the latest (p90)\n"),
    ("why a/b 1>&2", '{"kind":"Why","name":"a/b","state":"Waiting","headline":"h","exitStatus":4,"start":{"of":"job","expectedMillis":60000,"latestMillis":60000}}', 4,
     "START       in 1m00s at the latest\n"),
    ("why a/b 1>&2", '{"kind":"Why","name":"a/b","state":"Waiting","headline":"h","exitStatus":4,"start":{"of":"ahead","expectedMillis":60000,"latestMillis":90000}}', 4,
     "AHEAD       the job ahead starts in 1m00s (p50), in 1m30s at the latest (p90)\n"),
    ("why a/b", '{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"preferences":{"points":500,"pointsMost":620,"terms":['
     '{"kind":"NodeAffinity","message":"node affinity (weight 80) zone=a: not met","best":false,"cost":"n7 is better in this"},{"kind":"Spread","message":"s","best":true}]}}', 0,
     "PREFERENCES 500 points; the best of the nodes that would take it has 620 now\n            node affinity (weight 80) zone=a: not met\n              n7 is better in this\n            s\n"),
    ("why a/b", '{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"preferences":{"terms":[]}}', 0,
     "PREFERENCES as of now, when its node would not take it\n"),
    ("why a/b", '{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"preferences":{"unknown":"it is old"}}', 0,
     "PREFERENCES not compared: it is old\n"),
    ("why a/b", '{"kind":"Why","name":"a/b","state":"Bound","headline":"h","exitStatus":0,"preferences":{"points":"x"}}', 1, "has another form"),
    ("queue", "{}", 1, "the answer is not a QueueList object"),
    ("queue", '{"kind":"QueueList","queues":[{}],"jobs":[]}', 1, "has another form"),
    ("queue", '{"kind":"QueueList","queues":7,"jobs":[]}', 1, "has another form"),
    ("nodes", '{"kind":"NodeList","nodes":[{"name":"n","cardFreeMilli":["x"],"domains":{}}]}', 1, "has another form"),
    ("nodes", NODE_IN_TROUBLE, 0, "    closed: pod ns/p: spec: odd\n    closed GPUs, claimed more than once: 0,3\n    unhealthy GPUs, which take no new pods: 2\n    taints: team=blue:NoSchedule, gone:NoExecute\n"),
    ("nodes", UNLIKE_NODE, 0, "n     H100 x3, unknown x1     4     4  ....         0         0          0  -\n    GPUs 0-1: H100, 80 GiB, island 0, NUMA node 0, PCIe switch 0\n"
     "    GPU 2: unknown model, island 1, NUMA node 0, PCIe switch 0, cut into slices: takes no pods\n    GPU 3: H100, 80 GiB, island 1, NUMA node 1, PCIe switch 2\n"),
    ("nodes", CAPABLE_NODES, 0, "h     H100      1     1  .           0         0          0  -\nm     A100      1     1  .           0         0          0  -\n"
     "    GPU 0: A100, island 0, NUMA node 0, PCIe switch 0, capabilities mig\n"),
    ("nodes h", CAPABLE_NODES, 0, "    capabilities: fp8, nvlink\n"),
    ("nodes", NODES_OF_ALL_LENGTHS, 0, NODES_TABLE),
    ("queue", QUEUES_OF_ALL_LENGTHS, 0, QUEUES_TABLE),
    ("nodes nosuch", '{"kind":"NodeList","nodes":[]}', 2, 'ashlar nodes: there is no node "nosuch"'),
    ("nodes nosuch -o json", '{"kind":"NodeList","nodes":[]}', 2, 'ashlar nodes: there is no node "nosuch"'),
    ("queue nosuch", '{"kind":"QueueList","queues":[{"name":"default","quotaMilliGpu":null}],"jobs":[]}', 2, 'ashlar queue: there is no queue "nosuch"; known: default\n'),
    ("queue defualt", '{"kind":"QueueList","queues":[{"name":"default","quotaMilliGpu":null}],"jobs":[]}', 2, 'there is no queue "defualt"; did you mean "default"?'),
    ("why a/b", ONE_POD, 0, "a/b   1 GPU within one rack   BOUND\n"),
    ("why a/b", ONE_POD.replace('"present":1', '"present":2'), 0, "a/b   gang of 1 x 1 GPU within one rack (2 exist, 1 bound)   BOUND\n"),
    ("why a/b", ONE_POD.replace('"size":1', '"size":2'), 0, "a/b   gang of 2 x 1 GPU within one rack (1 exists, 1 bound)   BOUND\n"),
    ("nodes", "<html>", 1, "the answer is not JSON"),
    ("load pods.csv --kubeconfig config", "<html>hello</html>", 1, "but created nothing; is it an API server?"),
]

# (command, what the scheduler is asked for, the pod that it answers about, exit status)
ASKED = [
    ("why p", "default/p", "default/p", 0),
    ("why p -n red", "red/p", "red/p", 0),
    ("why -n red red/p", "red/p", "red/p", 0),
    ("why red/p", "red/p", "red/p", 0),
    ("why pod/p", "default/p", "default/p", 0),
    ("why pods/p --namespace=red", "red/p", "red/p", 0),
    ("why po/p -n pod", "pod/p", "pod/p", 0),
    ("why red/gang", "red/gang", "red/gang-0", 0),
    ("why pod/gang -n red -o json", "red/gang", "red/gang-0", 2),
    ("why podgroup/g -n red", "red/g", "red/g-0", 0),
    ("why podgroups/g", "default/g", "default/g-0", 0),
    ("why gang/g", "default/g", "default/g-0", 0),
]


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers 200 and the same body to everything."""
    body = b""
    path = ""
    posted = []

    def answer(self):
        Liar.path = self.path
        Liar.posted.append(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a program that stops hangs up on us
            super().handle_error(request, client_address)


def check(program, folder, command, status, says):
    words = command.split(" ")
    at = next(i for i, word in enumerate(words) if "=" not in word or word.startswith("-"))
    line = " ".join([*words[:at], str(program), *words[at:]])
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    stdout, stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    wrong = []
    if done.returncode != status:
        wrong.append(f"exit status {done.returncode}, not {status}")
    if says not in (stdout if status == 0 else stderr):
        wrong.append(f"it does not say {says!r}")
    if b"\x9b" in done.stderr or b"\x1b" in done.stderr:
        wrong.append("it steers the terminal")
    if status != 0 and ">" not in command and "load" not in command and "demo" not in command and stdout not in ("", "0 of 1 cases as expected\n"):
        wrong.append(f"it prints {stdout!r} all the same")
    print(f"{'FAILED' if wrong else 'ok    '} ashlar {command}")
    for what in wrong:
        print(f"       {what}")
    if wrong:
        print(stdout + stderr)
    return not wrong


def ends_in_order(program, folder, number):
    """Does the scheduler end in order by this signal?"""
    # The process that runs the tests may ignore the signal (nohup does), and the scheduler keeps to that.
    scheduler = subprocess.Popen([program, "scheduler", "--kubeconfig", "config", "--listen", "127.0.0.1:0", "--no-leader-election"], cwd=folder,
                                 stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    said = []
    for line in scheduler.stderr:
        said.append(line)
        if "read API, health and metrics" in line:
            # The next line is of the loop; until then the signals are not yet caught.
            break
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not caught(scheduler.pid, number) and time.monotonic() < deadline:
        time.sleep(0.01)
    scheduler.send_signal(number)
    rest = scheduler.communicate(timeout=PATIENCE_SECONDS)[1]
    good = scheduler.returncode == 0 and "stopped" in rest
    print(f"{'ok    ' if good else 'FAILED'} ashlar scheduler ends in order by {signal.Signals(number).name}")
    if not good:
        print("".join(said) + rest)
    return good


def asks_for(program, folder, command, name, pod, status):
    Liar.body = json.dumps({"kind": "Why", "name": name, "pod": pod, "state": "Bound", "headline": "h", "exitStatus": 0}).encode()
    says = "" if status == 0 else f"ashlar why: there is no pod \"{name}\"; a gang has that name: ashlar why {name}\n"
    good = check(program, folder, command, status, says)
    kind = re.search(r" (pod|podgroup|gang)s?/| po/", command)
    of_kind = f"&kind={kind[1] or 'pod'}" if kind else ""
    if Liar.path != f"/api/v1/why?name={urllib.parse.quote(name, safe='')}{of_kind}":
        print(f"       it asked for {Liar.path}")
        return False
    return good


def pods_of(program, folder, command):
    """The pods that `ashlar load` posts, as (name, labels, annotations, requests), and what it prints."""
    Liar.body, Liar.posted = b'{"kind":"Pod"}', []
    done = subprocess.run([program, "load", *command.split()], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    pods = [json.loads(body) for body in Liar.posted if body]
    return sorted((p["metadata"]["name"], p["metadata"].get("labels", {}), p["metadata"].get("annotations", {}), p["spec"]["containers"][0]["resources"]["requests"])
                  for p in pods), done.stdout + done.stderr


def loads(program, folder):
    """Whether `ashlar load` posts the pods of each format as it says, and the documents that it prints."""
    gang = {"ashlar.dev/gang": "app-1", "ashlar.dev/gang-size": "2", "ashlar.dev/queue": "v1"}
    wide = {"ashlar.dev/gang": "job-2", "ashlar.dev/gang-size": "2"}
    expected = {
        "philly.json --kubeconfig config --queues -o json": [("app-1-0", gang, {"ashlar.dev/duration": "60s"}, {"nvidia.com/gpu": "2"}),
                                                             ("app-1-1", gang, {"ashlar.dev/duration": "60s"}, {"nvidia.com/gpu": "1"})],
        "jobs.swf --kubeconfig config --speed 1000 -o json": [("job-2-0", wide, {"ashlar.dev/duration": "1s"}, {"nvidia.com/gpu": "8"}),
                                                              ("job-2-1", wide, {"ashlar.dev/duration": "1s"}, {"nvidia.com/gpu": "4"})],
        "jobs.swf --kubeconfig config --processors cpu --per-pod 12 -o json": [("job-2", {}, {"ashlar.dev/duration": "60s"}, {"cpu": "12000m"})],
        "pods.csv --kubeconfig config --limit 1 -o json": [("p0", {}, {}, {"cpu": "1000m", "memory": "1024Mi", "nvidia.com/gpu": "1"})],
    }
    results, documents = [], []
    for command, pods in expected.items():
        found, printed = pods_of(program, folder, command)
        results.append(found == pods)
        print(f"{'ok    ' if found == pods else 'FAILED'} ashlar load {command}" + ("" if found == pods else f"\n       {found}\n{printed}"))
        try:
            documents.append(json.loads(printed))
        except ValueError:
            results.append(False)
    counts = [(d["nodes"]["posted"], d["pods"]["posted"], d["pods"]["rejected"], d["jobs"], d["skippedJobs"]) for d in documents]
    results.append(counts == [(0, 2, 0, 1, 0), (0, 2, 0, 1, 1), (0, 1, 0, 1, 1), (0, 1, 0, 1, 0)])
    print(f"{'ok    ' if results[-1] else 'FAILED'} ashlar load counts what it posted: {counts}")
    return results, documents


def caught(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    mask = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return mask >> (number - 1) & 1


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    results = []
    server = Server(("127.0.0.1", 0), Liar)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="ashlar-verbs-") as folder:
        for name, content in FILES.items():
            data = content if isinstance(content, bytes) else content.replace("SERVER", url).encode()
            (pathlib.Path(folder) / name).write_bytes(data)
        for name in ("etcd", "kube-apiserver"):
            (pathlib.Path(folder) / name).write_text("#!/bin/sh\n", encoding="utf-8")
            os.chmod(pathlib.Path(folder) / name, 0o755)
        (pathlib.Path(folder) / "link.csv").symlink_to("jobs.csv")
        results += [check(program, folder, *line) for line in REFUSED]
        os.environ["ASHLAR_SERVER"] = url
        for command, body, status, says in LIED_TO:
            Liar.body = body.encode()
            results.append(check(program, folder, command, status, says))
        results += [asks_for(program, folder, *line) for line in ASKED]
        loaded, documents = loads(program, folder)
        results += loaded + json_fields.check_json(program, pathlib.Path(folder), documents)
        results += completion.check_completion(program, pathlib.Path(folder))
        results += [ends_in_order(program, folder, number) for number in (signal.SIGTERM, signal.SIGHUP)]
    print(f"{sum(results)} of {len(results)} lines are as they should be")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
