"""What `./dev bench queueing` measures beside waiting: guarantees, wide jobs at the head of their queue, and critical jobs."""
import collections
import math

from replay import HERE, NODES, REPLAY, TRACES, ashlar, behind_walls, job_lines, read, scenario, write_jobs

CRITICAL = 100  # the priority of every 20th job
SOON = 120  # seconds


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def inside_guarantees(jobs, gpus_of):
    """Those whose virtual cluster has, at their submission, no more than its guarantee in jobs that have come and not ended, with them."""
    inside = []
    for vc, guaranteed in gpus_of.items():
        changes = [(job["submit_seconds"], 1, job) for job in jobs if job["vc"] == vc]
        changes += [(job["end_seconds"], 0, job) for _, _, job in changes]
        present = 0
        for _, comes, job in sorted(changes, key=lambda change: change[:2]):  # ends come before what is submitted then
            present += job["gpus"] if comes else -job["gpus"]
            if comes and present <= guaranteed:
                inside.append(job)
    return inside


def guarantees(goals, jobs, clusters, folder, profile):
    """With borrowing at k = 4: who is inside the guarantee starts soon, and no virtual cluster is worse off than behind its own walls."""
    path = folder / "per-job.csv"
    shared = ashlar("sim", "run", scenario(jobs, clusters, 4, folder, profile), "-o", "json", "--per-job", path)[0]
    inside = inside_guarantees(job_lines(path), {vc: 8 * math.ceil(count / 4) for vc, count in clusters.items()})
    soon = sum(job["start_seconds"] - job["submit_seconds"] <= SOON for job in inside)
    print(f"  {len(inside):,} jobs came while all jobs of their virtual cluster, with them, were inside its guarantee; {soon:,} started within {SOON} s")
    goals.say("of them started later, in thousandths", 1000 * (1 - soon / len(inside)), 10)
    alone = behind_walls(TRACES / REPLAY, TRACES / NODES, 4, [profile], "lower-or-longer")[0]["per_vc"]
    worst = max(alone, key=lambda vc: shared["per_vc"][vc]["mean_jct_seconds"] / alone[vc]["mean_jct_seconds"])
    now, was = shared["per_vc"][worst]["mean_jct_seconds"], alone[worst]["mean_jct_seconds"]
    print(f"  the virtual cluster that gains least from sharing is {worst}: mean JCT {now:,.0f} s, {was:,.0f} s behind its walls")
    goals.say("its mean JCT in thousandths of that", 1000 * now / was, 1010)


def first_come(goals, folder):
    """FIFO with reservations of the first waiting jobs, behind walls, estimates of the trace."""
    goal = {3: (22_705, 170_000, 165_436), 4: (65_065, 690_000, 632_626)}
    path = folder / "per-job.csv"
    for shrink, (mean_jct, wide_queue, stretch) in goal.items():
        run = behind_walls(TRACES / REPLAY, TRACES / NODES, shrink, [HERE / "first-come.yaml"], "never", "--per-job", path)[0]
        wide = [job["queue_seconds"] for job in job_lines(path) if job["gpus"] >= 16]
        goals.say(f"k = {shrink}: mean JCT", run["mean_jct_seconds"], mean_jct)
        goals.say(f"k = {shrink}: mean queue of the {len(wide)} jobs of 16 GPUs or more", mean(wide), wide_queue, stretch)


def work(jobs):
    return sum((job["end_seconds"] - job["submit_seconds"] - job["queue_seconds"]) * job["gpus"] for job in jobs)


def without(jobs, rows):
    """Those that are not of these rows of the trace; of jobs alike in all that tells them apart the first ones are."""
    left = collections.Counter((row[0], int(row[1]), int(row[2])) for row in rows)
    for job in jobs:
        key = (job["vc"], int(job["gpus"]), int(job["submit_seconds"]))
        left[key] -= 1
        if left[key] < 0:
            yield job


def critical(goals, clusters, folder, profile):
    """With borrowing at k = 3: every 20th job of the trace is critical; the others beside the same without any."""
    rows = [(row["vc"], row["gpu_num"], row["submit_time"], row["duration"], row["priority"]) for row in read(REPLAY)]
    path = folder / "per-job.csv"
    all_jobs = write_jobs(folder / "all.csv", rows)
    parts = {0: write_jobs(folder / "others.csv", [row for i, row in enumerate(rows) if i % 20]),
             CRITICAL: write_jobs(folder / "critical.csv", rows[::20])}
    ashlar("sim", "run", scenario(all_jobs, clusters, 3, folder, profile), "-o", "json", "--per-job", path)
    before = list(without(job_lines(path), rows[::20]))
    mean_before = mean(job["end_seconds"] - job["submit_seconds"] for job in before)
    run = ashlar("sim", "run", scenario(parts, clusters, 3, folder, profile), "-o", "json", "--per-job", path)[0]
    jobs = job_lines(path)
    queues = sorted(job["queue_seconds"] for job in jobs if job["priority"] == CRITICAL)
    others = mean(job["end_seconds"] - job["submit_seconds"] for job in jobs if job["priority"] != CRITICAL)
    needed = sum(int(row[1]) * int(row[3]) for row in rows)
    print(f"  {len(queues):,} critical jobs, mean queue {mean(queues):,.1f} s; {run['preemptions']:,} stops; mean JCT of the others where none is critical {mean_before:,.0f} s")
    goals.say("p99 queue of the critical ones", queues[int(0.99 * (len(queues) - 1))], SOON)
    goals.say("mean JCT of the others, in thousandths of what it was", 1000 * others / mean_before, 1020)
    goals.say("GPU time lost, in thousandths of all", 1000 * (work(jobs) / needed - 1), 10)
