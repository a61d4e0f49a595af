#!/usr/bin/env python3
"""The words of the second house. words.py STEP|all : rewrites C++ sources (code and, where said, comments; never strings)."""
import re, subprocess, sys, os, fnmatch
TOK = re.compile(r'''(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<inc>^[ \t]*\#[ \t]*include[^\n]*)|(?P<raw>R"(?P<d>[^()\\ \n]*)\(.*?\)(?P=d)")|(?P<str>"(?:[^"\\\n]|\\.)*")|(?P<chr>(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+')''', re.S | re.M)
def segments(t):
    at = 0
    for m in TOK.finditer(t):
        if m.start() > at: yield 'code', t[at:m.start()]
        k = 'comment' if m.group('line') or m.group('block') else 'inc' if m.group('inc') else 'str'
        yield k, m.group(0); at = m.end()
    if at < len(t): yield 'code', t[at:]
IDENT = re.compile(r'[A-Za-z_]\w*')
def parts(ident):  # CamelCase and snake_case pieces
    return re.findall(r'_+|[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+|[A-Z]+', ident)
def by_parts(mapping, keep=()):
    def f(ident):
        if ident in keep: return ident
        return ''.join(mapping.get(p, p) for p in parts(ident))
    return f
def exact(mapping): return lambda i: mapping.get(i, i)

CARD = {'card':'device','cards':'devices','Card':'Device','Cards':'Devices'}
STEPS = []
def step(name, title, paths, ident=None, rx=(), comment_rx=(), both_rx=()): STEPS.append((name, title, paths, ident, rx, comment_rx, both_rx))
CORE = ['src/*','tests/*','bench/*']
ENG = ['src/engine/*','tests/unit/engine/*','tests/unit/properties/*','tests/oracle/*','src/live/*','tests/unit/live/*','src/store/*','src/apps/*','tests/unit/store/*','bench/*']

# 1. what decides: cycle, reservations
step('shadow','Cycle and ShadowTime: a round is a scheduling cycle; what published backfill counts is a shadow time', ['src/engine/*'],
  exact({'Round':'Cycle','Reservation':'ShadowTime','reservations':'shadow_times','reservation_for':'shadow_time_for','reservation':'shadow_time'}),
  rx=[(r'(?<!:)\bround\b(?!_)','cycle')], comment_rx=[(r'\bround\.binding\b','cycle.binding'),(r'\bRound\b','Cycle'),(r'\bA round\b','A cycle'),(r'\ba round\b','a cycle'),(r'per round\b','per cycle')])
step('reservation','Reservation and EarliestStart: what a waiting job is promised is a reservation', CORE,
  exact({'Promise':'Reservation','Promises':'Reservations','EndSearch':'EarliestStart','TryBesidePromises':'TryBesideReservations','kTriesBesidePromises':'kTriesBesideReservations',
   'promises':'reservations','promise':'reservation','promises_':'reservations_','promise_book':'reservation_book','PlainPromise':'PlainReservation',
   'place_beside_promises':'place_beside_reservations','is_placed_beside_promises':'is_placed_beside_reservations','find_binding_promises':'find_binding_reservations',
   'broken_promise':'broken_reservation','promise_to_those_ahead':'reserve_for_those_ahead','promise_to':'reserve_for','promises_held':'reservations_held'}),
  comment_rx=[(r'\bPromises\b','Reservations'),(r'\bpromises(?= (?:made|held|to|ahead|that|beside|of)\b)','reservations'),(r'\b[Ee]ndSearch\b','EarliestStart'),
   (r'\bPromise\b','Reservation'),(r'\b(a|the|A|The|this|that|each|no|one|another|his|its|by) promise\b',r'\1 reservation'),(r'\b(the|The|those|These|all|holds?|no|what|of|beside|their) promises\b',r'\1 reservations')])
