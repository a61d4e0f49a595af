"""Judges what bench_cliffs measured: a table of costs by size, a plot as SVG, and the steps: sizes that cost more than STEP times as much as the next
smaller one. A step is a problem unless it is known; so is a known step that is gone.
"""
import math
from html import escape

STEP = 4.0  # between points x sqrt(10) apart; what grows linearly costs 3.2 times as much
LINEAR = 3.2
FLOOR_US = 50.0  # below, a cost counts as this: timer, caches and the state of a shared machine explain such differences
QUANTITIES = [
    "kinds", "waiting", "held", "selectors", "levels", "queues", "holds", "later-holds", "owners", "owner-jobs", "holds-on-node", "parts", "beside-holds",
    "beside-later", "groups", "unlike-groups", "waiting-groups", "gang-kinds", "choice", "choice-gangs", "layouts", "device-kinds", "searched-kinds", "depth", "limited-classes",
    "reservations"
]
# Here no step may be known: a scheduler meets these quantities in every cluster.
WITHOUT_STEPS = ["kinds", "waiting", "held", "selectors", "levels", "queues"]
WAITING_JOBS = "of a kind that may use a hold all waiting jobs are asked for theirs; as many no longer lie in the processor's cache"
GROUPS = "a group's domain is chosen among as many as there are groups, by counts that follow each group placed before"
# {(quantity, event, size): why it costs so much more than the size before, and stays so}
KNOWN_STEPS = {
    ("searched-kinds", "guest", 3): "counts prove at once that a gang does not fit on GPUs of one kind; among several kinds only the exact search does",
    ("holds", "guest", 10000): "each hold is compared with the guest's kind; 10,000 no longer lie in the processor's cache",
    ("owner-jobs", "unrelated-node", 10000): WAITING_JOBS,
    ("owner-jobs", "node-label", 10000): WAITING_JOBS,
    ("beside-later", "unrelated-node", 100000): WAITING_JOBS,
    ("beside-later", "node-label", 100000): WAITING_JOBS,
    ("beside-later", "guest", 100000): WAITING_JOBS,
    ("beside-later", "ends", 100000): WAITING_JOBS,
    ("beside-later", "ends", 316): "as many jobs as are fewer have all started in the first runs, so that later ends find nobody; the least cost counts",
    ("groups", "guest", 316): GROUPS,
    ("groups", "guest", 1000): GROUPS,
    ("unlike-groups", "guest", 100): "each group has a table of its own kind, which follows the places of all groups before it",
    ("unlike-groups", "guest", 316): "each group has a table of its own kind, which follows the places of all groups before it",
    ("unlike-groups", "guest", 1000): "each group has a table of its own kind, which follows the places of all groups before it",
}
EVENTS = ["tick", "unrelated-node", "node-label", "guest", "ends"]  # guest: a job comes and goes, where there is one
CAPS = {"levels": "a topology has at most 16 levels"}
WIDTH, HEIGHT, MARGIN = 360, 260, 46


class Series:
    """Costs in microseconds by size, and the size that was left out because the one before took too long."""

    def __init__(self):
        self.costs = {}
        self.left_out = None


def read(lines):
    """{quantity: {event: Series}} of `quantity size event microseconds`."""
    measured = {}
    for line in lines:
        quantity, size, event, value = line.split()
        events = measured.setdefault(quantity, {name: Series() for name in EVENTS})
        if event == "left-out":
            for series in events.values():
                series.left_out = int(size)
        elif event in events:
            events[event].costs[int(size)] = float(value)
    return measured


def keep_least(measured, again):
    """Takes the costs over that were less when they were measured again."""
    for quantity, events in again.items():
        for event, series in events.items():
            costs = measured[quantity][event].costs
            for size, cost in series.costs.items():
                costs[size] = min(cost, costs.get(size, cost))


def steps_of(series, step=STEP):
    """(size, ratio) for each size that costs more than `step` times as much as the one before."""
    sizes = sorted(series.costs)
    ratios = [(b, max(series.costs[b], FLOOR_US) / max(series.costs[a], FLOOR_US)) for a, b in zip(sizes, sizes[1:])]
    return [(size, ratio) for size, ratio in ratios if ratio > step]


def known_steps(measured):
    """(quantity, event, size, ratio, reason) of the steps that are known and seen."""
    return [(quantity, event, size, ratio, KNOWN_STEPS[quantity, event, size]) for quantity, events in measured.items() for event, series in events.items()
            for size, ratio in steps_of(series) if (quantity, event, size) in KNOWN_STEPS]


def mended_steps(measured):
    """(quantity, event, size) of those that are known and measured, and clearly no step any more."""
    seen = {(quantity, event, size) for quantity, event, size, _, _ in known_steps(measured)}
    return [(q, event, size) for q, event, size in KNOWN_STEPS
            if (q, event, size) not in seen and q in measured and size in measured[q][event].costs and (q, event, size) not in nearly_steps(measured)]


