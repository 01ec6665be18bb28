#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The driver's INF is without mistakes, with user-mode drivers and without, and each mistake that is planted in it is said.
  inf_check_test.py SOURCE_ROOT"""
import os
import re
import subprocess
import sys
import tempfile

root = sys.argv[1]
windows = os.path.join(root, "src/kmd/windows")
MISTAKES = [  # what is replaced, by what, and what is said of it
    ('"$WINDOWS NT$"', '"$CHICAGO$"', "[Version] signature is \"$CHICAGO$\""),
    ("= Display", "= Net", "[Version] class is Net"),
    ("{4d36e968", "{4d36e972", "[Version] classguid is {4d36e972-e325-11ce-bfc1-08002be10318}"),
    ("11/22/2026", "22/11/2026", "[Version] driverver is 22/11/2026,1.2.3.0, not mm/dd/yyyy,a.b.c.d"),
    ("CatalogFile = aerogpu.cat", "", "[Version] catalogfile is missing"),
    ("VEN_A3A0", "VEN_1234", "the device is PCI\\VEN_A3A0&DEV_0001, not PCI\\VEN_1234&DEV_0001"),
    (", NTx86.6.1", "", "[Manufacturer] has no models for x86"),
    ("[AeroGPU.NTx86.6.1]", "[AeroGPU.NTx86]", "[Manufacturer]: there is no section [AeroGPU.NTx86.6.1]"),
    ("FeatureScore = F6", "", "has no FeatureScore"),
    ("0x00000002, AeroGPU.Service", "0x00000000, AeroGPU.Service", "installs no service with SPSVCINST_ASSOCSERVICE (2)"),
    ("StartType      = 3", "StartType = 0", "[AeroGPU.Service] starttype is 0, a display driver's is 3"),
    ("LoadOrderGroup = Video", "", "[AeroGPU.Service] loadordergroup is missing, a display driver's is Video"),
    ("%12%\\aerogpu.sys", "%11%\\aerogpu.sys", "servicebinary is not in %12%"),
    ("%12%\\aerogpu.sys", "%12%\\aero.sys", "starts aero.sys, and does not copy it"),
    ("aerogpu.sys,,,0x00004000", "aerogpu.sys", "aerogpu.sys is copied without 0x4000"),
    ("aerogpu.sys           = 1,amd64", "aerogpu.sys = 2,amd64", "[SourceDisksNames.amd64] has no disk 2, where aerogpu.sys is"),
    ("aerogpu.sys           = 1,amd64", "", "[SourceDisksFiles.amd64] does not have aerogpu.sys, which [AeroGPU.Sys] copies"),
    ("aerogpu.sys           = 1,amd64", "aerogpu.sys = 1,x64", "x64/aerogpu.sys is not in the package"),
    ("aerogpu_d3d10_x64.dll,,,0x00004000", "", "has aerogpu_d3d10_x64.dll, which nothing copies"),
    ("UserModeDriverNameWow", "UserModeDriverName32", "and has no UserModeDriverNameWow"),
    ("InstalledDisplayDrivers, %REG_MULTI_SZ%, aerogpu_d3d9_x64, aerogpu_d3d10_x64, ",
     "InstalledDisplayDrivers, %REG_MULTI_SZ%, aerogpu_d3d10_x64, ", "UserModeDriverName differ by aerogpu_d3d9_x64.dll"),
    ("UserModeDriverName, %REG_MULTI_SZ%, aerogpu_d3d9_x64.dll", "UserModeDriverName, %REG_MULTI_SZ%, other.dll",
     "names other.dll, which it does not copy"),
    ("MSISupported, %REG_DWORD%, 1", "MSISupported, %REG_DWORD%, 0", "does not switch MSI on"),
    ("HKR,, VgaCompatible", "HKR,, TdrDelay", "changes how long a GPU may take (TDR)"),
    ("HKR,, VgaCompatible", "HKEY,, VgaCompatible", "begins with HKEY, which is no root of the registry"),
    ('Vendor       = "AeroGPU"', "", "%Vendor% is not in [Strings]"),
    ("[AeroGPU.EventLog.Settings]", "[Nobody]", "nothing uses [nobody]"),
    ("11/22/2026", "02/30/2026", "[Version] driverver is 02/30/2026,1.2.3.0, not mm/dd/yyyy,a.b.c.d"),
    ('Vendor       = "AeroGPU"', 'Vendor       = "AeroGPU', "a quotation mark that does not end"),
    ('Vendor       = "AeroGPU"', 'Vendor       = "A\0"', "the character 0x0, which a text has not"),
    ('Vendor       = "AeroGPU"', 'Vendor       = "\xdc"', "the character 0xc3, which another language reads as another one"),
    ("StartType      = 3", "StartType      = 3\r\nStartType = 3", "[AeroGPU.Service] starttype is there twice"),
    ("ErrorControl   = 0", "ErrorControl   = 3", "[AeroGPU.Service] errorcontrol is 3"),
    ("aerogpu.sys,,,0x00004000", "aerogpu.sys,,,0xzz", "0xzz is no number"),
    ("AeroGPU.Sys    = 12", "AeroGPU.Sys    = 11", "[DestinationDirs] puts aerogpu.sys into 11: drivers belong into 12"),
    ("[AeroGPU.Msi]", "[AeroGPU.Msi", "the section's name does not end"),
    ("\r\n[Version]", "\n[Version]", "lines do not end as on Windows (CR LF)"),
]


def text(name, umd):
    with open(os.path.join(windows, name), newline="") as f:
        t = f.read().replace("@DRIVERVER@", "11/22/2026,1.2.3.0")
    t = re.sub(r";[}]?umd[{]?\n", "", t) if umd else re.sub(r";umd\{\n.*?;\}umd\n", "", t, flags=re.S)
    return t.replace("\n", "\r\n")


def said(inf, umd, cdf=None, files=()):
    with tempfile.TemporaryDirectory() as folder:
        wanted = ["amd64/aerogpu.sys", "x86/aerogpu.sys", *files]
        if umd:
            wanted += ["amd64/aerogpu_d3d9_x64.dll", "amd64/aerogpu_d3d10_x64.dll", "x86/aerogpu_d3d9.dll", "x86/aerogpu_d3d10.dll"]
        for file in wanted:
            os.makedirs(os.path.join(folder, os.path.dirname(file)), exist_ok=True)
            open(os.path.join(folder, file), "w").close()
        for name, content in (("aerogpu.inf", inf), ("aerogpu.cdf", cdf or text("aerogpu.cdf", umd))):
            with open(os.path.join(folder, name), "w", newline="") as f:
                f.write(content)
        r = subprocess.run([sys.executable, os.path.join(root, "tools/build/inf_check.py"), folder], capture_output=True, text=True)
        return r.returncode, r.stdout + r.stderr


results = []
for umd in (True, False):
    code, words = said(text("aerogpu.inf", umd), umd)
    results.append((f"the INF {'with' if umd else 'without'} user-mode drivers is without mistakes", code == 0 and not words, words))
for old, new, sentence in MISTAKES:
    inf = text("aerogpu.inf", True)
    code, words = said(inf.replace(old, new), True)
    results.append((sentence, old in inf and code == 1 and sentence in words, words))
code, words = said(text("aerogpu.inf", True), True, cdf=text("aerogpu.cdf", False))
results.append(("a file that the catalogue lacks", "the catalogue's definition and the INF differ by x86/aerogpu_d3d9.dll" in words, words))

print(f"1..{len(results)}")
for i, (what, good, words) in enumerate(results):
    print(f"{'ok' if good else 'not ok'} {i + 1} - {what}")
    for line in [] if good else words.splitlines():
        print("# " + line)
sys.exit(not all(good for _, good, _ in results))
