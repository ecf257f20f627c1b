%% SPDX-License-Identifier: MIT
%%
%% The rows about processes and their messages.
-module(actors).
-export([pingpong/0, pingpong_cross/0, count/0, fanin_actors/0,
	 spawn_actors/0, ring/0, big/0, chameneos/0, idle_actors/0]).

-define(PINGPONG_TRIPS, 500000).
-define(PINGPONG_CROSS_SLOW, 10000).
-define(COUNT_MESSAGES, 2000000).
-define(FANIN_PRODUCERS, 8).
-define(FANIN_EACH, 250000).
-define(SPAWN_BATCH, 1000).
-define(SPAWN_ACTORS_BATCHES, 500).
-define(RING_PROCESSES, 1000).
-define(RING_HOPS, 1000000).
-define(BIG_PROCESSES, 120).
-define(BIG_PINGS, 5000).
-define(CHAMENEOS, 100).
-define(CHAMENEOS_MEETINGS, 200000).
-define(IDLE_ACTORS, 1000000).

%% What the manual advises for a process in whose mailbox many messages wait.
-define(LONG_QUEUE, [link, {message_queue_data, off_heap}]).

%% ---- pingpong -----------------------------------------------------------------

pingpong() ->
    bench:run(fun(Nr) -> trips(Nr, []) end, ?PINGPONG_TRIPS, 1).

%% One process on each scheduler.
pingpong_cross() ->
    Me = self(),
    Program = fun(Nr) ->
		      Trip = fun() ->
				     trips(Nr, [{scheduler, 2}]),
				     Me ! done
			     end,
		      spawn_opt(Trip, [link, {scheduler, 1}]),
		      receive done -> ok end
	      end,
    bench:run(Program, ?PINGPONG_CROSS_SLOW, 1).

trips(Nr, Options) ->
    Pong = spawn_opt(fun pong/0, [link | Options]),
    ping(Pong, 0, Nr),
    Pong ! stop.

ping(_, Nr, Nr) -> ok;
ping(Pong, I, Nr) ->
    Pong ! {self(), I},
    receive Value -> bench:check(Value =:= I + 1, value) end,
    ping(Pong, I + 1, Nr).

pong() ->
    receive
	{From, Value} -> From ! Value + 1, pong();
	stop -> ok
    end.

%% ---- count --------------------------------------------------------------------

count() -> bench:run(fun count/1, ?COUNT_MESSAGES, 1).

count(Nr) ->
    Counter = spawn_opt(fun() -> counter(0) end, ?LONG_QUEUE),
    add(Counter, Nr),
    Counter ! {get, self()},
    receive Sum -> bench:check(Sum =:= Nr, sum) end.

add(_, 0) -> ok;
add(Counter, Nr) -> Counter ! {add, 1}, add(Counter, Nr - 1).

counter(Sum) ->
    receive
	{add, Value} -> counter(Sum + Value);
	{get, From} -> From ! Sum
    end.

%% ---- fanin-actors ---------------------------------------------------------------

fanin_actors() -> bench:run(fun fanin/1, ?FANIN_EACH, ?FANIN_PRODUCERS).

fanin(Each) ->
    Me = self(),
    Consumer = spawn_opt(fun() -> consume(?FANIN_PRODUCERS * Each, 0, Me) end,
			 ?LONG_QUEUE),
    [spawn_link(fun() -> produce(Consumer, Each) end)
     || _ <- lists:seq(1, ?FANIN_PRODUCERS)],
    Right = ?FANIN_PRODUCERS * (Each * (Each - 1) div 2),
    receive Sum -> bench:check(Sum =:= Right, sum) end.

produce(_, 0) -> ok;
produce(Consumer, I) -> Consumer ! I - 1, produce(Consumer, I - 1).

consume(0, Sum, Root) -> Root ! Sum;
consume(Nr, Sum, Root) -> receive Value -> consume(Nr - 1, Sum + Value, Root) end.

%% ---- spawn-actors ---------------------------------------------------------------

spawn_actors() ->
    bench:run(fun batches/1, ?SPAWN_ACTORS_BATCHES, ?SPAWN_BATCH).

batches(0) -> ok;
batches(Nr) ->
    Total = atomics:new(2, []),
    batch(?SPAWN_BATCH, self(), Total),
    receive last -> ok end,
    bench:check(atomics:get(Total, 2) =:= ?SPAWN_BATCH * (?SPAWN_BATCH + 1) div 2,
		sum),
    batches(Nr - 1).

batch(0, _, _) -> ok;
batch(I, Root, Total) ->
    Child = spawn(fun() -> child(Root, Total) end),
    Child ! I,
    batch(I - 1, Root, Total).

child(Root, Total) ->
    receive Value -> atomics:add(Total, 2, Value) end,
    case atomics:add_get(Total, 1, 1) of
	?SPAWN_BATCH -> Root ! last;
	_ -> ok
    end.

%% ---- ring -----------------------------------------------------------------------

ring() -> bench:run(fun ring/1, ?RING_HOPS, 1).

