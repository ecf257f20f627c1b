%% SPDX-License-Identifier: MIT
%%
%% The peer Erlang/OTP: what its rows share.  It takes ROW WORKERS [quick] and
%% prints "metric value" lines, as the programs in C do; the sizes are those of
%% bench/sizes.h.
-module(bench).
-export([main/1, size/1, check/2, run/3, run/4, report/2, random/1]).

-define(SKIP, 77).

main([Row, _Workers | Quick]) ->
    persistent_term:put(quick, Quick =:= ["quick"]),
    Name = list_to_atom(lists:map(fun($-) -> $_; (C) -> C end, Row)),
    Modules = [M || M <- [actors, savina],
		    {module, M} =:= code:ensure_loaded(M),
		    erlang:function_exported(M, Name, 0)],
    case Modules of
	[] ->
	    io:format(standard_error, "erlang: has no row ~s~n", [Row]),
	    halt(?SKIP);
	[Module] ->
	    {Pid, Ref} = spawn_monitor(Module, Name, []),
	    receive
		{'DOWN', Ref, process, Pid, normal} ->
		    halt(0);
		{'DOWN', Ref, process, Pid, Why} ->
		    io:format(standard_error, "erlang: row ~s: ~p~n",
			      [Row, Why]),
		    halt(1)
	    end
    end.

%% How many repetitions to make; a thousandth of them in a quick run.
size(Full) ->
    case persistent_term:get(quick) of
	true -> max(10, Full div 1000);
	false -> Full
    end.

check(true, _) -> ok;
check(false, What) -> exit({wrong_result, What}).

report(Metric, Value) ->
    io:format("~s ~w~n", [Metric, Value]).

run(Program, Full, Per) ->
    run("ns", Program, Full, Per).

%% Program(N), at a tenth of the size to get warm, then timed: ns of each of
%% its N * Per operations.
run(Metric, Program, Full, Per) ->
    Nr = bench:size(Full),
    Program(max(1, Nr div 10)),
    Start = erlang:monotonic_time(nanosecond),
    Program(Nr),
    Ns = erlang:monotonic_time(nanosecond) - Start,
    report(Metric, Ns / (Nr * Per)).

%% The numbers that everybody draws: bench/problems/minstd.h.
random(X) -> X * 16807 rem 2147483647.
