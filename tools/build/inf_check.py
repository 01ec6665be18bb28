#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says what is wrong with the INF of a WDDM 1.1 display driver: each mistake is one line, and the exit code 1.
  inf_check.py PACKAGE_FOLDER [NAME.inf]
Sources: Microsoft's pages on INF sections and directives, and on installing display drivers on Windows 7."""
import datetime
import os
import re
import sys

folder = sys.argv[1]
name = sys.argv[2] if len(sys.argv) > 2 else next((f for f in sorted(os.listdir(folder)) if f.endswith(".inf")), "")
mistakes = []
sections = {}
used = {"version", "manufacturer", "strings", "destinationdirs"}
KEY_DRIVERS = "{4d36e968-e325-11ce-bfc1-08002be10318}"
ARCHITECTURES = {"amd64": "ntamd64", "x86": "ntx86"}


def mistake(text):
    if text not in mistakes:
        mistakes.append(text)


def read():
    try:
        with open(os.path.join(folder, name), "rb") as f:
            raw = f.read()
    except OSError as e:
        sys.exit(f"{folder}/{name}: {e.strerror}")
    if b"\r\n" not in raw or b"\n" in raw.replace(b"\r\n", b""):
        mistake("lines do not end as on Windows (CR LF)")
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    section, begun = None, ""
    for number, line in enumerate(raw.decode("utf-16" if wide else "latin-1", "replace").split("\n"), 1):
        strange = re.search(r"[^\t\r -~]" if not wide else r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffd]", line)
        if strange:
            mistake(f"line {number}: the character {ord(strange[0]):#x}, which " +
                    ("a text has not" if wide or ord(strange[0]) < 128 else "another language reads as another one: other than ASCII needs UTF-16"))
        line = begun + re.sub(r'^((?:[^";]|"[^"]*")*);.*', r"\1", line).strip()
        begun = ""
        if line.count('"') % 2:
            mistake(f"line {number}: a quotation mark that does not end")
        if line.endswith("\\"):
            begun = line[:-1]
            continue
        if not line:
            continue
        if line.startswith("["):
            if not line.endswith("]"):
                mistake(f"line {number}: the section's name does not end")
            section = sections.setdefault(line.strip("[]").lower(), [])
        elif section is None:
            mistake(f"line {number}: it is in no section")
        else:
            section.append((number, line))
    if begun:
        mistake("the last line goes on, and there is no other")


def number_of(text, where):
    """Of a field that may be empty."""
    try:
        return int(text or "0", 0)
    except ValueError:
        mistake(f"{where}: {text} is no number")
        return 0


def use(section, why):
    """The lines of a section, by what names it."""
    used.add(section.lower())
    if section.lower() not in sections:
        mistake(f"{why}: there is no section [{section}]")
    return sections.get(section.lower(), [])


def keys(lines):
    """{key: [its values' parts]}; a key may stand on several lines."""
    result = {}
    for _, line in lines:
        key, _, value = line.partition("=")
        result.setdefault(key.strip().lower(), []).extend(v.strip() for v in value.split(","))
    return result


def check_strings():
    defined = {line.partition("=")[0].strip().lower() for _, line in sections.get("strings", [])}
    for lines in sections.values():
        for number, line in lines:
            for token in re.findall(r"%([A-Za-z_][\w.]*)%", line.replace("%%", "")):
                if token.lower() not in defined:
                    mistake(f"line {number}: %{token}% is not in [Strings]")


def is_date(text):
    try:
        datetime.datetime.strptime(text, "%m/%d/%Y")
        return True
    except ValueError:
        return False


def check_version():
    v = keys(use("Version", "an INF"))
    for key, wanted in (("signature", r'"\$WINDOWS NT\$"'), ("class", "Display"), ("classguid", re.escape(KEY_DRIVERS)),
                        ("provider", ".+"), ("catalogfile", r"[\w.]+\.cat")):
        if not re.fullmatch(wanted, (v.get(key) or [""])[0], re.I):
            mistake(f"[Version] {key} is {(v.get(key) or ['missing'])[0]}")
    date = v.get("driverver", [])
    if len(date) != 2 or not re.fullmatch(r"(0[1-9]|1[0-2])/([0-2]\d|3[01])/\d{4}", date[0]) or not re.fullmatch(
            r"\d+(\.\d+){3}", date[1]) or any(int(n) > 65535 for n in date[1].split(".")) or not is_date(date[0]):
        mistake(f"[Version] driverver is {','.join(date) or 'missing'}, not mm/dd/yyyy,a.b.c.d")