%% The token counts down; then the hops that each has seen are added up.
ring(Hops) ->
    Me = self(),
    First = spawn_link(fun() -> receive Next -> link(0, Next, Me) end end),
    Last = lists:foldl(fun(_, Next) ->
			       spawn_link(fun() -> link(0, Next, Me) end)
		       end, First, lists:seq(2, ?RING_PROCESSES)),
    First ! Last,
    First ! Hops,
    receive Seen -> bench:check(Seen =:= Hops, hops) end.

link(Seen, Next, Root) ->
    receive
	{sum, ?RING_PROCESSES - 1, Sum} -> Root ! Sum + Seen;
	{sum, Nr, Sum} -> Next ! {sum, Nr + 1, Sum + Seen};
	0 -> Next ! {sum, 0, 0}, link(Seen, Next, Root);
	Left -> Next ! Left - 1, link(Seen + 1, Next, Root)
    end.

%% ---- big ------------------------------------------------------------------------

big() -> bench:run(fun big/1, ?BIG_PINGS, ?BIG_PROCESSES).

big(Pings) ->
    Me = self(),
    All = list_to_tuple(
	    [spawn_link(fun() -> receive All -> talk(All, I, Pings, Me) end end)
	     || I <- lists:seq(1, ?BIG_PROCESSES)]),
    Each = tuple_to_list(All),
    [Pid ! All || Pid <- Each],
    [receive done -> ok end || _ <- Each],
    [Pid ! stop || Pid <- Each],
    Sum = lists:sum([receive {seen, Seen} -> Seen end || _ <- Each]),
    bench:check(Sum =:= Pings * ?BIG_PROCESSES, pings).

talk(All, Seed, Pings, Root) ->
    Next = ask(All, Seed, 0),
    talk(All, Next, Pings, 0, 0, Root).

ask(All, Seed, I) ->
    Next = bench:random(Seed),
    element(Next rem ?BIG_PROCESSES + 1, All) ! {ping, self(), I},
    Next.

talk(All, Seed, Pings, I, Seen, Root) ->
    receive
	{ping, From, Value} ->
	    From ! {pong, Value + 1},
	    talk(All, Seed, Pings, I, Seen + 1, Root);
	{pong, Value} ->
	    bench:check(Value =:= I + 1, value),
	    case Value of
		Pings ->
		    Root ! done,
		    talk(All, Seed, Pings, Value, Seen, Root);
		_ ->
		    Next = ask(All, Seed, Value),
		    talk(All, Next, Pings, Value, Seen, Root)
	    end;
	stop -> Root ! {seen, Seen}
    end.

%% ---- chameneos ------------------------------------------------------------------

chameneos() -> bench:run(fun chameneos/1, ?CHAMENEOS_MEETINGS, 1).

chameneos(Meetings) ->
    Mall = self(),
    [spawn_link(fun() -> creature(Mall, I rem 3, 0) end)
     || I <- lists:seq(1, ?CHAMENEOS)],
    bench:check(mall(Meetings, none) =:= 2 * Meetings, meetings).

mall(0, none) ->
    lists:sum([receive
		   {meet, Pid, _} ->
		       Pid ! stop,
		       receive {met, Met} -> Met end
	       end || _ <- lists:seq(1, ?CHAMENEOS)]);
mall(Left, none) ->
    receive {meet, Pid, _} -> mall(Left, Pid) end;
mall(Left, Waiting) ->
    receive
	{meet, Pid, Colour} ->
	    Waiting ! {meet, Pid, Colour},
	    mall(Left - 1, none)
    end.

creature(Mall, Colour, Met) ->
    Mall ! {meet, self(), Colour},
    receive
	{meet, Other, His} ->
	    Now = complement(Colour, His),
	    Other ! {change, Now},
	    creature(Mall, Now, Met + 1);
	{change, Now} ->
	    creature(Mall, Now, Met + 1);
	stop -> Mall ! {met, Met}
    end.

complement(Same, Same) -> Same;
complement(One, Other) -> 3 - One - Other.

%% ---- idle-actors ----------------------------------------------------------------

idle_actors() ->
    Nr = case persistent_term:get(quick) of true -> 1000; _ -> ?IDLE_ACTORS end,
    Me = self(),
    erlang:garbage_collect(),
    Before = rss(),
    Start = erlang:monotonic_time(nanosecond),
    Pids = [spawn(fun() -> idle(Me, I) end) || I <- lists:seq(1, Nr)],
    hd(lists:reverse(Pids)) ! {self(), here},
    receive {_, here} -> ok end,
    Ns = erlang:monotonic_time(nanosecond) - Start,
    bench:report("ns", Ns / Nr),
    bench:report("bytes", (rss() - Before) / Nr),
    [Pid ! get || Pid <- Pids],
    Sum = lists:sum([receive Value -> Value end || _ <- Pids]),
    bench:check(Sum =:= Nr * (Nr + 1) div 2, sum).

idle(Root, State) ->
    receive
	get -> Root ! State;
	{From, here} -> From ! {self(), here}, idle(Root, State)
    end.

%% Resident memory of the process.
rss() ->
    {ok, File} = file:open("/proc/self/statm", [read, raw, binary]),
    {ok, Text} = file:read(File, 200),
    file:close(File),
    [_, Pages | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.
