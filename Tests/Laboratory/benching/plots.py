"""Plots as SVG, written by hand: bars with their values, grouped under titles, and lines over a logarithmic or plain axis."""
import html
import math

INK, FAINT, GRID, PAPER = "#1f2328", "#59636e", "#d9dee3", "#ffffff"
OURS = "#0a66c2"
OTHERS = "#9aa5b1"
LINES = ["#0a66c2", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0f766e", "#be123c"]
FONT = "font-family=\"'DejaVu Sans', 'Liberation Sans', Arial, sans-serif\""


class Drawing:
    def __init__(self, width, height, title, note):
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {FONT}>',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        ]
        self.text(24, 34, title, size=19, weight="bold")
        self.text(24, 56, note, size=13, color=FAINT)

    def text(self, x, y, words, size=13, color=INK, anchor="start", weight="normal"):
        # With a rim of paper, so that it can be read on a line.
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
                          f'font-weight="{weight}" stroke="{PAPER}" stroke-width="4" stroke-linejoin="round" '
                          f'paint-order="stroke">{html.escape(str(words))}</text>')

    def rect(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{color}" rx="1.5"/>')

    def line(self, x1, y1, x2, y2, color=GRID, width=1, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"{dashes}/>')

    def path(self, points, color, dots):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{steps}" fill="none" stroke="{color}" stroke-width="2" stroke-linejoin="round"/>')
        if dots:
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in points]

    def finished(self):
        return "\n".join([*self.parts, "</svg>", ""])


def bars(title, note, groups, columns=2, mark=None, logarithmic=False, cap=None, width=1120):
    """Groups [(title, [(label, value, text, is_ours)])] in columns, each column filled before the next. `mark` is a value
    with a dashed line, such as the ratio 1. All groups have one scale, unless there is a `cap`: then each has its own, and
    bars of more than so many times our value are cut."""
    groups = [(name, rows) for name, rows in groups if rows]
    values = [value for _, rows in groups for _, value, _, _ in rows if value]
    if not values:
        return None
    row, head, gap = 20, 30, 16
    labels = max(len(label) for _, rows in groups for label, _, _, _ in rows) * 7.4 + 14
    column = (width - 48 - (columns - 1) * 36) / columns
    room = column - labels - 76
    largest, smallest = max([*values, mark or 0]), min(values)
    floor = 10 ** math.floor(math.log10(smallest)) / 1.5 if logarithmic else 0

    def length(value, scale=largest):
        if not logarithmic:
            return min(value / scale, 1) * room
        return math.log(max(value, floor) / floor) / math.log(largest / floor) * room

    # Columns of about the same height.
    heights = [head + len(rows) * row + gap for _, rows in groups]
    filled, places, at = 0, [], [0] * columns
    share = sum(heights) / columns
    for height in heights:
        if filled + 1 < columns and at[filled] and at[filled] + height / 2 > share:
            filled += 1
        places.append((filled, at[filled]))
        at[filled] += height
    drawing = Drawing(width, 92 + max(at), title, note)
    for (name, rows), (number, top) in zip(groups, places):
        x, y = 24 + number * (column + 36), 78 + top
        drawing.text(x, y + 15, name, size=14, weight="bold")
        y += head - 6
        if mark:
            drawing.line(x + labels + length(mark), y - 2, x + labels + length(mark), y + len(rows) * row, color=INK, dash="3 3")
        scale = largest
        if cap:
            ours = [value for _, value, _, is_ours in rows if is_ours] or [value for _, value, _, _ in rows]
            scale = min(max(value for _, value, _, _ in rows), cap * max(ours))
        for label, value, text, ours in rows:
            drawing.text(x + labels - 8, y + 14, label, anchor="end", weight="bold" if ours else "normal")
            end = x + labels + (length(value, scale) if value else 0)
            if value:
                drawing.rect(x + labels, y + 3, end - x - labels, row - 6, OURS if ours else OTHERS)
            if value and value > scale * 1.001:
                for left in (end - 22, end - 16):
                    drawing.line(left, y + row - 2, left + 6, y + 2, color=PAPER, width=2.5)
            drawing.text(end + 6, y + 14, text, color=INK if value else FAINT)
            y += row
    return drawing.finished()


def ticks(low, high, logarithmic):
    if logarithmic:
        return [10**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    rough = (high - low) / 5 or 1
    unit = 10 ** math.floor(math.log10(rough))
    step = next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit >= rough)
    return [low + step * number for number in range(math.ceil((high - low) / step) + 1)]


def short(value):
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def lines(title, note, series, x_label, y_label, x_log=False, y_log=False, dots=True, width=900, height=500):
    """Series {name: [(x, y)]}. A plain y axis begins at 0. Names stand at the ends of the lines."""
    series = {name: points for name, points in series.items() if points}
    if not series:
        return None
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    if y_log:
        low, high = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys)))
        high = high if high > low else low * 10
    else:
        low, high = 0, max(ys) or 1
    y_ticks = ticks(low, high, y_log)
    low, high = y_ticks[0], y_ticks[-1]
    x_ticks = sorted(set(xs)) if dots else ticks(0, max(xs), False)
    left_x, right_x = (min(xs), max(xs)) if x_log else (0, max(max(xs), x_ticks[-1]))
    right_x = right_x if right_x > left_x else left_x + 1
    names = max(map(len, series)) * 7.6 + 16
    left, right, top, bottom = 78, width - 24 - names, 112, height - 62
    drawing = Drawing(width, height, title, note)

    def place_x(x):
        share = math.log(x / left_x) / math.log(right_x / left_x) if x_log else (x - left_x) / (right_x - left_x)
        return left + share * (right - left)

    def place_y(y):
        share = math.log(y / low) / math.log(high / low) if y_log else (y - low) / (high - low)
        return bottom - share * (bottom - top)

    for y in y_ticks:
        drawing.line(left, place_y(y), right, place_y(y))
        drawing.text(left - 10, place_y(y) + 4, short(y), anchor="end", color=FAINT)
    for x in x_ticks:
        drawing.line(place_x(x), bottom, place_x(x), bottom + 5, color=FAINT)
        drawing.text(place_x(x), bottom + 22, short(x), anchor="middle", color=FAINT)
    drawing.line(left, bottom, right, bottom, color=FAINT)
    drawing.text((left + right) / 2, height - 16, x_label, anchor="middle", color=FAINT)
    drawing.text(24, top - 20, y_label, color=FAINT)
    ends = []
    for (name, points), color in zip(series.items(), LINES * 3):
        placed = [(place_x(x), place_y(y)) for x, y in points]
        drawing.path(placed, color, dots)
        ends.append([placed[-1][1] + 4, placed[-1][0] + 10, name, color])
    # Names that would overlap move apart.
    ends.sort()
    for above, below in zip(ends, ends[1:]):
        below[0] = max(below[0], above[0] + 17)
    for y, x, name, color in ends:
        drawing.text(x, y, name, color=color, weight="bold")
    return drawing.finished()