# 2. who waits
step('pending','PendingQueue and equivalence classes: who waits, by the words of the field', ['src/engine/*','src/live/*','src/store/*','src/apps/*','tests/*','bench/*'],
  exact({'Agenda':'PendingQueue','agenda':'pending','agenda_':'pending_','ShapeKey':'EquivalenceClass','ShapeId':'ClassId','ShapeTag':'ClassTag','each_shape':'each_class',
   'shape_of_job_':'class_of_job_','shape_id':'class_id','drop_shape':'drop_class','next_of_shape':'next_of_class',
   'open_heads':'active_heads','open_heads_':'active_heads_','open_behind_moved_heads':'activate_behind_moved_heads','newcomers_of_closed_':'newcomers_of_parked_',
   'take_newcomers_of_closed':'take_newcomers_of_parked','close_for_shortage':'park_for_shortage','open_impossible_heads':'activate_impossible_heads','kOpenBehindHeads':'kActiveBehindHeads'}),
  comment_rx=[(r'\bAgenda\b','PendingQueue'),(r'\b([Tt]he|its|an) agenda\b',lambda m: ('a' if m.group(1)=='an' else m.group(1))+' pending queue'),(r'\bagenda\b','pending queue')])
step('classes','PendingQueue: a class is active or parked', ['src/engine/*','tests/unit/engine/*'],
  exact({'Shape':'Class','shape':'job_class','shapes':'classes','shapes_':'classes_','shape_of':'class_of','is_open':'is_active','opened':'activated','has_opened':'has_activated'}),
  rx=[(r'\bpending_\.open\(','pending_.activate('),(r'\bpending_\.close\(','pending_.park('),(r'\bPendingQueue::open\(','PendingQueue::activate('),(r'\bPendingQueue::close\(','PendingQueue::park('),
      (r'\bEngine::close\(','Engine::park('),(r'\bvoid open\(ClassId','void activate(ClassId'),(r'\bvoid close\(ClassId','void park(ClassId'),(r'\bvoid close\(const State','void park(const State'),
      (r'(?<![\w.])close\((state|id)\b',r'park(\1'),(r'(?<![\w.>:])open\(id\)','activate(id)'),(r'\bwake\(','requeue('),(r'\bEngine::wake\(','Engine::requeue('),
      (r'\bpending_\.job_class\(','pending_.class_at('),(r'\bpending\.job_class\(','pending.class_at('),(r'\bpending\(\)\.job_class\(','pending().class_at('),(r'\bconst Class& job_class\(','const Class& class_at('),(r'(?<![\w.>])job_class\(id\)','class_at(id)')],
  comment_rx=[(r'\bshapes\b','classes'),(r'\bshape\b','class'),(r'\bShapes\b','Classes'),(r'\bclosed class','parked class'),(r'\bopen class','active class'),(r'\b[Tt]he class is closed\b','the class is parked'),
      (r'\bOpens the classes\b','Activates the classes'),(r'\bOpens the first\b','Activates the first'),(r'\bHas it opened any\b','Has it activated any'),(r'why it is closed','why it is parked')])
step('tests-classes','the same in readers of the pending queue', ['src/live/*','src/apps/*','tests/oracle/*','tests/unit/properties/*','tests/unit/live/*','tests/unit/store/*','src/store/*'],
  None, rx=[(r'\bpending\(\)\.shape\(','pending().class_at('),(r'\bpending\.shape\(','pending.class_at('),(r'\bPendingQueue::Shape\b','PendingQueue::Class')])
step('fits','FitTable: what was called a class view', CORE, exact({'ClassView':'FitTable','ViewCache':'FitTables'}),
  comment_rx=[(r'\bClassView\b','FitTable'),(r'\bclass views?\b','fit tables')])
step('views','the engine says fit table to them', ['src/engine/*'], exact({'views':'fit_tables','views_':'fit_tables_','forget_views':'forget_fit_tables'}))
step('views-users','and who asks the engine for them', ['tests/*','bench/*','src/live/*','src/store/*'], None, rx=[(r'\bengine\.views\(\)','engine.fit_tables()'),(r'\bengine\(\)\.views\(\)','engine().fit_tables()'),(r'forget_views','forget_fit_tables')])
step('fields','EngineFields, StateFields: lists of fields', CORE, exact({'EngineMemory':'EngineFields','Columns':'StateFields'}), comment_rx=[(r'\bEngineMemory\b','EngineFields'),(r'\bColumns::each\b','StateFields::each')])
# 3. state
step('freed','State: freed_nodes, changed_nodes, unforeseen_frees', CORE,
  exact({'rises':'freed_nodes','rises_':'freed_nodes_','losses':'changed_nodes','losses_':'changed_nodes_','gains':'unforeseen_frees','gains_':'unforeseen_frees_','note_rise':'note_freed',
   'gains_seen':'unforeseen_frees_seen','backlog_turn':'backlog_seq','start_turn':'start_seq','next_turn_':'next_seq_','bind_turn':'bind_attempt'}),
  comment_rx=[(r'`losses`','`changed_nodes`'),(r'State::gains\(\)','State::unforeseen_frees()'),(r'\bRises are nodes\b','Freed nodes are those'),(r', losses those\b',', changed nodes those')])
