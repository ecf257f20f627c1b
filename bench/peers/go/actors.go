// SPDX-License-Identifier: MIT

// The rows about processes and their messages: a process is a goroutine, its
// mailbox a channel with a buffer.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	pingpongTrips      = 500000
	pingpongCrossSlow  = 10000
	countMessages      = 2000000
	spawnActorsBatches = 500
	ringProcesses      = 1000
	ringHops           = 1000000
	bigProcesses       = 120
	bigPings           = 5000
	chameneosNr        = 100
	chameneosMeetings  = 200000
	idleActorsNr       = 1000000
	idleActorsQuick    = 1000
	mailboxCapacity    = 1024
)

// The numbers that everybody draws: bench/problems/minstd.h.
func minstd(x int) int {
	return x * 16807 % 2147483647
}

// actorRow runs a program, at a tenth of the size to get warm, then timed: ns
// of each of its nr * per operations.
func actorRow(program func(nr int), full, per int) {
	nr := size(full)
	warm := nr / 10
	if warm < 1 {
		warm = 1
	}
	program(warm)
	start := time.Now()
	program(nr)
	reportEach("ns", start, nr*per)
}

func trips(nr int, locked bool) {
	to, fro := make(chan int, 1), make(chan int, 1)
	done := make(chan int)
	go func() {
		if locked {
			runtime.LockOSThread()
		}
		for value := range to {
			fro <- value + 1
		}
	}()
	go func() {
		if locked {
			runtime.LockOSThread()
		}
		right := 0
		for i := 0; i < nr; i++ {
			to <- i
			if <-fro == i+1 {
				right++
			}
		}
		close(to)
		done <- right
	}()
	check(<-done == nr, "values that came back")
}

func countOnce(nr int) {
	type message struct {
		add   int
		reply chan int
	}
	mailbox := make(chan message, mailboxCapacity)
	go func() {
		sum := 0
		for m := range mailbox {
			if m.reply != nil {
				m.reply <- sum
				return
			}
			sum += m.add
		}
	}()
	for i := 0; i < nr; i++ {
		mailbox <- message{add: 1}
	}
	reply := make(chan int)
	mailbox <- message{reply: reply}
	check(<-reply == nr, "sum")
}

func faninOnce(each int) {
	mailbox := make(chan int, mailboxCapacity)
	for p := 0; p < faninProducers; p++ {
		go func() {
			for i := 0; i < each; i++ {
				mailbox <- i
			}
		}()
	}
	sum := 0
	for i := 0; i < faninProducers*each; i++ {
		sum += <-mailbox
	}
	check(sum == faninProducers*(each*(each-1)/2), "sum")
}

func spawnActorsOnce(batches int) {
	last := make(chan int, 1)
	for ; batches > 0; batches-- {
		var ran, sum int64
		for i := 1; i <= spawnBatch; i++ {
			mailbox := make(chan int, 1)
			go func() {
				atomic.AddInt64(&sum, int64(<-mailbox))
				if atomic.AddInt64(&ran, 1) == spawnBatch {
					last <- 1
				}
			}()
			mailbox <- i
		}
		<-last
		check(sum == spawnBatch*(spawnBatch+1)/2, "sum")
	}
}

// The token counts down; then the hops that each has seen are added up.
func ringOnce(hops int) {
	type token struct {
		left, nr, sum int
	}
	var ring [ringProcesses]chan token
	done := make(chan int)
	for i := range ring {
		ring[i] = make(chan token, 1)
	}
	for i := range ring {
		mine, next := ring[i], ring[(i+1)%ringProcesses]
		go func() {
			seen := 0
			for t := range mine {
				if t.left > 0 {
					seen++
					next <- token{left: t.left - 1}
				} else if t.left == 0 {
					next <- token{left: -1}
				} else if t.nr == ringProcesses-1 {
					done <- t.sum + seen
					return
				} else {
					next <- token{-1, t.nr + 1, t.sum + seen}
					return
				}
			}
		}()
	}
	ring[0] <- token{left: hops}
	check(<-done == hops, "hops")
}

const (
	bigPing = iota
	bigPong
	bigStop
)

type bigMessage struct {
	kind, value int
	from        chan bigMessage
}

