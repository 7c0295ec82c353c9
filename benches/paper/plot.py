"""The figures of benches/paper/run as SVG: no library, one file each, legible on light and dark pages."""

import pathlib

COLORS = {"gleaner": "#2a9d8f", "Scrapy": "#e76f51", "wget2": "#8d99ae"}
INK = "#6b7280"
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 620, 300, 60, 34, 20, 46


def svg(title: str, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="{INK}">'
    return "\n".join([head, f"<title>{title}</title>", text(WIDTH / 2, 18, title, "middle"), *parts, "</svg>"]) + "\n"


def text(x: float, y: float, of: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{of}</text>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{INK}" stroke-width="0.5"/>'


def legend(names) -> list[str]:
    parts, x = [], LEFT + 10
    for name in names:
        parts.append(f'<rect x="{x}" y="{HEIGHT - 16}" width="10" height="10" fill="{COLORS[name]}"/>')
        parts.append(text(x + 14, HEIGHT - 7, name))
        x += 90
    return parts


def bars(title: str, groups: dict[str, dict[str, float]], top: float, form: str) -> str:
    """Groups of bars, one for each crawler; `form` writes a value."""
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    y_of = lambda value: TOP + plot_height * (1 - min(value / top, 1))
    parts = [line(LEFT, TOP + plot_height, WIDTH - RIGHT, TOP + plot_height)]
    for step in range(5):
        value = top * step / 4
        parts += [line(LEFT, y_of(value), WIDTH - RIGHT, y_of(value)), text(LEFT - 6, y_of(value) + 4, form.format(value), "end")]
    for at, (group, values) in enumerate(groups.items()):
        room = plot_width / len(groups)
        width = min(60.0, room / (len(values) + 1))
        x = LEFT + room * at + (room - width * len(values)) / 2
        parts.append(text(LEFT + room * (at + 0.5), TOP + plot_height + 16, group, "middle"))
        for number, (name, value) in enumerate(values.items()):
            left = x + width * number
            parts.append(
                f'<rect x="{left:.1f}" y="{y_of(value):.1f}" width="{width - 4:.1f}" height="{TOP + plot_height - y_of(value):.1f}" fill="{COLORS[name]}"/>'
            )
            parts.append(text(left + (width - 4) / 2, y_of(value) - 4, form.format(value), "middle"))
    return svg(title, parts + legend(next(iter(groups.values()))))


def shares(title: str, delays: dict[str, tuple[list[float], int]], most: float, unit: str) -> str:
    """For each crawler the share of what was published that had come within a delay; `delays` has the sorted ones, and how many were published."""
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x_of = lambda value: LEFT + plot_width * min(value / most, 1)
    y_of = lambda share: TOP + plot_height * (1 - share)
    parts = []
    for step in range(5):
        parts += [line(LEFT, y_of(step / 4), WIDTH - RIGHT, y_of(step / 4)), text(LEFT - 6, y_of(step / 4) + 4, f"{25 * step} %", "end")]
        parts.append(text(x_of(most * step / 4), TOP + plot_height + 16, f"{most * step / 4:.0f} {unit}", "middle"))
    for name, (values, published) in delays.items():
        points = [(LEFT, TOP + plot_height)]
        points += [(x_of(value), y_of((at + 1) / published)) for at, value in enumerate(values) if value <= most]
        points.append((WIDTH - RIGHT, points[-1][1]))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLORS[name]}" stroke-width="2"/>')
    return svg(title, parts + legend(delays))


def write(told: dict, folder: pathlib.Path) -> None:
    """The figures of what was measured."""
    folder.mkdir(parents=True, exist_ok=True)
    if "whole" in told:
        rows = told["whole"]
        rates = {"coverage rate": "CR", "harvest rate": "HR"}
        groups = {what: {name: row[key] for name, row in rows.items()} for what, key in rates.items()}
        (folder / "figure-8.svg").write_text(bars("Figure 8: coverage and harvest rate, two whole sites", groups, 1.0, "{:.2f}"))
        speed = {"torrents a second": {name: row["ATV"] for name, row in rows.items()}}
        most = max(speed["torrents a second"].values()) * 1.1
        (folder / "figure-9.svg").write_text(bars("Figure 9: mean speed of torrents, two whole sites", speed, most, "{:.0f}"))
    if "delay" in told:
        crawlers = told["delay"]["crawlers"]
        delays = {name: (of["delays_min"], max(of["published"], 1)) for name, of in crawlers.items()}
        (folder / "figure-7.svg").write_text(shares("Figure 7: torrents that had come within a delay", delays, 240, "min"))
