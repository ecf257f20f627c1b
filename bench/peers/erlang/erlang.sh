#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The peer Erlang/OTP: ROW WORKERS [quick], as every program here.  A worker is
# a scheduler; the modules are compiled, and lie in erlang.d beside this file.
exec erl +S "$2:$2" +P 4000000 -noshell -noinput \
	-pa "$(dirname "$0")/erlang.d" -run bench main "$@"
