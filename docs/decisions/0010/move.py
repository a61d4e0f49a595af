#!/usr/bin/env python3
"""Moves of the second house, room by room: one commit each. Run in a worktree; move.py ROOM|all."""
import re, subprocess, sys, os
from collections import OrderedDict
R = OrderedDict()
def both(old, new): return [(old+'.h', new+'.h'), (old+'.cpp', new+'.cpp')]
def room(name, title, pairs): R[name] = (title, [p for o, n in pairs for p in both(o, n)])

room('state', 'state: rooms for the cluster, jobs, queues and time', [
 ('state/cluster','state/cluster/cluster'),('state/topology','state/cluster/topology'),('state/free_buckets','state/cluster/free_buckets'),
 ('state/jobs','state/jobs/jobs'),('state/queue_tree','state/queues/queue_tree'),('state/timeline','state/time/timeline'),
 ('state/columns','state/state_fields')])
room('policy', 'policy: node and device rules by the names of what they rule', [
 *[(f'policy/feasible/{x}', f'policy/node/{x}') for x in ('model','ports','ready','resources','selector','taints')],
 ('policy/feasible/card_fit','policy/node/device_fit'),
 ('policy/feasible/feasible','policy/node/node'),
 ('policy/card/best_fit_card','policy/device/best_fit_device'),('policy/card/fgd_card','policy/device/fgd_device'),
 ('policy/card/random_card','policy/device/random_device'),('policy/card/card','policy/device/device'),
 ('policy/victim/by_quota','policy/victim/by_count')])
room('engine', 'engine: rooms for pending, place, reserve, explain and what is published', [
 ('engine/agenda','engine/pending/pending_queue'),('engine/wake','engine/pending/requeue'),
 ('engine/class_view','engine/place/fit_table'),('engine/placement','engine/place/placement'),('engine/gang','engine/place/gang'),
 ('engine/small_packing','engine/place/small_packing'),('engine/consolidate','engine/place/consolidate'),('engine/never_fits','engine/place/never_fits'),
 ('engine/nomination','engine/place/nomination'),
 ('engine/promise','engine/reserve/reservation'),('engine/end_search','engine/reserve/earliest_start'),('engine/backfill','engine/reserve/backfill'),
 ('engine/explain','engine/explain/explain'),('engine/remedy','engine/explain/remedy'),
 ('engine/published','engine/published/published'),('engine/rotate','engine/published/preempt_by_count'),
 ('engine/memory','engine/engine_fields'),('engine/round','engine/cycle')])
room('text', 'text: a leaf for values as people read and write them', [
 ('base/quantity_text','text/quantity_text'),('policy/nearest_name','text/nearest_name'),('config/duration_text','text/duration_text')])
room('sim', 'sim: rooms for the world, traces, scenarios, replays and results', [
 ('sim/world','sim/world/world'),('sim/clock','sim/world/clock'),('sim/happening','sim/world/scripted_event'),('sim/timed_run','sim/world/timed_run'),
 ('sim/catalog','sim/world/catalog'),
 ('sim/readers/csv','sim/trace/csv'),('sim/readers/openb','sim/trace/openb'),('sim/readers/queue_trace','sim/trace/queue_trace'),
 ('sim/readers/text_source','sim/trace/text_source'),
 ('sim/readers/scenario','sim/scenario/scenario'),('sim/readers/scenario_parts','sim/scenario/scenario_parts'),
 ('sim/readers/scenario_work','sim/scenario/work'),('sim/readers/units','sim/scenario/units'),('sim/readers/yaml_map','sim/scenario/yaml_map'),
 ('sim/readers/name_pattern','sim/scenario/name_pattern'),('sim/arrivals','sim/scenario/arrivals'),('sim/duration_law','sim/scenario/duration_distribution'),
 ('sim/scenario_run','sim/scenario/run'),
 ('sim/queue','sim/replay/job_replay'),('sim/packing','sim/replay/packing'),('sim/expected','sim/replay/published_results'),
 ('sim/results','sim/results/results'),('sim/results_text','sim/results/results_text'),('sim/step_series','sim/results/step_series'),
 ('sim/load_series','sim/results/load_series'),('sim/output_file','sim/results/output_file'),
 ('sim/case/asks','sim/case/requests')])
room('store', 'store: what compares profiles and what checks events, by name', [
 ('store/second_opinion','store/profile_comparison'),('store/event_guard','store/event_validation')])
room('kubeclient', "kubeclient: the API server's client, which knows nothing of scheduling", [
 *[(f'kube/{x}', f'kubeclient/{x}') for x in ('api','bind_outcome','objects','pod_group_api','reflector','reflector_parts','request_budget','writes','json_writer')],
 ('kube/text','kubeclient/pooled_string'),('kube/pod_draft','kubeclient/pod_builder'),
 ('kube/decode','kubeclient/decode/decode'),('kube/decode_json','kubeclient/decode/json'),('kube/decode_json_pod','kubeclient/decode/pod_json'),
 ('kube/decode_proto','kubeclient/decode/protobuf'),('kube/json_reader','kubeclient/decode/json_reader'),
 ('kube/kubeconfig','kubeclient/credentials/kubeconfig'),('kube/exec_credential','kubeclient/credentials/exec_credential')])
