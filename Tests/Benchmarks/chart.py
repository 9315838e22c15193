"""Draws the chart of results.py as SVG: a bar for each program's time, its spread as a line, and its peak memory beside it."""

from html import escape

WIDTH, LEFT, BAR, STEP, TOP = 840, 146, 18, 34, 62
TIME, MEMORY = 400, 120  # widths of the two columns

# Light or dark by the reader's scheme, on a ground of its own: readable even where the scheme is not told.
STYLE = """
  .ground { fill: #ffffff } text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px } .quiet { fill: #59636e; font-size: 12px } .ours { font-weight: 600 }
  .bar { fill: #9aa4b0 } .bar.ours { fill: #0a66c2 } .spread { stroke: #1f2328; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 } .bar { fill: #5b6570 } .bar.ours { fill: #4aa3ff } .spread { stroke: #e6edf3 }
  }"""


def number(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def draw(title, programs):
    """`programs`: name, quantiles of milliseconds, MiB, whether it is ours; the first is the fastest."""
    height = TOP + STEP * len(programs) + 30
    longest = max(times["p95"] for _, times, _, _ in programs)
    largest = max(memory for _, _, memory, _ in programs)
    ours = next(times["median"] for name, times, _, _ in programs if name == "auth-apple")
    second = LEFT + TIME + 112
    words = "; ".join(f"{name} {number(times['median'])} ms, {number(memory)} MiB" for name, times, memory, _ in programs)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
        f' aria-label="{escape(title)}">',
        f"<desc>{escape(words)}</desc>", f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>',
        f'<text class="title" x="8" y="24">{escape(title)}</text>',
        f'<text class="quiet" x="{LEFT}" y="48">milliseconds</text>',
        f'<text class="quiet" x="{second}" y="48">peak memory, MiB</text>']
    for row, (name, times, memory, is_ours) in enumerate(programs):
        y = TOP + STEP * row
        middle, base = y + BAR / 2, y + BAR / 2 + 4.5
        kind = " ours" if is_ours else ""
        x = {at: LEFT + TIME * times[at] / longest for at in ("p5", "median", "p95")}
        ratio = "" if name == "auth-apple" else f" · {times['median'] / ours:.1f}×"
        lines += [
            f'<text class="{kind.strip()}" x="{LEFT - 10}" y="{base}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="bar{kind}" x="{LEFT}" y="{y}" width="{x["median"] - LEFT:.1f}" height="{BAR}" rx="2"/>',
            f'<line class="spread" x1="{x["p5"]:.1f}" x2="{x["p95"]:.1f}" y1="{middle}" y2="{middle}"/>',
            f'<text class="{kind.strip()}" x="{x["p95"] + 8:.1f}" y="{base}">{number(times["median"])}{ratio}</text>',
            f'<rect class="bar{kind}" x="{second}" y="{y}" width="{MEMORY * memory / largest:.1f}" height="{BAR}" rx="2"/>',
            f'<text class="{kind.strip()}" x="{second + MEMORY * memory / largest + 8:.1f}" y="{base}">{number(memory)}</text>']
    lines.append(
        f'<text class="quiet" x="8" y="{height - 8}">A person who has an account; keys cached; SQLite on disk at synchronous=FULL.'
        " Shorter is better.</text>")
    return "\n".join(lines + ["</svg>"]) + "\n"