def check_service(install, lines):
    services = keys(lines)
    add = services.get("addservice", [])
    if len(add) < 3 or number_of(add[1], f"[{install}.Services] AddService") & 2 == 0:
        mistake(f"[{install}.Services] installs no service with SPSVCINST_ASSOCSERVICE (2)")
        return None
    s = keys(use(add[2], f"[{install}.Services]"))
    for key, wanted in (("servicetype", "1"), ("starttype", "3"), ("loadordergroup", "Video")):
        if s.get(key, [""])[0].lower() != wanted.lower():
            mistake(f"[{add[2]}] {key} is {s.get(key, ['missing'])[0]}, a display driver's is {wanted}")
    if s.get("errorcontrol", ["?"])[0] not in ("0", "1"):
        mistake(f"[{add[2]}] errorcontrol is {s.get('errorcontrol', ['missing'])[0]}: where the driver does not start, Windows has to all the same (0, 1)")
    for key, values in s.items():
        if len(values) > 1 and key != "addreg":
            mistake(f"[{add[2]}] {key} is there twice")
    if len(add) > 3:
        for section in keys(use(add[3], f"[{install}.Services]")).get("addreg", []):
            check_registry(section, use(section, f"[{add[3]}]"))
    binary = re.fullmatch(r"%12%\\(.+)", s.get("servicebinary", [""])[0])
    if not binary:
        mistake(f"[{add[2]}] servicebinary is not in %12%, where drivers are")
    return binary and binary[1].lower()


def check_registry(section, lines):
    """{name of a value: its data}"""
    values = {}
    for number, line in lines:
        parts = [p.strip().strip('"') for p in re.findall(r'"[^"]*"|[^,]+|(?<=,)(?=,)|(?<=,)$', line)]
        root, rest = parts[0].upper(), (parts + [""] * 4)[1:]
        if root not in ("HKR", "HKLM", "HKCR", "HKCU", "HKU"):
            mistake(f"line {number}: [{section}] begins with {parts[0]}, which is no root of the registry")
        if root == "HKLM" and "graphicsdrivers" in rest[0].lower() or rest[1].lower().startswith("tdr"):
            mistake(f"line {number}: [{section}] changes how long a GPU may take (TDR), which is the machine's business")
        values[rest[1].lower()] = (rest[2], parts[4:])
    return values


def copied_files(install, arch, sections_of_files):
    listed = {f.lower(): v for f, v in keys(use(f"SourceDisksFiles.{arch}", f"[{install}]")).items()}
    disks = keys(use(f"SourceDisksNames.{arch}", f"[{install}]"))
    destinations = keys(sections.get("destinationdirs", []))
    files = set()
    for section in sections_of_files:
        if section.lower() not in destinations and "defaultdestdir" not in destinations:
            mistake(f"[DestinationDirs] does not say where [{section}] goes")
        for number, line in use(section, f"[{install}] CopyFiles"):
            file, *rest = [p.strip() for p in line.split(",")]
            files.add((file.lower(), (destinations.get(section.lower()) or destinations.get("defaultdestdir") or ["?"])[0]))
            if not rest or not number_of((rest + ["0", "0", "0"])[2], f"line {number}") & 0x4000:
                mistake(f"line {number}: {file} is copied without 0x4000 (rename when in use): updates need a reboot")
            directory = ",".join(destinations.get(section.lower()) or destinations.get("defaultdestdir") or ["?"])
            if not re.fullmatch("12" if file.lower().endswith(".sys") else "11|10,system32|10,syswow64", directory, re.I):
                mistake(f"[DestinationDirs] puts {file} into {directory}: drivers belong into 12, user-mode drivers into 11 or 10,SysWow64")
            where = listed.get(file.lower())
            if where is None:
                mistake(f"[SourceDisksFiles.{arch}] does not have {file}, which [{section}] copies")
                continue
            if where[0] not in disks:
                mistake(f"[SourceDisksNames.{arch}] has no disk {where[0]}, where {file} is")
            if not os.path.exists(os.path.join(folder, *(where[1:2]), file)):
                mistake(f"{'/'.join(where[1:2] + [file])} is not in the package")
    for file in listed:
        if file not in {f for f, _ in files}:
            mistake(f"[SourceDisksFiles.{arch}] has {file}, which nothing copies")
    return files


