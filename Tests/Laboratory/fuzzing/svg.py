"""SVG: drawings with every kind of element, and mutations that make them costly or invalid."""
import base64
import re

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
STOPS = '<stop offset="0" stop-color="#e33"/><stop offset="1" stop-color="#33e" stop-opacity="0.4"/>'

FILTERS = {
    "blur": '<feGaussianBlur stdDeviation="4 2"/>',
    "light": """<feTurbulence baseFrequency="0.05" numOctaves="2"/>
        <feDiffuseLighting surfaceScale="3"><fePointLight x="20" y="20" z="30"/></feDiffuseLighting>""",
    "morph": """<feMorphology operator="dilate" radius="3"/><feOffset dx="4" dy="4"/>
        <feComposite in2="SourceGraphic"/>""",
    "matrix": """<feConvolveMatrix order="3" kernelMatrix="1 0 -1 2 0 -2 1 0 -1"/>
        <feColorMatrix type="hueRotate" values="90"/>
        <feDisplacementMap in="SourceGraphic" scale="9" xChannelSelector="R"/>""",
}

DRAWINGS = {
    "shapes": f"""{HEAD} width="96" height="64">
        <rect x="4" y="4" width="40" height="30" rx="6" fill="#c42"/>
        <circle cx="70" cy="30" r="20" stroke="#024" stroke-width="3" stroke-dasharray="4 2" fill="none"/>
        <path d="M5 60 C 30 20 60 90 90 50 A 10 20 30 0 1 40 40 Z" fill="green" fill-rule="evenodd"/>
        <polygon points="1,1 20,5 9,40"/></svg>""",
    "gradients": f"""{HEAD} viewBox="0 0 80 60"><defs>
        <linearGradient id="a" gradientTransform="rotate(30)">{STOPS}</linearGradient>
        <radialGradient id="b" xlink:href="#a" r="0.7" fx="0.2" spreadMethod="reflect"/></defs>
        <rect width="80" height="30" fill="url(#a)"/><ellipse cx="40" cy="45" rx="30" ry="12" fill="url(#b)"/></svg>""",
    "text": f"""{HEAD} width="120" height="40"><style>text {{ font-family: sans-serif; font-size: 18px }}</style>
        <path id="p" d="M0 30 Q 60 0 120 30"/>
        <text x="4" y="20" textLength="90">Cameo <tspan dy="4" font-weight="bold">\u00e9\u4e2d</tspan></text>
        <text><textPath href="#p">along a path</textPath></text></svg>""",
    "outside": f"""{HEAD} width="64" height="64"><image width="64" height="64" href="file:///etc/passwd"/>
        <image xlink:href="http://127.0.0.1:9/x.png" width="9" height="9"/><use href="other.svg#a"/>
        <rect width="9" height="9"/></svg>""",
    "nests": f"""{HEAD} width="64" height="64"><defs>
        <symbol id="a" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4"/></symbol>
        <g id="b"><use href="#a" width="8" height="8"/><use href="#a" x="9" width="8" height="8"/></g>
        <g id="c"><use href="#b"/><use href="#b" y="10"/></g></defs><use href="#c"/><use href="#c" x="30"/></svg>""",
    "pattern": f"""{HEAD} width="64" height="64"><defs>
        <pattern id="p" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="4" height="4"/></pattern>
        <mask id="m"><rect width="64" height="64" fill="url(#p)"/></mask>
        <clipPath id="k"><circle cx="32" cy="32" r="30"/></clipPath>
        <marker id="d" markerWidth="4" markerHeight="4"><rect width="4" height="4"/></marker></defs>
        <g mask="url(#m)" clip-path="url(#k)" opacity="0.7"><rect width="64" height="64" fill="tomato"/>
        <path d="M1 1 L 50 9 L 9 50" marker-mid="url(#d)" stroke="black"/></g></svg>""",
    "entities": f"""<?xml version="1.0"?>
        <!DOCTYPE svg [<!ENTITY a "M1 1 L 30 9 "><!ENTITY b "&a;&a;&a;">]>
        <!-- a comment -->{HEAD} width="40" height="40"><path d="&b;&b;" stroke="red"/></svg>""",
}

NUMBERS = ["0", "-1", "1e9", "1e38", "1e400", "-1e30", "NaN", "inf", "2147483648", "4294967295", "0.0000001", "100%",
           "-50%", "9" * 60, "1e5em", ""]
