"""Random valid renditions with all options."""
import json
import pathlib

from fuzzing.fixtures import VIDEO_WEIGHTS

SCHEMA = pathlib.Path(__file__).parents[3] / "proto-json/thumbnail-request.schema.json"
RENDITION = json.loads(SCHEMA.read_text())["$defs"]["rendition"]
FIELDS = RENDITION["properties"]
PLACES = [place for place in FIELDS["gravity"]["oneOf"][0]["enum"] if place not in ("entropy", "attention")]


def holds(rule, format):
    """Whether the schema's rule about the format alone is true of it; None of any other rule."""
    if "not" in rule:
        return {None: None, True: False, False: True}[holds(rule["not"], format)]
    fields = rule.get("properties", {})
    if fields.keys() != {"format"}:
        return None
    return format in fields["format"].get("enum", [fields["format"].get("const")])


# The fields that the schema restricts for a format.
RESTRICTED = {
    format: {field for rule in RENDITION["allOf"] if holds(rule["if"], format) for field in rule["then"]["properties"]}
    for format in FIELDS["format"]["enum"]
}
# Of these fields the schema does not say enough: what they may be depends on others, or on the source.
DRAWN = {
    "name", "width", "height", "fit", "format", "gravity", "page", "time", "accurate", "storyboard", "crop",
    "cornerRadius", "corners", "borderColor", "overlay", "effort", "quality", "maxBytes", "animated", "keep",
}
# How often another field is drawn, if not in 7 % of all, and what it exceeds only once in ten times, if that costs
# much.
SHARES = {
    "withoutEnlargement": 0.3, "rotate": 0.12, "trim": 0.1, "flip": 0.1, "background": 0.15, "border": 0.1,
    "progressive": 0.15, "chromaSubsampling": 0.2, "palette": 0.2, "lossless": 0.1, "nearLossless": 0.1,
    "keepProfile": 0.1,
}
USUAL = {"dpr": 3, "border": 20, "blur": 6, "sharpen": 2, "brightness": 2, "saturation": 2, "contrast": 2}


def color(rng):
    return "#" + rng.randbytes(rng.choice([3, 4])).hex()


def value(rng, field):
    """A value of a flag, a number, a colour or a choice."""
    kind = FIELDS[field]
    if kind.get("$ref") == "#/$defs/color":
        return color(rng)
    if "enum" in kind:
        return rng.choice(kind["enum"])
    if kind["type"] == "boolean":
        return not kind["default"]
    low, high = kind["minimum"], kind["maximum"] if rng.random() < 0.1 else USUAL.get(field, kind["maximum"])
    return rng.randint(low, high) if kind["type"] == "integer" else round(rng.uniform(low, high), 3)


def edge(rng):
    low, high = rng.choices([(16, 160), (1, 4), (161, 400), (401, 1_600)], [78, 6, 14, 2])[0]
    return rng.randint(low, high)


def rendition(rng, index, format, overlays):
    made = {"name": f"r{index}", "fit": rng.choice(FIELDS["fit"]["enum"])}
    sides = rng.choice([["width", "height"], ["width", "height"], ["width"], ["height"]])
    made.update((side, edge(rng)) for side in sides)
    output = rng.choices(["auto", "webp", "jpeg", "png", "source", "gif", "avif"], [14, 20, 34, 14, 8, 6, 4])[0]
    made["format"] = output

    def sometimes(share, field, draw):
        if rng.random() < share and field not in RESTRICTED[output]:
            made[field] = draw()

    for field in sorted(FIELDS.keys() - DRAWN):
        sometimes(SHARES.get(field, 0.07), field, lambda: value(rng, field))
    focus = {"x": round(rng.random(), 3), "y": round(rng.random(), 3)}
    smart = [] if made["fit"] == "contain" else ["entropy", "attention"]
    if made["fit"] in ("cover", "contain") and len(sides) == 2:
        sometimes(0.6, "gravity", lambda: rng.choice(PLACES + smart * 3 + [focus]))
    left, top = round(rng.uniform(0, 0.7), 2), round(rng.uniform(0, 0.7), 2)
    sometimes(0.12, "crop", lambda: rng.choice([
        {"left": left, "top": top, "width": round(1 - left, 2), "height": round(1 - top, 2), "unit": "fraction"},
        {"left": rng.randint(0, 20), "top": rng.randint(0, 20), "width": rng.randint(1, 80),
         "height": rng.randint(1, 60)}]))
    sometimes(0.1, "cornerRadius",
              lambda: rng.choice(["circle", rng.randint(1, 60), {"fraction": round(rng.uniform(0.001, 0.5), 3)}]))
    if made.get("cornerRadius", "circle") != "circle":
        sometimes(0.4, "corners", lambda: rng.sample(FIELDS["corners"]["items"]["enum"], rng.randint(1, 3)))
    if "border" in made:
        sometimes(0.5, "borderColor", lambda: color(rng))
    if overlays:
        scale = {"scale": round(rng.uniform(0.01, 1), 2)} if rng.random() < 0.6 else {}
        sometimes(0.06, "overlay", lambda: {
            "source": rng.choice(overlays), "opacity": round(rng.random(), 2), "margin": rng.choice([0, 3, 50, 4_096]),
            "gravity": rng.choice(PLACES + [focus]), **scale})
    # High efforts take much time, so they are chosen seldom to leave time for more pictures.
    sometimes(1 if output == "avif" else 0.15, "effort", lambda: rng.randint(1, 2 if rng.random() < 0.9 else 9))
    sometimes(0.4 if format in ("gif", "webp") else 0.05, "animated", lambda: True)
    sometimes(0.15, "keep", lambda: rng.sample(FIELDS["keep"]["items"]["enum"], rng.randint(1, 3)))
    if not made.get("animated") and format in ("gif", "webp", "tiff", "pdf"):
        sometimes(0.1, "page", lambda: rng.choice([0, 1, 2, 3, 9, 99_999]))
    if format in VIDEO_WEIGHTS:
        times = [0, 0.5, round(rng.uniform(0, 3), 2), 1_000_000, "cover", "0%", "50%", "100%"]
        sometimes(0.6, "time", lambda: "auto" if made.get("animated") else rng.choice([*times, "auto"]))
        if made.get("time", "auto") not in ("auto", "cover"):
            sometimes(0.3, "accurate", lambda: True)
        if "time" not in made and not made.get("animated"):
            interval = {"interval": rng.choice([0.1, 0.5, 100_000])} if rng.random() < 0.5 else {}
            sometimes(0.3, "storyboard", lambda: {"columns": rng.randint(1, 6), "rows": rng.randint(1, 6), **interval})
    refused = {"lossless": ["chromaSubsampling", "nearLossless"],
               "keepProfile": ["background", "border", "borderColor", "tint", "overlay"]}
    for field in sum((others for name, others in refused.items() if name in made), []):
        made.pop(field, None)
    if "lossless" not in made and output != "gif" and (output != "png" or "palette" in made):
        sometimes(0.3, "quality", lambda: rng.randint(1, 100))
        if "nearLossless" not in made:
            sometimes(0.06, "maxBytes", lambda: rng.choice([128, 600, 2_000, 8_000, 100_000]))
    return made