step('ledger','Cluster allocates and releases, Trial places, commits and blocks', CORE, exact({'drop_node_unused':'remove_node'}),
  rx=[(r'((?:\bcluster|\bcluster_|state_->cluster|state_\.cluster|s\.cluster|c\.cluster|state\.cluster|Cluster(?=::)))(\.|::)take\(',r'\1\2allocate('),
      (r'((?:\bcluster|\bcluster_|Cluster(?=::)))(\.|::)give\(',r'\1\2release('),
      (r'\b(cluster|Cluster)(\)?)(\.|::)see_node\(',r'\1\2\3upsert_node('),(r'\b(cluster|Cluster)(\.|::)drop_node\(',r'\1\2remove_node('),
      (r'\b(trial|outer|inner|trial_)\.take\(',r'\1.place('),(r'\b(trial|outer|inner|trial_|context\.trial|trial\(\))\.keep\(',r'\1.commit('),(r'\btrial\.withhold\(','trial.block('),(r'\btrial\.hand_out\(','trial.unblock(')])
step('ledger-headers','the same where they are declared', ['src/state/*'], None,
  rx=[(r'\bvoid take\(MemberId','void place(MemberId'),(r'\bvoid withhold\(NodeId','void block(NodeId'),(r'\bhand_out\(\)','unblock()'),(r'\bstd::vector<Step> keep\(','std::vector<Step> commit('),
      (r'\bkeep_in\(','commit_to('),(r'\bvoid take\(NodeId','void allocate(NodeId'),(r'\bvoid give\(NodeId','void release(NodeId'),(r'\bvoid see_node\(','void upsert_node('),(r'\bvoid drop_node\(','void remove_node('),
      (r'\bWithheld\b','Blocked'),(r'\bwithheld_\b','blocked_'),(r'\bis_take\b','is_placement')],
  comment_rx=[(r'\bundoes take\b','undoes allocate'),(r'\binner keep\(\)','inner commit()'),(r'^// keep\(\)','// commit()'),(r'\bhand_out\(\)','unblock()'),(r'cannot be kept','cannot be committed')])
step('is-take','Step::is_placement', CORE, exact({'is_take':'is_placement'}))
step('withhold','who blocks', CORE, exact({'withholds':'blocks','withhold_card':'block_device','withhold_whole':'block_whole','withhold':'block'}), comment_rx=[(r'\bwithholds nothing\b','blocks nothing'),(r'\bwithheld\b','blocked')])
step('devices','devices in code; people still read "GPU"', CORE, by_parts(CARD, keep=('Card',)), both_rx=(),
  comment_rx=[(r'\bcards\b','devices'),(r'\bcard\b','device'),(r'\bCards\b','Devices'),(r'\bCard(?=[A-Z])','Device'),(r'\bcard_(?=\w)','device_'),(r'(?<=_)cards?\b(?!\()',lambda m:'device'+('s' if m.group(0).endswith('s') else ''))])
step('request','DeviceRequest and DeviceClassId', CORE, exact({'DeviceAsk':'DeviceRequest','ModelId':'DeviceClassId','device_ask':'device_request','asks_devices':'requests_devices','asks_whole_devices':'requests_whole_devices'}),
  comment_rx=[(r'\bCardAsk|DeviceAsk\b','DeviceRequest'),(r'\bModelId\b','DeviceClassId')])
