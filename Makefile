# SPDX-License-Identifier: MIT
# The front door. Each target installs the Debian packages that it lacks, and says so.
#   make run      make play, a Windows program that hangs, then make validate
#   make play     play the sample recordings through the whole device; crash one, and say why
#   make validate bring the whole stack up, validate it, break it, and write the record, report.json and report.html
#   make test     build and run every test
#   make soak     a client under attack for SOAK (1800) seconds (bench/isolation_bench.c)
#   make bench    measure; one line per figure, and build/bench.json (bench/README.md)
#   make verdicts plant 480 stalls by seed, live ones too if this is root, and print how each was judged
#   make planted  faults in real programs that use Vulkan, ROUNDS (6) of each, and what `aerogpu run` says of them
#   make pictures real programs with the black box and without, on each of DRIVERS (NAME=ICD.json[:LIBRARIES] ...): is it the same picture?
#   make dump-proofs   what is promised of dumps, tried on RUNS (50) planted crashes: PROOF (replay minimize damage)
#   make check    what CI trusts: gcc and clang, warnings as errors, ASan+UBSan, TSan, format, lint
#   make sim      lives of the whole stack in virtual time, with faults: SEEDS (1000)
#   make fuzz     run each fuzz target for FUZZ_SECONDS (60), or all of them for MINUTES together, who ran least first; BELOW=M: only
#                 those with fewer than M minutes of processor time in all runs so far; MERGE=1: minimise what was learnt instead
#   make damage   flip bits of recordings and cut them, DAMAGE (2000) times each way, and see that every command says so
#   make mutants  plant the small bugs of tests/mutants/table.toml, and say which test notices each; ROOM=, MUTANTS=, QUICK=1, KEEP=1,
#                 and for those who survive SANITIZE=1, FUZZ_SECONDS=20
#   make format   clang-format everything
#   make kmd-windows   the driver package for Windows 7, x64 and x86, with the user-mode drivers of Direct3D
#   make deb      the Debian packages, in build/deb
#   make deb-test   as root: install, upgrade, use and purge them in a bare Debian 12 of their own
SHELL := /bin/bash
B ?= build
NEED = tools/build/need.sh
FUZZ_SECONDS ?= 60

all: build

# A longer list of packages sets the build up again.
$(B)/set-up: tools/build/packages/build.txt
	@$(NEED) build
	@$(if $(wildcard $(B)/build.ninja),ninja -C $(B) reconfigure,meson setup $(B)) >$(B).log || { cat $(B).log; rm $(B).log; exit 1; }
	@mv $(B).log $@

build: $(B)/set-up
	@ninja -C $(B) --quiet

run: play windows validate

# The report goes to out/validate.
validate: build
	@rm -rf out/validate
	@$(B)/tools/aerogpu/aerogpu validate --out out/validate
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] && command -v xdg-open >/dev/null; then xdg-open out/validate/report.html; fi