room('live', 'live: the scheduler on Kubernetes, by what it does: track, write, read, lead', [
 ('kube/live_intake','live/track/tracker'),('kube/live_intake_binds','live/track/track_binds'),('kube/live_intake_gangs','live/track/track_gangs'),
 ('kube/live_intake_pods','live/track/track_pods'),
 *[(f'kube/live_{x}', f'live/track/{x}') for x in ('gangs','names','pods','anti_affinity','hashes','held','value_rows','watches','translate')],
 ('kube/live_company','live/track/company_constraints'),('kube/live_source','live/track/event_buffer'),
 ('kube/live_actuator','live/write/binder'),('kube/bind_queue','live/write/bind_queue'),('kube/live_lane','live/write/status_writer'),
 ('kube/live_text','live/read/pod_text'),('kube/live_text_forms','live/read/text_forms'),('kube/live_tally','live/read/node_tally'),
 ('kube/live_read','live/read/read_api'),('kube/live_metrics','live/read/metrics'),
 ('kube/live_leader','live/lead/leader'),('kube/live_reign','live/lead/leader_term'),('kube/live_scheduler','live/lead/scheduler'),
 ('kube/live_log','live/lead/log'),('kube/live_quarantine','live/lead/quarantine'),('kube/live_cache','live/lead/standby_cache')])
room('envtest', 'envtest: a real control plane on this machine, by the name the field gives it', [
 ('local/control_plane','envtest/control_plane'),('local/fault_proxy','envtest/fault_proxy'),('local/process','envtest/process')])
room('demo', 'apps: the demo is a program, not a floor', [
 *[(f'demo/{x}', f'apps/demo/{x}') for x in ('play','scene','script','view')]])
room('http', 'http: what is sent again until it is answered, by what it does', [('http/question','http/retrying_get')])

EXTRA = {  # whole folders and other files: moved as they are
 'kubeclient': [('src/kubeclient/proto','src/kubeclient/proto'),('src/kubeclient/README.md','src/kubeclient/README.md'),('src/kubeclient/CMakeLists.txt','src/kubeclient/CMakeLists.txt'),
                ('tests/unit/kubeclient','tests/unit/kubeclient')],
 'live': [('tests/unit/live','tests/unit/live')],
 'envtest': [('src/envtest/README.md','src/envtest/README.md'),('src/envtest/CMakeLists.txt','src/envtest/CMakeLists.txt'),('tests/unit/envtest','tests/unit/envtest')],
 'demo': [('src/apps/demo/README.md','src/apps/demo/README.md'),('src/apps/demo/CMakeLists.txt','src/apps/demo/CMakeLists.txt')],
}
def sh(*a): return subprocess.run(a, check=True, capture_output=True, text=True).stdout
SKIP = ('CHANGELOG.md','docs/decisions/','docs/benchmarks.md','tests/cases/')
def texts():
    for f in sh('git','ls-files').split('\n'):
        if f and not f.startswith(('CHANGELOG.md',)) and os.path.isfile(f) and not f.endswith(('.png','.zst','.bin','.pb')) : yield f
def do(name):
    title, pairs = R[name]
    pairs = [(o,n) for o,n in pairs if os.path.exists('src/'+o)]
    moved = {}
    for o, n in pairs:
        os.makedirs(os.path.dirname('src/'+n), exist_ok=True)
        # two steps, where the new folder has the old file's name
        sh('git','mv','src/'+o,'src/'+n); moved[o]=n
    for o, n in EXTRA.get(name, []):
        os.makedirs(os.path.dirname(n), exist_ok=True); sh('git','mv',o,n)
    if moved:
        rx = re.compile(r'(?<![\w/])((?:src/)?)(' + '|'.join(re.escape(o) for o in sorted(moved, key=len, reverse=True)) + r')(?![\w])')
        # headers whose .h is not there but a stem is spoken of: kube/live_text.{h,cpp} are handled by hand
    for f in texts():
        try: t = open(f, encoding='utf-8').read()
        except UnicodeDecodeError: continue
        u = t
        if moved: u = rx.sub(lambda m: m.group(1)+moved[m.group(2)], u)
        for o, n in EXTRA.get(name, []):
            u = re.sub(r'(?<![\w/])'+re.escape(o)+r'(?![\w])', n, u)
        if u != t: open(f,'w',encoding='utf-8').write(u)
    print(name, len(moved)); return title
if __name__ == '__main__':
    for n in (R if sys.argv[1]=='all' else sys.argv[1:]): do(n)
