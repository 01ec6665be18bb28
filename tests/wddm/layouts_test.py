#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What include/wddm declares has the layouts of Windows 7: structures, members, enumerators and function types are compared by
name with layouts.tsv, which comes from a source of its own and not from our headers.
  layouts_test.py INCLUDE_DIR
What x86 has (layouts-x86.tsv) is read out of assembly, where its compiler is installed; status codes are held against mingw-w64's ntstatus.h, where it is installed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

include = sys.argv[1]
headers = "#include <stddef.h>\n" + "".join(f'#include "wddm/{h}.h"\n' for h in (
    "ntdef", "ntddk", "d3dukmdt", "d3dkmdt", "d3dkmthk", "d3dkmddi", "dispmprt", "d3dumddi", "d3dumddi9", "d3d10umddi"))
with open(os.path.join(os.path.dirname(__file__), "layouts.tsv")) as table:
    rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]

# A parameter or a result as the table writes it: its kind and its bytes.
TYPES = r"""
#include <stdio.h>
#include <type_traits>
template <typename T> void show()
{
    if constexpr (std::is_void_v<T>)
        printf("void");
    else if constexpr (std::is_pointer_v<T>)
        printf("ptr");
    else
        printf(std::is_union_v<T> ? "union_type" : std::is_class_v<T> ? "structure_type" : "int%zu", sizeof(T));
}
template <typename F> struct function;
template <typename R, typename... A> struct function<R NTAPI(A...)> {
    static void print()
    {
        int n = 0;
        show<R>();
        printf("\t");
        ((printf(n++ ? "," : ""), show<A>()), ...);
        printf("\n");
    }
};
"""


def compiled(source, language, standard):
    """Its output; raises with the compiler's words."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run([language, standard, "-w", "-I", include, "-o", program, "-x", "c++" if language == "g++" else "c", "-"],
                       input=source, text=True, check=True)
        return subprocess.check_output([program], text=True).split("\n")[:-1]


def unusable(lines):
    """Of lines of C behind the headers, those that the compiler refuses: {line: why}."""
    first = headers.count("\n") + 1
    words = subprocess.run(["gcc", "-std=gnu17", "-fsyntax-only", "-fmax-errors=0", "-I", include, "-x", "c", "-"],
                           input=headers + "\n".join(lines), text=True, capture_output=True).stderr
    return {int(n) - first: why for n, why in re.findall(r"<stdin>:(\d+):\d+: error: (.*)", words)}


def member(name):
    return name.split(".", 1)


def measured(row, is_bits):
    """A statement that prints what the row has behind its name."""
    kind, name = row[:2]
    if kind == "S":
        return f'printf("%zu\\n", sizeof({name}));'
    if kind == "E":
        return f'printf("%ld\\n", (long){name});'
    of, path = member(name)
    if is_bits:
        return f"{{ {of} x; memset(&x, 0, sizeof(x)); x.{path} = -1; bits(&x, sizeof(x)); }}"
    return f'printf("%g\\t%zu\\n", (double)offsetof({of}, {path}), sizeof((({of} *)0)->{path}) * 8);'


def differences(rows):
    data = [r for r in rows if r[0] != "F"]
    probes = [f"unsigned long v{i} = sizeof({r[1]});" if r[0] == "S" else
              f"long v{i} = {r[1]};" if r[0] == "E" else
              "unsigned long v{0} = offsetof({1}, {2}) + sizeof((({1} *)0)->{2});".format(i, *member(r[1]))
              for i, r in enumerate(data)]
    refused = unusable(probes)
    statements = []
    kept = []
    for i, row in enumerate(data):
        is_bits = "bit-field" in refused.get(i, "")
        if i in refused and not is_bits:
            yield f"{row[1]}: {refused[i]}"
        else:
            kept.append(row)
            statements.append(measured(row, is_bits))
    source = "#include <stdio.h>\n#include <string.h>\n" + headers + """