def nearly_steps(measured):
    """(quantity, event, size) that cost more than linear growth explains: another run may find a step there."""
    return {(quantity, event, size) for quantity, events in measured.items() for event, series in events.items()
            for size, _ in steps_of(series, LINEAR)}


def in_words(micros):
    if micros < 1000:
        return f"{micros:.3g} us"
    return f"{micros / 1e3:.3g} ms" if micros < 1e6 else f"{micros / 1e6:.3g} s"


def table(measured):
    lines = []
    for quantity, events in measured.items():
        sizes = sorted({size for series in events.values() for size in series.costs})
        lines.append(f"\n{quantity}" + (f" ({CAPS[quantity]})" if quantity in CAPS else ""))
        lines.append(f"{'':>10}" + "".join(f"{event:>18}" for event in EVENTS))
        marked = {event: dict(steps_of(series)) for event, series in events.items()}
        for size in sizes:
            costs = [(e, events[e].costs.get(size)) for e in EVENTS]
            cells = [in_words(cost) + (f" x{marked[e][size]:.1f}!" if size in marked[e] else "") if cost is not None else "-" for e, cost in costs]
            lines.append(f"{size:>10,}" + "".join(f"{cell:>18}" for cell in cells))
        left_out = events[EVENTS[0]].left_out
        if left_out:
            lines.append(f"{left_out:>10,}  left out: the size before took too long")
    return "\n".join(lines)


def polyline(series, x_of, y_of, colour):
    points = [(x_of(size), y_of(max(cost, 0.1))) for size, cost in sorted(series.costs.items())]
    bad = {size for size, _ in steps_of(series)}
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x_of(size):.1f}" cy="{y_of(series.costs[size]):.1f}" r="5" fill="none" stroke="red" stroke-width="2"/>' for size in bad)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}'


def plot(measured):
    """One panel for each quantity, both axes logarithmic: sizes from 1 to 100,000, costs from 0.1 us to 100 s. Steps are circled."""
    colours = dict(zip(EVENTS, ["#4477aa", "#228833", "#ccbb44", "#66ccee", "#aa3377"]))
    out = []
    for i, (quantity, events) in enumerate(measured.items()):
        left, top = (i % 3) * WIDTH, (i // 3) * HEIGHT + 30

        def x_of(size, left=left):
            return left + MARGIN + math.log10(size) / 5 * (WIDTH - MARGIN - 15)

        def y_of(micros, top=top):
            return top + HEIGHT - MARGIN - (math.log10(micros) + 1) / 9 * (HEIGHT - MARGIN - 20)

        out.append(f'<text x="{left + WIDTH / 2}" y="{top + 12}" text-anchor="middle" font-weight="bold">{escape(quantity)}</text>')
        for power in range(6):
            x = x_of(10**power)
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y_of(1e8):.1f}" y2="{y_of(0.1):.1f}" stroke="#ddd"/>'
                       f'<text x="{x:.1f}" y="{y_of(0.1) + 14:.1f}" text-anchor="middle">{10**power:,}</text>')
        for micros, name in [(1, "1 us"), (1e3, "1 ms"), (1e6, "1 s")]:
            out.append(f'<line x1="{x_of(1):.1f}" x2="{x_of(1e5):.1f}" y1="{y_of(micros):.1f}" y2="{y_of(micros):.1f}" stroke="#ddd"/>'
                       f'<text x="{x_of(1) - 4:.1f}" y="{y_of(micros) + 4:.1f}" text-anchor="end">{name}</text>')
        out += [polyline(series, x_of, y_of, colours[event]) for event, series in events.items()]
    legend = "".join(f'<text x="{MARGIN + i * 150}" y="16" fill="{colours[event]}">{event}</text>' for i, event in enumerate(EVENTS))
    rows = (len(measured) + 2) // 3
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{3 * WIDTH}" height="{rows * HEIGHT + 40}" font-family="sans-serif" font-size="11">'
            f'<rect width="100%" height="100%" fill="white"/>{legend}{"".join(out)}</svg>\n')


def notes(measured):
    """A sentence for each step that is known."""
    return [f"{quantity}, {event}: {size:,} cost {ratio:.1f} times as much as the size before: {reason}"
            for quantity, event, size, ratio, reason in known_steps(measured)]


def problems(measured):
    """A sentence for each step that is not known, each known one that is gone, and each quantity that was not measured to its end."""
    found = []
    for quantity, events in measured.items():
        for event, series in events.items():
            for size, ratio in steps_of(series):
                if (quantity, event, size) not in KNOWN_STEPS:
                    found.append(f"{quantity}, {event}: {size:,} cost {ratio:.1f} times as much as the size before ({in_words(series.costs[size])})")
        left_out = events[EVENTS[0]].left_out
        if left_out:
            found.append(f"{quantity}: {left_out:,} and more were left out, because the size before took too long")
    return found + [f"{quantity}, {event}: {size:,} is no step any more; mended: take it off the list" for quantity, event, size in mended_steps(measured)]
