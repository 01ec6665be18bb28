#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages and shell completions out of the programs' own option tables (src/base/options.h).
  pages.py man OUT VERSION FRAGMENTS PROGRAM...     a page for each program and each of its commands
  pages.py complete OUT PROGRAM...                  OUT/NAME (bash), OUT/_NAME (zsh), OUT/NAME.fish

What no table can say is roff in FRAGMENTS/PAGE.roff; it stands in front of the page's exit status. A program given as
PROGRAM:TEST has the options of the validation program TEST in its page as well."""
import os
import re
import shutil
import subprocess
import sys


def ask(command, form):
    return subprocess.run(command + ["--help=" + form], check=True, stdout=subprocess.PIPE, text=True).stdout


class Command:
    """A program or a command of one: `words` is what one types, `rows` are its options, `commands` those below it."""

    def __init__(self, program, words):
        self.words, self.rows, self.commands, self.operands = words, [], [], ""
        self.run = [program] + words[1:]
        for line in ask(self.run, "list").splitlines():
            kind, *rest = line.split("\t")
            if kind == "option":
                self.rows.append(rest)
            elif kind == "operands":
                self.operands += rest[0]
            else:
                self.commands.append(Command(program, words + [rest[0]]))
                self.commands[-1].summary = rest[1]

    def each(self):
        yield self
        for c in self.commands:
            yield from c.each()


# ---- manual pages

def section(text, title):
    return re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", text, re.M | re.S)


def page(command, name, version, fragment, test):
    text = ask(command.run, "man")
    middle = ""
    if test:
        middle += ".SH OPTIONS OF TESTS\n" + section(ask([test], "man"), "OPTIONS").group(1)
    if os.path.exists(fragment):
        middle += open(fragment).read()
    if command.commands:  # a list of pages
        text = re.sub(r"^(\.SH COMMANDS\n)", rf"\1Each has a page of its own, as {name}\\-{command.commands[0].words[-1]}(1).\n",
                      text, flags=re.M)
    at = re.search(r"^\.SH (EXIT STATUS|EXAMPLES|SEE ALSO)\n|\Z", text, re.M).start()
    return f'.TH {name.upper()} 1 "" "aerogpu {version}" "AeroGPU"\n' + text[:at] + middle + text[at:]


def man(out, version, fragments, *programs):
    unused = {f for f in os.listdir(fragments) if f.endswith(".roff")}
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for program in programs:
        program, _, test = program.partition(":")
        for command in Command(program, [os.path.basename(program)]).each():
            name = "-".join(command.words)
            unused.discard(name + ".roff")
            with open(f"{out}/{name}.1", "w") as f:
                f.write(page(command, name, version, f"{fragments}/{name}.roff", test))
    if unused:
        sys.exit(f"pages.py: no page takes {', '.join(sorted(unused))}")


# ---- completion

def is_file(arg):
    return bool(re.search(r"FILE|DIR|PATH|OUT|PAGE|WINDOW|DUMP|RECORDING|SMALL", arg)) and "=" not in arg.lstrip("[=")


def names(row):
    return [n for n in (row[0] and "--" + row[0], row[1] and "-" + row[1]) if n]


def words_of(arg):
    return arg.split("|") if re.fullmatch(r"[a-z0-9-]+(\|[a-z0-9-]+)+", arg) else []


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(top):
    cases = []
    for c in top.each():
        options = " ".join(n for r in c.rows for n in names(r))
        takes = []
        for r in c.rows:
            if not r[2] or r[2].startswith("["):
                continue
            what = f'COMPREPLY=($(compgen -W "{" ".join(words_of(r[2]))}" -- "$cur"))' if words_of(r[2]) else \
                'COMPREPLY=($(compgen -f -- "$cur"))' if is_file(r[2]) else "COMPREPLY=()"
            takes.append(f"            {'|'.join(names(r))}) {what}; return ;;\n")
        below = " ".join(x.words[-1] for x in c.commands)
        rest = f'COMPREPLY=($(compgen -W "{below}" -- "$cur"))' if below else 'COMPREPLY=($(compgen -f -- "$cur"))' if c.operands else "COMPREPLY=()"
        if "PROGRAM" in c.operands:  # its name behind "--"; what follows is its own
            rest = 'if [[ $prev == -- ]]; then COMPREPLY=($(compgen -c -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi'
        cases.append(f'    "{" ".join(c.words[1:])}")\n        case $prev in\n{"".join(takes)}        esac\n'
                     f'        if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{options}" -- "$cur"))\n'
                     f"        else {rest}; fi ;;\n")
    paths = " ".join(f'[{quoted(" ".join(c.words[1:]))}]=1' for c in top.each() if len(c.words) > 1)
    fn = "_" + top.words[0]
    return (f"# bash completion for {top.words[0]}, made from its option tables.\n{fn}() {{\n"
            f"    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path= word\n"
            f"    local -A paths=({paths})\n"
            # --NAME=VALUE comes in three words
            '    [[ $cur == = ]] && cur= && COMP_WORDS[COMP_CWORD]= || [[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD-2]}\n'
            '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do\n'
            '        [[ ${paths[${path:+$path }$word]-} ]] || break\n'
            '        path=${path:+$path }$word\n    done\n'
            f'    case $path in\n{"".join(cases)}    esac\n}}\ncomplete -o filenames -F {fn} {top.words[0]}\n')


def zsh(top):
    def escape(text):
        return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")

    def function(c):
        name = "_" + "_".join(c.words)
        lines = []
        for r in c.rows:
            value = ""
            if r[2]:
                how = f"({' '.join(words_of(r[2]))})" if words_of(r[2]) else "_files" if is_file(r[2]) else ""
                value = f":{escape(r[2].strip('[]='))}:{how}"
            doc = escape(r[3].split(";")[0].split(". ")[0])
            for n in names(r):
                end = "=-" if r[2].startswith("[") else "=" if r[2] and n.startswith("--") else "+" if r[2] else ""
                lines.append(f"        '{n}{end}[{doc}]{':' if end == '=-' else ''}{value}'")
        text = ""
        if c.commands:
            rows = "\n".join(f"        '{x.words[-1]}:{escape(x.summary)}'" for x in c.commands)
            calls = "\n".join(f"        {x.words[-1]}) _{'_'.join(x.words)} ;;" for x in c.commands)
            options = " \\\n".join(lines)
            text = (f"{name}() {{\n    local -a commands=(\n{rows}\n    )\n    local line state\n    _arguments -C \\\n{options} \\\n"
                    f"        '1: :->command' '*:: :->rest'\n    case $state in\n    command) _describe command commands ;;\n"
                    f"    rest) case $line[1] in\n{calls}\n        esac ;;\n    esac\n}}\n")
        else:
            lines.append("        '*:file:_files'")
            text = f"{name}() {{\n    _arguments \\\n" + " \\\n".join(lines) + "\n}\n"
        return text + "".join(function(x) for x in c.commands)

    return f"#compdef {top.words[0]}\n# Made from the option tables of {top.words[0]}.\n{function(top)}_{top.words[0]} \"$@\"\n"


def fish(top):
    out = [f"# fish completion for {top.words[0]}, made from its option tables."]
    for c in top.each():
        conditions = [f"__fish_seen_subcommand_from {w}" for w in c.words[1:]]
        if c.commands:
            conditions += [f"not __fish_seen_subcommand_from {' '.join(x.words[-1] for x in c.commands)}"]
        where = f" -n {quoted('; and '.join(conditions))}" if conditions else ""
        start = f"complete -c {top.words[0]}{where}"
        out += [f"{start} -f -a {x.words[-1]} -d {quoted(x.summary)}" for x in c.commands]
        for name, letter, arg, doc in c.rows:
            how = ""
            if arg and not arg.startswith("["):
                how = f" -x -a {quoted(' '.join(words_of(arg)))}" if words_of(arg) else " -r -F" if is_file(arg) else " -x"
            out.append(start + (f" -l {name}" if name else "") + (f" -s {letter}" if letter else "") + how + f" -d {quoted(doc.split(';')[0].split('. ')[0])}")
    return "\n".join(out) + "\n"


def complete(out, *programs):
    for program in programs:
        top = Command(program, [os.path.basename(program)])
        for name, text in (top.words[0], bash(top)), ("_" + top.words[0], zsh(top)), (top.words[0] + ".fish", fish(top)):
            with open(f"{out}/{name}", "w") as f:
                f.write(text)


{"man": man, "complete": complete}[sys.argv[1]](*sys.argv[2:])
