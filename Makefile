# SPDX-License-Identifier: MIT
#
# The front door.  The work is done by CMake (CMakePresets.json) and by the
# scripts in tools/; each target here works alone on a fresh machine.
#
#   make            build the library and the programs into build/; "cmake --build
#                   build" builds the benchmarks and the examples as well
#   make demo       the tour: each part at work, in a table
#   make test       everything that must hold; what CI runs
#   make bench      the benchmarks with the peers that Debian packages, as a
#                   table and as a picture, build/bench/bench.svg and .png
#   make prove      models and mutants in full, failing calls, chaos, memcheck;
#                   writes docs/PROOF.md (long)
#   make soak       the stress tests again and again (SOAK_ROUNDS=20), then a
#                   million connections that are reset
#   make install    DESTDIR= and PREFIX= (/usr/local)
#   make uninstall  what the install with the same DESTDIR= and PREFIX= put down
#   make abi        write down the binary interface (docs/HACKING.md)
#   make format     let clang-format 14 have its way
#   make clean

PREFIX ?= /usr/local
DESTDIR ?=
SOAK_ROUNDS ?= 20
BENCH_ARGS ?=

all: build/build.ninja
	@cmake --build build --target product

# CMake runs itself again when its files change.  A half-configured tree, or
# one that was made by hand, is configured once more.
build/build.ninja: CMakePresets.json
	@tools/install-deps build
	@cmake --preset release

demo:
	@tools/install-deps build
	@$(MAKE) --no-print-directory all
	@build/programs/sley tour

test:
	@tools/install-deps test
	@tools/run-tests

bench:
	@tools/install-deps bench
	@cmake --preset release
	@cmake --build build
	@build/bench/sley-bench all --peers $(BENCH_ARGS) \
		--results build/bench/results.jsonl
	@python3 tools/plot_bench.py build/bench/results.jsonl \
		build/bench/bench.svg

prove:
	@tools/install-deps test
	@tools/run-tests prove

soak:
	@tools/install-deps test
	@SOAK_ROUNDS=$(SOAK_ROUNDS) tools/run-tests soak

install: all
	DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

uninstall:
	@tools/uninstall build "$(PREFIX)" "$(DESTDIR)"

abi: all
	@tools/install-deps test
	@python3 tools/abi.py write --library build/libsley.so
	@python3 tools/abi.py write --library build/libsley-http.so
	@python3 tools/abi.py write --library build/libsley-config.so

format:
	@python3 tools/check_format.py --fix

clean:
	@rm -rf build build-dev build-clang build-asan build-tsan build-aarch64

.PHONY: all demo test bench prove soak install uninstall abi format \
	clean