# Pictures of every frame go to out/run, one picture of them all to out/run/sheet.png.
play: build
	@rm -rf out/run
	@$(B)/tools/aerogpu/aerogpu play --png out/run --sheet out/run/sheet.png $(B)/samples/*.aerogputrace
	@echo; echo "pictures: out/run/NAME/frame_*.png; all at a glance: out/run/sheet.png"
	@echo; echo "A frame that hangs, and what the black box says of it:"; rm -rf out/crash
	@AEROGPU_LOG=error $(B)/tools/aerogpu/aerogpu dump --hang 1000 --out out/crash $(B)/samples/crash/hang.aerogputrace || true
	@AEROGPU_LOG=error $(B)/tools/aerogpu/aerogpu play --hang 1000 out/crash/*.aerogpudump
	@$(B)/tools/aerogpu/aerogpu report --html out/crash/report.html out/crash/*.aerogpudump && echo "the report: out/crash/report.html"

# A Windows program draws, hangs and recovers; its dump goes to out/windows.
windows: build
	@rm -rf out/windows; mkdir -p out/windows
	@if command -v wine >/dev/null && [ -e $(B)/samples/d3d11/triangle.exe ]; then \
		echo; echo "A Windows program that hangs its device, under Wine:"; \
		WINEDEBUG=-all $(B)/tools/aerogpu/aerogpu run --on aerogpu -o out/windows -- wine $(B)/samples/d3d11/triangle.exe \
			samples/shaders out/windows/triangle.ppm hang && echo "its picture: out/windows/triangle.ppm"; \
	else echo "no Windows program: this needs wine, mingw-w64 and libwine-dev"; fi

test: build
	@meson test -C $(B) --no-rebuild --print-errorlogs; tools/build/test-summary.py $(B)

verdicts: build
	@$(B)/tests/cpu/stall_verdicts --runs 480 --seed 1

PROOF ?= replay minimize damage
RUNS ?= 50
dump-proofs: build
	@for p in $(PROOF); do python3 tests/minimize/dump_proof.py $$p --aerogpu $(B)/tools/aerogpu/aerogpu \
	    --plants $(B)/tests/minimize/plants --shaders samples/shaders --runs $(RUNS) || exit 1; done

# CHECK="asan tidy" runs those stages only.
check:
	@$(NEED) build check
	@tools/build/check.sh $(CHECK)

# Recordings with flipped bits and cut ends, for every command that reads them: none may be shown as other content.
DAMAGE ?= 2000
damage: build
	@$(B)/tests/record/blocks_test $(DAMAGE)
	@python3 tests/tools/files_test.py $(B)/tools/aerogpu/aerogpu $(B)/samples $(B)/tests/d3d12/libd3d12-stub.so \
	    $(B)/tests/d3d12/d3d12_callall $(DAMAGE)

# FUZZ="trace stream" runs those targets only.
fuzz:
	@$(NEED) build check
	@FUZZ_SECONDS=$(FUZZ_SECONDS) MINUTES=$(MINUTES) BELOW=$(BELOW) MERGE=$(MERGE) tools/build/fuzz.sh $(FUZZ)

# A table of small bugs, each planted in a copy of the tree; less than 90 % noticed is a failure. JSON=1: a line of JSON each.
mutants:
	@$(NEED) build check
	@nice tools/build/mutants.py $(if $(JSON),--json)

soak: build
	@AEROGPU_SOAK=$(SOAK) $(B)/bench/isolation_bench

planted: build
	@$(NEED) bench
	@python3 tests/vkbox/planted.py $(B)/tools/aerogpu/aerogpu $(B)/tests/vkbox --rounds $(or $(ROUNDS),6) --log $(B)/planted.jsonl

pictures: build
	@$(NEED) bench
	@python3 tests/vkbox/programs.py $(B)/tools/aerogpu/aerogpu $(B)/tests/vkbox $(addprefix --driver ,$(DRIVERS))

bench: build
	@$(NEED) bench
	@tools/build/bench.sh $(B)

kmd-windows: build
	@$(NEED) check
	@tools/build/kmd-package.sh $(B)/windows $(B)/src/d3d/windows

# What is committed is what is built.
deb:
	@$(NEED) build deb
	@tools/build/deb.sh $(B)/deb

deb-test: deb
	@tools/build/deb-test.sh $(B)/deb $(CHROOT)

format:
	@$(NEED) check
	git ls-files '*.c' '*.h' | xargs clang-format -i

# The first of SEEDS lives of the stack that breaks a promise is printed with the command that repeats it.
SEEDS ?= 1000
SOAK ?= 1800
sim: build
	@$(B)/tools/aerogpu/aerogpu sim --seeds $(SEEDS)

clean:
	rm -rf build build-*

.PHONY: planted pictures sim soak all build run validate play test verdicts dump-proofs check damage fuzz mutants bench kmd-windows deb deb-test format clean