def check_user_mode(install, arch, values, files):
    copied = {f for f, to in files if f.endswith(".dll")}
    if not copied:
        return
    named = set()
    for value in ["UserModeDriverName"] + (["UserModeDriverNameWow"] if arch == "amd64" else []):
        flags, data = values.get(value.lower(), ("", []))
        if not data:
            mistake(f"[{install}] copies user-mode drivers, and has no {value}")
        named |= {d.lower() for d in data}
    installed = {d.lower() + ".dll" for d in values.get("installeddisplaydrivers", ("", []))[1]}
    for file in sorted(named - copied):
        mistake(f"[{install}] names {file}, which it does not copy")
    for file in sorted(named ^ installed):
        mistake(f"[{install}] InstalledDisplayDrivers and UserModeDriverName differ by {file}")


def check_install(base, arch, decoration):
    install = next((f"{base}.{d}" for d in (f"{ARCHITECTURES[arch]}.6.1", ARCHITECTURES[arch])
                    if f"{base}.{d}".lower() in sections), f"{base}.{ARCHITECTURES[arch]}")
    lines = keys(use(install, f"a model of {decoration}"))
    if not re.fullmatch("F[0-9A-F]|E[0-9A-F]", (lines.get("featurescore") or [""])[0], re.I):
        mistake(f"[{install}] has no FeatureScore: Windows 7 does not install a display driver without")
    files = copied_files(install, arch, lines.get("copyfiles", []))
    values = {}
    for section in lines.get("addreg", []):
        values.update(check_registry(section, use(section, f"[{install}] AddReg")))
    check_user_mode(install, arch, values, files)
    binary = check_service(install, use(f"{install}.Services", f"[{install}]"))
    if binary and binary not in {f for f, _ in files}:
        mistake(f"[{install}] starts {binary}, and does not copy it")
    hardware = keys(sections.get(f"{install}.hw".lower(), []))
    used.update((f"{install}.hw".lower(), f"{install}.generalconfigdata".lower()))
    values = {}
    for section in hardware.get("addreg", []):
        values.update(check_registry(section, use(section, f"[{install}.HW]")))
    if values.get("msisupported", ("", ["0"]))[1] != ["1"]:
        mistake(f"[{install}.HW] does not switch MSI on")


def check_models():
    seen = set()
    for _, line in use("Manufacturer", "an INF"):
        base, *decorations = [p.strip() for p in line.partition("=")[2].split(",")]
        for decoration in decorations:
            arch = next((a for a, d in ARCHITECTURES.items() if decoration.lower().startswith(d)), None)
            if not arch:
                mistake(f"[Manufacturer] names {decoration}, which is neither x64 nor x86")
                continue
            seen.add(arch)
            for number, model in use(f"{base}.{decoration}", "[Manufacturer]"):
                install, *ids = [p.strip() for p in model.partition("=")[2].split(",")]
                for i in ids or [""]:
                    if not re.fullmatch(r"PCI\\VEN_A3A0&DEV_0001(&.*)?", i, re.I):
                        mistake(f"line {number}: the device is PCI\\VEN_A3A0&DEV_0001, not {i}")
                check_install(install, arch, decoration)
    for arch in ARCHITECTURES:
        if arch not in seen:
            mistake(f"[Manufacturer] has no models for {arch}")


def check_catalogue():
    """Each file of the package is in the catalogue's definition, and no other."""
    definition = os.path.join(folder, name[:-4] + ".cdf")
    if not os.path.exists(definition):
        mistake(f"{os.path.basename(definition)} is not in the package")
        return
    with open(definition, encoding="latin-1") as f:
        hashed = {m.lower().replace("\\", "/") for m in re.findall(r"^<hash>[^=]*=(\S+)", f.read(), re.M)}
    wanted = {name.lower()}
    for arch in ARCHITECTURES:
        for file, where in keys(sections.get(f"sourcedisksfiles.{arch}", [])).items():
            wanted.add("/".join(where[1:2] + [file]))
    for file in sorted(hashed ^ wanted):
        mistake(f"the catalogue's definition and the INF differ by {file}")


read()
check_strings()
check_version()
check_models()
check_catalogue()
for section in sections:
    if section not in used:
        mistake(f"nothing uses [{section}]")
for text in mistakes:
    print(f"{name}: {text}")
sys.exit(bool(mistakes))