step('rank','order_hint: a rank is a member\'s place in its gang', ['src/model/workload.h','src/policy/order/*','src/policy/profile.h','src/sim/*','src/state/*','src/store/*','tests/unit/policy/*','tests/unit/sim/*','tests/unit/store/*','tests/unit/properties/*','tests/oracle/*','src/engine/*'], None,
  rx=[(r'\bstd::int64_t rank = 0','std::int64_t order_hint = 0'),(r'\b(w|workload|job|j|out|e\.workload|submitted|before|s\.job\(\w+\)|state\.job\(\w+\))\.rank\b(?!\()',r'\1.order_hint')],
  comment_rx=[(r'Workload::rank\b','Workload::order_hint')])
step('profile','policy: names that say what is checked', CORE, exact({'keeps_the_laws':'is_allowed_live','stands_alone':'is_exclusive'}), comment_rx=[(r'\bStands alone in its tier\b','Has its tier to itself')])
step('profile2','policy: names that say what is checked (functions with short names)', ['src/policy/*','src/config/*','tests/unit/policy/*','tests/unit/config/*','src/store/*','tests/unit/store/*','src/sim/*','src/apps/*','tests/oracle/*'], None,
  rx=[(r'(?<![\w.>:])complete\(','add_mandatory_rules('),(r'(?<![\w.>])problem_of\(','validate(')])
step('bycount','preempt_by_count, by_count', CORE, exact({'rotate':'preempt_by_count','QuotaWalk':'CountWalk','QuotaMarks':'CountMarks','QuotaCandidate':'CountCandidate','mark_by_quota':'mark_by_count','ByQuota':'ByCount'}))
# 4. the edge
step('fixtures','tests: fixtures leave their names to what they test', ['tests/unit/live/*'], None, rx=[(r'\b(class |TEST_F\()(Leader|Watches)\b',r'\1\2Test')])
step('flags','the command line of `ashlar scheduler`', ['src/apps/ashlar/*'], exact({'SchedulerOptions':'SchedulerFlags'}))
step('live','live: rooms have inhabitants of their own names', CORE,
  exact({'LiveReign':'LeaderTerm','ReignOptions':'LeaderTermOptions','reign':'leader_term','reign_':'leader_term_','drop_reign':'drop_leader_term','end_reign':'end_leader_term','begin_reign':'begin_leader_term','BrokenReign':'BrokenTerm','ReignBench':'TermBench','reign_bench':'term_bench',
   'TextsOfAReign':'TextsOfATerm','MetricsOfAReign':'MetricsOfATerm','ReignWrites':'TermWrites','ReignStops':'TermStops','ReignStopsDeathTest':'TermStopsDeathTest','Reign':'Term','ServedReign':'ServedTerm',
   'LiveLane':'StatusWriter','LaneOptions':'StatusWriterOptions','LaneCounters':'StatusWriterCounters',
   'LiveIntake':'Tracker','IntakeOptions':'TrackerOptions','intake':'tracker','intake_':'tracker_','IntakeBench':'TrackerBench','IntakeStory':'TrackerStory','intake_options':'tracker_options',
   'LiveActuator':'Binder','ActuatorOptions':'BinderOptions','ActuatorCounters':'BinderCounters','actuator_with':'binder_with',
   'LiveSource':'EventBuffer','LiveCache':'StandbyCache','LiveClock':'WallClock','LiveNames':'ObjectNames','LiveScheduler':'Scheduler','LiveWatches':'Watches','LiveLeader':'Leader','LiveOptions':'SchedulerOptions',
   'LiveMetrics':'SchedulerMetrics','LiveQueue':'QueueSettings','LiveLevel':'LevelName','LiveNameSource':'ObjectNameSource'}),
  comment_rx=[(r'\bLiveReign\b','LeaderTerm'),(r'\bLiveLane\b','StatusWriter'),(r'\bLiveIntake\b','Tracker'),(r'\bLiveActuator\b','Binder'),(r'\bLiveSource\b','EventBuffer'),(r'\bLiveCache\b','StandbyCache'),(r'\bLiveClock\b','WallClock'),
   (r'\bLiveNames\b','ObjectNames'),(r'\bLiveScheduler\b','Scheduler'),(r'\bLiveWatches\b','Watches'),(r'\bLiveLeader\b','Leader'),(r'\bLiveOptions\b','SchedulerOptions'),(r'\bLiveMetrics\b','SchedulerMetrics'),
   (r'\b([Tt]he|its|one|whole) intake\b',r'\1 tracker'),(r"\bintake's\b","tracker's"),(r'\b([Tt]he|a|one|each|this) reign\b',r"\1 leader's term"),(r'\breign\b','term'),(r'\bthe lane\b','the status writer')])