static void bits(const void *of, size_t size)
{
    const unsigned char *p = of;
    int first = -1, count = 0;
    for (unsigned i = 0; i < 8 * size; i++)
        if (p[i / 8] >> i % 8 & 1) {
            first = first < 0 ? (int)i : first;
            count++;
        }
    printf("%g\\t%d\\n", first / 8.0, count);
}
int main(void)
{
""" + "\n".join(statements) + "\nreturn 0;\n}\n"
    for row, got in zip(kept, compiled(source, "gcc", "-std=gnu17")):
        want = "\t".join([f"{float(row[2]):g}"] + row[3:] if row[0] == "M" else [row[2]])
        if got != want:
            yield f"{row[1]}: {got}, Windows 7 has {want}".replace("\t", " bytes in, bits ")
    functions = [r for r in rows if r[0] == "F"]
    source = 'extern "C" {\n' + headers + "}\n" + TYPES + "int main()\n{\n" + "".join(
        f"function<std::remove_pointer_t<{r[1]}>>::print();\n" for r in functions) + "}\n"
    for row, got in zip(functions, compiled(source, "g++", "-std=c++17")):
        want = "\t".join((row[2:] + [""])[:2])
        if got != want:
            yield f"{row[1]}: {got}, Windows 7 has {want}".replace("\t", " of ")


def statuses():
    """Of ours that the other has too, those with another value; None: there is no other."""
    other = subprocess.run(["x86_64-w64-mingw32-gcc", "-E", "-dM", "-"], input="#include <ntstatus.h>\n", text=True,
                           capture_output=True).stdout if shutil.which("x86_64-w64-mingw32-gcc") else ""
    theirs = {n: int(v, 16) for n, v in re.findall(r"#define (STATUS_\w+) \(\(NTSTATUS\)\s*(0x[0-9A-Fa-f]+)L?\)", other)}
    ours = {}
    for header in ("ntdef", "ntstatus"):
        with open(os.path.join(include, f"wddm/{header}.h")) as f:
            ours.update((n, int(v, 16)) for n, v in re.findall(r"#define (STATUS_\w+)\s+NT_STATUS_C\((0x[0-9A-Fa-f]+)\)", f.read()))
    if not theirs:
        return None, 0
    return [f"{n}: {v:#010x}, Windows 7 has {theirs[n]:#010x}" for n, v in ours.items() if theirs.get(n, v) != v], len(theirs.keys() & ours.keys())


def x86():
    """What differs there, and how many facts were compared; None: there is no compiler."""
    if not shutil.which("i686-w64-mingw32-gcc"):
        return None, 0
    with open(os.path.join(os.path.dirname(__file__), "layouts-x86.tsv")) as table:
        facts = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    words = []
    for kind, name, *_ in facts:
        of, path = (member(name) + [""])[:2]
        words += [f"sizeof({name})"] if kind == "S" else [f"offsetof({of}, {path})", f"sizeof((({of} *)0)->{path})"]
    assembly = subprocess.run(["i686-w64-mingw32-gcc", "-std=gnu17", "-w", "-I", include, "-S", "-o", "-", "-x", "c", "-"],
                              input=headers + "unsigned facts[] = {" + ", ".join(f"~({w})" for w in words) + "};\n",
                              text=True, capture_output=True, check=True).stdout  # none of them is zero
    got = [~int(v) & 0xFFFFFFFF for v in re.findall(r"\.long\s+(-?\d+)", assembly.split("_facts:")[1])]
    found = []
    for kind, name, *want in facts:
        have, got = got[:len(want)], got[len(want):]
        if have != [int(w) for w in want]:
            found.append(f"{name}: {have}, Windows 7 for x86 has {want}")
    return found, len(facts)


def report(n, found, what):
    for line in found:
        print("# " + line)
    print(f"{'not ok' if found else 'ok'} {n} - {what}")


print("1..4")
report(1, list(differences(rows)), f"{len(rows)} facts of {sum(r[0] == 'S' for r in rows)} structures are as on Windows 7")
lie = {"S": ["S", "DXGK_DRIVERCAPS", "527"], "M": ["M", "DXGKARG_SUBMITCOMMAND.Flags", "0", "32"],
       "E": ["E", "DXGK_INTERRUPT_CRTC_VSYNC", "4"], "F": ["F", "DXGKDDI_PATCH", "int4", "ptr"]}
told = list(differences(list(lie.values())))
report(2, [] if len(told) == len(lie) else told or ["nothing"], "a table that is wrong in each kind of row is noticed in each")
wrong, common = statuses()
report(3, wrong or [], "# SKIP there is no mingw-w64" if wrong is None else f"{common} status codes have their values")
wrong, compared = x86()
report(4, wrong or [], "# SKIP there is no i686-w64-mingw32-gcc" if wrong is None else f"{compared} facts are as on Windows 7 for x86")