VALUES = ["file:///etc/passwd", "http://127.0.0.1:9/", "#a", "#b", "url(#f)", "url(#p)", "none", "inherit", "&lt;",
          "data:image/svg+xml,<svg/>", "data:image/png;base64,iVBORw0KGgo=", "M" + " 1 1 L" * 2_000,
          "rotate(1e9) scale(0)", "0 0 1e9 1e-9", "x" * 5_000]
NESTS = [("<g>", "</g>"), ('<g opacity="0.9">', "</g>"), ('<g filter="url(#f)">', "</g>"), ("<svg>", "</svg>"),
         ('<g transform="scale(3)">', "</g>"), ('<g clip-path="url(#k)" mask="url(#m)">', "</g>"), ("<a>", "</a>")]
ELEMENTS = [b"g", b"use", b"image", b"text", b"filter", b"pattern", b"svg", b"switch", b"style", b"foreignObject",
            b"script"]


def drawings(picture):
    """The drawings as {file: text}; one of them embeds the given PNG."""
    texts = dict(DRAWINGS)
    embedded = "data:image/png;base64," + base64.b64encode(picture).decode()
    fit = 'preserveAspectRatio="xMidYMid slice"'
    texts["image"] = f'{HEAD} width="64" height="64"><image width="64" height="64" {fit} href="{embedded}"/></svg>'
    for name, content in FILTERS.items():
        texts[f"filter-{name}"] = (
            f'{HEAD} width="64" height="48"><filter id="f" x="-20%" width="140%">{content}</filter>'
            '<rect x="9" y="9" width="40" height="28" fill="teal" filter="url(#f)"/></svg>'
        )
    return {f"{name}.svg": text.encode() for name, text in texts.items()}


def svg_numbers(rng, data, others):
    text = data.decode(errors="replace")
    found = list(re.finditer(r"(?<=[\s\"',(])-?\d+(\.\d+)?", text))
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 1, 2, 5]))), key=lambda match: -match.start()):
        text = text[: match.start()] + rng.choice(NUMBERS) + text[match.end() :]
    return text.encode()


def svg_values(rng, data, others):
    """Replaces an attribute's value by another one's, or by one that refers to the outside."""
    text = data.decode(errors="replace")
    found = list(re.finditer(r'="([^"]*)"', text))
    match = rng.choice(found)
    value = rng.choice(VALUES + [other.group(1) for other in found])
    return (text[: match.start(1)] + value + text[match.end(1) :]).encode()


def svg_nest(rng, data, others):
    """Nests groups or filters, or repeats elements."""
    text = data.decode(errors="replace")
    if "</svg>" not in text:
        return data
    start, end = text.index(">", text.index("<svg")) + 1, text.rindex("</svg>")
    body, depth = text[start:end], rng.choice([2, 10, 60, 300, 3_000])
    open, close = rng.choice(NESTS)
    if rng.random() < 0.5:
        body = open * depth + body + close * depth
    else:
        body = body * min(depth, 1 + 300_000 // (len(body) + 1))
    return (text[:start] + body + text[end:]).encode()


def svg_multiply(rng, data, others):
    """Chains `use` elements or entities, where each level multiplies the one below by two or ten."""
    text = data.decode(errors="replace")
    levels = rng.choice([3, 5, 8, 12, 20])
    if rng.random() < 0.6 and "</svg>" in text:
        chain = '<g id="l0"><rect width="3" height="3"/></g>'
        for level in range(1, levels):
            chain += f'<g id="l{level}">' + f'<use href="#l{level - 1}" x="{level}"/>' * rng.choice([2, 2, 10]) + "</g>"
        loop = '<g id="q"><use href="#q"/></g>' if rng.random() < 0.3 else ""
        end = text.rindex("</svg>")
        return (text[:end] + f'<defs>{chain}{loop}</defs><use href="#l{levels - 1}"/>' + text[end:]).encode()
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, levels))
    inside = text[text.index("<svg") :] if "<svg" in text else text
    end = f'<path d="&e{levels - 1};"/></svg>'
    return (f'<!DOCTYPE svg [<!ENTITY e0 "M1 1 ">{entities}]>' + inside.replace("</svg>", end)).encode()


def svg_elements(rng, data, others):
    def other(match):
        return b"<" + match[1] + (rng.choice(ELEMENTS) if match[2] != b"svg" and rng.random() < 0.1 else match[2])

    return re.sub(rb"<(/?)(\w+)", other, data)


MUTATIONS = [svg_numbers, svg_numbers, svg_values, svg_nest, svg_multiply, svg_elements]
