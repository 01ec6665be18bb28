#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns etl_events.json into the decoder's table (C) or into the page docs/cpu-etl-events.md.

usage: gen_etl_events.py c|md etl_events.json OUTPUT
"""
import json
import re
import sys
import uuid

TYPES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i16": 2, "i32": 4, "ptr": 0, "utf16z": 0, "rest": 0}
OPERANDS = {"cpu": -2, "left": -3, "hundred": -4, "zero": -1}
SOURCES = ("read", "inferred", "unverified")


FIELD = re.compile(r"(\w+) (\w+)(?:\[(\w+)\])?( hex)?(?: v(\d+))?$")


def parse_fields(event):
    """From "u32 State hex, u64 Histogram[Size] v1" to a list; the order of checks is the order of mistakes."""
    fields = []
    for text in event["fields"].split(", ") if event["fields"] else []:
        m = FIELD.match(text)
        assert m and m[1] in TYPES, (event["name"], text)
        names = [f["name"] for f in fields]
        assert m[2] not in names and (not m[3] or m[3] in names), (event["name"], text)
        assert not fields or fields[-1]["type"] != "rest", (event["name"], text)
        fields.append({"type": m[1], "name": m[2], "count": m[3], "hex": bool(m[4]), "since": int(m[5] or 0)})
    assert event["source"] in SOURCES and len(fields) <= 64, event["name"]
    event["fields"] = fields


def operand(event, key):
    value = event.get("decode", {}).get(key)
    if value is None:
        return -1
    if value in OPERANDS:
        return OPERANDS[value]
    return [f["name"] for f in event["fields"]].index(value)


def find(event, name):
    names = [f["name"] for f in event["fields"]]
    return names.index(name) if name in names else -1


def write_c(doc, out):
    out.write("/* Made from etl_events.json by gen_etl_events.py. */\n#include \"cpu/etl/etl_table.h\"\n\n")
    rows = []
    for number, provider in enumerate(doc["providers"]):
        for event in provider["events"]:
            fields = f"fields_{len(rows)}"
            names = [f["name"] for f in event["fields"]]
            if names:
                out.write(f"static const struct etl_field {fields}[] = {{\n")
            for f in event["fields"]:
                count = names.index(f["count"]) if f["count"] else -1
                out.write(f"    {{\"{f['name']}\", ETL_{f['type'].upper()}, {f['since']}, {count}, {int(f['hex'])}}},\n")
            if names:
                out.write("};\n")
            decode = event.get("decode", {})
            rows.append(
                f"    {{\"{event['name']}\", {number}, {event['id']}, {event.get('min_version', 0)}, "
                f"{max_version(provider, event)}, ETL_{event['source'].upper()}, {fields if names else 'NULL'}, {len(names)}, "
                f"CPU_EV_{decode.get('kind', 'OTHER')}, CPU_IRQ_{decode.get('irq', 'DEVICE')}, "
                f"{operand(event, 'a')}, {operand(event, 'b')}, {operand(event, 'c')}, "
                f"{find(event, 'Group')}, {find(event, 'Number')}}},\n")
    out.write("\nconst struct etl_event etl_events[] = {\n" + "".join(rows) + "};\n")
    out.write(f"const uint32_t etl_num_events = {len(rows)};\n\nconst struct etl_provider etl_providers[] = {{\n")
    for provider in doc["providers"]:
        guid = ", ".join(f"0x{b:02x}" for b in uuid.UUID(provider["guid"]).bytes_le)
        out.write(f"    {{\"{provider['name']}\", {{{guid}}}, {provider.get('group', -1)}}},\n")
    out.write("};\n\n")
    out.write("const struct etl_named etl_named[] = {\n")
    for event in doc["tracelogging"]:
        out.write(f"    {{\"{event['provider']}\", \"{event['name']}\", CPU_EV_{event['decode']['kind']}}},\n")
    out.write(f"}};\nconst uint32_t etl_num_named = {len(doc['tracelogging'])};\n")


def max_version(provider, event):
    # classic events carry a version too, but their layouts have one form here
    return 255 if "group" in provider else event.get("max_version", 0)


def versions(provider, event):
    if "group" in provider:
        return "all"
    low, high = event.get("min_version", 0), event.get("max_version", 0)
    return str(low) if low == high else f"{low}-{high}"


def field_text(f):
    text = f"{f['type']} {f['name']}"
    if f["count"]:
        text += f"[{f['count']}]"
    return text + (f" (v{f['since']})" if f["since"] else "")


def write_md(doc, out):
    out.write("# Windows power events that `aerogpu` decodes\n\n"
              "Made from `src/cpu/etl/etl_events.json` by `src/cpu/etl/gen_etl_events.py`; the decoder and the printer come from "
              "the same table.\nFields are packed and little-endian, in this order; (vN) says from which version of the "
              "event on a field is there. `ptr` is 4 or 8 bytes,\nas the event's header says; a manifest's Boolean has 4 "
              "bytes and is shown as u32; `rest` is whatever follows, as bytes.\n\nSource: *read* = public declarations; "
              "*inferred* = from sizes and names, or it ends in an array whose members are not\npublic; *unverified* = the "
              "layout is not known. Used as: the kind of event that the reports see; the others are counted\nand printed. "
              "No public trace with power events was found, so none of these layouts was checked against one.\n")
    for provider in doc["providers"]:
        where = f", group 0x{provider['group']:02x}" if "group" in provider else ""
        out.write(f"\n## {provider['name']}\n\n`{{{provider['guid']}}}`{where}\n\n"
                  "| id | event | versions | fields | used as | source |\n|---|---|---|---|---|---|\n")
        for event in provider["events"]:
            ident = f"0x{provider['group']:02x}{event['id']:02x}" if "group" in provider else str(event["id"])
            used = event.get("decode", {}).get("kind", "").lower()
            out.write(f"| {ident} | {event['name']} | {versions(provider, event)} | "
                      f"{', '.join(field_text(f) for f in event['fields'])} | {used} | {event['source']} |\n")
    out.write("\n## By name (TraceLogging)\n\nTheir fields travel in each event and are printed from there.\n\n"
              "| provider | event | used as |\n|---|---|---|\n")
    for event in doc["tracelogging"]:
        out.write(f"| {event['provider']} | {event['name']} | {event['decode']['kind'].lower()} |\n")


def main():
    form, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        doc = json.load(f)
    for provider in doc["providers"]:
        for event in provider["events"]:
            parse_fields(event)
    with open(target, "w", encoding="utf-8") as out:
        {"c": write_c, "md": write_md}[form](doc, out)


main()