step('live2','live: lane and actuator by their work', ['src/live/*','tests/unit/live/*'],
  exact({'lane':'status_writer','lane_':'status_writer_','actuator':'binder','actuator_':'binder_','FakeActuator':'FakeBinder'}))
step('settings','settings, foreign pods', CORE,
  exact({'GangWish':'GangSettings','find_wish':'find_setting','kWishes':'kSettings','Wishes':'Settings','read_gang_wish':'read_gang_settings','note_wish':'note_setting','renew_wish':'renew_settings','sum_up_wishes':'sum_up_settings',
   'nearly_a_wish':'nearly_a_setting','mistyped_wish':'mistyped_setting','within_wish':'within_setting','prefer_wish':'prefer_setting','hard_wish':'hard_setting','soft_wish':'soft_setting',
   'stranger':'foreign_pod','strangers':'foreign_pods','stranger_of':'foreign_pod_of','stranger_name':'foreign_pod_name','see_stranger':'see_foreign_pod','leave_strangers':'leave_foreign_pods',
   'PodDraft':'PodBuilder','ContainerDraft':'ContainerBuilder','may_leave':'may_send','Fence':'SendGuard','SecondOpinion':'ProfileComparison','Happening':'ScriptedEvent','happening':'scripted_event','happenings':'scripted_events','next_happening_':'next_scripted_event_',
   'parked_count':'on_unknown_nodes_count','kParked':'kOnUnknownNode','parked_':'on_unknown_node_','parked':'on_unknown_node','Parked':'OnUnknownNode'}),
  comment_rx=[(r'\ba stranger\b','a foreign pod'),(r'\bstrangers\b','foreign pods'),(r'\bPodDraft\b','PodBuilder'),(r'\bHappening\b','ScriptedEvent'),(r'\bmay_leave\b','may_send'),(r'\bSecondOpinion\b','ProfileComparison')])
step('wish','wishes of pods are settings', ['src/live/*','tests/unit/live/*'], exact({'wish':'setting','wishes':'settings','park':'note_on_unknown_node'}))
step('text','PooledString', ['src/kubeclient/*','src/live/*','tests/unit/kubeclient/*','tests/unit/live/*','src/apps/*','tests/cluster/*','bench/cluster/*','tests/unit/fuzz/*','tests/fuzz/*','bench/rawbind*'], exact({'Text':'PooledString'}), comment_rx=[(r'\bText:','PooledString:'),(r'`Text`','`PooledString`')])
step('envtest','namespace envtest', CORE, None, rx=[(r'\blocal::','envtest::'),(r'\bnamespace ashlar::local\b','namespace ashlar::envtest'),(r'\bashlar::local\b','ashlar::envtest')], comment_rx=[(r'namespace ashlar::local\b','namespace ashlar::envtest'),(r'\blocal::','envtest::')])

def apply_step(s):
    name, title, paths, ident, rx, crx, brx = s
    n = 0
    rx = [(re.compile(a, re.M), b) for a, b in rx]; crx = [(re.compile(a, re.M), b) for a, b in crx]
    files = [f for f in subprocess.run(['git','ls-files'],capture_output=True,text=True).stdout.split('\n') if f.endswith(('.h','.cpp')) and any(fnmatch.fnmatch(f,p) for p in paths)]
    changed = []
    for f in files:
        t = open(f, encoding='utf-8').read(); out = []
        for k, seg in segments(t):
            if k == 'code':
                if ident: seg = IDENT.sub(lambda m: ident(m.group(0)), seg)
                for a, b in rx: seg = a.sub(b, seg)
            elif k == 'comment':
                for a, b in crx: seg = a.sub(b, seg)
            out.append(seg)
        u = ''.join(out)
        if u != t: open(f,'w',encoding='utf-8').write(u); changed.append(f)
    if changed: subprocess.run(['nice','clang-format','-i',*changed],check=True)
    print(f'{name}: {len(changed)} files'); return title
if __name__ == '__main__':
    for s in STEPS:
        if sys.argv[1] in ('all', s[0]): apply_step(s)