func bigTalk(me int, all []chan bigMessage, pings int, sink chan int) {
	mine, seed, nr, seen := all[me], me+1, 0, 0
	ask := func() {
		seed = minstd(seed)
		all[seed%bigProcesses] <- bigMessage{bigPing, nr, mine}
	}
	ask()
	for m := range mine {
		switch m.kind {
		case bigPing:
			seen++
			m.from <- bigMessage{kind: bigPong, value: m.value + 1}
		case bigPong:
			nr++
			check(m.value == nr, "pong")
			if nr == pings {
				sink <- 0
			} else {
				ask()
			}
		case bigStop:
			sink <- seen
			return
		}
	}
}

// At most one ping of each and one pong are under way to anybody.
func bigOnce(pings int) {
	all := make([]chan bigMessage, bigProcesses)
	sink, sum := make(chan int, bigProcesses), 0
	for i := range all {
		all[i] = make(chan bigMessage, bigProcesses+2)
	}
	for i := range all {
		go bigTalk(i, all, pings, sink)
	}
	for range all {
		<-sink
	}
	for _, mailbox := range all {
		mailbox <- bigMessage{kind: bigStop}
	}
	for range all {
		sum += <-sink
	}
	check(sum == pings*bigProcesses, "pings")
}

type meeting struct {
	other  chan meeting // nil: the colour is the new one
	colour int
	stop   bool
}

func complement(one, other int) int {
	if one == other {
		return one
	}
	return 3 - one - other
}

func creature(mall chan meeting, colour int, count chan int) {
	mine, met := make(chan meeting, 2), 0
	mall <- meeting{other: mine, colour: colour}
	for m := range mine {
		if m.stop {
			count <- met
			return
		}
		if m.other != nil {
			colour = complement(colour, m.colour)
			m.other <- meeting{colour: colour}
		} else {
			colour = m.colour
		}
		met++
		mall <- meeting{other: mine, colour: colour}
	}
}

func chameneosOnce(meetings int) {
	mall := make(chan meeting, chameneosNr)
	count, sum := make(chan int, chameneosNr), 0
	for i := 0; i < chameneosNr; i++ {
		go creature(mall, i%3, count)
	}
	for i := 0; i < meetings; i++ {
		waiting := <-mall
		waiting.other <- <-mall
	}
	for i := 0; i < chameneosNr; i++ {
		(<-mall).other <- meeting{stop: true}
		sum += <-count
	}
	check(sum == 2*meetings, "meetings")
}

// Resident memory of the process.
func rss() int {
	var pages, resident int
	text, err := os.ReadFile("/proc/self/statm")
	check(err == nil, "statm")
	fmt.Sscan(string(text), &pages, &resident)
	return resident * os.Getpagesize()
}

func idleActors() {
	nr, sum := choose(idleActorsNr, idleActorsQuick), 0
	replies := make(chan int, mailboxCapacity)
	before, start := rss(), time.Now()
	mailboxes := make([]chan struct{}, nr)
	var here int64
	for i := range mailboxes {
		mailbox, state := make(chan struct{}, 1), i
		mailboxes[i] = mailbox
		go func() {
			atomic.AddInt64(&here, 1)
			<-mailbox
			replies <- state
		}()
	}
	for atomic.LoadInt64(&here) < int64(nr) {
		runtime.Gosched()
	}
	reportEach("ns", start, nr)
	fmt.Printf("bytes %.6g\n", float64(rss()-before)/float64(nr))
	go func() {
		for _, mailbox := range mailboxes {
			mailbox <- struct{}{}
		}
	}()
	for range mailboxes {
		sum += <-replies
	}
	check(sum == nr*(nr-1)/2, "states")
}

func init() {
	rows["pingpong"] = func() {
		actorRow(func(nr int) { trips(nr, false) }, pingpongTrips, 1)
	}
	rows["pingpong-cross"] = func() {
		actorRow(func(nr int) { trips(nr, true) }, pingpongCrossSlow, 1)
	}
	rows["count"] = func() { actorRow(countOnce, countMessages, 1) }
	rows["fanin-actors"] = func() {
		actorRow(faninOnce, faninEach, faninProducers)
	}
	rows["spawn-actors"] = func() {
		actorRow(spawnActorsOnce, spawnActorsBatches, spawnBatch)
	}
	rows["ring"] = func() { actorRow(ringOnce, ringHops, 1) }
	rows["big"] = func() { actorRow(bigOnce, bigPings, bigProcesses) }
	rows["chameneos"] = func() {
		actorRow(chameneosOnce, chameneosMeetings, 1)
	}
	rows["idle-actors"] = idleActors
}
